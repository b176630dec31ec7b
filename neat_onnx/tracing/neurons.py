"""Neurons: an array with numpy's semantics whose elements are values that neurons give.

Element i is factor_i · formula(signal_i) + shift_i, or, where there is no signal, the number
shift_i alone. All of it is pending until somebody reads it: a function of one number becomes part
of the formula, a constant that is added or multiplied part of shift and factor, and moving elements
(indexing, reshaping, joining) makes nothing. What reads values makes neurons, on the tape: sums,
products and aggregations.

Every function here takes numbers as well, and gives numbers where it gets no neurons, so that an
operator is written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from neat_onnx.network.domains import ANY, stays_finite
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    call,
    constant,
    equal,
    floor,
    greater,
    greater_or_equal,
    less,
    less_or_equal,
    negated,
    number,
    reciprocal,
    sign,
)
from neat_onnx.network.expression import where as where_
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.network.primitives import PRIMITIVES
from neat_onnx.network.window import Window
from neat_onnx.tracing.recognition import has_name
from neat_onnx.tracing.tape import CONSTANT, Array, Hint, Merging, Tape

_MAX_SIZE, _MAX_DEPTH = 120, 40  # of a formula that grows on
_INFINITE = 1e30
"""Stands for an infinity that is chosen by a computed condition, as in masks of attention: its
exponential is 0, beside it every other number vanishes, and a product with 0 is 0."""
_UNDER, _OVER = -math.inf, math.inf

Axes: TypeAlias = int | Sequence[int] | None
_FLOAT, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)


class Neurons:
    """An array of values that neurons give; see the module.

    Attributes:
        ids: the signal of each element, CONSTANT where it is a number.
        formula: of each signal.
        factor, shift: a number for all elements, or an array of the shape.
        dtype: numpy's type of the elements in the graph; numbers of floats are always float64.
    """

    __array_ufunc__ = None
    __slots__ = (
        "_linear",
        "_settled",
        "_signals",
        "dtype",
        "factor",
        "formula",
        "ids",
        "shift",
        "tape",
    )

    def __init__(
        self,
        tape: Tape,
        ids: Ints,
        formula: Expression = VARIABLE,
        factor: Floats | float = 1.0,
        shift: Floats | float = 0.0,
        dtype: np.dtype[Any] = _FLOAT,
    ) -> None:
        self.tape, self.ids, self.formula = tape, ids, formula
        self.factor, self.shift, self.dtype = factor, shift, dtype
        self._linear: tuple[Ints, Floats | float, Floats | float] | None = None
        self._settled: Neurons | None = None
        self._signals: Ints | None = None

    # --- shape and place ------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """As numpy's."""
        return self.ids.shape

    @property
    def ndim(self) -> int:
        """As numpy's."""
        return self.ids.ndim

    @property
    def size(self) -> int:
        """As numpy's."""
        return self.ids.size

    def __len__(self) -> int:
        return len(self.ids)

    def moved(self, change: Callable[[Array], Array]) -> Neurons:
        """Apply a function that moves, repeats or leaves out elements of an array."""
        factor, shift = self.factor, self.shift
        return Neurons(
            self.tape,
            np.asarray(change(self.ids)),
            self.formula,
            factor if isinstance(factor, float) else np.asarray(change(factor)),
            shift if isinstance(shift, float) else np.asarray(change(shift)),
            self.dtype,
        )

    def __getitem__(self, key: Any) -> Neurons:
        return self.moved(lambda array: array[key])

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def reshape(self, *shape: Any) -> Neurons:
        """As numpy's."""
        return self.moved(lambda array: array.reshape(*shape))

    def transpose(self, *axes: Any) -> Neurons:
        """As numpy's."""
        return self.moved(lambda array: array.transpose(*axes))

    def swapaxes(self, one: int, other: int) -> Neurons:
        """As numpy's."""
        return self.moved(lambda array: array.swapaxes(one, other))

    def ravel(self) -> Neurons:
        """As numpy's."""
        return self.moved(np.ravel)

    @property
    def T(self) -> Neurons:
        """As numpy's."""
        return self.moved(np.transpose)

    def astype(self, dtype: Any) -> Neurons:
        """Convert: to truth values (not 0), to integers (towards 0), to floats (no change)."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return self
        if wanted.kind == "b":
            return not_equal(self, 0.0)
        result = truncated(self) if wanted.kind in "iu" and self.dtype.kind == "f" else self
        return result.typed(wanted)

    def typed(self, dtype: Any) -> Neurons:
        """The same numbers as elements of another type."""
        return Neurons(self.tape, self.ids, self.formula, self.factor, self.shift, np.dtype(dtype))

    # --- what is pending ------------------------------------------------------------------------

    @property
    def has_constants(self) -> bool:
        """Whether some elements are numbers."""
        return not isinstance(self.shift, float) and bool(self.ids.size) and self.ids.min() < 0

    def _uniform(self) -> tuple[float, float] | None:
        """The factor and the shift of all signals; None if these differ."""
        factor, shift = self.factor, self.shift
        if isinstance(factor, float) and isinstance(shift, float):
            return factor, shift
        live = self.ids >= 0
        found = []
        for values in (factor, shift):
            if isinstance(values, float):
                found.append(values)
                continue
            some = values[live]
            if some.size and np.any(some != some[0]):
                return None
            found.append(float(some[0]) if some.size else 0.0)
        return found[0], found[1]

    def settled(self) -> Neurons:
        """The same elements with nothing pending but a formula: factors and shifts that differ
        become neurons.
        """
        if self._uniform() is not None:
            return self
        if self._settled is None:
            self._settled = self._affine("response")
        return self._settled

    def _affine(self, merging: Merging) -> Neurons:
        ids, factor, shift = self.linear()
        live = ids >= 0 if ids.size and ids.min() < 0 else np.ones(ids.shape, np.bool_)
        factor, shift = (np.broadcast_to(each, ids.shape) for each in (factor, shift))
        made = np.full(ids.shape, CONSTANT)
        made[live] = self.tape.add_neurons(
            ids[live][:, None], factor[live][:, None], bias=shift[live], merging=merging
        )
        rest = 0.0 if live.all() else np.where(live, 0.0, shift)
        return Neurons(self.tape, made, VARIABLE, 1.0, rest, self.dtype)

    def apply(self, formula: Expression, dtype: Any = None) -> Neurons:
        """A formula of each element."""
        x = self.settled()
        result = dtype or self.dtype
        inner = x._expression()
        whole = inner if formula is VARIABLE else _inside(formula, inner)
        if whole.size > _MAX_SIZE or whole.depth > _MAX_DEPTH:
            x = Neurons(x.tape, x.signals(constants=True), VARIABLE, 1.0, x._numbers(), x.dtype)
            whole = formula
        shift: Floats | float = 0.0
        if x.has_constants:
            shift = np.where(x.ids < 0, formula.evaluate(x._numbers()), 0.0).astype(np.float64)
        return Neurons(x.tape, x.ids, whole, 1.0, shift, np.dtype(result))

    def _numbers(self) -> Floats | float:
        """The constants, where they are, and 0 elsewhere."""
        return np.where(self.ids < 0, self.shift, 0.0) if self.has_constants else 0.0

    def _expression(self) -> Expression:
        """The whole of what is pending, of settled elements."""
        factor, shift = self._uniform() or (1.0, 0.0)
        found = self.formula
        if factor != 1.0:
            found = -found if factor == -1.0 and shift == 0.0 else factor * found
        return found if shift == 0.0 else shift + found

    def signals(self, *, constants: bool = False) -> Ints:
        """The elements as signals; numbers as neurons without inputs, or CONSTANT if `constants`
        may stay.
        """
        if self._signals is None:
            x = self.settled()
            whole = x._expression()
            self._signals = x.ids if whole is VARIABLE else self.tape.add_formula(x.ids, whole)
        if constants or not self.has_constants:
            return self._signals
        found, held = self._signals.copy(), self.ids < 0
        found[held] = self.tape.add_constants(np.broadcast_to(self.shift, self.shape)[held])
        return found

    def plain(self) -> Neurons:
        """The same elements with nothing pending."""
        ids = self.signals(constants=True)
        return Neurons(self.tape, ids, VARIABLE, 1.0, self._numbers(), self.dtype)

    def linear(self) -> tuple[Ints, Floats | float, Floats | float]:
        """(signals, factors, shifts) such that the elements are factors · signals + shifts."""
        if self._linear is None:
            if self.formula is VARIABLE:
                self._linear = self.ids, self.factor, self.shift
            elif self._is_named_as_a_whole():
                self._linear = self.signals(constants=True), 1.0, self._numbers()
            else:
                ids = self.tape.add_formula(self.ids, self.formula)
                self._linear = ids, self.factor, self.shift
        return self._linear

    def as_factor(self) -> Neurons:
        """The same elements for a product: a shift of all of them is part of the formula."""
        known = self._uniform()
        return self.plain() if known is not None and known[1] != 0.0 else self

    def _is_named_as_a_whole(self) -> bool:
        """Whether factor and shift belong to the formula by which people call it."""
        known = self._uniform()
        if known is None or known == (1.0, 0.0) or has_name(self.formula):
            return known == (1.0, 0.0)
        return has_name(self._expression())

    # --- arithmetic -----------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return add(self, -other)

    def __rsub__(self, other: Any) -> Any:
        return add(-self, other)

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
        return _compared(self, other, greater)

    def __lt__(self, other: Any) -> Any:
        return _compared(self, other, less)

    def __ge__(self, other: Any) -> Any:
        return _compared(self, other, greater_or_equal)

    def __le__(self, other: Any) -> Any:
        return _compared(self, other, less_or_equal)

    def __eq__(self, other: Any) -> Any:
        return _compared(self, other, equal)

    def __ne__(self, other: Any) -> Any:
        return ~_compared(self, other, equal)

    __hash__ = object.__hash__

    def __invert__(self) -> Neurons:
        return _negation(self)

    def __and__(self, other: Any) -> Any:
        return multiply(self, other).typed(_BOOL)

    __rand__ = __and__

    def __or__(self, other: Any) -> Any:
        return maximum(self, other)

    __ror__ = __or__

    def __xor__(self, other: Any) -> Any:
        return not_equal(self, other)

    __rxor__ = __xor__

    def __bool__(self) -> bool:
        raise ValueError("a value that inputs decide is read as a constant")

    __int__ = __index__ = __float__ = __bool__  # type: ignore[assignment]

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise ValueError("a tensor that depends on inputs is read as a constant")

    # --- aggregation ----------------------------------------------------------------------------

    def aggregate(
        self, name: str, axis: Axes = None, *, keepdims: bool = False, skip: bool = False
    ) -> Any:
        """Reduce axes by an aggregation of networks: sum, mean, max, min, product, median, maxabs.

        Infinities that change nothing, as -inf under max, are left out, and zeros of a sum; with
        `skip` so is every element that is a number.
        """
        axes = _axes(axis, self.ndim)
        kept = [d for k, d in enumerate(self.shape) if k not in axes]
        count = math.prod(self.shape[k] for k in axes)
        rows = _rows(self, axes, count)
        result = _reduced(rows, name, skip=skip)
        shape = [1 if k in axes else d for k, d in enumerate(self.shape)] if keepdims else kept
        return result.reshape(tuple(shape))

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


Tensor: TypeAlias = Neurons | Array


# --- helpers --------------------------------------------------------------------------------------


def is_neurons(*tensors: Any) -> bool:
    """Whether one of these is an array of neurons."""
    return any(isinstance(each, Neurons) for each in tensors)


def _tape_of(*tensors: Any) -> Tape:
    return next(each.tape for each in tensors if isinstance(each, Neurons))


def _axes(axis: Axes, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    some = (axis,) if isinstance(axis, int | np.integer) else axis
    return tuple(int(each) % rank for each in some)


def _rows(x: Any, axes: tuple[int, ...], count: int) -> Any:
    """The elements that are reduced, each set in a row: (rows, count)."""
    rank = x.ndim
    order = [k for k in range(rank) if k not in axes] + list(axes)
    return x.transpose(order).reshape(-1, count) if count else x.transpose(order).reshape(x.size, 0)


def _inside(formula: Expression, inner: Expression) -> Expression:
    """`formula` of `inner`; truth values of truth values need no numbers between them."""
    return formula if inner is VARIABLE else formula.substitute(inner)


def _one_number(values: Any) -> Floats | float:
    """Numbers as one, where all are equal."""
    array = np.asarray(values, np.float64)
    if array.ndim == 0:
        return float(array)
    if array.size and (array.size == 1 or np.all(array == array.flat[0])):
        return float(array.flat[0])
    return array


def _same_signals(a: Neurons, b: Neurons) -> bool:
    """Whether two arrays are formulas of the same signals, element by element."""
    if a.shape != b.shape or not (a.ids is b.ids or np.array_equal(a.ids, b.ids)):
        return False
    return a._uniform() is not None and b._uniform() is not None


def _combined(op: str, a: Neurons, b: Neurons, dtype: Any) -> Neurons | None:
    """A primitive of two formulas of the same signals as one formula; None if it is too large."""
    formula = call(op, a._expression(), b._expression())
    if formula.size > _MAX_SIZE or formula.depth > _MAX_DEPTH:
        return None
    shift: Floats | float = 0.0
    if a.has_constants:
        with np.errstate(all="ignore"):
            both = PRIMITIVES[op](a._numbers(), b._numbers())
        shift = np.where(a.ids < 0, both, 0.0)
    return Neurons(a.tape, a.ids, formula, 1.0, shift, np.dtype(dtype))


def broadcast_to(x: Tensor, shape: Sequence[int]) -> Any:
    """As numpy's."""
    wanted = tuple(shape)
    if not isinstance(x, Neurons):
        return np.broadcast_to(x, wanted)
    return x if x.shape == wanted else x.moved(lambda array: np.broadcast_to(array, wanted))


