"""Aggregates of the inputs of many neurons, in memory that does not grow with their connections.

For sums, a matrix is the fastest where it has few zeros. Where it has many, neurons that read the
same values, as all channels of a convolution at one place, are a team with a small matrix of its
own; all other neurons are padded to a common number of inputs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from neat_onnx.network.aggregations import Aggregation
from neat_onnx.network.genes import NONE, Floats, Ints

_ELEMENTS_AT_ONCE = 1 << 18  # of an array that is made on the way: as many as a cache holds
_MIN_TEAMS = 8  # of one shape
_MIN_TEAM = 64  # weights of a team
_MAX_PADDING = 2000  # elements, which take as long as another call
_MAX_REPEATED = 32  # samples


@dataclass(frozen=True)
class Terms:
    """The connections into some neurons, neuron by neuron.

    Attributes:
        rows: which values are read, (edges,) or (neurons, k).
        weight: like `rows`.
        gain: rows of the gains, like `rows`: NONE is the last row, of ones. None if all are.
    """

    rows: Ints
    weight: Floats
    gain: Ints | None = None

    def weighted(self, values: Floats) -> Floats:
        """w · gain · v: (*rows.shape, N)."""
        product = values[self.rows]
        product *= self.weight[..., None]
        if self.gain is not None:
            product *= values[self.gain]
        return product

    def shaped(self, neurons: int) -> "Terms":
        """Return them as (neurons, k), where all neurons have k inputs."""
        gain = None if self.gain is None else self.gain.reshape(neurons, -1)
        return Terms(self.rows.reshape(neurons, -1), self.weight.reshape(neurons, -1), gain)

    def part(self, which: slice | Ints) -> "Terms":
        """Return those at some positions of the first axis."""
        gain = None if self.gain is None else self.gain[which]
        return Terms(self.rows[which], self.weight[which], gain)


class Aggregate(Protocol):
    """The aggregates of the inputs of some neurons of a group, from the values of all rows."""

    def write(self, out: Floats, values: Floats) -> None:
        """Write the ones of its neurons into `out`, (neurons of the group, N)."""


@dataclass(frozen=True)
class Aggregated:
    """All neurons of a group, with an aggregation of k inputs each that is no sum."""

    aggregation: Aggregation
    terms: Terms

    def write(self, out: Floats, values: Floats) -> None:
        """See `Aggregate`."""
        step = max(1, _ELEMENTS_AT_ONCE // max(1, self.terms.rows.shape[1] * values.shape[1]))
        for start in range(0, len(out), step):
            part = slice(start, start + step)
            weighted = self.terms.part(part).weighted(values)
            out[part] = self.aggregation(np.moveaxis(weighted, 1, -1))


@dataclass(frozen=True)
class Matrix:
    """All neurons of a group: a row of weights for each."""

    columns: Ints
    weight: Floats

    def write(self, out: Floats, values: Floats) -> None:
        """See `Aggregate`."""
        np.matmul(self.weight, values[self.columns], out=out)


@dataclass(frozen=True)
class Teams:
    """Teams of m neurons that read the same k values through the same gains.

    Attributes:
        neurons: positions of the neurons in the group, (teams, m).
        rows, gain: see `Terms`, (teams, k).
        weight: (teams, m, k).
    """

    neurons: Ints
    rows: Ints
    gain: Ints | None
    weight: Floats

    def write(self, out: Floats, values: Floats) -> None:
        """See `Aggregate`."""
        step = max(1, _ELEMENTS_AT_ONCE // (max(self.weight.shape[1:]) * values.shape[1] or 1))
        for start in range(0, len(self.rows), step):
            part = slice(start, start + step)
            read = values[self.rows[part]]
            if self.gain is not None:
                read *= values[self.gain[part]]
            out[self.neurons[part]] = self.weight[part] @ read


@dataclass(eq=False)
class Padded:
    """Neurons with up to k inputs each, whose sums are taken input by input for all at once.

    Missing inputs are the last row, of ones, with weight 0: whatever the values are, they add 0.

    Attributes:
        neurons: their positions in the group, (m,).
        rows, gain: see `Terms`, (k, m).
        weight: (k, m).
    """

    neurons: Ints
    rows: Ints
    gain: Ints | None
    weight: Floats

    def __post_init__(self) -> None:
        self._repeated = self.weight[..., None]

    def write(self, out: Floats, values: Floats) -> None:
        """See `Aggregate`."""
        samples = values.shape[1]
        weight = self._weights(samples)
        step = max(1, _ELEMENTS_AT_ONCE // (len(self.rows) * samples or 1))
        for start in range(0, len(self.neurons), step):
            part = slice(start, start + step)
            # `take` is many times as fast as an index, for few samples
            read = values.take(self.rows[:, part], 0, mode="wrap")
            read *= weight[:, part]
            if self.gain is not None:
                read *= values.take(self.gain[:, part], 0, mode="wrap")
            out[self.neurons[part]] = np.add.reduce(read, 0)

    def _weights(self, samples: int) -> Floats:
        """The weights, once for each of a few samples: numpy's inner loop is over samples."""
        if samples > _MAX_REPEATED:
            return self.weight[..., None]
        if self._repeated.shape[2] != samples:
            self._repeated = np.repeat(self.weight[..., None], samples, axis=2)
        return self._repeated


