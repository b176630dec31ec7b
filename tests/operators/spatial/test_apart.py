"""Convolutions and pools after evolution has changed some of their neurons, which stand apart."""

import json
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mapped import NET, changed_edge, changed_neuron, network, said, with_edges
from support.examples.graphs import graph, node, operators
from support.harness.routes import ROUTES, Trip
from support.harness.sweep import count

from neat_onnx import Network, export, import_model, verify
from neat_onnx.genome.document import GENOME
from neat_onnx.model import MetadataEntry
from neat_onnx.network.genes import NONE

CHANGED = {
    "weight": changed_edge(NET, 4, 28, weight=3.0),
    "bias": changed_neuron(NET, 26, bias=9.0),
    "response": changed_neuron(NET, 25, response=2.0),
    "activation": changed_neuron(NET, 40, activation="relu"),
    "aggregation": changed_neuron(NET, 24, aggregation="mean"),
    "outside": with_edges(NET, {"source": 23, "target": 24, "weight": 0.5}),
    "missing": changed_edge(NET, 4, 28, enabled=False),
    "gated": changed_edge(NET, 0, 24, gater=1),
    "delayed": changed_edge(NET, 0, 24, delay=1),
    "state": with_edges(NET, {"source": 30, "target": 30, "weight": 1.0, "delay": 1}),
    "twice": with_edges(NET, {"source": 4, "target": 28, "weight": 1.0}),
}


@pytest.mark.parametrize("what", CHANGED)
def test_the_other_neurons_stay_a_convolution(what: str):
    net = replace(CHANGED[what], blocks=network(blocks=True).blocks)
    model, messages = said(net)
    assert messages == []
    assert "Conv" in operators(model) and "MaxPool" in operators(model)
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
    back = import_model(model.to_json())
    assert back == net
    assert len(back.blocks) == len(net.blocks)
    for ours, theirs in zip(net.blocks, back.blocks, strict=True):
        np.testing.assert_array_equal(theirs.neurons, ours.neurons)
    assert export(back).to_json() == model.to_json()


def test_a_block_of_which_too_many_neurons_differ_is_told_and_not_used():
    net = NET
    for neuron in range(24, 33):
        net = changed_neuron(net, neuron, bias=neuron / 4)
    model, messages = said(replace(net, blocks=network(blocks=True).blocks))
    assert messages[0].startswith("a Conv of the network is written neuron by neuron: neuron 25 ")
    assert "has a bias of its own" in messages[0]
    assert "Conv" not in operators(model) and "MaxPool" in operators(model)


POOLED = {
    "bias": changed_neuron(NET, 50, bias=0.5),
    "aggregation": changed_neuron(NET, 48, aggregation="mean"),
    "activation": changed_neuron(NET, 53, activation="relu"),
    "missing": changed_edge(NET, 24, 48, enabled=False),
    "weight": changed_edge(NET, 24, 48, weight=2.0),
    "twice": with_edges(
        changed_edge(NET, 24, 48, weight=0.5), {"source": 24, "target": 48, "weight": 0.5}
    ),
}


@pytest.mark.parametrize("what", POOLED)
def test_the_other_neurons_stay_a_pool(what: str):
    net = replace(POOLED[what], blocks=network(blocks=True).blocks)
    model, messages = said(net)
    assert messages == []
    assert {"Conv", "MaxPool", "Split"} <= {*operators(model)}
    back = import_model(model.to_json())
    assert back == net and len(back.blocks) == len(net.blocks)


def test_a_block_whose_pre_activations_are_read_is_written_neuron_by_neuron():
    edge = {"source": 30, "target": 56, "weight": 0.5, "delay": 1, "reads_state": True}
    net = with_edges(CHANGED["weight"], edge)
    model, (message,) = said(replace(net, blocks=network(blocks=True).blocks))
    assert message.startswith("a Conv of the network is written neuron by neuron: neuron 28 ")
    assert "Conv" not in operators(model)


def test_neurons_that_read_each_other_are_no_block():
    """Each has the weight of the others, for the one before it."""
    count = 12
    neurons = [
        {"id": k, "activation": "tanh", "bias": float(k == count - 1)} for k in range(1, count)
    ]
    links = [(k - 1, k, 0.5) for k in range(1, count)]
    net = Network.build(inputs=1, outputs=[count - 1], neurons=neurons, connections=links)
    ids = [*range(count)]
    block = {"kind": "Conv", "sources": ids[:-1], "source_shape": [1, count - 1],
             "neurons": ids[1:], "shape": [1, count - 1], "kernel_shape": [1]}  # fmt: skip
    model, (message,) = said(Network.from_document(json.loads(net.to_json()) | {"blocks": [block]}))
    assert "is written neuron by neuron" in message
    assert not {"Conv", "MatMul", "Split"} & {*operators(model)}


