"""Operators along axes, tables at computed places and branches come back as few nodes."""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, graph_of_inputs, node, operators
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify
from neat_onnx.genome import CHECKSUM

RANDOM = np.random.default_rng(3)
TABLE, WEIGHTS = RANDOM.normal(size=(7, 4)), RANDOM.normal(size=(6, 3))
KERNEL = RANDOM.normal(size=(5, 2, 3, 3))
INT64 = onnx.TensorProto.INT64
EMBEDDED = [node("Cast", "x", "i", to=INT64), node("Gather", "T i", "y")]


def order(axis, shape, outputs=("y", "z"), **attributes):
    nodes = [
        node("TopK", "x k", "y i", axis=axis, **attributes),
        node("Cast", "i", "z", to=1),
    ]
    return graph(nodes[: len(outputs)], x=shape, outputs=outputs, k=np.array([2]))


def place(operator, axis, shape, **attributes):
    nodes = [node(operator, "x", "i", axis=axis, **attributes), node("Cast", "i", "y", to=1)]
    return graph(nodes, x=shape)


def place_in_rows():
    nodes = [
        node("MatMul", "x W", "h"),
        node("ArgMax", "h", "i", axis=-1),
        node("Cast", "i", "y", to=1),
    ]
    return graph(nodes, x=("N", 5, 6), W=WEIGHTS)


def reduced(operator, axes, shape, **attributes):
    nodes = [node("Tanh", "x", "t"), node(operator, "t", "y", axes=axes, **attributes)]
    return graph(nodes, x=shape, opset=11)


def response(channels, size, picture=(3, 4), **attributes):
    return graph([node("LRN", "x", "y", size=size, **attributes)], x=("N", channels, *picture))


def response_of_a_layer():
    nodes = [
        node("Conv", "x K", "c", pads=[1, 1, 1, 1]),
        node("Relu", "c", "r"),
        node("LRN", "r", "n", size=3, alpha=0.5),
        node("MaxPool", "n", "y", kernel_shape=[2, 2]),
    ]
    return graph(nodes, x=("N", 2, 4, 4), K=KERNEL)


def embedded_in_a_layer():
    nodes = [*EMBEDDED[:1], node("Gather", "T i", "e"), node("Flatten", "e", "f")]
    return graph(
        [*nodes, node("Gemm", "f V", "y")], x=("N", 3), T=TABLE, V=RANDOM.normal(size=(12, 2))
    )


def clipped():
    nodes = [
        node("Cast", "x", "i", to=INT64),
        node("Abs", "i", "a"),
        node("Clip", "a least most", "c"),
        node("Gather", "T c", "y"),
    ]
    return graph(nodes, x=("N", 3), T=TABLE, least=np.array(0), most=np.array(6))


def of_rows(operator):
    nodes = [node("Tanh", "x", "t"), node(operator, "t", "y", axis=-1)]
    return graph(nodes, x=("N", 2, 3, 4))


def attention():
    """Scores of queries and keys, both scaled, by an operator for opset 23."""
    shapes = dict.fromkeys("qkv", ("N", 2, 8, 4))
    return graph_of_inputs([node("Attention", "q k v", "y")], shapes, opset=23)


PLACES = {
    "hits along the last axis": (graph([node("Hardmax", "x", "y", axis=-1)], x=("N", 4, 6)),
                                 ["Hardmax"]),
    "hits along channels": (graph([node("Hardmax", "x", "y", axis=1)], x=("N", 4, 6)),
                            ["Hardmax"]),
    "hits of a product": (
        graph([node("MatMul", "x W", "h"), node("Hardmax", "h", "y", axis=-1)],
              x=("N", 5, 6), W=WEIGHTS), ["MatMul", "Hardmax"]),
    "places in rows of a product": (place_in_rows(), ["MatMul", "ArgMax"]),
    "places along rows": (place("ArgMax", -1, ("N", 3, 5)), ["ArgMax"]),
    "places along channels": (place("ArgMin", 1, ("N", 5, 3, 2), keepdims=0), ["ArgMin"]),
    "order along rows": (order(-1, ("N", 3, 6)), ["TopK"]),
    "order along channels": (order(1, ("N", 6, 3), largest=0), ["TopK"]),
    "order along few channels": (order(1, ("N", 4, 3)), ["TopK"]),
    "first along channels": (order(1, ("N", 6, 4), outputs=["y"]), ["TopK"]),
    "order of pairs along channels": (order(1, ("N", 5, 4)), ["TopK"]),
}  # fmt: skip
AXES = {
    "largest channel": (reduced("ReduceMax", [1], ("N", 4, 6, 5)), ["Tanh", "ReduceMax"]),
    "least of planes": (
        reduced("ReduceMin", [1, 3], ("N", 4, 3, 5), keepdims=0), ["Tanh", "ReduceMin"]),
    "mean of a picture": (
        reduced("ReduceMean", [2, 3], ("N", 4, 3, 5), keepdims=0), ["Tanh", "ReduceMean"]),
    "rows of three axes": (of_rows("Softmax"), ["Tanh", "Softmax"]),
    "logarithms of three axes": (of_rows("LogSoftmax"), ["Tanh", "LogSoftmax"]),
}  # fmt: skip
TABLES = {
    "embedding": (graph(EMBEDDED, x=("N", 3), T=TABLE), ["Cast", "OneHot", "MatMul"]),
    "embedding of one": (
        graph(EMBEDDED, x=("N", 1), T=TABLE), ["Cast", "OneHot", "Flatten", "Gemm", "Reshape"]),
    "embedding in a layer": (
        embedded_in_a_layer(), ["Cast", "OneHot", "MatMul", "Flatten", "Gemm"]),
    "clipped places": (clipped(), ["Cast", "Cast", "Abs", "Clip", "Cast", "Gather"]),
}  # fmt: skip
PICTURES = {
    "itself": (response(3, 1), ["LRN"]),
    "neighbours": (response(5, 3), ["LRN"]),
    "numbers": (response(9, 5, alpha=0.3, beta=0.5, bias=2.0), ["LRN"]),
    "few channels": (response(4, 5, alpha=0.01), ["LRN"]),
    "all channels": (response(3, 7), ["LRN"]),
    "many elements": (response(4, 3, (16, 16)), ["LRN"]),
    "many sums": (response(12, 5, (14, 14), alpha=0.02), ["LRN"]),
    "squares in several nodes": (response(4, 3, (6, 6)), ["LRN"]),
    "in a network": (response_of_a_layer(), ["Conv", "Relu", "LRN", "MaxPool"]),
}
CASES = {**PLACES, **AXES, **TABLES, **PICTURES}


