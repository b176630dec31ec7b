"""Formulas that are straight lines: a weight and a bias, which need no activation of their own."""

from neat_onnx.network.expression import VARIABLE, Expression

Line = tuple[float, float]
"""(c, b) of c · z + b."""


def line_of(formula: Expression) -> Line | None:
    """Return (c, b) where the formula is c · z + b, written with sums, products and quotients.

    Args:
        formula: a formula of z.

    Returns:
        None where it is anything else.
    """
    if formula == VARIABLE:
        return 1.0, 0.0
    if formula.is_constant:
        return 0.0, formula.value
    lines = [line_of(part) for part in formula.args]
    if formula.op == "neg" and lines[0] is not None:
        return -lines[0][0], -lines[0][1]
    if len(lines) != 2 or lines[0] is None or lines[1] is None:
        return None
    (slope, shift), (other_slope, other_shift) = lines[0], lines[1]
    if formula.op in ("add", "sub"):
        sign = 1.0 if formula.op == "add" else -1.0
        return slope + sign * other_slope, shift + sign * other_shift
    if formula.op == "mul" and 0.0 in (slope, other_slope):
        return slope * other_shift + other_slope * shift, shift * other_shift
    if formula.op == "div" and other_slope == 0.0 and other_shift != 0.0:
        return slope / other_shift, shift / other_shift
    return None
