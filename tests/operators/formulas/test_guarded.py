"""Choices that leave out what is infinite or NaN: 0 · ∞ must not come into the sum."""

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session
from support.harness.sweep import every

from neat_onnx import export, import_model

NORM = [
    node("Mul", "a a", "square"),
    node("ReduceSum", "square axis", "total"),
    node("Sqrt", "total", "length"),
]
CASES = {
    "a quotient": [
        node("Equal", "a zero", "is"),
        node("Div", "b a", "q"),
        node("Where", "is zero q", "z"),
    ],
    "the other branch": [
        node("Less", "zero a", "is"),
        node("Div", "b a", "q"),
        node("Where", "is q zero", "z"),
    ],
    "a reciprocal times a number": [
        node("Equal", "a zero", "is"),
        node("Div", "one a", "q"),
        node("Mul", "q b", "p"),
        node("Where", "is b p", "z"),
    ],
    "a product with a logarithm": [
        node("Abs", "a", "size"),
        node("Log", "size", "l"),
        node("Mul", "b l", "p"),
        node("Equal", "a zero", "is"),
        node("Where", "is zero p", "z"),
    ],
    "a logarithm": [
        node("Abs", "a", "size"),
        node("Log", "size", "l"),
        node("Mul", "a b", "p"),
        node("Equal", "p zero", "is"),
        node("Where", "is b l", "z"),
    ],
    "a vector by its length": [
        *NORM,
        node("Equal", "length zero", "is"),
        node("Div", "a length", "q"),
        node("Where", "is zero q", "z"),
    ],
    "what is computed of a quotient": [
        node("Div", "b a", "q"),
        node("Atan", "q", "t"),
        node("Add", "t b", "s"),
        node("Max", "s q", "m"),
        node("Equal", "a zero", "is"),
        node("Where", "is b m", "z"),
    ],
    "a quotient of quotients": [
        node("Div", "b a", "q"),
        node("Div", "one q", "r"),
        node("Add", "q r", "s"),
        node("Mul", "a b", "p"),
        node("Equal", "p zero", "is"),
        node("Where", "is one s", "z"),
    ],
    "a choice in a choice": [
        node("Equal", "a zero", "is"),
        node("Div", "b a", "q"),
        node("Where", "is one q", "w"),
        node("Equal", "w zero", "none"),
        node("Div", "a w", "r"),
        node("Where", "none b r", "z"),
    ],
    "a slope": [node("Reciprocal", "a", "r"), node("PRelu", "a r", "z")],
    "a slope by another number": [
        node("Mul", "a a", "square"),
        node("Div", "b a", "q"),
        node("PRelu", "square q", "z"),
    ],
}
OVERFLOWING = {
    "an exponential": [
        node("Exp", "a", "e"),
        node("Less", "b limit", "is"),
        node("Where", "is e b", "z"),
    ],
    "a product": [
        node("Exp", "a", "e"),
        node("Mul", "e e", "p"),
        node("Mul", "p b", "q"),
        node("Less", "a limit", "is"),
        node("Where", "is q b", "z"),
    ],
    "a difference of exponentials": [
        node("Exp", "a", "e"),
        node("Mul", "a b", "p"),
        node("Exp", "p", "f"),
        node("Sub", "e f", "d"),
        node("Less", "b limit", "is"),
        node("Where", "is d one", "z"),
    ],
    "a softplus": [
        node("Add", "a b", "s"),
        node("Exp", "s", "e"),
        node("Add", "e one", "m"),
        node("Log", "m", "l"),
        node("Greater", "a limit", "is"),
        node("Where", "is b l", "z"),
    ],
}


def model(nodes):
    constants = {"zero": 0.0, "one": 1.0, "small": 1e-5, "limit": 20.0, "far": 1e4}
    halves = node("Split", "x parts", "a b", axis=1)
    return graph(
        [halves, *nodes], x=("N", 8), outputs=("z",), axis=np.array([1]), parts=np.array([4, 4]),
        count=np.array([3]),
        **{name: np.array(value) for name, value in constants.items()},
    )  # fmt: skip


def samples():
    x = np.random.default_rng(0).normal(size=(12, 8)).astype(np.float32)
    x[:3, :4], x[2:5, 4:], x[5:8, 1] = 0.0, 0.0, 0.0
    return {"x": x}


@pytest.mark.parametrize(("name", "dtype"), every(CASES, ["float32", "float64"]))
def test_it_computes_what_onnxruntime_does(name: str, dtype: str):
    proto, given = model(CASES[name]), samples()
    (want,) = open_session(proto).run(None, given)
    assert np.isfinite(want).all()
    net = import_model(proto)
    np.testing.assert_allclose(net.activate(given)["z"], want, rtol=1e-5, atol=1e-6)
    written = export(net, dtype=dtype)
    as_type = {key: values.astype(dtype) for key, values in given.items()}
    (got,) = open_session(written).run(None, as_type)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("name", "dtype"), every(OVERFLOWING, ["float32", "float64"]))
def test_what_overflows_is_left_out_as_well(name: str, dtype: str):
    proto, x = model(OVERFLOWING[name]), samples()["x"]
    x[:3] = 2000.0  # overflows in float64, too
    (want,) = open_session(proto).run(None, {"x": x})
    net = import_model(proto)
    np.testing.assert_allclose(net.activate({"x": x})["z"], want, rtol=1e-5, atol=1e-6)
    written = export(net, dtype=dtype)
    (got,) = open_session(written).run(None, {"x": x.astype(dtype)})
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


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
    return model([*nodes, node("Identity", state, "z")])


def test_many_choices_of_quotients_of_one_another_add_as_many_neurons_each():
    proto, given = chain(30), samples()
    (want,) = open_session(proto).run(None, given)
    assert np.isfinite(want).all()
    net = import_model(proto)
    np.testing.assert_allclose(net.activate(given)["z"], want, rtol=1e-4, atol=1e-5)
    sizes = [len(import_model(chain(count))) for count in (10, 20, 30)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] < 1000


LOGARITHM = [
    node("Log", "a", "l"),
    node("Sub", "l b", "d"),
    node("Mul", "d d", "square"),
    node("Add", "square b", "s"),
    node("Mul", "s d", "cube"),
    node("Add", "cube b", "e"),
    node("Mul", "e e", "f"),
    node("Sub", "f b", "g"),
]
FAR = {
    "elements in their order": [*LOGARITHM, node("TopK", "g count", "z places")],
    "one of two": [*LOGARITHM, node("Greater", "b zero", "is"), node("Where", "is g b", "z")],
    "the other of two": [
        *LOGARITHM,
        node("Greater", "b zero", "is"),
        node("Where", "is one g", "z"),
    ],
}


@pytest.mark.parametrize(("name", "dtype"), every(FAR, ["float32", "float64"]))
def test_what_is_chosen_may_be_infinite_or_nan(name: str, dtype: str):
    proto, given = model(FAR[name]), samples()
    given["x"][:, :4] = np.abs(given["x"][:, :4])
    if name != "elements in their order":  # that of NaN is open
        given["x"][8:10, :2] = -1.0
    (want,) = open_session(proto).run(None, given)[:1]
    assert np.isinf(want).any() and np.isfinite(want).any()
    net = import_model(proto)
    np.testing.assert_allclose(net.activate(given)["z"], want, rtol=1e-4, atol=1e-5)
    written = export(net, dtype=dtype)
    as_type = {key: values.astype(dtype) for key, values in given.items()}
    (got,) = open_session(written).run(None, as_type)
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
