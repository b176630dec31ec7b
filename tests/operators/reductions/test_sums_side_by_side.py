"""Sums of the rows and of the columns of a picture come back as two reductions, without lists."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, assert_valid_in_any_form, graph, node, operators

from neat_onnx import export, import_model, verify


def places(size: int):
    """The mean place of a picture's values, as a spatial soft-argmax has it."""
    nodes = [node("Softmax", "x", "p", axis=-1), node("Reshape", "p apart", "q")]
    for axis, line, place in (("two", "c", "u"), ("three", "d", "v")):
        nodes += [
            node("ReduceSum", f"q {axis}", f"{place}1", keepdims=0),
            node("Mul", f"{place}1 {line}", f"{place}2"),
            node("ReduceSum", f"{place}2 two", place, keepdims=0),
        ]
    nodes.append(node("Concat", "u v", "y", axis=1))
    constants = {"apart": [0, 2, size, size], "two": [2], "three": [3]}
    line = np.linspace(-1.0, 1.0, size)
    return graph(nodes, x=("N", 2, size * size), c=line, d=0.5 * line, **constants)


@pytest.mark.parametrize("size", [12, 120])
def test_they_are_two_reductions(size):
    """And one of both products; also of many genes, where the file has a genome."""
    model = places(size)
    net = assert_lifts(model, rows=2)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, samples=8, runtime="onnxruntime").passed
    if size == 12:
        assert_valid_in_any_form(net)


def test_maxima_and_minima_too():
    nodes = [
        node("Reshape", "x apart", "q"),
        node("ReduceMax", "q two", "across", keepdims=0),
        node("ReduceMax", "q three", "down", keepdims=0),
        node("Concat", "across down", "y", axis=1),
    ]
    constants = {"apart": [0, 2, 12, 12], "two": [2], "three": [3]}
    net = assert_lifts(graph(nodes, x=("N", 2, 144), **constants))
    short = export(net)
    assert import_model(short) == net


def test_other_groups_are_gathered():
    """Diagonals have one step each, but are not all elements."""
    nodes = [
        node("Gather", "x places", "g", axis=1),
        node("Reshape", "g apart", "q"),
        node("ReduceSum", "q two", "y", keepdims=0),
    ]
    diagonals = [[k * 12 + (k + shift) % 12 for k in range(12)] for shift in range(12)]
    constants = {"places": np.ravel(diagonals), "apart": [0, 12, 12], "two": [2]}
    net = assert_lifts(graph(nodes, x=("N", 144), **constants))
    short = export(net)
    assert "Gather" in operators(short)
    assert import_model(short) == net
