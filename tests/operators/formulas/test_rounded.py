"""Quotients by a number that are rounded or compared: exact at multiples of it, as in ONNX."""

import numpy as np
import pytest
from support.examples.graphs import graph
from support.harness.sessions import open_session

from neat_onnx import export, import_model, runtimes

DIVISORS = (49.0, -98.0, 107.0)
CASES = {
    "floor": "z = Floor(q)",
    "ceil": "n = Neg(q) z = Ceil(n)",
    "round": "s = Add(q, half) z = Round(s)",
    "half up": "s = Add(q, half) z = Floor(s)",
    "a whole number": "whole = Cast<to=7>(q) z = Cast<to=1>(whole)",
    "the rest": "f = Floor(q) whole = Mul(f, divisor) z = Sub(x, whole)",
    "the fraction": "f = Floor(q) r = Sub(q, f) z = Ceil(r)",
    "equal": "is = Equal(q, one) z = Cast<to=1>(is)",
    "at least": "is = GreaterOrEqual(q, one) z = Cast<to=1>(is)",
}
MULTIPLES = np.arange(-60, 61, dtype=np.float32)[:, None] * [[1.0, 0.5]]


def model(nodes, divisor, shape=()):
    quotient = "sum = Gemm(x, weights, bias) q = Div(sum, divisor)"
    constants = {"one": np.array(1.0), "half": np.array(0.5), "divisor": np.full(shape, divisor)}
    return graph(
        [quotient, nodes],
        x=("N", 2),
        outputs=("z",),
        weights=np.eye(2),
        bias=np.array([divisor, 0.0]),
        **constants,
    )


def exact_results(proto, x):
    """The outputs by onnxruntime, for numbers whose quotients are exact in any type."""
    (want,) = open_session(proto).run(None, {"x": x})
    return want


@pytest.mark.parametrize("shape", [(), (1,), (2,)])
@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.parametrize("name", CASES)
def test_the_quotient_is_exact(name, divisor, shape):
    proto = model(CASES[name], divisor, shape)
    x = (MULTIPLES * divisor).astype(np.float32)
    want = exact_results(proto, x)
    net = import_model(proto)
    np.testing.assert_array_equal(net.activate({"x": x})["z"], want)
    for dtype in ("float32", "float64"):
        written = export(net, dtype=dtype)
        (got,) = open_session(written).run(None, {"x": x.astype(dtype)})
        np.testing.assert_array_equal(got, want)
        assert import_model(written) == net


@pytest.mark.parametrize("runtime", ["c", "javascript"])
def test_generated_code_divides(runtime):
    proto = model(CASES["floor"], 107.0)
    x = (MULTIPLES * 107.0).astype(np.float32)
    session = runtimes.load(runtime, export(import_model(proto)))
    got = session.run({"x": x[None]})["z"][0]
    np.testing.assert_array_equal(got, exact_results(proto, x))
