"""The tape: signals, and the neurons and connections in the making.

A signal is a number that changes from sample to sample: an input, the pre-activation of a neuron, a
formula of another signal, or the value of another signal one step ago (a *register*). Signals are
numbered as they are made, so that each depends on lower numbers alone, but for registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from neat_onnx.model.budget import Budget
from neat_onnx.network.expression import Expression
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.spatial import SpatialBlock

Array = npt.NDArray[Any]
Merging = Literal["", "response", "weights"]
CONSTANT = -1
"""In place of a signal: none, since the number is a constant."""


@dataclass(eq=False, slots=True)
class NeuronGroup:
    """Neurons that are made together; z = bias + aggregate over j of weight · source · gate.

    Attributes:
        first: the signal of the first; the others follow.
        count: how many there are.
        aggregation: of all of them.
        bias: of each, (count,), or one number.
        source: signals, (count, k); CONSTANT for none.
        weight: (count, k), None for 1.
        gate: signals, (count, k), None for no gates.
        merging: it is a term or a factor of others: a sum that it alone reads becomes part of it.
            A factor of a single source is then its response, or scales its weights. "": it stands.
    """

    first: int
    count: int
    aggregation: str = "sum"
    bias: Floats | float = 0.0
    source: Ints | None = None
    weight: Floats | None = None
    gate: Ints | None = None
    merging: Merging = ""


@dataclass(eq=False, slots=True)
class FormulaGroup:
    """Signals that are one formula of other signals, (count,)."""

    first: int
    origin: Ints
    formula: Expression

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.origin)


@dataclass(eq=False, slots=True)
class Register:
    """Signals that are the values of others one step ago.

    Attributes:
        first: the first signal.
        initial: the values before the first step, (count,).
        next: the signals that they hold in the next step, (count,); None until they are known.
    """

    first: int
    initial: Floats
    next: Ints | None = None

    @property
    def signals(self) -> Ints:
        """The signals of the register."""
        return np.arange(self.first, self.first + len(self.initial))


class Rank(NamedTuple):
    """What is known of the signal of an element by its order: the bytes of the elements that it is
    one of, its rank from 1 on for the smallest, and these elements, a row.
    """

    key: bytes
    rank: int
    row: Any


Ids: TypeAlias = Mapping[str, Sequence[int]]


@dataclass(eq=False)
class Tape:
    """All signals of one trace.

    Attributes:
        count: how many signals there are.
        inputs: the first signal and the number of each input.
        groups: neurons and formulas, in the order in which they were made.
        registers: in the same order.
        hints: at windows, in signals in place of neurons.
        apart: neurons that other sums do not become part of, nor they part of others.
        foreign: inputs of other samples, which no output may depend on.
        open_time: the trace is one step of a sequence of no fixed length.
        budget: what may still be made.
        where: the node that is run, for messages.
        continued: signals that layers over open time begin with, and what they are a step later.
        known_apart: neurons, not pre-activations, that are part of no others.
        ids: the ids of the neurons that tensors hold, by name, as far as they are known: such
            neurons stay and are part of no others, and no two ids are of one neuron.
        identified: the neurons whose ids are known.
        ranks, places: what is known of signals by their order; see `sums.py`.
        infinite: whether each signal may be, as far as is known; see `choices.py`.
    """

    count: int = 0
    inputs: list[tuple[int, int]] = field(default_factory=list)
    groups: list[NeuronGroup | FormulaGroup] = field(default_factory=list)
    registers: list[Register] = field(default_factory=list)
    hints: list[SpatialBlock] = field(default_factory=list)
    apart: list[Ints] = field(default_factory=list)
    foreign: list[tuple[int, int]] = field(default_factory=list)
    open_time: bool = False
    budget: Budget = field(default_factory=Budget)
    where: str = ""
    continued: list[tuple[Ints, Ints]] = field(default_factory=list)
    ids: Ids = field(default_factory=dict)
    known_apart: list[Ints] = field(default_factory=list)
    ranks: dict[int, Rank] = field(default_factory=dict)
    places: dict[int, tuple[bytes, Expression]] = field(default_factory=dict)
    infinite: Bools = field(default_factory=lambda: np.empty(0, np.bool_))
    identified: list[Ints] = field(default_factory=list)
    _known: dict[Any, Ints] = field(default_factory=dict)
    _factors: dict[Merging, dict[tuple[int, float, float], int]] = field(default_factory=dict)
    _id_of: dict[int, int | None] = field(default_factory=dict)

    def _new(self, count: int) -> int:
        first = self.count
        self.count += count
        return first

    def _take(self, count: int) -> int:
        self.budget.take("neurons", count, self.where)
        return self._new(count)

    def add_inputs(self, count: int, *, foreign: bool = False) -> Ints:
        """Make the signals of an input; `foreign` is one of another sample."""
        first = self._take(count)
        (self.foreign if foreign else self.inputs).append((first, count))
        return np.arange(first, first + count)

    def add_neurons(
        self,
        source: Ints,
        weight: Floats | None = None,
        gate: Ints | None = None,
        *,
        bias: Floats | float = 0.0,
        aggregation: str = "sum",
        merging: Merging = "",
    ) -> Ints:
        """Make neurons that read `source`, (n, k); see `NeuronGroup`. Returns their signals."""
        count, fan_in = source.shape
        self.budget.take("connections", count * fan_in, self.where)
        first = self._take(count)
        self.groups.append(
            NeuronGroup(first, count, aggregation, bias, source, weight, gate, merging)
        )
        return np.arange(first, first + count)

    def add_constants(self, values: Floats) -> Ints:
        """Make neurons without inputs, one for each different number; signals of that shape."""
        key = ("constants", values.tobytes())
        if key not in self._known:
            numbers, which = np.unique(values.ravel(), return_inverse=True)
            signals = self.add_neurons(np.empty((len(numbers), 0), np.int64), bias=numbers)
            self._known[key] = signals[which.ravel()]
        return self._known[key].reshape(values.shape)

    def add_factors(self, source: Ints, factor: Floats, shift: Floats, merging: Merging) -> Ints:
        """Make neurons that multiply and shift one signal each, one for the same of all tensors."""
        known = self._factors.setdefault(merging, {})
        wanted = list(zip(source.tolist(), factor.tolist(), shift.tolist(), strict=True))
        fresh = [each for each in dict.fromkeys(wanted) if each not in known]
        if fresh:
            read, weight, bias = map(np.array, zip(*fresh, strict=True))
            made = self.add_neurons(read[:, None], weight[:, None], bias=bias, merging=merging)
            known.update(zip(fresh, made.tolist(), strict=True))
        return np.array([known[each] for each in wanted], np.int64)

    def add_formula(self, origin: Ints, formula: Expression) -> Ints:
        """Make signals that are a formula of others, in their shape; CONSTANT stays."""
        key = (formula, origin.tobytes())
        found = self._known.get(key)
        if found is None:
            flat = origin.ravel()
            if len(flat) and flat.min() < 0:
                live = flat >= 0
                found = np.full(len(flat), CONSTANT)
                found[live] = self.add_formula(flat[live], formula)
            else:
                first = self._take(len(flat))
                self.groups.append(FormulaGroup(first, flat, formula))
                found = np.arange(first, first + len(flat))
            self._known[key] = found
        return found.reshape(origin.shape)

    def with_ids(self, signals: Ints, ids: Sequence[int]) -> Ints:
        """Neurons of these ids; a copy of each signal that is to have another id than it has."""
        shape, signals = signals.shape, signals.ravel()
        pairs = zip(signals.tolist(), ids, strict=True)
        copied = [self._id_of.setdefault(*pair) != pair[1] for pair in pairs]
        if any(copied):
            signals = signals.copy()
            signals[copied] = self.add_neurons(signals[copied][:, None])
            self._id_of.update(zip(signals.tolist(), ids, strict=True))
        self.known_apart.append(signals)
        self.identified.append(signals)
        return signals.reshape(shape)

    def misses_ids(self) -> bool:
        """Whether some id is of no tensor so far."""
        return sum(map(len, self.identified)) < sum(map(len, self.ids.values()))

    def has_ids(self, signals: Ints) -> bool:
        """Whether these are neurons whose ids are known."""
        return bool(self._id_of) and all(each in self._id_of for each in signals.ravel().tolist())

    def add_register(self, initial: Floats) -> Register:
        """Make a register; `next` has to be known at the end of the trace.

        Raises:
            ValueError: it begins with an infinity or NaN.
        """
        if not np.all(np.isfinite(initial)):
            raise ValueError(
                "a state begins with an infinity or NaN, and that of a neuron is a number"
            )
        register = Register(self._new(initial.size), np.asarray(initial, np.float64).ravel())
        self.registers.append(register)
        if self.ids:
            self._id_of.update(dict.fromkeys(register.signals.tolist()))
        return register
