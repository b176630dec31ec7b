"""Bounds of formulas: their values lie inside, and what may have a pole has none."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples.graphs import assert_valid_in_any_form
from support.harness.sessions import open_session

from neat_onnx import Network, Population, export
from neat_onnx.network.activations import activation_named
from neat_onnx.network.bounds import degree_of, interval_of
from neat_onnx.network.formulas import parse_expression

ONE = ["tanh(a)", "relu(a)", "abs(a)", "-a", "exp(a)", "softplus(a)", "sqrt(a)", "log(a)", "1 / a",
       "clip(a, -2, 3)", "floor(a)", "elu(a, 1)", "leaky_relu(a, 0.1)", "pow(a, 2)", "pow(a, 3)",
       "asin(a)", "sin(a)", "a * a", "cosh(a)", "asinh(a)", "round(a)"]  # fmt: skip
TWO = [
    "a + b",
    "a - b",
    "a * b",
    "a / b",
    "maximum(a, b)",
    "minimum(a, b)",
    "where(greater(a, 0), a, b)",
    "mod(a, b)",
]


@st.composite
def formulas(draw, depth=3):
    """The text of a formula of z, and of numbers."""
    if not depth or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["z", "z", "0.5", "2", "-1.5"]))
    parts = {"a": draw(formulas(depth - 1)), "b": draw(formulas(depth - 1))}
    text = draw(st.sampled_from(ONE + TWO))
    return "(" + re.sub(r"\b[ab]\b", lambda found: parts[found[0]], text) + ")"


POLES = ["1 / (z - 3)", "log(abs(z - 2))", "pow(abs(z - 3), -1)", "tan(z)", "atanh(clip(z, -2, 2))",
         "tanh(log(z))", "clip(sqrt(z), 0, 1)", "exp(90 - 100 * ((z - 5) * (z - 5)))",
         "tanh((z - 3) * (1 / (z - 3)))", "0 * log(z)", "mod(z, z - 3)", "asin(z)"]  # fmt: skip


@given(formulas(), st.lists(st.floats(-60, 60), min_size=8, max_size=8))
def test_values_lie_inside(text, numbers):
    expression = parse_expression(f"{text} + 0 * z")
    low, high = interval_of(expression)
    z = np.array([*numbers, -2.0, -1.5, -1.0, 0.0, 0.5, 1.0, 2.0, 3.0])
    with np.errstate(all="ignore"):
        values = np.asarray(expression.evaluate(z), np.float64)
    if not math.isnan(low):
        slack = 1e-9 * max(1.0, *(abs(end) for end in (low, high) if math.isfinite(end)), 0.0)
        assert np.all((values >= low - slack) & (values <= high + slack))


@pytest.mark.parametrize("text", POLES)
def test_nothing_with_a_pole_or_without_a_value_is_bounded(text):
    assert not activation_named(f"formula: {text}").bounded


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("1 / (1 + z * z)", (0.0, 1.0)),
        ("softplus(clip(z, -1, 1))", (math.log1p(math.exp(-1)), math.log1p(math.e))),
        ("sqrt(clip(z, 0, 4))", (0.0, 2.0)),
        ("maximum(tanh(z), 0.5)", (0.5, 1.0)),
        ("pow(clip(z, -2, 3), 2)", (0.0, 9.0)),
        ("asin(sin(z))", (-math.pi / 2, math.pi / 2)),
    ],
)
def test_a_bound_is_that_of_the_parts(text, ends):
    assert interval_of(parse_expression(text)) == pytest.approx(ends)


@pytest.mark.parametrize(
    ("text", "degree"),
    [("tanh(z)", 0), ("z * sigmoid(z)", 1), ("sqrt(1 + z * z) + z", 1), ("z * z", 2),
     ("exp(z)", math.inf), ("log(1 + abs(z))", 1), ("z / (1 + abs(z))", 1)],
)  # fmt: skip
def test_how_fast_a_formula_grows(text, degree):
    assert degree_of(parse_expression(text)) == degree


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("text", ["1 / (z - 3)", "log(abs(z - 3))", "exp(800 - 900 * abs(z - 3))"])
def test_a_pole_does_not_reach_outputs_that_do_not_read_it(text, dtype):
    neurons = [{"id": 2, "activation": f"formula: {text}"}, {"id": 3, "activation": "tanh"}]
    net = Network.build(
        inputs=2, outputs=[4, 5], neurons=[*neurons, {"id": 4, "activation": "tanh"}, {"id": 5}],
        connections=[(0, 2, 1.0), (1, 3, 1.0), (2, 4, 1.0), (3, 5, 1.0)],
    )  # fmt: skip
    (got,) = open_session(export(net, dtype=dtype)).run(None, {"input": np.array([[3, 1]], dtype)})
    np.testing.assert_allclose(got, [net.activate([3, 1])], rtol=1e-6)
    assert_valid_in_any_form(net)
    population = Population([net, Network.mlp([2, 1, 2])])
    np.testing.assert_allclose(population.activate([[3.0, 1.0]])[0, 0], net.activate([3, 1]))
    (got,) = open_session(export(population.network, dtype=dtype)).run(
        None, {"input": np.array([[[3, 1]] * 2], dtype)}
    )
    np.testing.assert_allclose(got[0, 0], net.activate([3, 1]), rtol=1e-6)
