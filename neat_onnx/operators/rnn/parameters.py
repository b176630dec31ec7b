"""The matrices of one step of a cell that was unrolled, as its neurons' connections give them."""

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from neat_onnx.network.cells import Part
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.operators.rnn.reads import Reads, Steps


@dataclass(frozen=True, eq=False)
class Parameters:
    """The matrices, both biases and the peepholes of one step, NaN in rows without neurons.

    Attributes:
        sources: the signals that W multiplies, (I,).
        before: the signals that R multiplies, (H,); (0,) for a state of zeros.
        w, r, bias, peephole: W (gates · H, I), R (gates · H, H), B (2 · gates · H,), P (3 · H,).
    """

    sources: Ints
    before: Ints
    w: Floats
    r: Floats
    bias: Floats
    peephole: Floats

    def is_alike(self, other: "Parameters") -> bool:
        """Whether all rows that this step has are as in another one."""
        pairs = [(self.bias, other.bias), (self.w, other.w), (self.peephole, other.peephole)]
        if self.before.size:
            pairs.append((self.r, other.r))
        return all(
            mine.shape == theirs.shape and np.array_equal(mine[given], theirs[given])
            for mine, theirs in pairs
            for given in [~np.isnan(mine.reshape(len(mine), -1)[:, :1]).ravel()]
        )


_NOTHING = np.empty(0, np.int64)
_PEEPHOLES = 3  # blocks of P


@dataclass
class _Entries:
    """Entries of a matrix: rows, signals, weights."""

    row: list[Ints] = field(default_factory=lambda: [_NOTHING])
    signal: list[Ints] = field(default_factory=lambda: [_NOTHING])
    weight: list[Floats] = field(default_factory=lambda: [np.empty(0)])

    def add(self, row: Ints, signal: Ints, weight: Floats) -> None:
        """Append entries."""
        self.row.append(row)
        self.signal.append(signal)
        self.weight.append(weight)

    def matrix(self, rows: int, columns: Ints) -> Floats:
        """The matrix that has the signals in these columns."""
        values = np.zeros((rows, len(columns)))
        order = np.argsort(columns, kind="stable")
        place = order[np.searchsorted(columns, np.concatenate(self.signal), sorter=order)]
        np.add.at(values, (np.concatenate(self.row), place), np.concatenate(self.weight))
        return values


