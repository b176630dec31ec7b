"""Genes changed on the page: the network that comes of it, and its model."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.examples.cases import case

import neat_onnx
from neat_onnx.page.bridge import call
from neat_onnx.page.editing import edited
from neat_onnx.page.library_files import facts_of, writable

WEB = Path(__file__).parents[2] / "web"


@pytest.fixture(scope="module")
def net():
    return neat_onnx.load_network(case("np-ff-13").document["source"])


def test_each_gene_can_be_changed_and_the_rest_stays(net):
    place = int(net.output_neurons[0])
    changes = [
        {"connection": 2, "weight": 0.25},
        {"connection": 3, "enabled": False},
        {"neuron": place, "bias": -1.5},
        {"neuron": place, "response": 2},
        {"neuron": place, "activation": "relu"},
    ]
    found = edited(net, changes)
    assert found.connections.weight[2] == 0.25
    assert not found.connections.enabled[3]
    assert (found.neurons.bias[place], found.neurons.response[place]) == (-1.5, 2.0)
    assert found.activation_names[place] == "relu"
    assert edited(net, []) is net
    others = np.delete(np.arange(len(net.connections)), 2)
    assert np.array_equal(found.connections.weight[others], net.connections.weight[others])


def test_a_pruned_neuron_keeps_its_genes_and_computes_no_more(net):
    hidden = next(j for j in range(len(net)) if not net.is_input[j] and j not in net.output_neurons)
    found = edited(net, [{"neuron": hidden, "pruned": True}])
    genes = found.connections
    assert not np.any(genes.enabled[(genes.source == hidden) | (genes.target == hidden)])
    assert len(found) == len(net)


@pytest.mark.parametrize(
    "edit",
    [
        {"connection": 10_000, "weight": 1.0}, {"connection": -1, "weight": 1.0}, {"neuron": True},
        {"connection": 0, "weight": "1"}, {"connection": 0, "weight": float("inf")}, 5,
        {"neuron": 0, "activation": "none such"},
    ],
)  # fmt: skip
def test_a_mistaken_edit_is_refused(net, edit):
    with pytest.raises(neat_onnx.NeatOnnxError):
        edited(net, [edit])


def test_the_page_gives_the_model_of_the_changed_network(net):
    data = json.dumps(case("np-ff-13").document["source"]).encode()
    edits = [{"connection": 0, "weight": 0.125, "gene": "for people", "before": 3.0}]
    params = json.dumps({"name": "net.json", "edits": edits, "samples": 8})
    reply = json.loads(call("convert", params, data, lambda stage, done: None)[0])
    assert reply["result"]["report"]["passed"]
    _, blobs = call("file", '{"kind": "onnx"}', b"", lambda stage, done: None)
    assert blobs["onnx"] == neat_onnx.export(edited(net, edits)).to_bytes()


def test_libraries_that_cannot_hold_a_network_say_why(net):
    found = writable(net)
    assert found[0]["title"].startswith("neat-python") and found[0]["reason"] is None
    median = neat_onnx.load_network(case("np-atom-agg-median").document["source"])
    reasons = {each["library"]: each["reason"] for each in writable(median)}
    assert "median" in (reasons["neataptic"] or "")
    for name, reason in reasons.items():
        if reason is None:
            median.to_library(name)
        else:
            with pytest.raises(neat_onnx.NetworkError):
                median.to_library(name)


def test_a_checkpoint_says_its_generation_and_fitness_and_other_files_nothing():
    said = facts_of((WEB / "samples" / "neat-checkpoint-30").read_bytes())
    assert (said["generation"], said["size"], said["species"]) == (30, 60, 2)
    assert 3.8 < (said["fitness"] or 0) < 3.9
    assert set(facts_of(b"{}").values()) == {None}