def _shape(x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, Neurons) else np.shape(x)


def _result_type(a: Any, b: Any) -> np.dtype[Any]:
    """The type of a result: that of the neurons, as ONNX's operators read tensors of one type."""
    kinds = [each.dtype for each in (a, b) if isinstance(each, Neurons)]
    kinds += [
        np.asarray(each).dtype for each in (a, b) if not isinstance(each, Neurons | float | int)
    ]
    floats = [kind for kind in kinds if kind.kind == "f"]
    return floats[0] if floats else kinds[0] if kinds[0].kind != "b" else kinds[-1]


def folded(x: Neurons) -> Tensor:
    """The array as numbers, if none of its elements is a signal."""
    if x.size and x.ids.max() < 0:
        return np.broadcast_to(x.shift, x.shape).astype(x.dtype)
    return x


# --- arithmetic -----------------------------------------------------------------------------------


def add(a: Any, b: Any) -> Any:
    """a + b."""
    if not isinstance(a, Neurons):
        if not isinstance(b, Neurons):
            return a + b
        a, b = b, a
    dtype = _result_type(a, b)
    if not isinstance(b, Neurons):
        return _shifted(a, b, dtype)
    shape = np.broadcast_shapes(a.shape, b.shape)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    if _same_signals(a, b):
        if (a.formula is b.formula or a.formula == b.formula) and not a.has_constants:
            return Neurons(a.tape, a.ids, a.formula, a.factor + b.factor, a.shift + b.shift, dtype)
        found = _combined("add", a, b, dtype)
        if found is not None:
            return found
    (one, f, s), (other, g, t) = a.linear(), b.linear()
    source = np.stack([one.ravel(), other.ravel()], axis=1)
    return _sum(a.tape, source, _paired(f, g, shape), s + t, shape, dtype)


