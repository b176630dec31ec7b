"""Functions of one number, logic and choices, softmax and norms: by onnxruntime, both types."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph
from support.harness.sessions import open_session

from neat_onnx import Network, export, import_model, verify
from neat_onnx.network.expression import REDUCING, SIGNATURES

W = np.array([[0.5, -1.25, 2.0], [0.4, 0.75, -0.5]])
GEMM = "z = Gemm<transB=1>(x, W)"


def test_a_softmax_of_large_numbers_is_finite():
    assert_lifts(graph(f"{GEMM} y = Softmax(z)", W=W), scale=1e4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_slope_that_overflows_is_left_out_where_numbers_are_positive(dtype):
    model = graph("s = Exp(x) y = PRelu(x, s)")
    x = np.array([[1000.0, 2.0, -1.0]], np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    net = import_model(model)
    np.testing.assert_allclose(net.activate({"x": x})["y"], want, rtol=2e-6)
    (got,) = open_session(export(net, dtype=dtype)).run(None, {"x": x.astype(dtype)})
    np.testing.assert_allclose(got, want, rtol=2e-6)


UNARY = sorted(name for name, kinds in SIGNATURES.items() if kinds == "n" and name not in REDUCING)
SAFE = {"asin": "softsign(z)", "acos": "softsign(z)", "atanh": "0.5 * softsign(z)",
        "acosh": "1 + abs(z)", "log": "1 + abs(z)", "sqrt": "abs(z)",
        "reciprocal": "1 + abs(z)", "tan": "softsign(z)", "is_nan": "z"}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize(("opset", "dtype"), [(13, "float64"), (18, "float32"), (26, "float64")])
def test_every_primitive_is_exported_for_every_opset(name, opset, dtype):
    text = f"{name}({SAFE.get(name, 'z')})"
    if name.startswith("is_"):
        text = f"where({text}, 1, z)"
    net = Network.mlp([2, 4, 1], activation=f"formula: {text}", output_activation="tanh", seed=3)
    model = export(net, opset=opset, dtype=dtype, include_metadata=False)
    assert verify(net, model, runtime="onnxruntime", samples=16).passed
