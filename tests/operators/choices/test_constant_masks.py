"""Choices by a constant mask come back as Where, and products by ones and zeros as Mul."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node, operators

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(5)
SHAPE = ("N", 3, 8, 8)
PLACES = RANDOM.normal(size=(1, 1, 8, 8)) > 0
CHANNELS = np.array([True, False, True]).reshape(3, 1, 1)
TRIANGLE = np.tri(8) > 0


def masked(mask, *nodes, number=0.0, shape=SHAPE):
    model = graph(nodes, x=shape, none=np.array(number))
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(mask), "mask"))
    return model


def where(first="x", second="none", gives="y"):
    return node("Where", f"mask {first} {second}", gives)


LAYER = node("Tanh", "x", "t")
CASES = {
    "places": masked(PLACES, where()),
    "every element": masked(RANDOM.normal(size=(3, 8, 8)) > 0, where()),
    "channels": masked(CHANNELS, where()),
    "triangle": masked(TRIANGLE, where(), number=-1e9, shape=("N", 8, 8)),
    "softmax": masked(TRIANGLE, where(gives="w"), node("Softmax", "w", "y", axis=-1), number=-1e9),
    "the others": masked(PLACES, where("none", "x"), number=0.5),
    "a layer": masked(PLACES, LAYER, where("t"), number=1.0),
    "two tensors": masked(PLACES, LAYER, where("x", "t")),
    "in a network": masked(PLACES, LAYER, where("t", gives="w"), node("Abs", "w", "y")),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_a_choice_again(case):
    model = CASES[case]
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("diagonal", [-2, 0, 3])
@pytest.mark.parametrize("shape", [("N", 8, 8), ("N", 2, 6, 9)], ids=["square", "pictures"])
def test_a_triangle_is_one_again(upper, diagonal, shape):
    nodes = [LAYER, node("Trilu", "t k", "y", upper=upper)]
    model = graph(nodes, x=shape, k=np.array(diagonal))
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


@pytest.mark.parametrize("before", [[], [LAYER]], ids=["of an input", "of a layer"])
def test_ones_and_zeros_are_factors(before):
    read = before[-1].output[0] if before else "x"
    model = graph([*before, node("Mul", f"{read} mask", "y")], x=SHAPE, mask=PLACES.astype(float))
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_elements_that_move_are_a_list():
    """The mask says nothing of the elements before it, which stand in another order."""
    order = np.arange(64)[::-1]
    nodes = [
        node("Reshape", "x flat", "f"),
        node("Gather", "f order", "g", axis=2),
        node("Reshape", "g back", "b"),
        where("b"),
    ]
    model = masked(PLACES, *nodes)
    for name, values in (("flat", [0, 3, 64]), ("order", order), ("back", [0, 3, 8, 8])):
        tensor = onnx.numpy_helper.from_array(np.array(values, np.int64), name)
        model.graph.initializer.append(tensor)
    net = assert_lifts(model)
    short = export(net)
    assert "Gather" in operators(short)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


UNEVEN = """<ir_version: 8, opset_import: ["": 13]>
g (float[N, 3, 1] x, float[N, 1] z) => (float[N, 1] a, float[N, 2, 2] b, float[N, 1] c)
<int64 one = {1}, float[2, 2, 1] w = {0, 0, 0, -0.75}, int32 last = {-1},
 float[2, 2, 2] r = {0, -0.75, -0.75, -0.5, 0.75, -0.75, -0.5, 0.5}>
{ t = CumSum <exclusive = 1> (x, one)
  p = LpPool <kernel_shape = [1], strides = [2]> (t)
  a = Identity (z)
  q = Transpose <perm = [1, 0, 2]> (p)
  s, h = RNN <direction = "bidirectional", hidden_size = 2> (q, w, r)
  b = Transpose <perm = [1, 0, 2]> (h)
  c = CumSum <reverse = 1> (a, last) }"""


def test_a_choice_of_no_whole_tensor_is_none():
    """Sums with zeros at some steps and not at others, in no tensor's axes."""
    net = import_model(onnx.parser.parse_model(UNEVEN))
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
