"""Determinants of computed matrices, against onnxruntime."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

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