@pytest.mark.filterwarnings("ignore:a Conv of the network is written:neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_it_is_as_few_nodes_again(case: tuple[onnx.ModelProto, list[str]]):
    model, want = case
    net = assert_lifts(model)
    short = export(net)
    found = operators(short)
    assert found == want or [each for each in found if each != "Cast"] == want
    assert len(short.to_bytes()) <= 2 * len(model.SerializeToString())
    assert short.metadata.keys() <= {CHECKSUM}
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
    assert export(import_model(short)).to_bytes() == short.to_bytes()


def test_queries_and_keys_are_scaled_by_themselves():
    net = import_model(attention(), check=False)
    short = export(net, opset=18)
    assert operators(short) == ["Mul", "Transpose", "Mul", "MatMul", "Sum", "Softmax", "MatMul"]
    assert len(short.to_bytes()) <= 340
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_integers_are_compared_in_axes_of_their_own():
    """They are floats in a network; of its input one Cast makes them."""
    model = graph([node("Gather", "T x", "y")], x=("N", 3), T=TABLE)
    model.graph.input[0].type.tensor_type.elem_type = INT64
    net = replace(import_model(model, check=False), operators=())
    short = export(net)
    assert operators(short)[:3] == ["Cast", "Reshape", "Sub"]
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_an_order_of_all_truth_values_is_reduced_along_axes():
    nodes = [
        node("ReduceMax", "x", "a", keepdims=0),
        node("ReduceMax", "x", "b", keepdims=1),
        node("ReduceMax", "x", "c", axes=[2], keepdims=0),
        node("ReduceMax", "x", "y", axes=[0, 2]),
    ]
    model = graph(nodes, x=(2, 3, 4), outputs=["a", "b", "c", "y"], opset=13)
    net = import_model(model, batch_axis=None)
    short = export(net, batch_dimension="N")
    assert operators(short) == ["ReduceMax"] * 4
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_places_that_there_are_not_have_no_row(dtype):
    net = import_model(graph(EMBEDDED, x=("N", 6), T=TABLE), check=False)
    x = np.array([[0, 6, 7, -1, -7, -8], [99, -99, 3.9, -0.9, 6.5, 1e6]])
    session = open_session(export(net, dtype=dtype))
    (got,) = session.run(None, {"x": x.astype(dtype)})
    np.testing.assert_allclose(got, net.activate(x).reshape(got.shape), rtol=1e-6)
    assert not got[0, 2].any()
    assert got[0, 3].any()


def test_another_power_of_squares_is_no_response():
    """One channel weighs another one otherwise."""
    weights = np.full((3, 3), 0.1)
    weights[0, 2] = weights[2, 0] = 0.0
    weights[1, 2] = 0.2
    nodes = [
        node("Mul", "x x", "s"),
        node("Conv", "s W one", "c"),
        node("Pow", "c least", "p"),
        node("Mul", "x p", "y"),
    ]
    constants = {"W": weights.reshape(3, 3, 1, 1), "one": np.ones(3), "least": np.array(-0.75)}
    net = assert_lifts(graph(nodes, x=("N", 3, 4, 4), **constants))
    short = export(net)
    assert "LRN" not in operators(short)
    assert verify(net, short, runtime="onnxruntime").passed


def test_a_table_of_other_numbers_is_no_one_hot():
    """Each number is compared with 1, 2, …, so none is a place."""
    nodes = [
        node("Cast", "x", "i", to=INT64),
        node("Cast", "i", "f", to=1),
        node("Unsqueeze", "f last", "u"),
        node("Equal", "u numbers", "e"),
        node("Cast", "e", "h", to=1),
        node("MatMul", "h T", "y"),
    ]
    constants = {"last": [2], "numbers": np.arange(1.0, 8.0), "T": TABLE}
    net = assert_lifts(graph(nodes, x=("N", 3), **constants), scale=3.0)
    short = export(net)
    assert {"OneHot", "Gather"}.isdisjoint(operators(short))
    assert verify(net, short, runtime="onnxruntime").passed
