"""Inputs without time beside sequences are the same at every step, and leave without it."""

import numpy as np
import onnx
import pytest
from support.examples.texts import drawn, ends, proto_of
from support.harness.sessions import open_session

from neat_onnx import Model, Network, export, import_model, load_model, verify

LENGTHS = ((1, 1), (1, 5), (4, 1), (3, 6))
"""Numbers of samples and steps to run a model with."""


def layer(operator: str, reads: str, width: int) -> str:
    """A recurrent layer over [N, T, width]: its outputs h [T, N, 4], and its end h_end [N, 4]."""
    rows = {"RNN": 4, "GRU": 12, "LSTM": 16}[operator]
    weights = f"W_1_{rows}_{width}, R_1_{rows}_4, B_1_{2 * rows}"
    return f"""steps = Transpose <perm = [1, 0, 2]> ({reads})
        each, last = {operator} <hidden_size = 4> (steps, {weights})
        h = Squeeze (each, i_1) h_end = Squeeze (last, i_0) """


OF_STEPS = """s1 = Unsqueeze (s, i_1) sizes = Shape (x) leading = Slice (sizes, i_0, i_2)
    count = Slice (leading, i_1, i_2) """
READ = {
    "at the end": layer("GRU", "x", 3) + "f = MatMul (s, V_2_4) y = Add (h_end, f)",
    "at every step": layer("RNN", "x", 3) + "f = MatMul (s, V_2_4) y = Mul (h, f)",
    "before the layer": "f = MatMul (s, V_2_3) f1 = Unsqueeze (f, i_1) also = Add (x, f1) "
    + layer("RNN", "also", 3)
    + "y = Identity (h_end)",
    "expanded": OF_STEPS
    + "shape = Concat <axis = 0> (leading, i_2) s2 = Expand (s1, shape) "
    + "wide = Concat <axis = 2> (x, s2) "
    + layer("LSTM", "wide", 5)
    + "y = Identity (h_end)",
    "tiled": OF_STEPS
    + "times = Concat <axis = 0> (i_1, count, i_1) s2 = Tile (s1, times) "
    + "wide = Concat <axis = 2> (x, s2) "
    + layer("RNN", "wide", 5)
    + "y = Identity (h)",
    "without a layer": "f = MatMul (s, V_2_3) f1 = Unsqueeze (f, i_1) y = Mul (x, f1)",
}


def conditioned(nodes: str, s: str = "[N, 2]", outputs: str = "float[] y") -> Model:
    """A model of sequences x [N, T, 3] and an input s without time, with the shapes it infers."""
    proto = proto_of(f"(float[N, T, 3] x, float{s} s) => ({outputs}) {{ {nodes} }}", opset=17)
    return load_model(onnx.shape_inference.infer_shapes(proto))


def assert_comes_back(model: Model) -> Network:
    """Assert that the export takes the inputs of the model, and gives its outputs."""
    net = import_model(model)
    exported = export(net)
    ranks = [[(name, len(shape)) for name, _, shape in ends(each)] for each in (exported, model)]
    assert ranks[0] == ranks[1]
    rng = np.random.default_rng(2)
    for samples, steps in LENGTHS:
        feed = drawn(model, rng, N=samples, T=steps)
        runs = (open_session(each).run(None, feed) for each in (exported, model))
        for mine, theirs in zip(*runs, strict=True):
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
    assert verify(net, exported, samples=16).passed
    assert verify(net, model, samples=16).passed
    assert import_model(exported) == net
    return net


@pytest.mark.parametrize("name", READ)
def test_it_may_be_read_anywhere(name):
    net = assert_comes_back(conditioned(READ[name]))
    assert [(port.batch_axis, port.time_axis) for port in net.inputs] == [(0, 1), (0, None)]


def test_an_output_of_it_alone_has_no_time():
    nodes = READ["at every step"] + " z = Tanh (f)"
    net = assert_comes_back(conditioned(nodes, outputs="float[] y, float[] z"))
    assert [port.time_axis for port in net.outputs] == [0, None]


@pytest.mark.parametrize("sizes", ["[1]", "[4]", ""])
def test_all_samples_may_share_it(sizes):
    nodes = layer("RNN", "x", 3) + "y = Mul (h_end, s)"
    net = assert_comes_back(conditioned(nodes, sizes))
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
