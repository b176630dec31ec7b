"""Inputs of one row beside batches: all samples share a row that cannot be one of each sample."""

import numpy as np
import pytest

from neat_onnx import ModelError, export, import_model, load_model, verify

GRAPHS = {
    "products with the row": "(float[N, 3] x, float[1, 3] r) => (float[N, 1] y)"
    "{ t = Transpose <perm = [1, 0]> (r) y = MatMul (x, t) }",
    "attention": "(float[N, 5, 3] x, float[1, 3] r) => (float[N, 1, 3] y)"
    """{ t = Transpose <perm = [1, 0]> (r) s = MatMul (x, t) p = Softmax <axis = 1> (s)
         q = Transpose <perm = [0, 2, 1]> (p) y = MatMul (q, x) }""",
    "rows of each sample": "(float[N, 2, 3] x, float[1, 3] r) => (float[N, 2, 3] y)"
    "{ t = Tanh (r) y = Mul (x, t) }",
    "a table of one row": "(float[N, 3] x, float[1, 3] r, int64[N] i) => (float[N, 3] y)"
    "{ t = Gather (r, i) y = Add (x, t) }",
    "its first axis": "(float[N, 3] x, float[1, 3] r) => (float[N, 3] y)"
    "{ t = Softmax <axis = 0> (r) s = Sin (r) u = Add (s, t) y = Mul (x, u) }",
}
HEAD = '<ir_version: 8, opset_import: ["": 18]> agraph '


@pytest.mark.parametrize("name", GRAPHS)
def test_a_row_is_shared_by_the_samples(name: str) -> None:
    model = load_model((HEAD + GRAPHS[name]).encode())
    net = import_model(model)
    row = next(port for port in net.inputs if port.name == "r")
    assert (row.shape, row.batch_axis) == ((1, 3), None)
    exported = export(net)
    for each in (model, exported):
        assert verify(net, each, runtime="onnxruntime").passed
    again = import_model(exported)
    assert again == net
    assert [port.batch_axis for port in again.inputs] == [port.batch_axis for port in net.inputs]
    assert verify(again, model, runtime="onnxruntime").passed


def test_a_row_that_can_be_of_each_sample_is() -> None:
    graph = "(float[N, 3] x, float[1, 3] r) => (float[N, 3] y) { t = Tanh (r) y = Mul (x, t) }"
    net = import_model(load_model((HEAD + graph).encode()))
    assert [port.batch_axis for port in net.inputs] == [0, 0]
    x, r = np.random.default_rng(0).normal(size=(2, 4, 3))
    np.testing.assert_allclose(net.activate({"x": x, "r": r})["y"], x * np.tanh(r), rtol=1e-12)


def test_an_output_of_shared_inputs_alone_is_refused_with_the_others() -> None:
    graph = """(float[N, 3] x, float[3] r) => (float[N, 3] y, float[3] z)
        { z = Tanh (r) y = Mul (x, z) }"""
    model = load_model((HEAD + graph).encode())
    assert len(import_model(model, batch_axis=None).outputs) == 2
    with pytest.raises(ModelError, match="'z' depends on inputs alone that all samples") as caught:
        import_model(model)
    assert "outputs=['y']" in str(caught.value.hint)
