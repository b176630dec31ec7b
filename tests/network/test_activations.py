"""Activations against their textbook formulas, in plain Python."""

import math

import numpy as np
import pytest

from neat_onnx.network.activations import ACTIVATIONS, activation_named

POINTS = [-20.0, -3.4, -1.0, -0.3, 0.0, 0.2, 1.0, 2.0, 12.5, 20.0]


def sig(x):
    return 1 / (1 + math.exp(-x))


def clamp(x, bound):
    return max(-bound, min(bound, x))


FORMULAS = {
    "identity": lambda x: x,
    "sigmoid": sig,
    "tanh": math.tanh,
    "relu": lambda x: max(0, x),
    "abs": abs,
    "selu": lambda x: (
        1.0507009873554804934193349852946
        * (x if x > 0 else 1.6732632423543772848170429916717 * (math.exp(x) - 1))
    ),
    "elu": lambda x: x if x > 0 else math.exp(x) - 1,
    "softsign": lambda x: x / (1 + abs(x)),
    "softplus": lambda x: math.log(1 + math.exp(x)),
    "sin": math.sin,
    "step": lambda x: 1 if x > 0 else 0,
    "bipolar": lambda x: 1 if x > 0 else -1,
    "gaussian": lambda x: math.exp(-(x**2)),
    "bent_identity": lambda x: (math.sqrt(x * x + 1) - 1) / 2 + x,
    "bipolar_sigmoid": lambda x: 2 * sig(x) - 1,
    "hard_tanh": lambda x: clamp(x, 1),
    "complement": lambda x: 1 - x,
    "swish": lambda x: x * sig(x),
    "mish": lambda x: x * math.tanh(math.log1p(math.exp(x))),
    "gelu": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "hat": lambda x: max(0, 1 - abs(x)),
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "neat_sigmoid": lambda x: sig(clamp(5 * x, 60)),
    "neat_tanh": lambda x: math.tanh(2.5 * x),
    "neat_sin": lambda x: math.sin(clamp(5 * x, 60)),
    "neat_gauss": lambda x: math.exp(-5 * clamp(x, 3.4) ** 2),
    "neat_softplus": lambda x: 0.2 * math.log(1 + math.exp(clamp(5 * x, 60))),
    "neat_lelu": lambda x: x if x > 0 else 0.005 * x,
    "neat_inv": lambda x: 1 / x if x else 0,
    "neat_log": lambda x: math.log(max(1e-7, x)),
    "neat_exp": lambda x: math.exp(clamp(x, 60)),
}
BOUNDED = {"sigmoid", "tanh", "softsign", "sin", "step", "bipolar", "gaussian", "bipolar_sigmoid"}
BOUNDED |= {"hard_tanh", "hat", "neat_sigmoid", "neat_tanh", "neat_sin", "neat_gauss"}
BOUNDED |= {"neat_softplus", "neat_log"}
FASTER_THAN_LINEAR = {"square", "cube", "neat_inv", "neat_exp"}


@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name):
    want = np.array([FORMULAS[name](x) for x in POINTS], float)
    got = activation_named(name)(np.array(POINTS))
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-15)


def test_every_builtin_has_a_formula_here():
    assert {name for name, f in ACTIVATIONS.items() if f.builtin} == set(FORMULAS)


def test_which_are_bounded_and_which_may_overflow():
    builtin = [f for f in ACTIVATIONS.values() if f.builtin]
    assert {f.name for f in builtin if not f.linear_growth} == FASTER_THAN_LINEAR
    assert BOUNDED - {f.name for f in builtin if f.bounded} <= {"neat_log", "neat_softplus"}
    assert {f.name for f in builtin if f.bounded} <= BOUNDED