def _paired(f: Floats | float, g: Floats | float, shape: tuple[int, ...]) -> Floats | None:
    if isinstance(f, float) and isinstance(g, float) and f == g == 1.0:
        return None
    pair = [np.broadcast_to(each, shape).ravel() for each in (f, g)]
    return np.stack(pair, axis=1)


def _sum(
    tape: Tape,
    source: Ints,
    weight: Floats | None,
    bias: Floats | float,
    shape: tuple[int, ...],
    dtype: Any,
    gate: Ints | None = None,
    merging: Merging = "response",
) -> Neurons:
    """Sums over the rows of `source`; those of infinite numbers, or of no signal, are numbers."""
    flat = bias if isinstance(bias, float) else np.broadcast_to(bias, shape).ravel()
    if source.size and source.shape[1] and source.min() >= 0 and np.all(np.isfinite(flat)):
        made = tape.add_neurons(source, weight, gate, bias=flat, merging=merging)
        return Neurons(tape, made.reshape(shape), dtype=dtype)
    flat = np.broadcast_to(flat, len(source))
    live = np.isfinite(flat) & (source >= 0).any(axis=1)
    made = np.full(len(source), CONSTANT)
    made[live] = tape.add_neurons(
        source[live],
        None if weight is None else weight[live],
        None if gate is None else gate[live],
        bias=flat[live],
        merging=merging,
    )
    shift = np.where(live, 0.0, flat).reshape(shape)
    return Neurons(tape, made.reshape(shape), VARIABLE, 1.0, shift, dtype)