class StepReader:
    """Reads the parameters of each step of a layer."""

    def __init__(self, reads: Reads, layer: Steps) -> None:
        self._reads, self._layer, self._net = reads, layer, reads.net
        self._units = len(layer.hidden[0])

    def step(self, k: int, before: Ints, sources: Ints | None = None) -> Parameters | None:
        """The parameters of a step; None if a connection has no place in them.

        Args:
            k: the step.
            before: the signals of the hidden units one step ago; (0,) for zeros.
            sources: the signals in the order of W's columns; None for ascending.
        """
        step, w, r = self._layer.steps[k], _Entries(), _Entries()
        peephole = np.zeros((_PEEPHOLES, self._units))
        for part in self._layer.cell.parts:
            if not part.matrices or part.name not in step or part.rows is None:
                continue
            row, edge = self._net.edges_into(step[part.name])
            signal, weight = self._reads.signal[edge], self._net.live.weight[edge]
            own = self._own(part, step, edge, before)
            plain = self._net.live.gater[edge] == NONE
            held = plain & ~own & self._are_peepholes(part, k, row, signal)
            if part.peephole is not None:
                np.add.at(peephole[part.peephole[0]], row[held], weight[held])
            outer = plain & ~np.isin(signal, before) & ~held
            rest = ~(own | outer | held)
            if np.any(rest & plain) or (np.any(rest) and not part.links):
                return None
            if any(np.any(which) and letter not in part.matrices
                   for which, letter in ((outer, "W"), (own, "R"))):  # fmt: skip
                return None
            row = row + part.rows * self._units
            w.add(row[outer], signal[outer], weight[outer])
            r.add(row[own], signal[own], weight[own])
        read = np.unique(np.concatenate(w.signal))
        if sources is None:
            sources = read
        elif not np.array_equal(read, np.sort(sources)):
            return None
        rows = self._layer.cell.blocks * self._units
        known = w.matrix(rows, sources), r.matrix(rows, before)
        given = *self._without_idle(step, *known), self._biases(step)
        return Parameters(sources, before, *given, self._peepholes(k, peephole))

    def _are_peepholes(self, part: Part, k: int, row: Ints, signal: Ints) -> Bools:
        """Which connections into a part of a step lead from the memory of the same unit."""
        if part.peephole is None or (memory := self._memory(k - part.peephole[1])) is None:
            return np.zeros(len(row), np.bool_)
        are: Bools = memory[row] == signal
        return are

    def _memory(self, k: int) -> Ints | None:
        """The signals of the memory after a step, -1 for the start; None where it is zero."""
        return (self._layer.states_after(k + 1)).get("memory")

    def _peepholes(self, k: int, peephole: Floats) -> Floats:
        """P, with NaN for parts that the step lacks, and for those that read a memory of zero."""
        for part in self._layer.cell.parts:
            if part.peephole is not None:
                block, delay = part.peephole
                if part.name not in self._layer.steps[k] or self._memory(k - delay) is None:
                    peephole[block] = np.nan
        return peephole.ravel()

    def _own(self, part: Part, step: dict[str, Ints], edge: Ints, before: Ints) -> Bools:
        """Which connections into a part lead from the hidden units, with the gate of the part."""
        signal, gater = self._reads.signal[edge], self._net.live.gater[edge]
        inside: Bools = np.isin(signal, before)
        if not part.gate or part.gate not in step:
            ungated: Bools = inside & (gater == NONE)
            return ungated
        gate_of = dict(zip(before.tolist(), step[part.gate].tolist(), strict=False))
        wanted = np.array([gate_of.get(each, NONE) for each in signal.tolist()], np.int64)
        gated: Bools = inside & (gater == wanted)
        return gated

    def _without_idle(self, step: dict[str, Ints], w: Floats, r: Floats) -> tuple[Floats, Floats]:
        """The matrices, with NaN in the rows of parts that the step lacks."""
        cell = self._layer.cell
        for part in cell.parts:
            if part.rows is not None and part.name not in step:
                for matrix, letter in ((w, "W"), (r, "R")):
                    if letter in part.matrices:
                        matrix[part.rows * self._units :][: self._units] = np.nan
        return w, r

    def _biases(self, step: dict[str, Ints]) -> Floats:
        """[Wb, Rb]: the bias of a part is in Wb if the part has rows of W."""
        bias, cell = self._net.neurons.bias, self._layer.cell
        found = np.zeros((2, cell.blocks, self._units))
        for part in cell.parts:
            if part.rows is not None:
                its = bias[step[part.name]] if part.name in step else np.nan
                found[0 if "W" in part.matrices else 1, part.rows] = its
        return found.ravel()

    def first(self, last: Parameters) -> Parameters | None:
        """The parameters of the first step, from an initial state that makes them the last ones.

        The wiring of some cells says which signals the hidden units begin as. For others it is the
        signals that columns of R multiply.
        """
        start = self._layer.start
        before = start.get("hidden", _NOTHING)
        found = self.step(0, before)
        if found is None or found.before.size or len(found.sources) == len(last.sources):
            return found
        given = ~np.isnan(found.w).any(axis=1)  # there may be no column
        split = _columns_like(found.w[given], np.hstack([last.w, last.r])[given])
        if split is None:
            return None
        sources, before = np.split(found.sources[split], [len(last.sources)])
        return self.step(0, before, sources)


def _columns_like(mine: Floats, wanted: Floats) -> Ints | None:
    """The order in which the columns of one matrix are another's; None if there is none."""
    if mine.shape != wanted.shape:
        return None
    places: dict[bytes, list[int]] = defaultdict(list)
    for k in range(mine.shape[1])[::-1]:
        places[np.ascontiguousarray(mine[:, k] + 0.0).tobytes()].append(k)
    order = []
    for column in wanted.T:
        alike = places[np.ascontiguousarray(column + 0.0).tobytes()]
        if not alike:
            return None
        order.append(alike.pop())
    return np.array(order, np.int64)
