"""Constant indices along features, as exporters spread them over the samples of a batch."""

from typing import Any

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import export, import_model

SIZES = [
    node("Shape", "x", "shape"),
    node("Slice", "shape zero one", "n"),
    node("Concat", "n two", "sizes", axis=0),
]
SPREAD = [*SIZES, node("Expand", "index sizes", "i")]
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
TURN = node("Transpose", "x", "t", perm=[1, 0])
RIGHT: dict[str, Any] = {
    "GatherElements": [*SPREAD, node("GatherElements", "x i", "y", axis=1)],
    "GatherElements of places that were made in the size of the batch": [
        *SIZES, node("ConstantOfShape", "sizes", "zeros"), node("Cast", "zeros", "start", to=7),
        node("Add", "start index", "i"), node("GatherElements", "x i", "y", axis=-1),
    ],
    "GatherElements where the batch is the last axis": [
        *SPREAD, TURN, node("Transpose", "i", "j", perm=[1, 0]),
        node("GatherElements", "t j", "a", axis=0), node("Transpose", "a", "y", perm=[1, 0]),
    ],
    "GatherND along features": [
        TURN, node("GatherND", "t places", "a"), node("Transpose", "a", "y", perm=[1, 0]),
    ],
    "GatherND in each sample": [
        *SPREAD, node("Unsqueeze", "i two", "j"), node("GatherND", "x j", "y", batch_dims=1),
    ],
    "ScatterElements": [
        *SPREAD, node("Expand", "updates sizes", "u"),
        node("ScatterElements", "x i u", "y", axis=1),
    ],
    "ScatterElements of computed updates": [
        *SPREAD, node("Sin", "x", "s"), node("Slice", "s zero two one", "u"),
        node("ScatterElements", "x i u", "y", axis=1, reduction="add"),
    ],
    "ScatterND along features": [
        TURN, node("Sin", "t", "s"), node("Slice", "s zero two zero", "u"),
        node("ScatterND", "t rows u", "a"), node("Transpose", "a", "y", perm=[1, 0]),
    ],
    "ScatterND into constants": [
        TURN, *SIZES, node("ConstantOfShape", "sizes", "zeros"),
        node("Transpose", "zeros", "z", perm=[1, 0]), node("Slice", "t zero two zero", "u"),
        node("ScatterND", "z again u", "a", reduction="add"),
        node("Transpose", "a", "y", perm=[1, 0]),
    ],
    "ScatterElements of constants": [
        *SPREAD, node("ConstantOfShape", "sizes", "zeros"), node("Expand", "updates sizes", "u"),
        node("Expand", "places_in_two sizes", "p"),
        node("ScatterElements", "zeros p u", "s", axis=1, reduction="add"),
        node("GatherElements", "x i", "g", axis=1), node("Add", "s g", "y"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_indices_that_are_there_for_each_sample(name: str):
    net = assert_lifts(graph(RIGHT[name], x=("N", 4), **PARTS))
    assert import_model(export(net).to_json()) == net


def test_a_model_of_one_sample_has_one_row_of_indices():
    nodes = [node("GatherElements", "x index", "y", axis=1)]
    net = import_model(graph(nodes, x=(1, 4), **PARTS))
    x = np.random.default_rng(0).normal(size=(3, 4))
    np.testing.assert_array_equal(net.activate({"x": x})["y"], x[:, [3, 0]])
