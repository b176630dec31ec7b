"""Neurons: an array with numpy's semantics whose elements are values that neurons give.

What operators import: the array, and functions that take numbers as well and give numbers where
they get no neurons, so that an operator is written once.
"""

from __future__ import annotations

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
from neat_onnx.lifting.joining import concat, moved, pad, stack, take, take_or
from neat_onnx.lifting.pending import Pending, as_neurons, broadcast_to, folded, is_neurons
from neat_onnx.lifting.sums import (
    Axes,
    add,
    affine,
    aggregated,
    apart,
    copied,
    matmul,
    multiply,
    subtract,
)
from neat_onnx.lifting.tape import Array
from neat_onnx.network.expression import (
    VARIABLE,
    equal,
    floor,
    greater,
    greater_or_equal,
    less,
    less_or_equal,
)

__all__ = [
    "Neurons",
    "Tensor",
    "add",
    "affine",
    "apart",
    "as_neurons",
    "broadcast_to",
    "concat",
    "copied",
    "divide",
    "folded",
    "is_neurons",
    "matmul",
    "maximum",
    "minimum",
    "moved",
    "multiply",
    "pad",
    "power",
    "quotient",
    "signs",
    "stack",
    "subtract",
    "take",
    "take_or",
    "truncated",
    "where",
]


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

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return subtract(self, other)

    def __rsub__(self, other: Any) -> Any:
        return subtract(other, self)

    def __neg__(self) -> Any:
        return multiply(self, -1.0)

    def __mul__(self, other: Any) -> Any:
        return multiply(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return divide(self, other).apply(floor(VARIABLE))

    def __pow__(self, other: Any) -> Any:
        return power(self, other)

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self)

    def __abs__(self) -> Neurons:
        return self.apply(abs(VARIABLE))

    def __gt__(self, other: Any) -> Any:
        return compared(self, other, greater)

    def __lt__(self, other: Any) -> Any:
        return compared(self, other, less)

    def __ge__(self, other: Any) -> Any:
        return compared(self, other, greater_or_equal)

    def __le__(self, other: Any) -> Any:
        return compared(self, other, less_or_equal)

    def __eq__(self, other: Any) -> Any:
        return compared(self, other, equal)

    def __ne__(self, other: Any) -> Any:
        return ~compared(self, other, equal)

    __hash__ = object.__hash__

    def __invert__(self) -> Neurons:
        return negation(self)

    def __and__(self, other: Any) -> Any:
        return both(self, other)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return maximum(self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        return self != other

    __rxor__ = __xor__

    def __bool__(self) -> bool:
        raise ValueError("a value that inputs decide is read as a constant")

    __int__ = __index__ = __float__ = __bool__

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise ValueError("a tensor that depends on inputs is read as a constant")

    # --- aggregation ----------------------------------------------------------------------------

    def aggregate(
        self, name: str, axis: Axes = None, *, keepdims: bool = False, skip: bool = False
    ) -> Any:
        """Reduce axes by an aggregation of networks; see `sums.aggregated`."""
        return aggregated(self, name, axis, keepdims=keepdims, skip=skip)

    def sum(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """As numpy's."""
        return self.aggregate("sum", axis, keepdims=keepdims)

    def mean(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """As numpy's."""
        return self.aggregate("mean", axis, keepdims=keepdims)

    def max(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """As numpy's."""
        return self.aggregate("max", axis, keepdims=keepdims)

    def min(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """As numpy's."""
        return self.aggregate("min", axis, keepdims=keepdims)

    def prod(self, axis: Axes = None, *, keepdims: bool = False) -> Any:
        """As numpy's."""
        return self.aggregate("product", axis, keepdims=keepdims)


Tensor: TypeAlias = Any
"""An array of neurons, or of numbers: no type says what both can do."""
