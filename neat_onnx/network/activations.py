"""The activations: each written once, as an expression of the pre-activation z.

A name without a prefix is the field's standard meaning; `neat_…` are neat-python's own forms, with
its slopes and clamps. The names that a library has for them are in that library's reader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from neat_onnx.arguments import TEXT, optional, takes
from neat_onnx.errors import NetworkError
from neat_onnx.network.bounds import degree_of, interval_of
from neat_onnx.network.expression import Array, Expression
from neat_onnx.network.formulas import Registry, check_shape, function_of_z, parse_expression

_MAX_SLOPE = 100.0  # of a function that grows linearly
_MAX_BOUND = 2.0**16  # that a formula may have for its neurons to be bounded
_WAYS = (
    "Write it out, 'formula: z * sigmoid(1.7 * z)', or add it with "
    "neat_onnx.register_activation(name, formula)"
)
_PROBE = np.concatenate([sign * np.logspace(-300, 30, 331) for sign in (-1.0, 1.0)] + [np.zeros(1)])


@dataclass(frozen=True)
class Activation:
    """An activation function.

    Attributes:
        name: its name in a Network.
        expression: its formula over the variable z.
        bounded: |f(z)| stays below a constant.
        linear_growth: |f(z)| grows at most linearly, so that it overflows only where z nearly does.
        builtin: it came with the package.
    """

    name: str
    expression: Expression
    bounded: bool
    linear_growth: bool
    builtin: bool = False

    def __call__(self, z: Array) -> Array:
        """f(z), elementwise, any shape."""
        return self.expression.evaluate(z)

    @classmethod
    def of(cls, name: str, expression: Expression, *, builtin: bool = False) -> Activation:
        """The activation of this formula, as bounded as its parts show that it is.

        Where parts overflow they may cancel each other to NaN: that is probed, and how large the
        values are. Numbers of 16 bits, as clip gives them, are not.
        """
        size = np.abs(expression.evaluate(_PROBE))
        inside = max(map(abs, interval_of(expression))) <= _MAX_BOUND
        bounded = inside and bool(np.all(np.isfinite(size)))
        gentle = bool(np.all(size <= _MAX_SLOPE * (1.0 + np.abs(_PROBE))))
        gentle &= degree_of(expression) <= 1.0
        return cls(name, expression, bounded, bounded or gentle, builtin)


FORMULA = "formula: "
"""An activation of this prefix is its own formula, as text, and needs no name."""
ACTIVATIONS = Registry[Activation]("activation")


@takes(library=optional(TEXT))
def register_activation(
    name: str, formula: Callable[[Expression], Expression], *, library: str | None = None
) -> Activation:
    """Make `name` an activation: evaluated, exported, and recognised on import.

    Args:
        name: the name that networks use for it.
        formula: takes z and gives the expression, in arithmetic and the functions of
            `neat_onnx.network.expression`; for example `lambda z: z * sigmoid(1.5 * z)`.
        library: the library whose custom function has this name, such as "neat-python": the name
            may then be one of the library's own or of ours, and the formula a known one.

    Returns:
        The activation; it can be called with an array.

    Raises:
        NetworkError: the name is taken or no name; another activation has the same formula; or it
            is no function of z that works elementwise.
        OptionError: there is no such library.
    """
    ACTIVATIONS.check(name, library)
    expression = function_of_z("activation", name, formula)
    check_shape("activation", name, expression, _PROBE, _PROBE.shape)
    same = next((each.name for each in ACTIVATIONS.values() if each.expression == expression), None)
    if library:
        ACTIVATIONS.of_libraries[library, name] = ours = same or f"{FORMULA}{expression}"
        return activation_named(ours)
    if same:
        raise NetworkError(f"'{name}' has the same formula as the activation '{same}'")
    ACTIVATIONS[name] = activation = Activation.of(name, expression)
    return activation


@takes(name=TEXT, library=optional(TEXT))
def unregister_activation(name: str, library: str | None = None) -> None:
    """Forget an activation that was registered with `register_activation`.

    Networks that use it stay as they are; they can no longer be run or exported.

    Args:
        name: the name it was registered by.
        library: the library that it was registered for, if it was.

    Raises:
        NetworkError: there is none of this name, or it came with the package.
    """
    ACTIVATIONS.forget(name, library)


@lru_cache(maxsize=1024)
def _formula_activation(name: str) -> Activation:
    return Activation.of(name, parse_expression(name.removeprefix(FORMULA)))


def activation_named(name: str) -> Activation:
    """The activation a Network calls `name`: a registered name, or `formula: ` and an expression.

    Raises:
        NetworkError: there is none; the hint lists those there are. Or the formula is none.
    """
    if name.startswith(FORMULA):
        return _formula_activation(name)
    return ACTIVATIONS.named(name, _WAYS)


def label_of(name: str) -> str:
    """A word for an activation, for names of nodes and tensors."""
    return "formula" if name.startswith(FORMULA) else name


_BUILTIN = {
    "identity": "z",
    "sigmoid": "sigmoid(z)",
    "tanh": "tanh(z)",
    "relu": "relu(z)",
    "abs": "abs(z)",
    "selu": "selu(z, 1.6732632423543772, 1.0507009873554805)",
    "elu": "elu(z, 1.0)",
    "softsign": "softsign(z)",
    "softplus": "softplus(z)",
    "sin": "sin(z)",
    "step": "number(greater(z, 0.0))",
    "bipolar": "where(greater(z, 0.0), 1.0, -1.0)",
    "gaussian": "exp(-(z * z))",
    "bent_identity": "(sqrt(z * z + 1.0) - 1.0) / 2.0 + z",
    "bipolar_sigmoid": "tanh(0.5 * z)",
    "hard_tanh": "clip(z, -1.0, 1.0)",
    "complement": "1.0 - z",
    "swish": "z * sigmoid(z)",
    "mish": "z * tanh(softplus(z))",
    "gelu": "(0.5 * z) * (1.0 + tanh(0.7978845608028654 * (z + 0.044715 * (z * z * z))))",
    "hat": "relu(1.0 - abs(z))",
    "square": "z * z",
    "cube": "z * z * z",
    "neat_sigmoid": "sigmoid(5.0 * z)",
    "neat_tanh": "tanh(2.5 * z)",
    "neat_sin": "sin(clip(5.0 * z, -60.0, 60.0))",
    "neat_gauss": "exp(-5.0 * (clip(z, -3.4, 3.4) * clip(z, -3.4, 3.4)))",
    "neat_softplus": "0.2 * softplus(clip(5.0 * z, -60.0, 60.0))",
    "neat_lelu": "leaky_relu(z, 0.005)",
    "neat_inv": "where(equal(z, 0.0), 0.0, reciprocal(z))",
    "neat_log": "log(clip(z, 1e-07, inf))",
    "neat_exp": "exp(clip(z, -60.0, 60.0))",
}

for _name, _formula in _BUILTIN.items():
    ACTIVATIONS[_name] = Activation.of(_name, parse_expression(_formula), builtin=True)
