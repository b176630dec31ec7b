"""Inputs without time beside sequences are the same at every step, and leave without it."""

import numpy as np
import pytest
from support.examples.conditioned import assert_comes_back, conditioned, layer
from support.examples.graphs import node

from neat_onnx import export, import_model, verify

AT_EACH_STEP = "s1 = Unsqueeze(s, second) sizes = Shape(x) leading = Slice(sizes, first, third)"
READ = {
    "at the end": [
        *layer("GRU", "x", "h"),
        node("MatMul", "s into_H", "f"),
        node("Add", "h_end f", "y"),
    ],
    "at every step": [
        *layer("RNN", "x", "h"),
        node("MatMul", "s into_H", "f"),
        node("Mul", "h f", "y"),
    ],
    "before the layer": [
        node("MatMul", "s into_3", "f"),
        node("Unsqueeze", "f second", "f1"),
        node("Add", "x f1", "also"),
        *layer("RNN", "also", "h"),
        node("Identity", "h_end", "y"),
    ],
    "expanded": [
        AT_EACH_STEP,
        node("Concat", "leading two", "shape", axis=0),
        node("Expand", "s1 shape", "s2"),
        node("Concat", "x s2", "wide", axis=2),
        *layer("LSTM", "wide", "h"),
        node("Identity", "h_end", "y"),
    ],
    "tiled": [
        AT_EACH_STEP,
        node("Slice", "leading second third", "steps"),
        node("Concat", "second steps second", "times", axis=0),
        node("Tile", "s1 times", "s2"),
        node("Concat", "x s2", "wide", axis=2),
        *layer("RNN", "wide", "h"),
        node("Identity", "h", "y"),
    ],
    "without a layer": "f = MatMul(s, into_3) f1 = Unsqueeze(f, second) y = Mul(x, f1)",
}


@pytest.mark.parametrize("name", READ)
def test_it_may_be_read_anywhere(name):
    net = assert_comes_back(conditioned(READ[name], two=np.array([2])))
    assert [(port.batch_axis, port.time_axis) for port in net.inputs] == [(0, 1), (0, None)]


def test_an_output_of_it_alone_has_no_time():
    nodes = [*READ["at every step"], node("Tanh", "f", "z")]
    net = assert_comes_back(conditioned(nodes, ["y", "z"]))
    assert [port.time_axis for port in net.outputs] == [0, None]


@pytest.mark.parametrize("sizes", [[1], [4], []])
def test_all_samples_may_share_it(sizes):
    nodes = [*layer("RNN", "x", "h"), node("Mul", "h_end s", "y")]
    net = assert_comes_back(conditioned(nodes, s=sizes))
    assert net.inputs[1].batch_axis is None


def test_a_step_has_it_as_well():
    model = conditioned(READ["at the end"])
    net = import_model(model)
    step = export(net.without_source(), sequence=False)
    shapes = {entry.name: entry.shape for entry in step.graph.inputs}
    assert (shapes["x"], shapes["s"]) == (("N", 3), ("N", 2))
    assert verify(net, step, samples=16).passed


def test_a_network_takes_it_without_time():
    net = import_model(conditioned(READ["at the end"]))
    rng = np.random.default_rng(0)
    x, s = rng.normal(size=(5, 3, 3)), rng.normal(size=(3, 2))
    once = net.run({"x": x, "s": s})["y"]
    each = net.run({"x": x, "s": np.broadcast_to(s, (5, 3, 2))})["y"]
    np.testing.assert_array_equal(once, each)
