"""The activation functions of RNN, LSTM and GRU nodes, as formulas of neurons and back."""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.cells import Cell
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    clip,
    constant,
    elu,
    greater,
    leaky_relu,
    parts_of,
    tanh,
    where,
)
from neat_onnx.operators.export.formulas.functions import hard_sigmoid

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


class _Form(NamedTuple):
    """A function's formula for its parameters α and β, and their defaults.

    None stands for no such parameter, NaN for one that has to be given: runtimes differ.
    """

    formula: Callable[[float, float], Expression]
    alpha: float | None = None
    beta: float | None = None


def _thresholded_relu(alpha: float, _: float) -> Expression:
    """z where z > α, else 0."""
    return where(greater(VARIABLE, alpha), VARIABLE, 0.0)


def _plain(name: str) -> _Form:
    formula = ACTIVATIONS[name].expression
    return _Form(lambda alpha, beta: formula)


_FORMS: dict[Function, _Form] = {
    "Relu": _plain("relu"),
    "Sigmoid": _plain("sigmoid"),
    "Softplus": _plain("softplus"),
    "Softsign": _plain("softsign"),
    "Tanh": _plain("tanh"),
    "Elu": _Form(lambda alpha, _: elu(VARIABLE, alpha), 1.0),
    "LeakyRelu": _Form(lambda alpha, _: leaky_relu(VARIABLE, alpha), 0.01),
    "ThresholdedRelu": _Form(_thresholded_relu, math.nan),
    "HardSigmoid": _Form(hard_sigmoid, 0.2, 0.5),
    "ScaledTanh": _Form(lambda alpha, beta: alpha * tanh(beta * VARIABLE), math.nan, math.nan),
    "Affine": _Form(lambda alpha, beta: alpha * VARIABLE + beta, math.nan, math.nan),
}
_OVERFLOWS = "Softplus"  # in runtimes, where it should be z itself
_MAX_SIZE = 16  # of the formula of a function
_NEUTRAL = {"add": constant(0.0), "mul": constant(1.0)}


class CellFunction(NamedTuple):
    """A function of a node.

    Attributes:
        name: its name.
        alpha, beta: its parameters; None where it has none.
        clip: the bound of |z|; None for none.
    """

    name: Function
    alpha: float | None = None
    beta: float | None = None
    clip: float | None = None

    @property
    def is_stated(self) -> bool:
        """Whether all its parameters were given, or have defaults."""
        return not math.isnan((self.alpha or 0.0) + (self.beta or 0.0))

    @property
    def formula(self) -> Expression:
        """Its formula."""
        formula = _FORMS[self.name].formula(self.alpha or 0.0, self.beta or 0.0)
        if self.clip is None:
            return formula
        return formula.substitute(_clipped(self.clip))


def are_clipped_alike(cell: Cell, functions: Sequence[CellFunction]) -> bool:
    """Whether all weighted sums of a cell are clipped at one bound, and nothing else is."""
    bound = functions[0].clip
    return all(
        functions[part.function].clip == (None if part.rows is None else bound)
        for part in cell.parts
        if part.function is not None
    )


def attributes_of(cell: Cell, functions: Sequence[CellFunction]) -> dict[str, Any]:
    """The attributes of a node that say its activations; none where they are the usual ones."""
    names = tuple(function.name for function in functions)
    alphas = [each.alpha for each in functions if each.alpha is not None]
    betas = [each.beta for each in functions if each.beta is not None]
    return {
        **({"activations": names} if names != cell.functions else {}),
        **({"activation_alpha": tuple(alphas)} if alphas else {}),
        **({"activation_beta": tuple(betas)} if betas else {}),
        **({"clip": functions[0].clip} if functions[0].clip is not None else {}),
    }


@lru_cache(maxsize=256)
def cell_function(formula: Expression) -> CellFunction | None:
    """The function of the operators that a formula is; None if it is none.

    Runtimes compute these of any number.
    """
    if formula.size > _MAX_SIZE:
        return None
    bound, inner = _without_clip(formula)
    numbers = {part.value for part in parts_of(inner) if part.is_constant} | {0.0, 1.0}
    single = sorted(each for each in numbers if float(np.float32(each)) == each)
    for name, form in _FORMS.items():
        alphas, betas = ([None] if each is None else single for each in form[1:])
        for alpha, beta in product(alphas, betas):
            found = CellFunction(name, alpha, beta)
            if inner != VARIABLE and _plainly(found.formula) == inner:
                return None if name == _OVERFLOWS else found._replace(clip=bound)
    return None


def _without_clip(formula: Expression) -> tuple[float | None, Expression]:
    """The bound of z, None for none, and the formula of z as it is then, in plain form."""
    for part in parts_of(formula):
        if part.op == "clip" and part.args[0] == VARIABLE:
            bound = part.args[2].value
            inner = _replaced(formula, part)
            if part == _clipped(bound) and bound > 0.0 and inner.substitute(part) == formula:
                return bound, _plainly(inner)
    return None, _plainly(formula)


def _clipped(bound: float) -> Expression:
    return clip(VARIABLE, -bound, bound)


def _replaced(formula: Expression, part: Expression) -> Expression:
    """The formula with the variable in place of a part."""
    if formula == part:
        return VARIABLE
    return formula.over([_replaced(arg, part) for arg in formula.args])


def _plainly(formula: Expression) -> Expression:
    """The formula without factors of 1, nor addends of 0."""
    args = [_plainly(arg) for arg in formula.args]
    if formula.op in _NEUTRAL and args[0] == _NEUTRAL[formula.op]:
        return args[1]
    return formula.over(args)