def sums_of(terms: Terms, counts: Ints) -> tuple[Aggregate, ...]:
    """The sums of neurons with `counts` connections each, one or more, as teams and lists."""
    leader = _leaders(terms, counts)
    order = np.argsort(leader, kind="stable")
    first = np.flatnonzero(np.diff(leader[order], prepend=NONE))  # of each team, in `order`
    sizes = np.diff(first, append=len(order))
    shapes = np.stack([sizes, counts[order[first]]], axis=1)
    kinds, kind, teams = np.unique(shapes, axis=0, return_inverse=True, return_counts=True)
    kind = kind.ravel()
    starts = np.cumsum(counts) - counts
    alone = (teams * kinds[:, 0] < _MIN_TEAMS) | (kinds[:, 0] * kinds[:, 1] < _MIN_TEAM)
    found: list[Aggregate] = []
    for which in np.flatnonzero(~alone):
        size, k = kinds[which].tolist()
        neurons = order[first[kind == which][:, None] + np.arange(size)]
        edges = starts[neurons][..., None] + np.arange(k)
        shared = terms.part(edges[:, 0])
        found.append(Teams(neurons, shared.rows, shared.gain, terms.weight[edges]))
    rest = np.flatnonzero(np.isin(leader, order[first[alone[kind]]]))
    rest = rest[np.argsort(-counts[rest], kind="stable")]
    for part in _alike(counts[rest]):
        found.append(_padded(rest[part], terms, counts, starts))
    return tuple(found)


def _alike(counts: Ints) -> Iterator[slice]:
    """Slices of descending numbers of inputs, in each of which padding costs less than a call."""
    first = 0
    while first < len(counts):
        padding = np.cumsum(counts[first] - counts[first:])
        many = padding > np.maximum(_MAX_PADDING, np.cumsum(counts[first:]))
        last = first + int(np.argmax(many)) if np.any(many) else len(counts)
        yield slice(first, last)
        first = last


def _padded(neurons: Ints, terms: Terms, counts: Ints, starts: Ints) -> Padded:
    at = np.arange(counts[neurons[0]])[:, None]
    there = at < counts[neurons]
    edges = np.where(there, starts[neurons] + at, 0)
    part = terms.part(edges)
    gain = None if part.gain is None else np.where(there, part.gain, NONE)
    weight = np.where(there, part.weight, part.weight.dtype.type(0.0))
    return Padded(neurons, np.where(there, part.rows, NONE), gain, weight)


def _leaders(terms: Terms, counts: Ints) -> Ints:
    """For each neuron the first one that reads the same values through the same gains."""
    rng = np.random.default_rng(0)
    starts = np.cumsum(counts) - counts
    rank = np.arange(len(terms.rows)) - np.repeat(starts, counts)
    marks = rng.integers(0, 2**64, int(terms.rows.max()) + 1, np.uint64)
    marked = marks[terms.rows]
    if terms.gain is not None:
        marks = rng.integers(0, 2**64, int(terms.gain.max()) + 2, np.uint64)
        marked += marks[terms.gain]  # NONE has the last mark
    marked *= (2 * rank + 1).astype(np.uint64)
    _, first, team = np.unique(
        np.add.reduceat(marked, starts), return_index=True, return_inverse=True
    )
    leader: Ints = first[team]
    same = counts == counts[leader]
    if np.all(same):
        there = np.repeat(starts[leader], counts) + rank
        alike = terms.rows == terms.rows[there]
        if terms.gain is not None:
            alike &= terms.gain == terms.gain[there]
        same = np.logical_and.reduceat(alike, starts)
    return leader if np.all(same) else np.arange(len(counts))
