"""What is pending: factors · formula(signals) + shifts, before neurons are made of them.

Element i is factor_i · formula(signal_i) + shift_i, or, where there is no signal, the number
shift_i alone. A function of one number becomes part of the formula, a constant that is added or
multiplied part of shift and factor, and moving elements makes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np

from neat_onnx.lifting.recognition import has_name, has_steps
from neat_onnx.lifting.tape import CONSTANT, Array, Merging, Tape
from neat_onnx.model.budget import require_elements
from neat_onnx.network.bounds import line_of
from neat_onnx.network.expression import PRIMITIVES, VARIABLE, Expression, call
from neat_onnx.network.genes import Floats, Ints

_MAX_SIZE, _MAX_DEPTH = 120, 40  # of a formula that grows on
_MAX_CARRIED = 16  # changes between a quotient and what rounds it
_FLOAT = np.dtype(np.float64)


def _as_of_numpy(name: str) -> Any:
    """A method of numpy's arrays that moves elements."""

    def method(self: Pending, *args: Any) -> Pending:
        return self.moved(lambda array: getattr(array, name)(*args))

    return method


class Pending:
    """An array of values that neurons give; see the module.

    Attributes:
        ids: the signal of each element, CONSTANT where it is a number.
        formula: of each signal.
        factor, shift: a number for all elements, or an array of the shape.
        dtype: numpy's type of the elements in the graph; numbers of floats are always float64.
        exact: gives the same elements rounded once, where factors are reciprocals of what they were
            divided by: a step of them may fall on the other side.
    """

    __array_ufunc__ = None
    __slots__ = (
        "_carried",
        "_linear",
        "_settled",
        "_signals",
        "_sources",
        "dtype",
        "exact",
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
        self._settled: Self | None = None
        self._sources: Self | None = None
        self._signals: Ints | None = None
        self.exact: Callable[[], Self] | None = None
        self._carried = 0  # by how many changes

    def of(
        self,
        ids: Ints,
        formula: Expression = VARIABLE,
        factor: Floats | float = 1.0,
        shift: Floats | float = 0.0,
        dtype: Any = None,
    ) -> Self:
        """Other elements on the same tape, of the same type unless `dtype` is given."""
        kind = self.dtype if dtype is None else np.dtype(dtype)
        return type(self)(self.tape, ids, formula, factor, shift, kind)

    # --- shape and place ------------------------------------------------------------------------

    shape = property(lambda self: self.ids.shape)
    ndim = property(lambda self: self.ids.ndim)
    size = property(lambda self: self.ids.size)

    def __len__(self) -> int:
        return len(self.ids)

    def moved(self, change: Callable[[Array], Array]) -> Self:
        """Apply a function that moves, repeats or leaves out elements of an array."""
        factor, shift = self.factor, self.shift
        result = self.of(
            np.asarray(change(self.ids)),
            self.formula,
            factor if isinstance(factor, float) else np.asarray(change(factor)),
            shift if isinstance(shift, float) else np.asarray(change(shift)),
            self.dtype,
        )
        return result.like(self, lambda exact: exact.moved(change))

    def like(self, other: Any, change: Callable[[Any], Any]) -> Self:
        """These elements, whose exact ones are a change of those of another array."""
        if other.exact is not None and other._carried < _MAX_CARRIED:
            self.exact, self._carried = lambda: change(other.exact()), other._carried + 1
        return self

    def __getitem__(self, key: Any) -> Self:
        return self.moved(lambda array: array[key])

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    reshape = _as_of_numpy("reshape")
    transpose = _as_of_numpy("transpose")
    swapaxes = _as_of_numpy("swapaxes")
    ravel = _as_of_numpy("ravel")
    T = property(_as_of_numpy("transpose"))

    def typed(self, dtype: Any) -> Self:
        """The same numbers as elements of another type."""
        result = self.of(self.ids, self.formula, self.factor, self.shift, np.dtype(dtype))
        return result.like(self, lambda exact: exact.typed(dtype))

    # --- what is pending ------------------------------------------------------------------------

    @property
    def has_constants(self) -> bool:
        """Whether some elements are numbers."""
        return not isinstance(self.shift, float) and bool(self.ids.size) and self.ids.min() < 0

    @property
    def is_plain(self) -> bool:
        """Whether nothing but a formula is pending."""
        if isinstance(self.factor, float) and isinstance(self.shift, float):
            return self.factor == 1.0 and self.shift == 0.0
        live = self.ids >= 0
        return all(
            values == trivial
            if isinstance(values, float)
            else bool(np.all(values[live] == trivial))
            for values, trivial in ((self.factor, 1.0), (self.shift, 0.0))
        )

    def settled(self) -> Self:
        """The same elements with nothing pending but a formula: factors and shifts become neurons,
        which merge with what they read where that is all that reads it.
        """
        if self._settled is None:
            self._settled = self if self.is_plain else self.as_neurons("response")
        return self._settled

    def as_neurons(self, merging: Merging) -> Self:
        """Elements whose factors and shifts are neurons, that merge as `NeuronGroup` says."""
        ids, factor, shift = self.linear()
        live = ids >= 0
        is_plain = isinstance(factor, float) and isinstance(shift, float) and live.all()
        if is_plain and factor == 1.0 and shift == 0.0:
            return self.of(ids)
        factor, shift = (broadcast_to(each, ids.shape) for each in (factor, shift))
        changed = live & ((factor != 1.0) | (shift != 0.0))
        made = ids.copy()
        made[changed] = self.tape.add_factors(
            ids[changed], factor[changed], shift[changed], merging
        )
        rest = 0.0 if live.all() else np.where(live, 0.0, shift)
        return self.of(made, VARIABLE, 1.0, rest, self.dtype)

    def apply(self, formula: Expression, dtype: Any = None) -> Self:
        """A formula of each element."""
        if self.exact is not None and has_steps(formula):
            return self.exact().apply(formula, dtype)
        x = self.settled()
        result = dtype or self.dtype
        whole = formula if x.formula is VARIABLE else formula.substitute(x.formula)
        if whole.size > _MAX_SIZE or whole.depth > _MAX_DEPTH:
            x, whole = x.plain(), formula
        shift: Floats | float = 0.0
        if x.has_constants:
            numbers = np.asarray(x.numbers())
            shift = np.where(x.ids < 0, formula.evaluate(numbers), 0.0).astype(np.float64)
        made = x.of(x.ids, whole, 1.0, shift, np.dtype(result))
        if self.exact is None or line_of(formula) is None:
            return made
        return made.like(self, lambda exact: exact.apply(formula, dtype))

    def numbers(self) -> Floats | float:
        """The constants, where they are, and 0 elsewhere."""
        return np.where(self.ids < 0, self.shift, 0.0) if self.has_constants else 0.0

    def signals(self, *, constants: bool = False) -> Ints:
        """The elements as signals; numbers as neurons without inputs, or CONSTANT if `constants`
        may stay.
        """
        if self._signals is None:
            x = self.settled()
            alone = x.formula is VARIABLE
            self._signals = x.ids if alone else self.tape.add_formula(x.ids, x.formula)
        if constants or not self.has_constants:
            return self._signals
        found, held = self._signals.copy(), self.ids < 0
        found[held] = self.tape.add_constants(np.broadcast_to(self.shift, self.shape)[held])
        return found

    def plain(self) -> Self:
        """The same elements with nothing pending."""
        ids = self.signals(constants=True)
        return self.of(ids, VARIABLE, 1.0, self.numbers(), self.dtype)

    def linear(self) -> tuple[Ints, Floats | float, Floats | float]:
        """(signals, factors, shifts) such that the elements are factors · signals + shifts."""
        if self._linear is None:
            factor, shift, inner = outer_affine(self.formula)
            ids = self.ids if inner is VARIABLE else self.tape.add_formula(self.ids, inner)
            added = self.shift
            if shift:
                live = self.factor * shift
                added = added + (np.where(self.ids >= 0, live, 0.0) if self.has_constants else live)
            self._linear = ids, self.factor * factor, added
        return self._linear

    def as_sources(self) -> Self:
        """The same elements for weights that are kept as they are: what multiplies and shifts them
        becomes neurons.
        """
        if self._sources is None:
            alone = self.formula is VARIABLE and self.is_plain
            self._sources = self if alone else self.as_neurons("response")
        return self._sources

    def of_tensor(self, name: str) -> Self:
        """These elements as a tensor of this name: neurons of their own if their ids are known."""
        ids = self.tape.ids.get(name, ())
        if not ids or len(ids) != self.size or self.has_constants:
            return self
        plain = self.plain()
        return plain.of(self.tape.with_ids(plain.ids, ids))

    def as_factor(self) -> Self:
        """The same elements for a product: what a formula adds stays in it, and in a file of ours
        all that is added, since a factor is a neuron's value or state there.
        """
        if self.tape.ids:
            added = bool(np.any(np.where(self.ids >= 0, self.linear()[2], 0.0)))
        else:
            added = self.is_plain and outer_affine(self.formula)[1] != 0.0
        return self.plain() if added else self


def is_neurons(*tensors: Any) -> bool:
    """Whether one of these is an array of neurons."""
    return any(isinstance(each, Pending) for each in tensors)


@lru_cache(maxsize=4096)
def outer_affine(formula: Expression) -> tuple[float, float, Expression]:
    """(a, b, inner) such that a formula is a · inner + b; inner is what people call by a name."""
    factor, shift, inner = 1.0, 0.0, formula
    while inner is not VARIABLE and not has_name(inner):
        numbers = [arg.value for arg in inner.args if arg.is_constant]
        if len(numbers) != len(inner.args) - 1:
            break
        (rest,) = (arg for arg in inner.args if not arg.is_constant)
        first = inner.args[0].is_constant
        if inner.op == "add":
            shift += factor * numbers[0]
        elif inner.op == "sub":
            shift += factor * (numbers[0] if first else -numbers[0])
            factor *= -1.0 if first else 1.0
        elif inner.op == "neg":
            factor *= -1.0
        elif inner.op == "mul" and numbers[0]:
            factor *= numbers[0]
        elif inner.op == "div" and not first:
            factor /= numbers[0]
        else:
            break
        inner = rest
    return factor, shift, inner


def one_number(values: Any, beside: Any = None) -> Floats | float:
    """Numbers as one: a scalar, or a single number for all elements of the other operand.

    In a file of ours only a scalar is of a formula; else it is the gene of many neurons.
    """
    array = np.asarray(values, np.float64)
    is_gene = isinstance(beside, Pending) and (beside.size == 1 or bool(beside.tape.ids))
    alone = array.ndim == 0 or (array.size == 1 and not is_gene)
    return float(array.flat[0]) if alone else array


def same_signals(a: Pending, b: Pending) -> bool:
    """Whether two arrays are formulas of the same signals, element by element."""
    if a.shape != b.shape or not (a.ids is b.ids or np.array_equal(a.ids, b.ids)):
        return False
    return a.is_plain and b.is_plain


def aligned(a: Pending, b: Pending, shape: Sequence[int]) -> tuple[Any, Any]:
    """Both in one shape, as formulas of the same signals where they can be."""
    alone = a.settled() if a is b else a
    a, b = broadcast_to(alone, shape), broadcast_to(alone if a is b else b, shape)
    held = [x if x._settled is None else x._settled for x in (a, b)]
    return (held[0], held[1]) if same_signals(held[0], held[1]) else (a, b)


def combined(op: str, a: Pending, b: Pending, dtype: Any) -> Any:
    """A primitive of two formulas of the same signals as one formula; None if it is too large."""
    formula = call(op, a.formula, b.formula)
    if formula.size > _MAX_SIZE or formula.depth > _MAX_DEPTH:
        return None
    shift: Floats | float = 0.0
    if a.has_constants:
        with np.errstate(all="ignore"):
            both = PRIMITIVES[op](a.numbers(), b.numbers())
        shift = np.where(a.ids < 0, both, 0.0)
    return a.of(a.ids, formula, 1.0, shift, np.dtype(dtype))


def broadcast_to(x: Any, shape: Sequence[int]) -> Any:
    """As numpy's."""
    wanted = tuple(shape)
    if shape_of(x) == wanted:
        return x if isinstance(x, Pending) else np.asarray(x)
    return moved(x, lambda array: np.broadcast_to(array, wanted))


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of numbers or of elements."""
    return x.shape if isinstance(x, Pending) else np.shape(x)


def common_shape(a: Any, b: Any) -> tuple[int, ...]:
    """The shape that two arrays are broadcast to: numpy takes long to find it where it is plain."""
    one, other = shape_of(a), shape_of(b)
    return one if other in ((), one) else np.broadcast_shapes(one, other)


def result_type(a: Any, b: Any) -> np.dtype[Any]:
    """The type of a result: that of the neurons, as ONNX's operators read tensors of one type."""
    kinds = [each.dtype for each in (a, b) if isinstance(each, Pending)]
    kinds += [
        np.asarray(each).dtype for each in (a, b) if not isinstance(each, Pending | float | int)
    ]
    floats = [kind for kind in kinds if kind.kind == "f"]
    return floats[0] if floats else kinds[0] if kinds[0].kind != "b" else kinds[-1]


def folded(x: Pending) -> Any:
    """The array as numbers, if none of its elements is a signal."""
    if not isinstance(x.shift, float) and x.size and x.ids.max() < 0:
        return np.broadcast_to(x.shift, x.shape).astype(x.dtype)
    return x


def as_neurons(x: Any, like: Pending) -> Any:
    """Numbers as an array of neurons all of whose elements are numbers."""
    if isinstance(x, Pending):
        return x
    values = np.asarray(x)
    ids = np.full(values.shape, CONSTANT)
    return like.of(ids, VARIABLE, 1.0, values.astype(np.float64), values.dtype)


# --- several arrays ------------------------------------------------------------------------------


def joined(tensors: Sequence[Any], join: Callable[[list[Array]], Array]) -> Any:
    """Apply a function that joins the elements of several arrays."""
    require_elements(sum(x.size if isinstance(x, Pending) else np.size(x) for x in tensors))
    if not is_neurons(*tensors):
        return join([np.asarray(each) for each in tensors])
    first = next(each for each in tensors if isinstance(each, Pending))
    parts = [as_neurons(each, first) for each in tensors]
    formulas = {part.formula for part in parts if part.ids.size and part.ids.max() >= 0}
    formula = next(iter(formulas), VARIABLE)
    if len(formulas) > 1:
        parts, formula = [_without_formula(part) for part in parts], VARIABLE
    ids = join([part.ids for part in parts])
    factor, shift = (
        _join_numbers([getattr(p, name) for p in parts], parts, join)
        for name in ("factor", "shift")
    )
    return first.of(ids, formula, factor, shift, first.dtype)


def _without_formula(part: Pending) -> Pending:
    """The same elements, of which the formulas are signals."""
    ids, factor, shift = part.linear()
    return part.of(ids, VARIABLE, factor, shift)


def _join_numbers(
    values: list[Floats | float], parts: list[Pending], join: Callable[[list[Array]], Array]
) -> Floats | float:
    if all(isinstance(each, float) for each in values) and len({*values}) == 1:
        return values[0]
    return join([broadcast_to(v, p.shape) for v, p in zip(values, parts, strict=True)])


def concat(tensors: Sequence[Any], axis: int) -> Any:
    """Join arrays along an axis they have."""
    return joined(tensors, lambda arrays: np.concatenate(arrays, axis))


def stack(tensors: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    return joined(tensors, lambda arrays: np.stack(arrays, axis))


def moved(x: Any, change: Callable[[Array], Array]) -> Any:
    """Apply a function that moves, repeats or leaves out elements of an array."""
    return x.moved(change) if isinstance(x, Pending) else change(np.asarray(x))


def take(x: Any, index: Any, axis: int = 0) -> Any:
    """As numpy's; places are numbers."""
    require_elements(x.size // max(1, x.shape[axis]), np.size(index))
    return moved(x, lambda array: np.take(array, index, axis))


def take_or(x: Any, index: Ints, value: float) -> Any:
    """Elements of the last axis at these places, and a number at places below 0."""
    outside = index < 0
    found = take(x, np.where(outside, 0, index), -1)
    if not outside.any():
        return found
    if not isinstance(found, Pending):
        return np.where(outside, value, found)
    shift = np.where(outside, value, np.broadcast_to(found.shift, found.shape))
    ids = np.where(outside, CONSTANT, found.ids)
    return found.of(ids, found.formula, found.factor, shift, found.dtype)


def pad(x: Any, widths: Sequence[tuple[int, int]], value: Any = 0.0, mode: str = "constant") -> Any:
    """As numpy's; the modes are numpy's as well."""
    require_elements(*(a + d + b for (a, b), d in zip(widths, x.shape, strict=True)))
    if mode != "constant":
        return moved(x, lambda array: np.pad(array, widths, mode))  # type: ignore[call-overload]
    if not any(map(any, widths)):
        return x
    if not isinstance(x, Pending):
        return np.pad(x, widths, constant_values=value)
    ids = np.pad(x.ids, widths, constant_values=CONSTANT)
    factor = x.factor if isinstance(x.factor, float) else np.pad(x.factor, widths)
    shift = np.pad(np.broadcast_to(x.shift, x.shape), widths, constant_values=float(value))
    return x.of(ids, x.formula, factor, shift.astype(np.float64), x.dtype)