def _shifted(a: Neurons, b: Any, dtype: np.dtype[Any]) -> Neurons:
    """Neurons plus numbers; an infinity beside a signal is infinite."""
    more = _one_number(b)
    shape = np.broadcast_shapes(a.shape, np.shape(b))
    if a.shape != shape:
        a = broadcast_to(a, shape)
    if isinstance(more, float) and math.isfinite(more):
        shift = a.shift + more if more else a.shift
        return Neurons(a.tape, a.ids, a.formula, a.factor, shift, dtype)
    more = np.broadcast_to(more, shape)
    with np.errstate(invalid="ignore"):
        shift = np.asarray(a.shift + more)
    ids = a.ids
    if not np.all(finite := np.isfinite(shift)):
        ids = np.where(finite, ids, CONSTANT)
    return Neurons(a.tape, ids, a.formula, a.factor, shift, dtype)


def multiply(a: Any, b: Any) -> Any:
    """a · b."""
    if not isinstance(a, Neurons):
        if not isinstance(b, Neurons):
            return a * b
        a, b = b, a
    dtype = _result_type(a, b)
    if not isinstance(b, Neurons):
        return _scaled(a, b, dtype)
    shape = np.broadcast_shapes(a.shape, b.shape)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    if _same_signals(a, b):
        op = "mul"
        if a.dtype.kind == b.dtype.kind == "b":
            return _logical("both", a, b)
        found = _combined(op, a, b, dtype)
        if found is not None:
            return found
    return _product(a, b, dtype)


def _scaled(a: Neurons, b: Any, dtype: np.dtype[Any]) -> Any:
    factor = _one_number(b)
    shape = np.broadcast_shapes(a.shape, np.shape(b))
    a = broadcast_to(a, shape)
    if isinstance(factor, float) and factor and math.isfinite(factor):
        return Neurons(a.tape, a.ids, a.formula, a.factor * factor, a.shift * factor, dtype)
    factor = np.broadcast_to(factor, shape)
    if not np.all(np.isfinite(factor[a.ids >= 0])):
        raise ValueError("a product with an infinite constant is not finite")
    ids = np.where(factor == 0.0, CONSTANT, a.ids)
    with np.errstate(invalid="ignore"):
        shift = np.where(factor == 0.0, 0.0, a.shift) * factor
    return folded(Neurons(a.tape, ids, a.formula, a.factor * factor, shift, dtype))


def _product(a: Neurons, b: Neurons, dtype: np.dtype[Any]) -> Neurons:
    """The product of different signals: connections that are gated."""
    a, b = a.as_factor(), b.as_factor()
    (one, f, s), (other, g, t) = a.linear(), b.linear()
    shape, tape = a.shape, a.tape
    f, g = (np.broadcast_to(each, shape).ravel() for each in (f, g))
    s, t = (np.broadcast_to(each, shape).ravel() for each in (s, t))
    one, other = one.ravel(), other.ravel()
    both = (one >= 0) & (other >= 0)
    source, weight = [np.where(both, one, CONSTANT)], [f * g]
    gate = [np.where(both, other, CONSTANT)]
    for signals, factors, numbers in ((one, f, t), (other, g, s)):  # a number times a signal
        if np.any(numbers):
            source.append(np.where(numbers != 0.0, signals, CONSTANT))
            weight.append(factors * numbers)
            gate.append(np.full(len(one), CONSTANT))
    gates = np.stack(gate, axis=1)
    return _sum(
        tape,
        np.stack(source, axis=1),
        np.stack(weight, axis=1),
        (s * t).reshape(shape),
        shape,
        dtype,
        gates,
    )


