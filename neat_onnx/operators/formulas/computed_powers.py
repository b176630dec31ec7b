"""Powers whose base and exponent are both computed: |x|^y = exp(y · ln |x|), and a sign.

The logarithm of 0 or ∞ is no number: there a number that is large enough takes its place, with the
sign of the exponent, so that 0^0 and ∞^0 are 1. A base below 0 has a power for whole exponents
alone, negative for odd ones.
"""

from neat_onnx.lifting.context import LiftingContext, Operand
from neat_onnx.model import Node
from neat_onnx.network.expression import (
    VARIABLE,
    call,
    equal,
    floor,
    is_infinite,
    less,
    log,
    number,
    sign,
    where,
)
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.formulas.formula import formula_of

_BEYOND = 1e4  # exp of it is infinite, of its negative 0
_BELOW_ZERO, _ODD, _FRACTION = 4.0, 1.0, 2.0
_NEGATIVE = _BELOW_ZERO + _ODD
_IS_ZERO, _IS_INFINITE = equal(VARIABLE, 0.0), is_infinite(VARIABLE)
_LOGARITHM = where(call("either", _IS_ZERO, _IS_INFINITE), 0.0, log(abs(VARIABLE)))
_END = where(_IS_ZERO, -_BEYOND, where(_IS_INFINITE, _BEYOND, 0.0))
_IS_EVEN = equal(2.0 * floor(0.5 * VARIABLE), VARIABLE)
_KIND = where(_IS_EVEN, 0.0, where(equal(floor(VARIABLE), VARIABLE), _ODD, _FRACTION))
_SIGN = sign(log(_NEGATIVE + 0.5 - VARIABLE))  # below it the logarithm is positive, above it NaN


def computed_power(ctx: LiftingContext, node: Node, base: Operand, exponent: Operand) -> Operand:
    """The power of two computed tensors, element by element.

    Args:
        base: of real numbers.
        exponent: of finite numbers, with numpy's broadcasting.
    """
    tensors = Algebra(ctx, node)
    logarithm, end = (formula_of(ctx, base, each) for each in (_LOGARITHM, _END))
    beyond = tensors("mul", formula_of(ctx, exponent, sign(VARIABLE)), end)
    size = tensors("exp", tensors("add", tensors("mul", exponent, logarithm), beyond))
    below_zero = formula_of(ctx, base, _BELOW_ZERO * number(less(VARIABLE, 0.0)))
    kind = tensors("add", formula_of(ctx, exponent, _KIND), below_zero)
    return tensors("mul", size, formula_of(ctx, kind, _SIGN))
