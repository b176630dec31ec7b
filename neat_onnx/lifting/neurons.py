"""Neurons: an array with numpy's semantics whose elements are values that neurons give.

What operators import: the array, and functions that take numbers as well and give numbers where
they get no neurons, so that an operator is written once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partialmethod
from typing import Any, TypeAlias

import numpy as np

from neat_onnx.lifting.binary import (
    both,
    compared,
    divide,
    maximum,
    minimum,
    negation,
    power,
    quotient,
    signs,
    truncated,
)
from neat_onnx.lifting.choices import where
from neat_onnx.lifting.pending import (
    Pending,
    broadcast_to,
    concat,
    folded,
    is_neurons,
    moved,
    pad,
    stack,
    take,
    take_or,
)
from neat_onnx.lifting.sums import (
    add,
    affine,
    aggregated,
    apart,
    copied,
    matmul,
    multiply,
    subtract,
)
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE, Expression

__all__ = [
    "Function", "Neurons", "Tensor", "absolute", "add", "affine", "apart",
    "broadcast_to", "ceil", "concat", "copied", "divide", "exp", "floor",
    "folded", "formula", "is_neurons", "log", "matmul", "maximum", "minimum", "moved",
    "multiply", "pad", "power", "quotient", "reciprocal", "relu", "rounded", "sigmoid", "signs",
    "softplus", "sqrt", "square", "stack", "subtract", "take", "take_or", "tanh",
    "truncated", "where",
]  # fmt: skip


class Neurons(Pending):
    """An array of values that neurons give; what is pending is described there."""

    __array_ufunc__ = None
    __slots__ = ()

    def astype(self, dtype: Any) -> Neurons:
        """Convert: to truth values (not 0), to integers (towards 0), to floats (no change)."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return self
        if wanted.kind == "b":
            found: Neurons = self != 0.0
            return found
        result = truncated(self) if wanted.kind in "iu" and self.dtype.kind == "f" else self
        return result.typed(wanted)

    # --- arithmetic -----------------------------------------------------------------------------

    __add__ = __radd__ = add
    __sub__ = subtract
    __mul__ = __rmul__ = multiply
    __truediv__ = divide
    __pow__ = power
    __matmul__ = matmul
    __invert__ = negation
    __and__ = __rand__ = both
    __or__ = __ror__ = maximum

    def __rsub__(self, other: Any) -> Any:
        return subtract(other, self)

    def __neg__(self) -> Any:
        return multiply(self, -1.0)

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return divide(self, other).apply(e.floor(VARIABLE))

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self)

    def __abs__(self) -> Neurons:
        return self.apply(abs(VARIABLE))

    __gt__ = partialmethod(compared, relation=e.greater)
    __lt__ = partialmethod(compared, relation=e.less)
    __ge__ = partialmethod(compared, relation=e.greater_or_equal)
    __le__ = partialmethod(compared, relation=e.less_or_equal)
    __eq__ = partialmethod(compared, relation=e.equal)

    def __ne__(self, other: object) -> Any:
        return ~compared(self, other, e.equal)

    __xor__ = __rxor__ = __ne__
    __hash__ = object.__hash__

    def __bool__(self, *_: Any, **__: Any) -> bool:
        raise ValueError("a value that inputs decide is read as a constant")

    __int__ = __index__ = __float__ = __array__ = __bool__

    # --- aggregation ----------------------------------------------------------------------------

    aggregate = aggregated
    sum = partialmethod(aggregated, "sum")
    mean = partialmethod(aggregated, "mean")
    max = partialmethod(aggregated, "max")
    min = partialmethod(aggregated, "min")
    prod = partialmethod(aggregated, "product")


Tensor: TypeAlias = Any
"""An array of neurons, or of numbers: no type says what both can do."""


# --- functions of one number ----------------------------------------------------------------------

z = VARIABLE
Function = Callable[[Any], Any]


def formula(expression: Expression, *, truth: bool = False) -> Function:
    """The function of an expression of `z`.

    Args:
        expression: of `z`.
        truth: its values are 0 and 1, of the type bool.
    """

    def apply(x: Any) -> Any:
        if isinstance(x, Neurons):
            return x.apply(expression, np.bool_ if truth else None)
        values = np.asarray(x)
        found = expression.evaluate(values)
        kept = np.bool_ if truth else values.dtype
        return np.broadcast_to(found, values.shape).astype(kept)

    return apply


exp = formula(e.exp(z))
log = formula(e.log(z))
sqrt = formula(e.sqrt(z))
tanh, sigmoid, relu = formula(e.tanh(z)), formula(e.sigmoid(z)), formula(e.relu(z))
absolute = formula(abs(z))
reciprocal = formula(e.reciprocal(z))
floor, ceil, rounded = formula(e.floor(z)), formula(e.ceil(z)), formula(e.rounded(z))
softplus = formula(e.softplus(z))
square = formula(z * z)
