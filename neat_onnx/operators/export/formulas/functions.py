"""Functions of one number that ONNX has an operator for, and neurons a formula of primitives."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import product
from typing import Any, Literal

import numpy as np

from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    clip,
    elu,
    erf,
    exp,
    greater,
    less,
    minimum,
    parts_of,
    relu,
    where,
)

_HALF_ROOT = 0.7071067811865476


class GeluAttributes(Attributes):
    """Attributes of Gelu: whether it is approximated by tanh."""

    approximate: Literal["none", "tanh"] = "none"


class Gelu(Node):
    """x · Φ(x), with the normal distribution's Φ by erf or approximated by tanh."""

    since = 20
    attributes: GeluAttributes = GeluAttributes.defaults()


class HardSigmoidAttributes(Attributes):
    """Attributes of HardSigmoid: the slope alpha and the offset beta."""

    alpha: float = 0.2
    beta: float = 0.5


class HardSigmoid(Node):
    """max(0, min(1, alpha · x + beta)), element by element."""

    since = 6
    attributes: HardSigmoidAttributes = HardSigmoidAttributes.defaults()


class HardSwish(Node):
    """x · max(0, min(1, x / 6 + 0.5)), element by element."""

    since = 14


class Mish(Node):
    """x · tanh(log(1 + exp(x))), element by element."""

    since = 18


class CeluAttributes(Attributes):
    """Attributes of Celu: alpha."""

    alpha: float = 1.0


class Celu(Node):
    """max(0, x) + min(0, alpha · (exp(x / alpha) - 1)), element by element."""

    since = 12
    attributes: CeluAttributes = CeluAttributes.defaults()


class ThresholdedReluAttributes(Attributes):
    """Attributes of ThresholdedRelu: alpha, the threshold."""

    alpha: float = 1.0


class ThresholdedRelu(Node):
    """x where it is larger than alpha, else 0."""

    since = 10
    attributes: ThresholdedReluAttributes = ThresholdedReluAttributes.defaults()


class ShrinkAttributes(Attributes):
    """Attributes of Shrink: the threshold lambd, and bias."""

    bias: float = 0.0
    lambd: float = 0.5


class Shrink(Node):
    """x + bias below -lambd, x - bias above lambd, 0 between."""

    since = 9
    attributes: ShrinkAttributes = ShrinkAttributes.defaults()


class PRelu(Node):
    """X, and the slope where X is negative, which broadcasts to it."""

    inputs = (2, 2)
    since = 7


def _gelu(given: GeluAttributes) -> Expression:
    if given.approximate == "tanh":
        return ACTIVATIONS["gelu"].expression
    return (0.5 * VARIABLE) * (1.0 + erf(_HALF_ROOT * VARIABLE))


def _celu(given: CeluAttributes) -> Expression:
    if given.alpha == 1.0:
        return elu(VARIABLE)
    if given.alpha > 0.0:
        return given.alpha * elu(VARIABLE / given.alpha)
    return relu(VARIABLE) + minimum(given.alpha * (exp(VARIABLE / given.alpha) - 1.0), 0.0)


def hard_sigmoid(alpha: float, beta: float) -> Expression:
    """αz + β between 0 and 1."""
    return clip(alpha * VARIABLE + beta, 0.0, 1.0)


def _hard_sigmoid(given: HardSigmoidAttributes) -> Expression:
    return hard_sigmoid(given.alpha, given.beta)


def _shrink(given: ShrinkAttributes) -> Expression:
    high = where(greater(VARIABLE, given.lambd), VARIABLE - given.bias, 0.0)
    return where(less(VARIABLE, -given.lambd), VARIABLE + given.bias, high)


_SIXTH = 0.16666667163372040  # in float32, as ONNX defines it and runtimes compute it
_OF_HARD_SWISH = HardSigmoidAttributes(alpha=_SIXTH)
_IN_FLOAT32: dict[type[Node], Callable[[Any], Expression]] = {  # runtimes have kernels
    HardSigmoid: _hard_sigmoid,
    HardSwish: lambda given: VARIABLE * _hard_sigmoid(_OF_HARD_SWISH),
    Celu: _celu,
    ThresholdedRelu: lambda given: where(greater(VARIABLE, given.alpha), VARIABLE, 0.0),
    Shrink: _shrink,
}
WITHOUT_NUMBERS = {_gelu(GeluAttributes.defaults()): Gelu}
"""Operators of which runtimes have kernels as well, and a formula that has no parameters."""

_MAX_CONSTANTS = 5  # of a formula that is one of these


def function_of(
    formula: Expression, opset: int, data_type: DataType
) -> tuple[type[Node], dict[str, float]] | None:
    """Return the operator of one number that a formula without a name is, and its attributes.

    None if there is no such in the opset, or runtimes have no kernel for the type.
    """
    if data_type is not DataType.FLOAT:
        return None
    if any(formula == each.expression for each in ACTIVATIONS.values()):
        return None
    return _operator_of(formula, opset)


@lru_cache(maxsize=256)
def _operator_of(formula: Expression, opset: int) -> tuple[type[Node], dict[str, float]] | None:
    whole = WITHOUT_NUMBERS.get(formula)
    if whole is not None and whole.since <= opset:
        return whole, {}
    numbers = sorted({part.value for part in parts_of(formula) if part.is_constant})
    if len(numbers) > _MAX_CONSTANTS or not np.all(np.isfinite(numbers)):
        return None
    for operator, formula_of_given in _IN_FLOAT32.items():
        kind: Any = operator.model_fields["attributes"].annotation
        for values in product(numbers, repeat=len(kind.model_fields)):
            every = dict(zip(kind.model_fields, values, strict=True))
            if operator.since <= opset and formula_of_given(kind(**every)) == formula:
                default = kind.defaults()
                given = {key: each for key, each in every.items() if each != getattr(default, key)}
                return (operator, given) if _are_single(given.values()) else None
    return None


def _are_single(numbers: Iterable[float]) -> bool:
    """Whether a model's attributes, which are float32, hold these numbers."""
    return all(float(np.float32(each)) == each for each in numbers)
