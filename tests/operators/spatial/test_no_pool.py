"""Layers that are no pool, or none that the opset has: written otherwise, with the reason."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from chains import Building, mappings_of
from mapped import (
    CONV,
    NET,
    POOL,
    assert_same,
    changed_edge,
    changed_neuron,
    said,
    with_edges,
)
from support.examples.graphs import operators

from neat_onnx import Network, export, import_model
from neat_onnx.network.port import Port
from neat_onnx.network.spatial import Kind
from neat_onnx.network.window import Window

NO_POOL = {
    "weight": (
        changed_edge(NET, 24, 48, weight=2.0),
        POOL,
        "neuron 48 (channel 0, at 0, 0) does not read every neuron of its window once, with the "
        "weight 1",
    ),
    "twice": (
        with_edges(NET, {"source": 24, "target": 48, "weight": 1.0}),
        POOL,
        "does not read every neuron of its window once",
    ),
    "missing": (changed_edge(NET, 24, 48, enabled=False), POOL, "does not read every neuron"),
    "outside": (
        with_edges(NET, {"source": 40, "target": 48, "weight": 1.0}),
        POOL,
        "neuron 48 (channel 0, at 0, 0) reads more than its window",
    ),
    "bias": (changed_neuron(NET, 50, bias=1.0), POOL, "neuron 50 (channel 0, at 1, 0) has a bias"),
    "kind": (NET, POOL | {"type": "AveragePool"}, "does not take the mean of its inputs"),
    "sizes": (NET, POOL | {"stride_height": 1}, "2·3·2 = 12, but layer 2 has 8 neurons"),
    "given": (
        NET,
        POOL | {"in_channels": 1, "in_height": 4, "in_width": 3},
        "inChannels·inHeight·inWidth is 1·4·3 = 12, but layer 1 has 24 neurons",
    ),
    "layer": (NET, POOL | {"after_layer_index": 3}, "nothing tells the channels, height and"),
    "padding": (
        NET,
        POOL | {"stride_width": 2, "pad_right": 2},
        "less padding",
    ),
}


@pytest.mark.parametrize("what", NO_POOL)
def test_a_layer_that_is_no_pool_is_written_as_it_is(what: str):
    net, mapping, reason = NO_POOL[what]
    model, (message,) = said(net, conv2d_mappings=[CONV], pool2d_mappings=[mapping])
    assert message.startswith("pool2d_mappings[0]: no pool is written after layer ")
    assert reason in message
    assert {"Conv", "ReduceMax"} <= set(operators(model))
    assert not {"MaxPool", "AveragePool"} & set(operators(model))


def pooled(kind: Kind, window: Window, height: int, width: int) -> tuple[Network, dict[str, Any]]:
    """One pool over one channel of this size, and the mapping that says so."""
    building = Building(np.random.default_rng(0))
    inputs = building.neurons((1, height, width))
    shape = (1, *window.positions((height, width)))
    last = building.slide(kind, inputs, shape, window, "identity")
    net = building.network(
        Port("input", (1, height, width), inputs.ravel()),
        Port("output", (last.size,), last.ravel()),
        blocks=True,
        order=np.arange(len(building.activation)),
        sparse=False,
    )
    return replace(net, blocks=()), mappings_of(list(net.blocks), sizes_of_pools=False)


@pytest.mark.parametrize(
    ("kind", "window", "since", "reason"),
    [
        (
            "AveragePool",
            Window.of((2, 2), dilations=(2, 2)),
            19,
            "AveragePool has dilations from opset 19 only",
        ),
        (
            "MaxPool",
            Window.of((2, 1), strides=(2, 2), ceil=True),  # three rows want it, columns not
            22,
            "before opset 22 positions that start after the layer count",
        ),
    ],
)
def test_what_the_opset_does_not_say_is_written_otherwise(
    kind: Kind, window: Window, since: int, reason: str
):
    net, mappings = pooled(kind, window, 3, 4)
    model, (message,) = said(net, opset=since - 1, **mappings)
    assert message.endswith(reason)
    assert kind not in operators(model)
    model, none = said(net, opset=since, **mappings)
    assert none == [] and kind in operators(model)
    assert_same(net, model, opset=since)
    back = import_model(model.to_json())
    assert [block.kind for block in back.blocks] == [kind]
    assert kind not in operators(export(back, opset=since - 1))  # nobody asked, so nothing is said


@pytest.mark.parametrize("opset", [13, 18, 26])
def test_ceil_mode_is_left_out_where_it_changes_nothing_but_what_onnx_infers(opset: int):
    net, mappings = pooled("MaxPool", Window.of((1, 1), strides=(1, 2), ceil=True), 2, 2)
    model = export(net, opset=opset, **mappings)
    assert_same(net, model, opset=opset)
    (pool,) = (node for node in model.graph.node if node.op_type == "MaxPool")
    assert pool.attributes.ceil_mode == 0
