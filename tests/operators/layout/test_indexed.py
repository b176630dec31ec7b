"""Constant indices along features, as exporters spread them over the samples of a batch."""

from typing import Any

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph

from neat_onnx import export, import_model

SIZES = "shape = Shape(x) n = Slice(shape, zero, one) sizes = Concat<axis=0>(n, two)"
SPREAD = f"{SIZES} i = Expand(index, sizes)"
PARTS = {
    "zero": np.array([0]),
    "one": np.array([1]),
    "two": np.array([2]),
    "index": np.array([[3, -4]]),
    "updates": np.array([[0.5, -2.0]]),
    "places": np.array([[3], [0], [3]]),
    "rows": np.array([[3], [1]]),
    "filled": np.ones((1, 4)),
    "again": np.array([[1], [1]]),
    "places_in_two": np.array([[1, 1]]),
    "column": np.ones((4, 1)),
}
TURN = "t = Transpose<perm=[1, 0]>(x)"
RIGHT: dict[str, Any] = {
    "GatherElements": f"{SPREAD} y = GatherElements<axis=1>(x, i)",
    "GatherElements of places that were made in the size of the batch": (
        f"{SIZES} zeros = ConstantOfShape(sizes) start = Cast<to=7>(zeros) "
        "i = Add(start, index) y = GatherElements<axis=-1>(x, i)"
    ),
    "GatherElements where the batch is the last axis": (
        f"{SPREAD} {TURN} j = Transpose<perm=[1, 0]>(i) a = GatherElements<axis=0>(t, j) "
        "y = Transpose<perm=[1, 0]>(a)"
    ),
    "GatherND along features": f"{TURN} a = GatherND(t, places) y = Transpose<perm=[1, 0]>(a)",
    "GatherND in each sample": f"{SPREAD} j = Unsqueeze(i, two) y = GatherND<batch_dims=1>(x, j)",
    "ScatterElements": f"{SPREAD} u = Expand(updates, sizes) y = ScatterElements<axis=1>(x, i, u)",
    "ScatterElements of computed updates": (
        f"{SPREAD} s = Sin(x) u = Slice(s, zero, two, one) "
        'y = ScatterElements<axis=1, reduction="add">(x, i, u)'
    ),
    "ScatterND along features": (
        f"{TURN} s = Sin(t) u = Slice(s, zero, two, zero) a = ScatterND(t, rows, u) "
        "y = Transpose<perm=[1, 0]>(a)"
    ),
    "ScatterND into constants": (
        f"{TURN} {SIZES} zeros = ConstantOfShape(sizes) z = Transpose<perm=[1, 0]>(zeros) "
        'u = Slice(t, zero, two, zero) a = ScatterND<reduction="add">(z, again, u) '
        "y = Transpose<perm=[1, 0]>(a)"
    ),
    "ScatterElements of constants": (
        f"{SPREAD} zeros = ConstantOfShape(sizes) u = Expand(updates, sizes) "
        "p = Expand(places_in_two, sizes) "
        's = ScatterElements<axis=1, reduction="add">(zeros, p, u) '
        "g = GatherElements<axis=1>(x, i) y = Add(s, g)"
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_indices_that_are_there_for_each_sample(name: str):
    net = assert_lifts(graph(RIGHT[name], x=("N", 4), **PARTS))
    assert import_model(export(net).to_json()) == net


def test_a_model_of_one_sample_has_one_row_of_indices():
    nodes = "y = GatherElements<axis=1>(x, index)"
    net = import_model(graph(nodes, x=(1, 4), **PARTS))
    x = np.random.default_rng(0).normal(size=(3, 4))
    np.testing.assert_array_equal(net.activate({"x": x})["y"], x[:, [3, 0]])
