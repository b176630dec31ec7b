"""Cells that were unrolled, found by wiring: a unit for each step, each reading the one before it.

A network that takes a sequence of fixed length has neurons of its own for every step. The table of
a cell says how they are wired; the links that it delays by one step lead to the step before, and
in the first step to the initial state, or nowhere if it is zero.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np

from neat_onnx.network.cells import Cell, Link, Part
from neat_onnx.network.genes import NONE
from neat_onnx.operators.rnn.cell_activations import CellFunction
from neat_onnx.operators.rnn.reads import MIN_STEPS, Read, Reads


@dataclass(frozen=True, eq=False)
class _Unit:
    """A unit in one step.

    Attributes:
        parts: its neurons, by part.
        before: the signal that its keeper reads of one step ago; NONE for a state of zero.
        functions: its activations, by their places in the operator's order.
    """

    parts: dict[str, int]
    before: int = NONE
    functions: Mapping[int, CellFunction] = field(default_factory=dict)

    def given(self, **parts: int) -> "_Unit | None":
        """The unit with more parts; None if it has others in their places."""
        known = self.parts.items()
        if any(parts.get(name, neuron) != neuron for name, neuron in known):
            return None
        return replace(self, parts=self.parts | parts)


@dataclass(frozen=True, eq=False)
class Chain:
    """One unit of a cell, step by step.

    Attributes:
        cell: the table of its parts.
        functions: its activations, in the operator's order.
        steps: for each step the neuron of each part; a part that does nothing is left out.
        start: the signal that the first step keeps a part of; NONE for a state of zero.
    """

    cell: Cell
    functions: tuple[CellFunction, ...]
    steps: list[dict[str, int]]
    start: int

    def between(self, first: int, end: int) -> "Chain":
        """Return the steps from `first` to the one before `end`."""
        start = self.steps[first - 1][self.cell.keeper] if first else self.start
        return replace(self, steps=self.steps[first:end], start=start)


class ChainFinder:
    """Finds the units of one network that keep a part of themselves."""

    def __init__(self, reads: Reads) -> None:
        self._reads = reads

    def chains(self, cell: Cell) -> Iterator[Chain]:
        """The units of a cell, each as far as its steps are wired alike; no weight is checked.

        A unit that differs in one step is a chain before that step, and one after it.
        """
        after: dict[int, list[_Unit]] = defaultdict(list)
        keepers: set[int] = set()
        for neuron in self._candidates():
            unit = self._unit(cell, neuron)
            if unit is not None:
                after[unit.before].append(unit)
                keepers.add(unit.parts[cell.keeper])
        for before, firsts in after.items():
            if before in keepers and len(firsts) == 1:
                continue  # it goes on
            for first in firsts:
                steps = [first]
                while len(following := after.get(steps[-1].parts[cell.keeper], [])) == 1:
                    steps += following
                for alike in _of_equal_functions(steps):
                    functions = tuple(alike[0].functions[k] for k in sorted(alike[0].functions))
                    yield Chain(cell, functions, [unit.parts for unit in alike], alike[0].before)

    def _candidates(self) -> list[int]:
        """Sums of one or two gated inputs: the hidden neurons of a unit are such.

        One of the inputs has an activation of the operators.
        """
        net, reads = self._reads.net, self._reads
        is_gated = net.live.gater != NONE
        gated = np.bincount(net.live.target[is_gated], minlength=len(net))
        is_gated[is_gated] = reads.signal[is_gated] < len(net)
        is_gated[is_gated] = reads.have_functions[reads.signal[is_gated]]
        activated = np.bincount(net.live.target[is_gated], minlength=len(net))
        alike = (gated == net.fan_in) & (activated > 0) & (gated <= 2)
        found: list[int] = np.flatnonzero(alike & reads.sums).tolist()
        return found

    def _unit(self, cell: Cell, hidden: int) -> _Unit | None:
        """The unit of a hidden neuron; of several, the one whose parts read most in common."""
        units = list(self._units(cell, cell.parts[::-1], _Unit({"hidden": hidden})))
        if len(units) > 1:
            return max(units, key=lambda unit: self._common(cell, unit))
        return units[0] if units else None

    def _common(self, cell: Cell, unit: _Unit) -> int:
        """How many signals all parts with rows of W read."""
        rows = [unit.parts[name] for name in cell.rows_of("W") if name in unit.parts]
        return len(set.intersection(*({read.signal for read in self._reads.into(k)} for k in rows)))

    def _units(self, cell: Cell, parts: Sequence[Part], unit: _Unit) -> Iterator[_Unit]:
        """The unit, completed by these parts and their links, in every way that fits."""
        if not parts:
            names = [part.name for part in cell.parts if part.name in unit.parts]
            yield replace(unit, parts={name: unit.parts[name] for name in names})
            return
        part, rest = parts[0], parts[1:]
        neuron = unit.parts.get(part.name, NONE)
        if neuron == NONE:
            if part.name in cell.idle_at_first and unit.before == NONE:
                yield from self._units(cell, rest, unit)
        elif (same := self._same(part, neuron, unit)) is not None:
            for linked in self._linked(part, neuron, same):
                if (more := self._gated(part, neuron, linked)) is not None:
                    yield from self._units(cell, rest, more)

    def _linked(self, part: Part, neuron: int, unit: _Unit) -> Iterator[_Unit]:
        """The unit with the parts that this one's links read, in every order of them."""
        reads = self._link_reads(part, neuron) if part.links else []
        links = part.links
        if len(reads) < len(links):
            links = tuple(link for link in links if not link.delay)
        if len(reads) != len(links) or any(read.weight != 1.0 for read in reads):
            return
        for order in permutations(reads):
            more: _Unit | None = unit
            for link, read in zip(links, order, strict=True):
                more = more and _with_link(more, link, read)
            if more is not None:
                yield more

    def _gated(self, part: Part, neuron: int, unit: _Unit) -> _Unit | None:
        """The unit with the gate of its own hidden unit in a part that reads all of them gated."""
        if not part.gate:
            return unit
        reads = self._reads.into(neuron)
        gaters = {read.signal: read.gater for read in reads if read.gater != NONE}
        if unit.before == NONE:
            return None if gaters else unit
        return unit.given(**{part.gate: gaters[unit.before]}) if unit.before in gaters else None

    def _link_reads(self, part: Part, neuron: int) -> list[Read]:
        """The connections that have to be links: into a part with weights, the gated ones."""
        reads = self._reads.into(neuron)
        return [read for read in reads if read.gater != NONE] if part.matrices else reads

    def _same(self, part: Part, neuron: int, unit: _Unit) -> _Unit | None:
        """The unit with a neuron's function, if it is a free sum with the activation of a part."""
        reads = self._reads
        if neuron >= len(reads.net) or not reads.sums[neuron]:
            return None
        if not part.matrices and reads.net.neurons.bias[neuron] != 0.0:
            return None
        if part.function is None:
            return unit if reads.has(neuron, part.activation) else None
        function = reads.function(neuron)
        if function is None or unit.functions.get(part.function, function) != function:
            return None
        return replace(unit, functions={**unit.functions, part.function: function})


def _with_link(unit: _Unit, link: Link, read: Read) -> _Unit | None:
    """The unit with the part that a link reads, and its gate; None if it does not fit."""
    if (read.gater != NONE) != bool(link.gate):
        return None
    ends = {link.gate: read.gater} if link.gate else {}
    if link.delay:
        unit = replace(unit, before=read.signal)
    else:
        ends[link.source] = read.signal
    return unit.given(**ends)


def _of_equal_functions(steps: Sequence[_Unit]) -> Iterator[list[_Unit]]:
    """The steps in stretches of the same activations."""
    begin = 0
    for k in range(1, len(steps) + 1):
        if k == len(steps) or steps[k].functions != steps[begin].functions:
            if k - begin >= MIN_STEPS:
                yield list(steps[begin:k])
            begin = k
