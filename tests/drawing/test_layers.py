"""Layers that a picture shows as one: convolutions, pools, cells, if they are what they seem."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neat_onnx
from neat_onnx.drawing.layers import named_layers
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule
from neat_onnx.network.spatial import receptive_fields

CORPORA = Path(__file__).parent.parent / "corpora"
pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def source(name: str) -> Any:
    return json.loads((CORPORA / f"{name}.json").read_text())["source"]


def shown(net: Network) -> list[tuple[str, int]]:
    return [(each.label, each.neurons.size) for each in named_layers(net, schedule(net))]


def imported(name: str) -> Network:
    return neat_onnx.import_model(neat_onnx.convert(source(name)))


def test_convolutions_and_pools_have_their_kernels():
    assert shown(imported("nts-onnx-convstride-3")) == [("Conv 3×2", 24)]
    assert shown(imported("nts-onnx-poolmax-2")) == [("Conv 2×2", 16), ("MaxPool 3×3", 16)]


def test_a_convolution_whose_weights_are_not_shared_is_none():
    net = imported("nts-onnx-convstride-3")
    changed = np.array(net.connections.weight)
    changed += np.arange(len(changed))
    assert shown(replace(net, connections=replace(net.connections, weight=changed))) == []


def test_a_convolution_is_one_without_the_connections_of_a_weight():
    """Export writes the weight as 0: all positions lack it."""
    net = imported("nts-onnx-convstride-3")
    (block,) = net.blocks
    fields, every = receptive_fields(block), net.connections
    lost = fields.weight == 0
    read = block.sources.ravel()[fields.source[lost]]
    pairs = set(
        zip(read.tolist(), block.neurons.ravel()[fields.neuron[lost]].tolist(), strict=True)
    )
    ends = zip(every.source.tolist(), every.target.tolist(), strict=True)
    kept = [place for place, pair in enumerate(ends) if pair not in pairs]
    pruned = replace(net, connections=every.take(np.array(kept)))
    assert len(kept) == len(every) - len(pairs) < len(every)
    assert "Conv" in [node.op_type for node in neat_onnx.export(pruned).graph.node]
    assert shown(pruned) == [("Conv 3×2", 24)]


def test_a_pool_whose_connections_weigh_something_is_none():
    net = imported("nts-onnx-poolmax-2")
    neurons = net.blocks[-1].neurons
    weight = np.where(np.isin(net.connections.target, neurons), 2.0, net.connections.weight)
    changed = replace(net, connections=replace(net.connections, weight=weight))
    assert "MaxPool" not in [node.op_type for node in neat_onnx.export(changed).graph.node]
    assert shown(changed) == [("Conv 2×2", 16)]


def test_a_convolution_whose_channels_have_activations_of_their_own_is_one():
    net = imported("nts-onnx-convstride-3")
    (block,) = net.blocks
    code = np.array(net.neurons.activation)
    code[block.neurons[0]] = len(net.activations)
    neurons = replace(net.neurons, activation=code)
    changed = replace(net, activations=(*net.activations, "sin"), neurons=neurons)
    assert shown(changed) == [("Conv 3×2", 24)]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("nts-net-lstm-2", [("LSTM 2", 8), ("LSTM 2", 8)]),
        ("nts-net-gru-5", [("GRU 2", 12), ("GRU 2", 12)]),
        ("np-rec-10", []),
        ("nts-net-dag-24", []),
    ],
)
def test_cells_with_gates_are_found_where_they_are(name: str, wanted: list[Any]):
    assert shown(neat_onnx.load_network(source(name))) == wanted


@pytest.mark.parametrize("operator", ["RNN", "GRU", "LSTM"])
def test_cells_without_gates_of_connections_are_found_too(operator: str):
    net = getattr(Network, operator.lower())(2, 4, 1, seed=0)
    ((label, size),) = shown(net)
    assert label == f"{operator} 4"
    assert size % 4 == 0
