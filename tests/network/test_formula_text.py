"""Formulas as text: what is printed reads back, and nothing else is read."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.harness.sweep import count

import neat_onnx
from neat_onnx import NetworkError
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.expression import (
    REDUCING,
    SIGNATURES,
    TRUTHS,
    VARIABLE,
    Expression,
    call,
    constant,
)
from neat_onnx.network.formulas import parse_expression

NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(constant)
ELEMENTWISE = {name: kinds for name, kinds in SIGNATURES.items() if name not in REDUCING}


def leaves(formula: Expression) -> list[Expression]:
    return [leaf for arg in formula.args for leaf in leaves(arg)] or [formula]


@st.composite
def formulas(draw: st.DrawFn, kind: str = "n", depth: int = 4) -> Expression:
    """A number or a truth value of every elementwise primitive."""
    if kind == "c":
        return draw(NUMBERS)
    if kind == "n" and (depth == 0 or draw(st.booleans())):
        return draw(st.just(VARIABLE) | NUMBERS)
    wanted = [name for name in ELEMENTWISE if (name in TRUTHS) == (kind == "t")]
    if depth <= 1:
        wanted = [name for name in wanted if "t" not in ELEMENTWISE[name]]
    name = draw(st.sampled_from(wanted))
    return call(name, *(draw(formulas(each, max(depth - 1, 0))) for each in ELEMENTWISE[name]))


@settings(max_examples=count(60, 200), deadline=None)
@given(formulas().filter(lambda formula: VARIABLE in leaves(formula)))
def test_what_is_printed_reads_back(formula: Expression):
    again = parse_expression(str(formula))
    assert again == formula
    assert str(again) == str(formula)


@settings(max_examples=count(60, 200))
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_the_same_bit_for_bit(value: float):
    read, _ = parse_expression(str(value * VARIABLE)).args
    assert read.value == value
    assert math.copysign(1.0, read.value) == math.copysign(1.0, value)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation_reads_back(name: str):
    assert parse_expression(str(ACTIVATIONS[name].expression)) == ACTIVATIONS[name].expression


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("z*2+1", "1 + 2 * z"),
        ("z - 1 - 2", "(z - 1) - 2"),
        ("z / 2 / 4", "(z / 2) / 4"),
        ("- z", "neg(z)"),
        (" -(z + 1.50)", "neg(1.5 + z)"),
        ("1 - -5 * z", "1 - (-5) * z"),
        ("clip(z, 0, ∞)", "clip(z, 0, inf)"),
    ],
)
def test_spellings(text: str, same: str):
    assert parse_expression(text) == parse_expression(same)


def test_products_go_before_sums_and_both_from_the_left():
    x = np.linspace(-2.0, 2.0, 9)
    got = parse_expression("8 - z - 1 + z / 2 / 2 * 3 - (1 - z)").evaluate(x)
    np.testing.assert_array_equal(got, 8 - x - 1 + x / 2 / 2 * 3 - (1 - x))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is no formula"),
        ("z +", "this is no formula: invalid syntax"),
        ("sigmoid(z", "was never closed"),
        ("foo(z)", "unknown name 'foo'"),
        ("total(z)", "unknown name 'total'"),
        ("__import__('os').system('ls')", "unexpected '''"),
        ("z.real", r"unexpected '\.'"),
        ("z ** 2", r"unexpected 'z \*\* 2'"),
        ("z if z else z", "unexpected 'z if z else z'"),
        ("not z", "unexpected 'not z'"),
        ("sin(*z)", r"unexpected '\*z'"),
        ("z, z", "unexpected"),
        ("True * z", "unexpected 'True'"),
        ("0x1F * z", "unexpected '0'"),
        ("elu(z)", "elu takes 2 arguments, got 1"),
        ("clip(z, z, 1)", "an argument of clip has to be a constant"),
        ("where(z, 1, 2)", "an argument of where has to be a truth value"),
        ("greater(z, 0)", "the formula has to be a number"),
        ("1 + equal(z, 0)", "an argument of add has to be a number"),
        ("1e999 * z", "is not a finite number"),
        ("1" + "0" * 400 + " * z", "is not a finite number"),
        ("leaky_relu(z, -inf)", "is not a finite number"),
        ("3", "does not read z"),
        ("(" * 5000, "too large"),
        ("(" * 300 + "z" + ")" * 300, "too many nested parentheses"),
        ("sin(" * 150 + "z" + ")" * 150, "nested too deeply"),
        ("z" + " + z" * 200, "nested too deeply"),
        ("z" * 100_000, "a formula of 100000 characters"),
        ("+".join(["(" + "+".join(["z"] * 50) + ")"] * 10), "a formula of 999 primitives"),
        ("z\x00", "unexpected"),
        ("\u0661 * z", "unexpected"),
    ],
)
def test_other_texts_are_refused_in_one_line(text: str, message: str):
    with pytest.raises(NetworkError, match=message) as caught:
        neat_onnx.Network.mlp([1, 1], activation=f"formula: {text}")
    assert "\n" not in str(caught.value)


def test_the_error_says_where():
    with pytest.raises(NetworkError) as caught:
        parse_expression("z * sigmo(z)")
    assert caught.value.where == "character 5 of the formula"


FORMULAS = ("z * sigmoid(1.7 * z)", "0.5 * (z * (1 + erf(0.7071067811865476 * z)))", "atan(z)")


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_network_carries_a_formula_everywhere(text: str, dtype: str):
    net = neat_onnx.Network.mlp([3, 4, 2], activation=f"formula: {text}", seed=1)
    assert neat_onnx.load_network(json.loads(net.to_json())) == net
    model = neat_onnx.export(net, dtype=dtype)
    assert neat_onnx.verify(net, model, runtime="onnxruntime").passed
    assert neat_onnx.import_model(neat_onnx.load_model(json.loads(model.to_json()))) == net
    back = neat_onnx.import_model(neat_onnx.export(net, dtype=dtype, include_metadata=False))
    x = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(back.activate(x), net.activate(x), rtol=1e-6, atol=1e-6)
    if dtype == "float32":  # which has the functions; a formula of steps may be several neurons
        assert all(name.startswith("formula: ") for name in back.activations if name != "identity")
