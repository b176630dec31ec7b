"""Genes changed on the page: the network that comes of it, and its model."""

import json

import numpy as np
import pytest
from support.examples.cases import case
from support.harness.page import convert

import neat_onnx
from neat_onnx.page.editing import edited


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
    reply, blobs = convert(data, name="net.json", edits=edits, samples=8)
    assert reply["result"]["report"]["passed"]
    assert blobs["onnx"] == neat_onnx.export(edited(net, edits)).to_bytes()