def test_rows_that_share_sources_keep_their_product():
    """Pairs of rows, as relations between objects are computed."""
    rng = np.random.default_rng(0)
    pairs = [[a, b] for a in range(5) for b in range(5)]
    nodes = [
        node("Gather", "x pairs", "g", axis=1),
        node("Reshape", "g shape", "r"),
        node("MatMul", "r w", "m"),
        node("Relu", "m", "h"),
        node("ReduceSum", "h axes", "s", keepdims=0),
        node("Gemm", "s v", "y"),
    ]
    w, v = (rng.integers(-4, 5, size) / 8 for size in ((8, 6), (6, 2)))
    constants = {"pairs": np.array(pairs), "shape": np.array([0, 25, 8]), "axes": np.array([1])}
    net = import_model(graph(nodes, x=("N", 5, 4), w=w, v=v, **constants))
    for neuron in (20 + 8, 20 + 39):
        net = changed_neuron(net, neuron, bias=0.5)
        model, messages = said(net)
        assert messages == []
        assert operators(model).count("MatMul") == 1
        back = import_model(model.to_bytes())
        assert back == net and len(back.blocks) == len(net.blocks) == 1
        net = back


def picture() -> Network:
    """A small network for pictures, as another tool made it."""
    rng = np.random.default_rng(0)
    nodes = [
        node("Conv", "x w b", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("MaxPool", "r", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", "p v", "d", pads=[1, 1, 1, 1]),
        node("Tanh", "d", "t"),
        node("Flatten", "t", "f"),
        node("Gemm", "f m", "y"),
    ]
    sizes = {"w": (4, 2, 3, 3), "b": (4,), "v": (3, 4, 3, 3), "m": (48, 3)}
    constants = {name: rng.integers(-4, 5, size) / 8 for name, size in sizes.items()}
    return import_model(graph(nodes, x=("N", 2, 8, 8), **constants))


PICTURE = picture()


def evolved(net: Network, changes: int, seed: int) -> Network:
    """The network with random changes, as evolution makes them."""
    rng, whole = random.Random(seed), json.loads(net.to_json())
    neurons, genes = whole["neurons"], whole["connections"]
    hidden = [each for each in neurons if each["id"] >= len(net.input_neurons)]

    def number() -> float:
        return rng.randint(-8, 8) / 8

    def split() -> None:
        old, new = rng.choice(genes), max(each["id"] for each in neurons) + 1
        old["enabled"] = False
        neurons.append({"id": new, "activation": "tanh"})
        ends = ((old["source"], new, 1.0), (new, old["target"], old["weight"]))
        genes.extend({"source": a, "target": b, "weight": w} for a, b, w in ends)

    def connect() -> None:
        target = rng.choice(hidden)["id"]
        source = rng.randrange(len(net.input_neurons))
        if not any((gene["source"], gene["target"]) == (source, target) for gene in genes):
            genes.append({"source": source, "target": target, "weight": number()})

    changed: list[Any] = [
        lambda: rng.choice(genes).update(weight=number()),
        lambda: rng.choice(hidden).update(bias=number()),
        lambda: rng.choice(genes).update(enabled=False),
        lambda: rng.choice(hidden).update(activation=rng.choice(["tanh", "relu", "identity"])),
        split,
        connect,
    ]
    for _ in range(changes):
        rng.choice(changed)()
    return Network.from_document(whole)


def test_the_last_neuron_of_a_layer_is_apart():
    """The graph alone gives the genes, not the layer."""
    nodes = [node("Conv", "x w", "c"), node("Tanh", "c", "t"), node("GlobalMaxPool", "t", "y")]
    w = np.random.default_rng(0).normal(size=(2, 1, 3, 3))
    whole = import_model(graph(nodes, x=("N", 1, 6, 6), w=w))
    last = int(whole.blocks[0].neurons.flat[-1])
    net = changed_neuron(whole, last, bias=0.75)
    model = export(net)
    back = import_model(model.to_bytes())
    assert back == net and len(back.blocks) == len(net.blocks)
    assert "Conv" in operators(export(back))


@settings(max_examples=count(1, 20))
@given(st.integers(0, 1 << 32))
def test_a_network_evolves_on_through_files(seed: int):
    """Generation after generation it computes the same, is the same genome, and has its layers."""
    net, most = PICTURE, 3 * len(export(PICTURE.without_source()).to_bytes())
    for generation in range(3):
        net = evolved(net, 2, seed + generation)
        model = export(net)
        assert operators(model).count("Conv") == 2
        assert len(model.to_bytes()) < most
        trip = Trip(net)
        for route in ROUTES:
            route(trip)
        back = import_model(model.to_bytes())
        assert back == net
        assert [each.kind for each in back.blocks] == [each.kind for each in net.blocks]
        net = back


def test_the_blocks_of_a_file_whose_ids_do_not_fit_are_left_out():
    net = evolved(PICTURE, 3, 1)
    model = export(net)
    document = json.loads(model.metadata["neat_onnx.genome"])
    assert document["apart"]
    entries = {**model.metadata, GENOME: json.dumps(document | {"apart": [[]]})}
    listed = [MetadataEntry(key=key, value=value) for key, value in entries.items()]
    back = import_model(model.model_copy(update={"metadata_props": listed}).to_bytes())
    assert back == net and len(back.blocks) < len(net.blocks)
    assert all(np.all(block.neurons != NONE) for block in back.blocks)
