"""Expressions: numpy of each primitive, structure, spelling."""

import math

import numpy as np
import pytest

from neat_onnx.network import expression as e
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.expression import PRIMITIVES, VARIABLE, Expression, call

z = VARIABLE
POINTS = [-700.0, -30.5, -2.0, -0.5, -1e-8, 0.0, 1e-8, 0.3, 1.0, 2.5, 31.0, 700.0]

NAMED = (
    "exp",
    "sin",
    "tanh",
    "cos",
    "tan",
    "atan",
    "sinh",
    "cosh",
    "asinh",
    "erf",
    "floor",
    "ceil",
)
ELEMENTWISE = {name: (call(name, z), getattr(math, name)) for name in NAMED} | {
    "neg": (-z, lambda x: -x),
    "abs": (abs(z), abs),
    "arithmetic": (2.0 - (z * 3.0 + 1.0) / 4.0, lambda x: 2.0 - (x * 3.0 + 1.0) / 4.0),
    "rdiv": (1.0 / (z + 1000.0), lambda x: 1.0 / (x + 1000.0)),
    "sqrt": (e.sqrt(abs(z)), lambda x: math.sqrt(abs(x))),
    "log": (e.log(abs(z) + 1.0), lambda x: math.log(abs(x) + 1.0)),
    "reciprocal": (e.reciprocal(z + 0.25), lambda x: 1.0 / (x + 0.25)),
    "elu": (e.elu(z, 0.5), lambda x: x if x > 0 else 0.5 * math.expm1(x)),
    "selu": (e.selu(z, 1.5, 2.0), lambda x: 2.0 * (x if x > 0 else 1.5 * math.expm1(x))),
    "leaky_relu": (e.leaky_relu(z, 0.1), lambda x: x if x >= 0 else 0.1 * x),
    "clip": (e.clip(z, -1.0, 2.0), lambda x: min(max(x, -1.0), 2.0)),
    "clip one side": (e.clip(z, low=-1.0), lambda x: max(x, -1.0)),
    "greater": (e.number(e.greater(z, 0.0)), lambda x: 1.0 if x > 0 else 0.0),
    "equal": (e.number(e.equal(z, 0.0)), lambda x: 1.0 if x == 0 else 0.0),
    "asin": (e.asin(e.sin(z)), lambda x: math.asin(math.sin(x))),
    "acos": (e.acos(e.cos(z)), lambda x: math.acos(math.cos(x))),
    "acosh": (e.acosh(1.0 + abs(z)), lambda x: math.acosh(1.0 + abs(x))),
    "atanh": (e.atanh(0.5 * e.softsign(z)), lambda x: math.atanh(0.5 * x / (1 + abs(x)))),
    "sign": (e.sign(z), lambda x: (x > 0) - (x < 0)),
    "round": (e.rounded(z), round),
    "pow": (e.power(abs(z), 1.5), lambda x: abs(x) ** 1.5),
    "mod": (call("mod", z, 7.0), lambda x: math.fmod(x, 7.0)),
    "maximum": (e.maximum(z, 1.0 - z), lambda x: max(x, 1.0 - x)),
    "minimum": (e.minimum(z, 1.0 - z), lambda x: min(x, 1.0 - x)),
    "greater_or_equal": (e.number(e.greater_or_equal(z, 0.0)), lambda x: float(x >= 0)),
    "less": (e.number(e.less(z, 0.0)), lambda x: float(x < 0)),
    "less_or_equal": (e.number(e.less_or_equal(z, 0.0)), lambda x: float(x <= 0)),
    "logic": (
        e.number(
            call(
                "either",
                call("both", e.greater(z, 0.0), e.negated(e.greater(z, 1.0))),
                call("one_of", e.less(z, -1.0), e.less(z, -2.0)),
            )
        ),
        lambda x: float(0 < x <= 1 or -2 <= x < -1),
    ),
    "not finite": (
        e.number(call("either", e.is_nan(z), e.is_infinite(e.exp(2.0 * z)))),
        lambda x: float(x > 350.0),
    ),
    "where": (e.where(e.greater(z, 1.0), z, -5.0), lambda x: x if x > 1 else -5.0),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    expression, formula = ELEMENTWISE[name]
    got = expression.evaluate(np.array([POINTS, POINTS]))
    np.testing.assert_allclose(got, [[formula(x) for x in POINTS]] * 2, rtol=1e-14)


V = np.array([[3.0, -5.0, 1.0], [2.0, 2.0, -2.0]])
OVER_LAST_AXIS = {
    "total": (e.total(z), [-1.0, 2.0]),
    "product": (e.product(z), [-15.0, -8.0]),
    "largest": (e.largest(z), [3.0, 2.0]),
    "smallest": (e.smallest(z), [-5.0, -2.0]),
    "ordered": (e.ordered(z, 1), [1.0, 2.0]),
    "first of the largest": (e.total(e.pick(z, e.where_largest(abs(z)))), [-5.0, 2.0]),
}


@pytest.mark.parametrize("name", OVER_LAST_AXIS)
def test_over_the_last_axis(name):
    expression, want = OVER_LAST_AXIS[name]
    np.testing.assert_array_equal(expression.evaluate(V), want)


def test_every_primitive_is_tried():
    def ops(expression):
        return {expression.op}.union(*(ops(arg) for arg in expression.args))

    formulas = [expression for expression, _ in (*ELEMENTWISE.values(), *OVER_LAST_AXIS.values())]
    formulas += [f.expression for f in ACTIVATIONS.values() if f.builtin]  # test_activations
    tried = set().union(*map(ops, formulas))
    assert set(PRIMITIVES) == tried - {"variable", "constant"}


def test_overflow_gives_infinities_without_warnings():
    got = e.exp(z * z).evaluate(np.array([1e200]))
    assert e.log(z).evaluate(np.array([0.0])) == [-np.inf]
    assert got == [np.inf]


def test_it_keeps_the_precision_of_its_values():
    swish = z * e.sigmoid(1.5 * z)
    assert swish.evaluate(np.zeros(3, np.float32)).dtype == np.float32


def test_equal_means_the_same_structure():
    assert z * e.sigmoid(z) == z * e.sigmoid(z)
    assert len({z * 2.0, z * 2.0, z * 3.0}) == 2
    assert e.sigmoid(z) != e.tanh(z)
    assert (z == 3) is False
    assert z * 2.0 == 2.0 * z
    assert z + 1.0 == 1.0 + z
    assert z - 1.0 != 1.0 - z


def test_substitute_and_single():
    formula = e.tanh(2.0 * z)
    assert formula.substitute(z + 1.0) == e.tanh(2.0 * (z + 1.0))
    assert formula.single is formula
    assert (0.1 * z).single == float(np.float32(0.1)) * z


def test_text():
    assert str(z * e.sigmoid(5.0 * z)) == "z * sigmoid(5 * z)"
    assert str((z + 1.0) * 2.0) == "2 * (1 + z)"
    assert (e.total(z) / 3.0).text("v") == "total(v) / 3"


def test_call_knows_the_primitives_only():
    assert call("tanh", z) == e.tanh(z)
    with pytest.raises(KeyError):
        call("gudermannian", z)
    assert isinstance(call("add", z, 1.0), Expression)
