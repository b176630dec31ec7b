"""Elements of an order that are read without the ones before them, as the third largest."""

import numpy as np
import pytest
from onnx import TensorProto
from support.examples.graphs import assert_valid_in_any_form, graph, node
from support.harness.sweep import each, every

from neat_onnx import export, import_model, verify

SINGLE = {
    "third of three": (3, [2], 1),
    "third of the smallest": (3, [2], 0),
    "second and third": (3, [1, 2], 1),
    "without its axis": (3, 2, 1),
    "by ranks": (5, [4], 1),
    "some ranks": (7, [3, 4], 0),
}
SCORES = {
    "third of three": (3, [2], 1, -1),
    "first of three": (3, [0], 1, -1),
    "first two": (3, [0, 1], 1, -1),
    "all of three": (3, None, 1, -1),
    "by ranks": (8, [7], 1, -1),
    "some ranks": (12, [6, 7], 0, -1),
    "sorted": (12, None, 1, -1),
    "first of all": (12, [0], 1, -1),
    "without its axis": (8, 7, 1, -1),
    "along columns": (3, [2], 1, 1),
}


def part_of_order(count, read, largest, axis):
    """The nodes of a TopK of h, of which some elements are read, and their constants."""
    constants = {"k": np.array([count])}
    nodes = [node("TopK", "h k", "top places", axis=axis, largest=largest)]
    if read is None:
        return [*nodes, node("Tanh", "top", "y")], constants
    nodes += [node("Gather", "top at", "part", axis=axis), node("Tanh", "part", "y")]
    return nodes, {**constants, "at": np.array(read)}


def assert_one_order(model):
    """The export has the TopK, and none of the operators that find its elements."""
    net = import_model(model)
    short = export(net)
    [each.op_type for each in short.graph.node]
    assert import_model(short) == net
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize("case", SINGLE.values(), ids=SINGLE.keys())
def test_elements_of_one_row(case):
    nodes, constants = part_of_order(*case, axis=1)
    assert_one_order(graph([node("Tanh", "x", "h"), *nodes], x=("N", 7), **constants))


@pytest.mark.parametrize("name", each(2, list(SCORES)))
def test_elements_of_scores(name):
    nodes, constants = part_of_order(*SCORES[name])
    w = np.random.default_rng(3).normal(size=(4, 12))
    scores = [
        node("MatMul", "w x", "q"),
        node("Transpose", "x", "k0", perm=[0, 2, 1]),
        node("MatMul", "q k0", "h"),
    ]
    assert_one_order(graph([*scores, *nodes], x=("N", 12, 8), w=w, **constants))


def test_places_are_numbers_of_the_type():
    nodes = [node("TopK", "x k", "y places"), node("Cast", "places", "z", to=TensorProto.FLOAT)]
    model = graph(nodes, x=("N", 5), outputs=("y", "z"), k=[3])
    assert_one_order(model)


def sparse_attention(steps, count, heads, absent):
    """Attention to the steps with the largest scores; of other scores there is a number."""
    random = np.random.default_rng(4)
    constants = {
        "wq": random.normal(size=(8, 8)),
        "wk": random.normal(size=(8, 8)),
        "apart": [0, steps, heads, 8 // heads],
        "together": [0, steps, 8],
        "half": np.array(0.5),
        "count": [count],
        "last": [-1],
        "end": [2**31],
        "axis": [3],
        "absent": np.array(absent),
    }
    nodes = [
        node("MatMul", "x wq", "q0"),
        node("Reshape", "q0 apart", "q1"),
        node("Transpose", "q1", "q", perm=[0, 2, 1, 3]),
        node("MatMul", "x wk", "k0"),
        node("Reshape", "k0 apart", "k1"),
        node("Transpose", "k1", "k", perm=[0, 2, 3, 1]),
        node("Reshape", "x apart", "v1"),
        node("Transpose", "v1", "v", perm=[0, 2, 1, 3]),
        node("MatMul", "q k", "raw"),
        node("Mul", "raw half", "scores"),
        node("TopK", "scores count", "top places"),
        node("Slice", "top last end axis", "least"),
        node("GreaterOrEqual", "scores least", "are"),
        node("Where", "are scores absent", "few"),
        node("Softmax", "few", "shares", axis=-1),
        node("MatMul", "shares v", "mixed"),
        node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
        node("Reshape", "back together", "y"),
    ]
    return graph(nodes, x=("N", steps, 8), opset=17, **constants)


@pytest.mark.parametrize(
    ("size", "heads", "absent"),
    each(2, every([(12, 1), (12, 4), (12, 9), (24, 3)], [1, 2], [-np.inf, -1e9, -1e9])),
)
def test_sparse_attention_takes_the_same_bytes_of_any_length(size, heads, absent):
    """One element, some after the other, and all compared."""
    steps, count = size
    model = sparse_attention(steps, count, heads, absent)
    net = import_model(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, short, runtime="onnxruntime").passed
