"""Choices that leave out what is infinite or NaN: 0 · ∞ must not come into the sum."""

from typing import Any

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session
from support.harness.sweep import every

from neat_onnx import export, import_model

NORM = "square = Mul(a, a) total = ReduceSum(square, axis) length = Sqrt(total)"
CASES = {
    "a quotient": "is = Equal(a, zero) q = Div(b, a) z = Where(is, zero, q)",
    "the other branch": "is = Less(zero, a) q = Div(b, a) z = Where(is, q, zero)",
    "a reciprocal times a number": (
        "is = Equal(a, zero) q = Div(one, a) p = Mul(q, b) z = Where(is, b, p)"
    ),
    "a product with a logarithm": (
        "size = Abs(a) l = Log(size) p = Mul(b, l) is = Equal(a, zero) z = Where(is, zero, p)"
    ),
    "a logarithm": (
        "size = Abs(a) l = Log(size) p = Mul(a, b) is = Equal(p, zero) z = Where(is, b, l)"
    ),
    "a vector by its length": (
        f"{NORM} is = Equal(length, zero) q = Div(a, length) z = Where(is, zero, q)"
    ),
    "what is computed of a quotient": (
        "q = Div(b, a) t = Atan(q) s = Add(t, b) m = Max(s, q) is = Equal(a, zero) "
        "z = Where(is, b, m)"
    ),
    "a quotient of quotients": (
        "q = Div(b, a) r = Div(one, q) s = Add(q, r) p = Mul(a, b) is = Equal(p, zero) "
        "z = Where(is, one, s)"
    ),
    "a choice in a choice": (
        "is = Equal(a, zero) q = Div(b, a) w = Where(is, one, q) none = Equal(w, zero) "
        "r = Div(a, w) z = Where(none, b, r)"
    ),
    "a slope": "r = Reciprocal(a) z = PRelu(a, r)",
    "a slope by another number": "square = Mul(a, a) q = Div(b, a) z = PRelu(square, q)",
}
OVERFLOWING = {
    "an exponential": "e = Exp(a) is = Less(b, limit) z = Where(is, e, b)",
    "a product": "e = Exp(a) p = Mul(e, e) q = Mul(p, b) is = Less(a, limit) z = Where(is, q, b)",
    "a difference of exponentials": (
        "e = Exp(a) p = Mul(a, b) f = Exp(p) d = Sub(e, f) is = Less(b, limit) "
        "z = Where(is, d, one)"
    ),
    "a softplus": (
        "s = Add(a, b) e = Exp(s) m = Add(e, one) l = Log(m) is = Greater(a, limit) "
        "z = Where(is, b, l)"
    ),
}


def model(nodes):
    constants = {"zero": 0.0, "one": 1.0, "small": 1e-5, "limit": 20.0, "far": 1e4}
    halves = node("Split", "x parts", "a b", axis=1)
    return graph(
        [halves, nodes], x=("N", 8), outputs=("z",), axis=np.array([1]), parts=np.array([4, 4]),
        count=np.array([3]),
        **{name: np.array(value) for name, value in constants.items()},
    )  # fmt: skip


def samples():
    x = np.random.default_rng(0).normal(size=(12, 8)).astype(np.float32)
    x[:3, :4], x[2:5, 4:], x[5:8, 1] = 0.0, 0.0, 0.0
    return {"x": x}


def assert_as_onnxruntime(
    proto: Any, given: dict[str, Any], dtype: str, rtol: float = 1e-5
) -> np.ndarray:
    """The network and its export compute what onnxruntime does, which is returned."""
    want = open_session(proto).run(None, given)[0]
    net = import_model(proto)
    np.testing.assert_allclose(net.activate(given)["z"], want, rtol=rtol, atol=rtol / 10)
    as_type = {key: values.astype(dtype) for key, values in given.items()}
    (got,) = open_session(export(net, dtype=dtype)).run(None, as_type)
    np.testing.assert_allclose(got, want, rtol=10 * rtol, atol=rtol)
    return want


@pytest.mark.parametrize(("name", "dtype"), every(CASES, ["float32", "float64"]))
def test_it_computes_what_onnxruntime_does(name: str, dtype: str):
    assert np.isfinite(assert_as_onnxruntime(model(CASES[name]), samples(), dtype)).all()


@pytest.mark.parametrize(("name", "dtype"), every(OVERFLOWING, ["float32", "float64"]))
def test_what_overflows_is_left_out_as_well(name: str, dtype: str):
    x = samples()["x"]
    x[:3] = 2000.0  # overflows in float64, too
    assert_as_onnxruntime(model(OVERFLOWING[name]), {"x": x}, dtype)


def chain(count):
    """Quotients of what choices before choose, as splines of several layers have them."""
    nodes, state = [], "a"
    for step in range(count):
        q, is_, result = f"q{step}", f"is{step}", f"r{step}"
        nodes += [
            node("Div", f"b {state}", q),
            node("Greater", f"{state} small", is_),
            node("Where", f"{is_} {q} b", result),
        ]
        state = result
    return model([nodes, node("Identity", state, "z")])


def test_many_choices_of_quotients_of_one_another_add_as_many_neurons_each():
    proto, given = chain(30), samples()
    (want,) = open_session(proto).run(None, given)
    assert np.isfinite(want).all()
    net = import_model(proto)
    np.testing.assert_allclose(net.activate(given)["z"], want, rtol=1e-4, atol=1e-5)
    sizes = [len(import_model(chain(count))) for count in (10, 20, 30)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] < 1000


LOGARITHM = (
    "l = Log(a) d = Sub(l, b) square = Mul(d, d) s = Add(square, b) cube = Mul(s, d) "
    "e = Add(cube, b) f = Mul(e, e) g = Sub(f, b)"
)
FAR = {
    "elements in their order": f"{LOGARITHM} z, places = TopK(g, count)",
    "one of two": f"{LOGARITHM} is = Greater(b, zero) z = Where(is, g, b)",
    "the other of two": f"{LOGARITHM} is = Greater(b, zero) z = Where(is, one, g)",
}


@pytest.mark.parametrize(("name", "dtype"), every(FAR, ["float32", "float64"]))
def test_what_is_chosen_may_be_infinite_or_nan(name: str, dtype: str):
    proto, given = model(FAR[name]), samples()
    given["x"][:, :4] = np.abs(given["x"][:, :4])
    if name != "elements in their order":  # that of NaN is open
        given["x"][8:10, :2] = -1.0
    want = assert_as_onnxruntime(proto, given, dtype, rtol=1e-4)
    assert np.isinf(want).any() and np.isfinite(want).any()
