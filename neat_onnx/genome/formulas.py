"""One form of activations, for a checksum that is the same for equal functions.

An activation is f(c · z + b). In f a difference is a sum and a quotient a product; the constants of
a sum or a product come first, as one, and the other operands follow in the order of their texts.
The values differ by rounding alone.
"""

from functools import lru_cache, reduce
from typing import NamedTuple

from neat_onnx.model import DataType
from neat_onnx.network.activations import FORMULA, activation_named
from neat_onnx.network.bounds import Line, without_lines
from neat_onnx.network.expression import VARIABLE, Expression, constant
from neat_onnx.network.runtime_formulas import writable

IDENTITY = str(VARIABLE)
_ONE, _MINUS = constant(1.0), constant(-1.0)
_MAX_WRITTEN = 20_000  # primitives and numbers of which a text is made in a few seconds


class Form(NamedTuple):
    """The activation f(slope · z + shift): `formula` is the text of f, `whole` of all of it."""

    slope: float
    shift: float
    formula: str
    whole: str


def form_of(activation: str, data_type: DataType) -> Form:
    """Return the form of an activation, as a graph of this type has it.

    Of a straight line f is the identity, and of a formula with several lines in it the whole.
    """
    formula = activation_named(activation).expression
    if activation.startswith(FORMULA):
        formula = _by_its_name(formula)
    return _form(formula, data_type)


@lru_cache(maxsize=4096)
def _form(formula: Expression, data_type: DataType) -> Form:
    whole = _text(formula, data_type)
    lines: dict[Line, None] = {}
    core = without_lines(formula, lines)
    if len(lines) != 1:
        return Form(1.0, 0.0, whole, whole)
    ((slope, shift),) = lines
    return Form(slope, shift, _text(core, data_type), whole)


def _by_its_name(formula: Expression) -> Expression:
    """The formula, in the words of an activation that import takes it for."""
    from neat_onnx.lifting.recognition import known_activation  # noqa: PLC0415 (few have formulas)

    if (known := known_activation(formula)) is None:
        return formula
    name, factor = known
    inner = VARIABLE if factor == 1.0 else VARIABLE / factor
    return activation_named(name).expression.substitute(inner)


def _text(formula: Expression, data_type: DataType) -> str:
    """The formula as a graph of this type has it; as it is where that would be too large."""
    written = writable(formula, data_type.dtype)
    written = written if written.size <= _MAX_WRITTEN else formula
    if data_type is not DataType.FLOAT:
        return str(_in_order(written))
    return str(_in_order(written.single).single)  # a factor that rounds to 1 is none


def _in_order(formula: Expression) -> Expression:
    args = [_in_order(each) for each in formula.args]
    match formula.op:
        case "neg":
            return _joined("mul", [_MINUS, *args])
        case "sub":
            return _joined("add", [args[0], _joined("mul", [_MINUS, args[1]])])
        case "div":
            return _joined("mul", [args[0], _reciprocal(args[1])])
        case "reciprocal":
            return _reciprocal(args[0])
        case "add" | "mul":
            return _joined(formula.op, args)
        case _:
            return formula.over(args)


def _reciprocal(formula: Expression) -> Expression:
    if formula.is_constant and formula.value != 0.0:
        return constant(1.0 / formula.value)
    return Expression("div", (_ONE, formula))


def _joined(op: str, args: list[Expression]) -> Expression:
    """The sum or the product of operands, the constant first and the others in their order."""
    parts = [part for each in args for part in _operands(op, each)]
    neutral = 0.0 if op == "add" else 1.0
    number = neutral
    for part in parts:
        if part.is_constant:
            number = number + part.value if op == "add" else number * part.value
    others = sorted((part for part in parts if not part.is_constant), key=str)
    if number != neutral or not others:
        others = [constant(number), *others]
    return reduce(lambda one, two: Expression(op, (one, two)), others)


def _operands(op: str, formula: Expression) -> list[Expression]:
    if formula.op != op:
        return [formula]
    return [part for each in formula.args for part in _operands(op, each)]
