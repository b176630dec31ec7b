"""Quotients by a number that are rounded or compared: exact at multiples of it, as in ONNX."""

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import export, import_model, runtimes

DIVISORS = (49.0, -98.0, 107.0)
CASES = {
    "floor": [node("Floor", "q", "z")],
    "ceil": [node("Neg", "q", "n"), node("Ceil", "n", "z")],
    "round": [node("Add", "q half", "s"), node("Round", "s", "z")],
    "half up": [node("Add", "q half", "s"), node("Floor", "s", "z")],
    "a whole number": [node("Cast", "q", "whole", to=7), node("Cast", "whole", "z", to=1)],
    "the rest": [
        node("Floor", "q", "f"),
        node("Mul", "f divisor", "whole"),
        node("Sub", "x whole", "z"),
    ],
    "the fraction": [node("Floor", "q", "f"), node("Sub", "q f", "r"), node("Ceil", "r", "z")],
    "equal": [node("Equal", "q one", "is"), node("Cast", "is", "z", to=1)],
    "at least": [node("GreaterOrEqual", "q one", "is"), node("Cast", "is", "z", to=1)],
}
MULTIPLES = np.arange(-60, 61, dtype=np.float32)[:, None] * [[1.0, 0.5]]


def model(nodes, divisor, shape=()):
    quotient = [node("Gemm", "x weights bias", "sum"), node("Div", "sum divisor", "q")]
    constants = {"one": np.array(1.0), "half": np.array(0.5), "divisor": np.full(shape, divisor)}
    return graph(
        [*quotient, *nodes],
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
