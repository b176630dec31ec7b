"""LpPool comes back as itself, whatever the windows and the power."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, assert_valid_in_any_form, graph, node, operators

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(9)


def pooled(shape=("N", 3, 8, 9), **attributes):
    return graph([node("LpPool", "x", "y", **attributes)], x=shape)


def in_a_network():
    nodes = [
        node("Conv", "x w", "c"),
        node("LpPool", "c", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Sub", "p half", "s"),
        node("Relu", "s", "r"),
        node("Conv", "r v", "y"),
    ]
    given = {"w": RANDOM.normal(size=(4, 2, 3, 3)), "v": RANDOM.normal(size=(2, 4, 2, 2))}
    return graph(nodes, x=("N", 2, 10, 10), half=np.array(0.5), **given)


CASES = {
    "squares": pooled(kernel_shape=[2, 2], strides=[2, 2]),
    "sizes": pooled(kernel_shape=[2, 3], strides=[2, 3], p=1),
    "cubes": pooled(kernel_shape=[3, 3], strides=[2, 2], p=3),
    "over the border": pooled(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1]),
    "overlapping": pooled(kernel_shape=[3, 2]),
    "sequence": pooled(("N", 4, 20), kernel_shape=[4], strides=[3], p=2),
    "volume": pooled(("N", 2, 4, 4, 6), kernel_shape=[2, 2, 3], strides=[2, 2, 3]),
    "in a network": in_a_network(),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_one_node_again(case):
    model = CASES[case]
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize("change", ["root", "uneven steps", "weights"])
def test_other_roots_are_no_pool(change):
    squares, given = node("Mul", "x x", "q"), {"k": np.array([2])}
    if change == "uneven steps":
        nodes = [squares, node("Gather", "q i", "g", axis=2), node("ReduceSum", "g k", "s")]
        given["i"] = np.array([[0, 1, 3], [1, 2, 4]]).T
    elif change == "weights":
        nodes = [squares, node("Conv", "q w", "s", group=2)]
        given["w"] = np.array([[[1.0, 0.5]], [[1.0, 0.5]]])
    else:
        nodes = [squares, node("AveragePool", "q", "s", kernel_shape=[2], strides=[2])]
    nodes.append(node("Pow", "s p", "y"))
    given["p"] = np.array(0.4 if change == "root" else 0.5)
    net = assert_lifts(graph(nodes, x=("N", 2, 8), **given))
    short = export(net)
    assert "LpPool" not in operators(short)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
