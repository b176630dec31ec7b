"""Remainders of computed numbers by computed divisors.

A network divides by the reciprocal of the divisor, so that the whole quotient may be one off. The
rest that it leaves says so: it is below 0, or not below the divisor, and one divisor more or less
mends it. In float64 the remainder of float32 numbers is exact up to quotients of 2^28.
"""

from neat_onnx.lifting.context import LiftingContext, Operand
from neat_onnx.model import Node
from neat_onnx.network.expression import VARIABLE, floor, sign
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.formulas.formula import formula_of


def remainder(ctx: LiftingContext, node: Node, dividend: Operand, divisor: Operand) -> Operand:
    """The remainder of a division, with the sign of the dividend."""
    tensors = Algebra(ctx, node)
    number, size = tensors("abs", dividend), tensors.activations(tensors("abs", divisor))
    whole = formula_of(ctx, tensors("div", number, size), floor(VARIABLE))
    rest = tensors.activations(tensors("sub", number, tensors("mul", whole, size)))
    low = tensors("mul", tensors("less", rest, 0.0), size)
    high = tensors("mul", tensors("greater_or_equal", tensors("sub", rest, size), 0.0), size)
    mended = tensors("sub", tensors("add", rest, low), high)
    return tensors("mul", mended, formula_of(ctx, dividend, sign(VARIABLE)))
