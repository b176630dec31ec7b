"""Differences of all pairs, and distances, come back as tensors that are broadcast."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, assert_valid_in_any_form, graph, node, operators
from support.harness.sweep import each

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(8)
PAIRS = [node("Unsqueeze", "h one", "u"), node("Unsqueeze", "h two", "v"), node("Sub", "u v", "d")]
LAYER, ITSELF = node("Tanh", "x", "h"), node("Identity", "x", "h")
NUMBERS = {"one": np.array([1]), "two": np.array([2]), "last": np.array([3])}


def pairs(*nodes, shape=("N", 7, 5), layer=ITSELF, opset=18, **given):
    return graph([layer, *PAIRS, *nodes], x=shape, opset=opset, **NUMBERS, **given)


def total(reads, gives="y", operator="ReduceSum"):
    return node(operator, f"{reads} last", gives, keepdims=0)


CASES = {
    "squares": pairs(node("Mul", "d d", "q"), total("q")),
    "an older opset": pairs(node("Mul", "d d", "q"), total("q"), opset=15),
    "sizes": pairs(node("Abs", "d", "q"), total("q"), layer=LAYER),
    "mean": pairs(node("Mul", "d d", "q"), total("q", operator="ReduceMean")),
    "a function of it": pairs(
        node("Mul", "d d", "q"), total("q", "s"), node("Neg", "s", "m"), node("Exp", "m", "y")
    ),
    "powers": pairs(
        node("Abs", "d", "a"), node("Pow", "a p", "q"), total("q", "s"), node("Sqrt", "s", "y"),
        p=np.array(3.0),
    ),
    "of numbers": pairs(node("Abs", "d", "y"), shape=("N", 16)),
    "two functions": pairs(
        node("Abs", "d", "a"), node("Pow", "a p", "y"), shape=("N", 16), p=np.array(3.0)
    ),
    "in a layer": pairs(
        node("MatMul", "d w", "m"), node("Relu", "m", "y"),
        layer=LAYER, w=RANDOM.normal(size=(5, 3)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", each(2, list(CASES)))
def test_they_are_broadcast_again(case):
    model = CASES[case]
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


def test_pairs_of_two_tensors():
    """Each of one, with each of the other."""
    nodes = [
        node("MatMul", "x w", "h"),
        node("MatMul", "x v", "g"),
        node("Unsqueeze", "h one", "a"),
        node("Unsqueeze", "g two", "b"),
        node("Sub", "a b", "d"),
        node("Mul", "d d", "q"),
        total("q"),
    ]
    weights = {"w": RANDOM.normal(size=(5, 4)), "v": RANDOM.normal(size=(5, 4))}
    net = assert_lifts(graph(nodes, x=("N", 7, 5), **NUMBERS, **weights))
    short = export(net)
    assert import_model(short) == net


@pytest.mark.parametrize("change", ["some", "order"])
def test_other_pairs_are_a_list(change):
    first, second = np.triu_indices(7, 1) if change == "some" else np.divmod(np.arange(49), 7)
    second = second if change == "some" else (second + first) % 7
    nodes = [
        node("Gather", "x i", "u", axis=1),
        node("Gather", "x j", "v", axis=1),
        node("Sub", "u v", "d"),
        node("Mul", "d d", "q"),
        node("ReduceSum", "q two", "y", keepdims=0),
    ]
    net = assert_lifts(graph(nodes, x=("N", 7, 5), i=first, j=second, two=np.array([2])))
    short = export(net)
    assert "Gather" in operators(short)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
