"""Comparisons, logic and choices: truth values, which no neuron has.

Within a formula they are truth values. Where neurons have to carry them they are 1 and 0.
"""

from typing import Literal

from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import Expression
from neat_onnx.operators.export.formulas.formula import (
    Emission,
    FormulaEmitter,
    emits,
)
from neat_onnx.operators.export.formulas.nodes import Binary, Unary


class _Truth(Binary, abstract=True):
    """A comparison, or an operator of truth values."""


class Greater(_Truth):
    """A > B, with broadcasting."""


class GreaterOrEqual(_Truth):
    """A ≥ B, with broadcasting."""

    since = 12


class Less(_Truth):
    """A < B, with broadcasting."""


class LessOrEqual(_Truth):
    """A ≤ B, with broadcasting."""

    since = 12


class Equal(_Truth):
    """A = B, with broadcasting."""


class And(_Truth):
    """Whether both truth values hold, with broadcasting."""

    since = 7


class Or(_Truth):
    """Whether one of two truth values holds, or both, with broadcasting."""

    since = 7


class Xor(_Truth):
    """Whether exactly one of two truth values holds, with broadcasting."""

    since = 7


class Not(Unary):
    """The other truth value, element by element."""

    since = 1


class IsNaN(Unary):
    """Whether each element is NaN."""


class IsInfAttributes(Attributes):
    """Attributes of IsInf: which signs count."""

    detect_negative: Literal[0, 1] = 1
    detect_positive: Literal[0, 1] = 1


class IsInf(Unary):
    """Whether each element is infinite."""

    since = 10
    attributes: IsInfAttributes = IsInfAttributes.defaults()


class Where(Node):
    """X where the condition holds, else Y, with broadcasting."""

    inputs = (3, 3)
    since = 9


class CastAttributes(Attributes):
    """Attributes of Cast: the type of the result."""

    to: Literal[1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16]
    saturate: Literal[0, 1] = 1
    round_mode: Literal["up", "down", "nearest"] = "up"  # of a float8 that is not among the types


class Cast(Unary):
    """The elements in another type of numbers, or as truth values."""

    attributes: CastAttributes


_COMPARISONS: dict[str, type[Node]] = {
    "greater": Greater,
    "greater_or_equal": GreaterOrEqual,
    "less": Less,
    "less_or_equal": LessOrEqual,
    "equal": Equal,
}
_LOGIC: dict[str, type[Node]] = {"both": And, "either": Or, "one_of": Xor, "negated": Not}
_OPERATORS = _COMPARISONS | _LOGIC | {"is_nan": IsNaN, "is_infinite": IsInf, "where": Where}


# --- to nodes ------------------------------------------------------------------------------------


@emits(*_OPERATORS)
def emit_logic(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit the operator of a comparison or of logic."""
    return Emission(_OPERATORS[part.op], [emitter.operand(arg) for arg in part.args], {})


@emits("number")
def emit_number(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit the Cast of truth values to numbers."""
    return Emission(Cast, [emitter.operand(part.args[0])], {"to": int(emitter.ctx.data_type)})


# --- to formulas ---------------------------------------------------------------------------------
