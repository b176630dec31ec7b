"""Determinants of computed matrices, against onnxruntime."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node, operators

from neat_onnx import ModelError, export, import_model, verify


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_determinant_is_that_of_onnxruntime(rows):
    net = assert_lifts(graph([node("Det", "x", "y")], x=("N", 2, rows, rows)))
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_four_rows_as_numpy_has_them():
    x = np.random.default_rng(0).normal(size=(5, 4, 4))
    net = import_model(graph([node("Det", "x", "y")], x=("N", 4, 4)))
    np.testing.assert_allclose(net.activate({"x": x})["y"].ravel(), np.linalg.det(x), rtol=1e-10)


@pytest.mark.parametrize("shape", [("N", 5, 5), ("N", 2, 3)])
def test_larger_ones_and_other_shapes_are_refused(shape):
    with pytest.raises(ModelError, match=r"expected up to 4 rows"):
        import_model(graph([node("Det", "x", "y")], x=shape))


@pytest.mark.parametrize("shape", [("N", 2, 2), ("N", 3, 3), ("N", 4, 4), ("N", 2, 3, 3)], ids=str)
def test_a_determinant_comes_back(shape):
    weights = np.linspace(-1.0, 1.0, 4 * (2 if len(shape) > 3 else 1))
    nodes = [
        node("Det", "x", "d"),
        node("Reshape", "d flat", "f"),
        node("MatMul", "f w", "m"),
        node("Tanh", "m", "y"),
    ]
    model = graph(
        nodes,
        x=shape,
        w=weights.reshape(-1, 4),
        flat=[0 if len(shape) > 3 else -1, len(weights) // 4],
    )
    net = import_model(model)
    written = export(net)
    assert import_model(written.to_bytes()) == net
    assert export(net).to_bytes() == written.to_bytes()
    assert verify(net, written, samples=32, runtime="onnxruntime").passed


def test_a_changed_minor_leaves_neurons():
    net = import_model(graph([node("Det", "x", "y")], x=("N", 3, 3)))
    document = net.to_document().model_dump()
    document["neurons"][-1]["bias"] = 0.5
    changed = type(net).from_document(document)
    written = export(changed)
    assert "Det" not in operators(written)
    assert verify(changed, written, samples=32, runtime="onnxruntime").passed
