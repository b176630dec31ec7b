"""One form of formulas that differ in the order and the spelling of sums and products."""

from functools import reduce

from neat_onnx.network.expression import Expression, constant

_ONE, _MINUS = constant(1.0), constant(-1.0)


def in_normal_form(formula: Expression) -> Expression:
    """The formula with sums and products in order, of constants and the other operands.

    A difference is a sum, a quotient a product. The values differ by rounding alone.
    """
    args = [in_normal_form(each) for each in formula.args]
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