def divide(a: Any, b: Any) -> Any:
    """a / b; of integers the quotient towards 0."""
    if not is_neurons(a, b):
        if np.result_type(a, b).kind in "iu":
            return np.trunc(np.divide(a, b)).astype(np.result_type(a, b))
        return np.divide(a, b)
    dtype = _result_type(a, b)
    if not isinstance(b, Neurons):
        with np.errstate(divide="ignore"):
            result = a * (1.0 / np.asarray(b, np.float64))
    elif isinstance(a, Neurons) and (found := _quotient(a, b)) is not None:
        result = found
    else:
        result = a * b.apply(reciprocal(VARIABLE))
    return truncated(result).typed(dtype) if dtype.kind in "iu" else result


def _quotient(a: Neurons, b: Neurons) -> Neurons | None:
    shape = np.broadcast_shapes(a.shape, b.shape)
    a, b = broadcast_to(a, shape), broadcast_to(b, shape)
    return _combined("div", a, b, _FLOAT) if _same_signals(a, b) else None


def truncated(x: Any) -> Any:
    """Round towards 0."""
    if not isinstance(x, Neurons):
        return np.trunc(x)
    return x.apply(sign(VARIABLE) * floor(abs(VARIABLE)))


def power(a: Any, b: Any) -> Any:
    """a to the power b, of which one is numbers."""
    if not is_neurons(a, b):
        return np.power(a, b)
    if not isinstance(b, Neurons):
        exponent = _one_number(b)
        if isinstance(exponent, float):
            if exponent == 1.0:
                return a
            square = VARIABLE * VARIABLE
            known = {2.0: square, 3.0: square * VARIABLE, -1.0: reciprocal(VARIABLE)}
            formula = known.get(exponent) or (
                call("sqrt", VARIABLE) if exponent == 0.5 else call("pow", VARIABLE, exponent)
            )
            return a.apply(formula)
        shape = np.broadcast_shapes(a.shape, exponent.shape)
        exponent = np.broadcast_to(exponent, shape)
        return _by_number(lambda n, x: power(x, n), exponent, broadcast_to(a, shape))
    base = a if isinstance(a, Neurons) else _one_number(a)
    if isinstance(base, float):
        return b.apply(call("pow", constant(base), VARIABLE))
    if isinstance(a, Neurons):
        raise ValueError("a power of which base and exponent depend on inputs is not supported")
    shape = np.broadcast_shapes(base.shape, b.shape)
    return _by_number(power, np.broadcast_to(base, shape), broadcast_to(b, shape))


def _by_number(function: Callable[[Any, Any], Any], numbers: Floats, x: Neurons) -> Any:
    """A function of a number and an element, for each different number."""
    flat, elements = numbers.ravel(), x.ravel()
    values, which = np.unique(flat, return_inverse=True)
    if len(values) > 64:
        raise ValueError(f"{len(values)} different numbers beside neurons, at most 64 can be")
    parts = [function(float(value), elements[which == k]) for k, value in enumerate(values)]
    order = np.argsort(np.argsort(which, kind="stable"), kind="stable")
    return take(concat(parts, 0), order, 0).reshape(x.shape)


# --- choices --------------------------------------------------------------------------------------


def _truth(formula: Expression) -> Expression:
    """Numbers 1 and 0 as truth values."""
    return formula.args[0] if formula.op == "number" else greater(formula, 0.0)


def _negation(x: Neurons) -> Neurons:
    x = x.settled()
    formula = x._expression()
    whole = (
        number(negated(formula.args[0])) if formula.op == "number" else number(equal(formula, 0.0))
    )
    shift = np.where(x.ids < 0, x._numbers() == 0.0, 0.0) if x.has_constants else 0.0
    return Neurons(x.tape, x.ids, whole, 1.0, shift, _BOOL)


def _logical(op: str, a: Neurons, b: Neurons) -> Neurons:
    formula = number(call(op, _truth(a._expression()), _truth(b._expression())))
    shift: Floats | float = 0.0
    if a.has_constants:
        shift = np.where(a.ids < 0, np.asarray(a._numbers()) * b._numbers(), 0.0)
    return Neurons(a.tape, a.ids, formula, 1.0, shift, _BOOL)


def _compared(a: Neurons, b: Any, relation: Callable[..., Expression]) -> Any:
    """A relation of neurons to numbers, or of their difference to 0."""
    against = b if isinstance(b, Neurons) else _one_number(b)
    if isinstance(against, float):
        shape = np.broadcast_shapes(a.shape, np.shape(b))
        return broadcast_to(a, shape).apply(number(relation(VARIABLE, against)), _BOOL)
    if isinstance(b, Neurons):
        shape = np.broadcast_shapes(a.shape, b.shape)
        one, other = broadcast_to(a, shape), broadcast_to(b, shape)
        if _same_signals(one, other) and not one.has_constants:
            found = number(relation(one._expression(), other._expression()))
            return Neurons(a.tape, one.ids, found, 1.0, 0.0, _BOOL)
    return (a - b).apply(number(relation(VARIABLE, 0.0)), _BOOL)


