"""The activation functions of RNN, LSTM and GRU nodes, in terms of the activations of neurons.

ONNX gives them parameters, neurons have none: each is a weighted sum of known activations.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.operators.formulas.functions import hard_sigmoid

Function = Literal[
    "Affine",
    "Elu",
    "HardSigmoid",
    "LeakyRelu",
    "Relu",
    "ScaledTanh",
    "Sigmoid",
    "Softplus",
    "Softsign",
    "Tanh",
    "ThresholdedRelu",
]


class CellFunction(NamedTuple):
    """A function of a node, with its parameters; None where it has none."""

    name: Function
    alpha: float | None = None
    beta: float | None = None


def cell_function(formula: Expression) -> CellFunction | None:
    """The function of the operators that a formula is; None if it is none.

    Runtimes compute these of any number.
    """
    if formula in _PLAIN:
        return CellFunction(_PLAIN[formula])
    if formula.op != "clip" or formula.args[1:] != hard_sigmoid(1.0, 0.0).args[1:]:
        return None
    product, beta = _split("add", formula.args[0])
    variable, alpha = _split("mul", product)
    given = (1.0 if alpha is None else alpha, 0.0 if beta is None else beta)
    if variable != VARIABLE or any(float(np.float32(each)) != each for each in given):
        return None
    return CellFunction("HardSigmoid", *given)


def _split(operation: str, formula: Expression) -> tuple[Expression, float | None]:
    """A sum or a product, without its constant, and the constant; None if it is none of one."""
    if formula.op == operation:
        for part, other in (formula.args, formula.args[::-1]):
            if part.is_constant:
                return other, part.value
    return formula, None


_PLAIN: dict[Expression, Function] = {
    ACTIVATIONS["sigmoid"].expression: "Sigmoid",
    ACTIVATIONS["tanh"].expression: "Tanh",
    ACTIVATIONS["relu"].expression: "Relu",
    ACTIVATIONS["softsign"].expression: "Softsign",
}


@dataclass(frozen=True)
class CellActivation:
    """f(z) = Σ weight · activation(slope · z + shift), with |z| clipped before.

    Attributes:
        terms: (activation, weight) of each term; the activation is a name, or a formula.
        clip: the bound of |z|; None for none.
    """

    terms: tuple[tuple[str | Expression, float], ...]
    slope: float = 1.0
    shift: float = 0.0
    clip: float | None = None

    @property
    def is_stated(self) -> bool:
        """Whether all its parameters were given, or have defaults."""
        weights = sum(weight for _, weight in self.terms)
        return not math.isnan(self.slope + self.shift + weights)


def plain(name: str) -> CellActivation:
    """An activation of neurons as it is."""
    return CellActivation(((name, 1.0),))


IDENTITY = plain("identity")


class _Form(NamedTuple):
    """A function's activation for its parameters α and β, and their defaults.

    None stands for no such parameter, NaN for one that has to be given: runtimes differ.
    """

    activation: Callable[[float, float], CellActivation]
    alpha: float | None = None
    beta: float | None = None


def _affine(alpha: float, beta: float) -> CellActivation:
    return replace(IDENTITY, slope=alpha, shift=beta)


def _elu(alpha: float, _: float) -> CellActivation:
    return CellActivation((("elu", alpha), ("relu", 1.0 - alpha)))


def _hard_sigmoid(alpha: float, beta: float) -> CellActivation:
    return CellActivation(((hard_sigmoid(alpha, beta), 1.0),))


def _leaky_relu(alpha: float, _: float) -> CellActivation:
    return CellActivation((("identity", alpha), ("relu", 1.0 - alpha)))


def _scaled_tanh(alpha: float, beta: float) -> CellActivation:
    return CellActivation((("tanh", alpha),), slope=beta)


def _thresholded_relu(alpha: float, _: float) -> CellActivation:
    """z where z > α, else 0."""
    return CellActivation((("relu", 1.0), ("step", alpha)), shift=-alpha)


_FORMS: dict[Function, _Form] = {
    "Affine": _Form(_affine, math.nan, math.nan),
    "Elu": _Form(_elu, 1.0),
    "HardSigmoid": _Form(_hard_sigmoid, 0.2, 0.5),
    "LeakyRelu": _Form(_leaky_relu, 0.01),
    "Relu": _Form(lambda alpha, beta: plain("relu")),
    "ScaledTanh": _Form(_scaled_tanh, math.nan, math.nan),
    "Sigmoid": _Form(lambda alpha, beta: plain("sigmoid")),
    "Softplus": _Form(lambda alpha, beta: plain("softplus")),
    "Softsign": _Form(lambda alpha, beta: plain("softsign")),
    "Tanh": _Form(lambda alpha, beta: plain("tanh")),
    "ThresholdedRelu": _Form(_thresholded_relu, math.nan),
}


def cell_activations(
    functions: Sequence[Function],
    alphas: Sequence[float],
    betas: Sequence[float],
    clip: float | None,
) -> list[CellActivation]:
    """The activations of a node's functions; those with parameters take the next of each list."""
    alpha, beta = iter(alphas), iter(betas)
    forms = [_FORMS[function] for function in functions]
    return [
        replace(form.activation(_taken(alpha, form.alpha), _taken(beta, form.beta)), clip=clip)
        for form in forms
    ]


def _taken(values: Iterator[float], default: float | None) -> float:
    return 0.0 if default is None else float(np.float32(next(values, default)))
