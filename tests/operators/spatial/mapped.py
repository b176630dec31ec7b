"""A network with a convolution and a pool, the mappings that say so, and changes to its genes."""

import json
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from chains import Building
from support.harness.routes import Trip, is_valid, json_trip, onnxruntime_agrees

from neat_onnx import NeatOnnxWarning, Network, export, load_network, verify
from neat_onnx.model import Model
from neat_onnx.network.port import Port
from neat_onnx.network.spatial import Kind
from neat_onnx.network.window import Window

CONV = {
    "layer_index": 1,
    "in_channels": 2, "in_height": 4, "in_width": 3,
    "out_channels": 2, "out_height": 4, "out_width": 3,
    "kernel_height": 3, "kernel_width": 3, "stride_height": 1, "stride_width": 1,
    "pad_top": 1, "pad_left": 1, "pad_bottom": 1, "pad_right": 1,
}  # fmt: skip
POOL = {
    "after_layer_index": 1, "type": "MaxPool",
    "kernel_height": 2, "kernel_width": 2, "stride_height": 2, "stride_width": 1,
}  # fmt: skip


def network(pool: Kind | None = "MaxPool", blocks: bool = False, dense: bool = True) -> Network:
    """Inputs 0 to 23, a Conv of 24 to 47, a pool, and two dense neurons; ids are positions."""
    building = Building(np.random.default_rng(0))
    inputs = building.neurons((2, 4, 3))
    window = Window((3, 3), pads=(1, 1, 1, 1))
    last = building.slide("Conv", inputs, (2, 4, 3), window, "neat_tanh")
    if pool is not None:
        window = Window((2, 2), strides=(2, 1))
        last = building.slide(pool, last, (2, 2, 2), window, "identity")
    if dense:
        last = building.dense(last.ravel(), 2, "tanh")
    net = building.network(
        Port("input", (24,), inputs.ravel()),
        Port("output", (last.size,), last.ravel()),
        blocks=blocks,
        order=np.arange(len(building.activation)),
        sparse=False,
    )
    return replace(net, neurons=replace(net.neurons, id=np.arange(len(net))))


NET = network()
BOTH = {"conv2d_mappings": [CONV], "pool2d_mappings": [POOL]}


def assert_same(net: Network, model: Model, **options: Any) -> None:
    """The model is valid, and a runtime computes what the network does."""
    trip = Trip(net, options)
    trip.__dict__["model"] = model
    for route in (is_valid, onnxruntime_agrees, json_trip):
        route(trip)


def changed_neuron(net: Network, neuron: int, **genes: Any) -> Network:
    """The network with other genes of one neuron."""
    document = json.loads(net.to_json())
    document["neurons"][neuron] |= genes
    return load_network(document)


def changed_edge(net: Network, source: int, target: int, **genes: Any) -> Network:
    """The network with other genes of one connection."""
    document = json.loads(net.to_json())
    (edge,) = (e for e in document["connections"] if (e["source"], e["target"]) == (source, target))
    edge |= genes
    return load_network(document)


def with_edges(net: Network, *edges: dict[str, Any]) -> Network:
    document = json.loads(net.to_json())
    document["connections"] += edges
    return load_network(document)


def said(net: Network, **options: Any) -> tuple[Model, list[str]]:
    """The model, which is right, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = export(net, **options)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    return model, [str(each.message) for each in caught if each.category is NeatOnnxWarning]