def not_equal(a: Any, b: Any) -> Any:
    """a ≠ b."""
    return a != b


def maximum(a: Any, b: Any) -> Any:
    """The larger of each two elements."""
    return _extreme("max", "maximum", np.maximum, a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of each two elements."""
    return _extreme("min", "minimum", np.minimum, a, b)


def _extreme(name: str, op: str, of_numbers: Any, a: Any, b: Any) -> Any:
    if not is_neurons(a, b):
        return of_numbers(a, b)
    if not isinstance(a, Neurons):
        a, b = b, a
    dtype = _result_type(a, b)
    against = b if isinstance(b, Neurons) else _one_number(b)
    if isinstance(against, float):
        if math.isinf(against) and (against < 0) == (name == "max"):
            return broadcast_to(a, np.broadcast_shapes(a.shape, np.shape(b)))
        shape = np.broadcast_shapes(a.shape, np.shape(b))
        relu = call("relu", VARIABLE)
        formula = relu if (name, against) == ("max", 0.0) else call(op, VARIABLE, against)
        return broadcast_to(a, shape).apply(formula)
    shape = np.broadcast_shapes(a.shape, b.shape)
    one, other = broadcast_to(a, shape), broadcast_to(as_neurons(b, a), shape)
    if _same_signals(one, other):
        found = _combined(op, one, other, dtype)
        if found is not None:
            return found
    return stack([one, other], axis=-1).aggregate(name, -1).typed(dtype)


def as_neurons(x: Any, like: Neurons) -> Neurons:
    """Numbers as an array of neurons all of whose elements are numbers."""
    if isinstance(x, Neurons):
        return x
    values = np.asarray(x)
    ids = np.full(values.shape, CONSTANT)
    return Neurons(like.tape, ids, VARIABLE, 1.0, values.astype(np.float64), values.dtype)


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b, whatever the other one is there."""
    if not is_neurons(condition, a, b):
        return np.where(condition, a, b)
    shape = np.broadcast_shapes(*(_shape(each) for each in (condition, a, b)))
    if not isinstance(condition, Neurons):
        picked = np.broadcast_to(condition, shape)
        result = _joined(
            [broadcast_to(x, shape) for x in (a, b)], lambda arrays: np.where(picked, *arrays)
        )
        return folded(result) if isinstance(result, Neurons) else result
    dtype = _result_type(*(x for x in (a, b))) if is_neurons(a, b) else np.result_type(a, b)
    a, b = (broadcast_to(_finite(x), shape) for x in (a, b))
    condition = broadcast_to(condition, shape)
    formula = _whole_choice(condition, a, b)
    if formula is not None:
        return Neurons(condition.tape, condition.ids, formula, 1.0, 0.0, dtype)
    holds = Neurons(condition.tape, condition.signals(), dtype=_FLOAT)
    fails = (~condition).typed(_FLOAT)
    chosen = _guarded(a, holds) * holds + _guarded(b, fails) * fails
    return chosen.typed(dtype) if isinstance(chosen, Neurons) else chosen


def _finite(x: Any) -> Any:
    """Numbers with large ones for infinities."""
    if isinstance(x, Neurons):
        if not x.has_constants or np.all(np.isfinite(x.shift)):
            return x
        shift = np.clip(x.shift, -_INFINITE, _INFINITE)
        return Neurons(x.tape, x.ids, x.formula, x.factor, shift, x.dtype)
    values = np.asarray(x)
    if np.any(np.isnan(values)) if values.dtype.kind == "f" else False:
        raise ValueError("a choice of NaN is not supported")
    return (
        np.where(np.isinf(values), np.sign(values) * _INFINITE, values)
        if values.dtype.kind == "f"
        else values
    )


def _whole_choice(condition: Neurons, a: Any, b: Any) -> Expression | None:
    """The choice as a formula of the condition's signals, if all of it depends on these alone."""
    if condition.has_constants or condition._uniform() is None:
        return None
    parts = []
    for each in (a, b):
        if isinstance(each, Neurons):
            if not _same_signals(condition, each):
                return None
            parts.append(each._expression())
        else:
            one = _one_number(each)
            if not isinstance(one, float):
                return None
            parts.append(constant(one))
    truth = _truth(condition._expression())
    return where_(truth, *parts) if parts != [constant(1.0), constant(0.0)] else number(truth)


def _guarded(x: Any, holds: Neurons) -> Any:
    """A branch that is finite where it is not taken."""
    if not isinstance(x, Neurons) or stays_finite(x.formula, ANY):
        return x
    harmless = next(
        (n for n in (1.0, 0.0, 0.5, 2.0, -1.0) if np.isfinite(x.formula.evaluate(np.array(n)))),
        None,
    )
    if harmless is None:
        return x
    inner = Neurons(x.tape, x.ids)
    kept = inner * holds + (1.0 - holds) * harmless if harmless else inner * holds
    return Neurons(x.tape, kept.signals(), x.formula, x.factor, x.shift, x.dtype)


# --- moving elements of several -------------------------------------------------------------------


def _joined(tensors: Sequence[Any], join: Callable[[list[Array]], Array]) -> Any:
    """Apply a function that joins the elements of several arrays."""
    if not is_neurons(*tensors):
        return join([np.asarray(each) for each in tensors])
    first = next(each for each in tensors if isinstance(each, Neurons))
    parts = [as_neurons(each, first) for each in tensors]
    formulas = {part.formula for part in parts if part.ids.size and part.ids.max() >= 0}
    if len(formulas) > 1:
        aligned = [Neurons(first.tape, *_shape_of(part), dtype=part.dtype) for part in parts]
    else:
        aligned = parts
    formula = VARIABLE if len(formulas) > 1 else next(iter(formulas), VARIABLE)
    ids = join([part.ids for part in aligned])
    factor, shift = (
        _join_numbers([getattr(p, name) for p in aligned], aligned, join)
        for name in ("factor", "shift")
    )
    return Neurons(first.tape, ids, formula, factor, shift, first.dtype)


def _shape_of(part: Neurons) -> tuple[Ints, Expression, Floats | float, Floats | float]:
    ids, factor, shift = part.linear()
    return ids, VARIABLE, factor, shift


def _join_numbers(
    values: list[Floats | float], parts: list[Neurons], join: Callable[[list[Array]], Array]
) -> Floats | float:
    if all(isinstance(each, float) for each in values) and len({*values}) == 1:  # type: ignore[misc]
        return values[0]
    return join([np.broadcast_to(v, p.shape) for v, p in zip(values, parts, strict=True)])


def concat(tensors: Sequence[Any], axis: int) -> Any:
    """Join arrays along an axis they have."""
    return _joined(tensors, lambda arrays: np.concatenate(arrays, axis))


def stack(tensors: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    return _joined(tensors, lambda arrays: np.stack(arrays, axis))


def moved(x: Any, change: Callable[[Array], Array]) -> Any:
    """Apply a function that moves, repeats or leaves out elements of an array."""
    return x.moved(change) if isinstance(x, Neurons) else change(np.asarray(x))


def take(x: Any, index: Any, axis: int = 0) -> Any:
    """As numpy's; places are numbers."""
    return moved(x, lambda array: np.take(array, index, axis))


def take_or(x: Any, index: Ints, value: float) -> Any:
    """Elements of the last axis at these places, and a number at places below 0."""
    outside = index < 0
    found = take(x, np.where(outside, 0, index), -1)
    if not outside.any():
        return found
    if not isinstance(found, Neurons):
        return np.where(outside, value, found)
    shift = np.where(outside, value, np.broadcast_to(found.shift, found.shape))
    ids = np.where(outside, CONSTANT, found.ids)
    return Neurons(found.tape, ids, found.formula, found.factor, shift, found.dtype)


def pad(x: Any, widths: Sequence[tuple[int, int]], value: Any = 0.0, mode: str = "constant") -> Any:
    """As numpy's; the modes are numpy's as well."""
    if mode != "constant":
        return moved(x, lambda array: np.pad(array, widths, mode))  # type: ignore[call-overload]
    if not any(map(any, widths)):
        return x
    if not isinstance(x, Neurons):
        return np.pad(x, widths, constant_values=value)
    ids = np.pad(x.ids, widths, constant_values=CONSTANT)
    factor = x.factor if isinstance(x.factor, float) else np.pad(x.factor, widths)
    shift = np.pad(np.broadcast_to(x.shift, x.shape), widths, constant_values=float(value))
    return Neurons(x.tape, ids, x.formula, factor, shift.astype(np.float64), x.dtype)


# --- sums and aggregations ------------------------------------------------------------------------


def matmul(a: Any, b: Any) -> Any:
    """As numpy's: sums of products, or of products with numbers."""
    if not is_neurons(a, b):
        return np.matmul(a, b)
    if a.ndim == 1:
        return matmul(a[None, :], b)[..., 0, :]
    if b.ndim == 1:
        return matmul(a, b[:, None])[..., 0]
    if not isinstance(a, Neurons):
        return matmul(b.swapaxes(-1, -2), np.swapaxes(a, -1, -2)).swapaxes(-1, -2)
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a product of the shapes {list(a.shape)} and {list(b.shape)}")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    shape, wide = (*lead, m, n), (*lead, m, n, k)

    def of_rows(values: Any) -> Array:
        return np.broadcast_to(values[..., :, None, :], wide).reshape(-1, k)

    def of_columns(values: Any) -> Array:
        return np.broadcast_to(np.swapaxes(values, -1, -2)[..., None, :, :], wide).reshape(-1, k)

    a.tape.budget.take("connections", math.prod(wide), a.tape.where)
    a.tape.budget.taken["connections"] -= math.prod(wide)
    ids, factor, shift = a.linear()
    if isinstance(b, Neurons):
        return _sum_of_products(a, b, of_rows, of_columns, shape)
    matrix = np.asarray(b, np.float64)
    if not np.all(np.isfinite(matrix)):
        raise ValueError("a product with an infinite constant is not finite")
    weight = of_columns(matrix)
    if not isinstance(factor, float):
        weight = weight * of_rows(factor)
    elif factor != 1.0:
        weight = weight * factor
    bias: Floats | float = 0.0
    if not isinstance(shift, float):
        with np.errstate(invalid="ignore"):
            bias = np.matmul(shift, matrix)
    elif shift:
        bias = np.broadcast_to(shift * matrix.sum(axis=-2, keepdims=True), shape)
    alike = m * math.prod(lead) > 1 and matrix.ndim == 2
    result = _sum(a.tape, of_rows(ids), weight, bias, shape, a.dtype, None, "")
    if alike and not result.has_constants and ids.min() >= 0:
        a.tape.apart.append(result.ids)
        rows = ids.reshape(-1, k).T, result.ids.reshape(-1, n).T
        a.tape.hints.append(Hint("Conv", *rows, Window.of((1,))))
    return result


def _sum_of_products(
    a: Neurons, b: Neurons, of_rows: Any, of_columns: Any, shape: tuple[int, ...]
) -> Neurons:
    """Each connection from an element of one is gated by an element of the other."""
    a, b = a.as_factor(), b.as_factor()
    (ids, f, s), (gates, g, t) = a.linear(), b.linear()
    full = [np.broadcast_to(x, y.shape) for x, y in ((f, ids), (s, ids), (g, gates), (t, gates))]
    f, g = of_rows(full[0]), of_columns(full[2])
    source, gate = of_rows(ids), of_columns(gates)
    both = (source >= 0) & (gate >= 0)
    sources, weights = [np.where(both, source, CONSTANT)], [f * g]
    gating = [np.where(both, gate, CONSTANT)]
    s, t = of_rows(full[1]), of_columns(full[3])
    for signals, factors, numbers in ((source, f, t), (gate, g, s)):
        if np.any(numbers):
            sources.append(np.where(numbers != 0.0, signals, CONSTANT))
            weights.append(factors * numbers)
            gating.append(np.full(signals.shape, CONSTANT))
    parts = (np.concatenate(each, axis=1) for each in (sources, weights, gating))
    every, weight, gated = parts
    bias = (s * t).sum(axis=1).reshape(shape)
    return _sum(a.tape, every, weight, bias, shape, a.dtype, gated, "")


_NEUTRAL = {"max": _UNDER, "min": _OVER}


def _reduced(rows: Neurons, name: str, *, skip: bool) -> Tensor:
    """Aggregate each row of (rows, count)."""
    count = rows.shape[1]
    if name == "sum":
        return _total(rows, None)
    if name == "mean" and not skip and (rows.has_constants or count == 0):
        return _total(rows, 1.0 / max(count, 1))
    rows = rows if rows.formula is VARIABLE and rows._uniform() else rows.settled()
    if name in ("maxabs", "product"):
        rows, shift = rows.plain(), 0.0
    else:
        known = rows._uniform()
        shift = known[1] if known else 0.0
        if rows.has_constants:
            rows, shift = rows.plain(), 0.0
        elif shift:
            rows = rows - shift
    ids, factor, _ = rows.linear()
    if rows.has_constants and not skip:
        neutral = _NEUTRAL.get(name)
        held = ids < 0
        numbers = np.broadcast_to(rows._numbers(), rows.shape)
        kept = held & (numbers != neutral) if neutral is not None else held
        if not np.all(np.isfinite(numbers[kept])):
            raise ValueError(f"{name} of an infinite constant is not supported")
        ids = ids.copy()
        ids[kept] = rows.tape.add_constants(numbers[kept])
    weight = (
        None if isinstance(factor, float) and factor == 1.0 else np.broadcast_to(factor, ids.shape)
    )
    live = (ids >= 0).any(axis=1)
    made = np.full(len(ids), CONSTANT)
    made[live] = rows.tape.add_neurons(
        ids[live], None if weight is None else weight[live], aggregation=name
    )
    if live.all():
        return Neurons(rows.tape, made, VARIABLE, 1.0, shift, rows.dtype)
    numbers = np.where(live, shift, _NEUTRAL.get(name, 0.0))
    return Neurons(rows.tape, made, VARIABLE, 1.0, numbers, rows.dtype)


def _total(rows: Neurons, scale: float | None) -> Tensor:
    ids, factor, shift = rows.linear()
    weight = (
        None if isinstance(factor, float) and factor == 1.0 else np.broadcast_to(factor, ids.shape)
    )
    with np.errstate(invalid="ignore"):
        bias = np.broadcast_to(shift, ids.shape).sum(axis=1)
    if scale is not None:
        weight = np.full(ids.shape, scale) if weight is None else weight * scale
        bias = bias * scale
    if ids.shape[1] == 1 and scale is None:
        return rows[:, 0]
    return folded(_sum(rows.tape, ids, weight, bias, (len(ids),), rows.dtype))


def affine(x: Any, factor: Any, shift: Any) -> Any:
    """factor · x + shift with numbers that belong to the weights of x, as a normalization's do."""
    result = x * factor + shift
    return result._affine("weights") if isinstance(result, Neurons) else result
