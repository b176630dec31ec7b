"""The bytes of models that share parts, counted without writing them."""

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx import Model, Network, export, load_model
from neat_onnx.model.file_sizes import FileSizes
from neat_onnx.passes.draft import with_graph
from neat_onnx.short_form.common_axes import in_common_axes
from neat_onnx.short_form.constants_once import constants_once, names_once

LONG, OTHER = "n" * 200, "größe"
NODES = [
    node("Add", "x a", LONG),
    node("Conv", f"{LONG} w", OTHER, pads=[1] * 4, dilations=[1, 1]),
    node("LeakyRelu", OTHER, "r", alpha=0.25),
    node("Clip", "r _ b", "k"),
    node("Mul", "k c", "y"),
]


def model() -> Model:
    weights = np.random.default_rng(0).normal(size=(2, 2, 3, 3))
    same = np.linspace(0.0, 1.0, 50)
    return load_model(graph(NODES, x=("N", 2, 5, 50), a=same, w=weights, b=np.array(6.0), c=same))


def sizes(before: Model) -> FileSizes:
    found = FileSizes(before)
    assert found.of(before) == len(before.to_bytes())
    return found


def test_the_size_is_that_of_the_file():
    before = model()
    measured = sizes(before)
    nodes = before.graph.node
    for count in range(len(nodes) + 1):
        changed = with_graph(before, node=nodes[:count], initializer=before.graph.initializer[1:])
        assert measured.of(changed) == len(changed.to_bytes())
    again = with_graph(before, node=nodes * 400)  # lengths of two bytes and of three
    assert measured.of(again) == len(again.to_bytes())


def test_equal_constants_are_one():
    before = model()
    measured = sizes(before)
    names = names_once(before, measured.content)
    assert measured.of(before, names) == len(constants_once(before).to_bytes())
    assert measured.of(before, names) < measured.of(before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_tensors_and_metadata_are_counted(dtype):
    sizes(export(Network.mlp([80, 90, 3], seed=0), dtype=dtype))


def test_forms_are_compared_without_writing_them(monkeypatch):
    nodes = [
        node("Reshape", "x s", "f"),
        node("ReduceMean", "f last", "m", keepdims=1),
        node("Sub", "f m", "c"),
        node("Reshape", "c r", "y"),
    ]
    numbers = {"s": np.array([0, 2, 12]), "r": np.array([0, 2, 3, 4]), "last": np.array([2])}
    long = load_model(graph(nodes, x=("N", 2, 3, 4), **numbers))
    monkeypatch.setattr(Model, "to_bytes", None)
    assert len(in_common_axes(long).graph.node) < len(nodes)
