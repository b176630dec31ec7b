"""The fast evaluator: a Network compiled to a few array operations a level.

All values of a step stand in one matrix of rows × samples: first a row for each neuron's activation
in level order (so the results of a level are one slice), then a row for each pre-activation that
some connection reads, then the delay registers, and last a row of ones, the gain of connections
that nothing gates. As many samples are computed at once as keep that matrix small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.aggregations import Aggregation, aggregation_named
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, concatenated_ranges, ranked
from neat_onnx.network.schedule import Schedule, schedule
from neat_onnx.network.signals import signals_of
from neat_onnx.network.structure import Structure

_MAX_DENSE_PER_WEIGHT = 64  # a dense product is that much faster per weight than a sparse one
_PIECE, _MAX_PIECE_PER_WEIGHT = 64, 4  # neurons of a group's part; elements of its matrix
_MAX_PADDED_ELEMENTS = 1 << 20  # of a matrix with more zeros than weights
_SAMPLES_AT_ONCE = 1024
_VALUES_AT_ONCE = 1 << 22  # numbers of the matrix of all values
_EDGES_AT_ONCE = 1 << 14  # of small groups that are laid out together
_ELEMENTS_AT_ONCE = 1 << 18  # of an array that is made on the way: as many as a cache holds
_MAX_PADDING = 2000  # elements, which take as long as another call
_MAX_REPEATED = 32  # samples
_NOTHING = np.empty(0, np.int64), np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Group:
    """Neurons of one level with one kind of aggregation: a slice of rows.

    Attributes:
        rows: the slice they fill.
        inputs: the aggregates of their inputs.
        empty: the aggregate of nothing.
        scale: multiplies the aggregate, (neurons, 1): the response; for a mean, divided by k. None
            where all are 1.
        bias: (neurons, 1).
        functions: the activation of each sub-slice.
        pre_activations: (position in the group, row) of the pre-activations that are kept.
    """

    rows: slice
    inputs: tuple[Aggregate, ...]
    empty: float
    scale: Floats | None
    bias: Floats
    functions: list[tuple[slice, Activation]]
    pre_activations: tuple[Ints, Ints]

    def compute(self, values: Floats) -> None:
        z = self._aggregate(values)
        if self.scale is not None:
            z *= self.scale
        z += self.bias
        where, rows = self.pre_activations
        if rows.size:
            values[rows] = z[where]
        out = values[self.rows]
        for part, function in self.functions:
            out[part] = function.expression.compute(z[part])

    def _aggregate(self, values: Floats) -> Floats:
        shape = (len(self.bias), values.shape[1])
        if not self.inputs:
            return np.full(shape, self.empty, values.dtype)
        found = np.empty(shape, values.dtype)
        for each in self.inputs:
            each.write(found, values)
        return found


class Program:
    """A compiled Network.

    Args:
        net: any network that has a schedule.
        dense: use matrices where they are faster; False if values may be infinite.
        element: the type that genes and values are rounded to, after every operation.
        plan: the schedule of the network, if it is known already.
    """

    def __init__(
        self,
        net: Structure,
        *,
        dense: bool = True,
        element: npt.DTypeLike = np.float64,
        plan: Schedule | None = None,
    ) -> None:
        plan = plan or schedule(net)
        builder = _Builder(net, plan, dense, np.dtype(element))
        self._element, self._dense = np.dtype(element), dense
        self._neurons = builder.row
        self._inputs = builder.row[net.input_neurons]
        self._outputs = builder.row[net.output_neurons]
        self._groups = tuple(builder.groups())
        registers = builder.signals.registers
        self._register_rows = builder.row_of[registers.signal]
        self._register_origins = builder.row_of[registers.origin]
        self._initial = registers.initial
        self._rows = builder.signals.count + 1

    @np.errstate(all="ignore")
    def run(self, x: Floats) -> tuple[Floats, bool]:
        """(T, N, I) to (T, N, O): N sequences side by side, each from the reset state.

        Also says whether every value stayed finite, of a dense program: where not, values may be
        NaN by padding (0 · ∞), and a sparse program has to compute them.
        """
        steps, samples, _ = x.shape
        out = np.empty((steps, samples, len(self._outputs)))
        finite = True
        most = min(_SAMPLES_AT_ONCE, max(1, _VALUES_AT_ONCE // self._rows))
        for start in range(0, samples, most):
            part = slice(start, start + most)
            for t, values in enumerate(self._steps(x[:, part])):
                out[t, part] = values[self._outputs].T
                finite = finite and self._is_finite(values)
        return out, finite

    def initial_state(self, samples: int) -> Floats:
        """The values of the registers at first: (samples, registers)."""
        return np.tile(self._initial, (samples, 1))

    @np.errstate(all="ignore")
    def step(self, x: Floats, state: Floats) -> tuple[Floats, Floats, bool]:
        """One step of N sequences: (N, I) and a state (N, registers) to (N, O) and the next state.

        Also says whether every value stayed finite, as `run` does.
        """
        (values,) = self._steps(x[None], state)
        following = values[self._register_origins].T
        return values[self._outputs].T.copy(), following.copy(), self._is_finite(values)

    @np.errstate(all="ignore")
    def neuron_values(self, x: Floats) -> Floats:
        """The activation of every neuron at every step: (T, N, I) to (T, neurons, N)."""
        history = np.empty((len(x), len(self._neurons), x.shape[1]))
        for t, values in enumerate(self._steps(x)):
            history[t] = values[self._neurons]
        return history

    def _steps(self, x: Floats, state: Floats | None = None) -> Iterator[Floats]:
        """Yield all rows after each step of the inputs (T, N, I), from a state or the first one."""
        values = np.zeros((self._rows, x.shape[1]), self._element)
        values[self._register_rows] = self._initial[:, None] if state is None else state.T
        values[-1] = 1.0
        for t, inputs in enumerate(x):
            if t:
                values[self._register_rows] = values[self._register_origins]
            values[self._inputs] = inputs.T
            for group in self._groups:
                group.compute(values)
            yield values

    def _is_finite(self, values: Floats) -> bool:
        """Whether all values are finite; a sparse program need not ask."""
        return not self._dense or bool(np.isfinite(np.add.reduce(values, axis=None)))


class _Builder:
    """Lays out the rows and makes the groups, many small ones together: a network may have as many
    levels as neurons, and a few array operations for each of them would take seconds.
    """

    def __init__(self, net: Structure, plan: Schedule, dense: bool, element: np.dtype[Any]) -> None:
        self._net, self._dense, self._element = net, dense, element
        order = np.lexsort((net.neurons.activation, *net.kinds.T[::-1], plan.level))
        self.row = np.empty(len(net), np.int64)
        self.row[order] = np.arange(len(net))
        signals = signals_of(net)
        self.row_of = np.concatenate([self.row, np.arange(len(net), signals.count)])
        self._pre_activation = signals.pre_activation
        self._source_row = self.row_of[signals.source]
        self._gain_row: Ints | None = None
        if np.any(signals.gain != NONE):
            self._gain_row = np.where(signals.gain == NONE, NONE, self.row_of[signals.gain])
        self.signals = signals
        self._neurons = order[plan.level[order] > 0]
        self._counts = net.fan_in[self._neurons]
        keys = np.stack([plan.level, *net.kinds.T], axis=1)[self._neurons]
        self._starts = _starts(np.any(keys[1:] != keys[:-1], axis=1), len(keys))
        table = [*map(aggregation_named, net.aggregations), None]
        self._aggregations = [table[code] for code in keys[self._starts[:-1], 1].tolist()]

    def groups(self) -> Iterator[_Group]:
        """The groups in row order."""
        net, genes, neurons, starts = self._net, self._net.neurons, self._neurons, self._starts
        offset = len(net) - len(neurons)
        means = np.array([name == "mean" for name in net.aggregations])[genes.aggregation[neurons]]
        scale = genes.response[neurons] / np.where(means, np.maximum(self._counts, 1), 1)
        scaled = _sums_before(scale != 1.0)[starts]
        rows = self._pre_activation[neurons]
        scale, bias = (x[:, None].astype(self._element) for x in (scale, genes.bias[neurons]))
        for (begin, end), aggregation, inputs, functions, is_scaled, is_kept in zip(
            pairwise(starts.tolist()),
            self._aggregations,
            self._inputs(),
            self._functions(),
            np.diff(scaled).tolist(),
            np.diff(_sums_before(rows != NONE)[starts]).tolist(),
            strict=True,
        ):
            yield _Group(
                rows=slice(offset + begin, offset + end),
                inputs=inputs,
                empty=0.0 if aggregation is None else aggregation.empty,
                scale=scale[begin:end] if is_scaled else None,
                bias=bias[begin:end],
                functions=functions,
                pre_activations=_kept(rows[begin:end]) if is_kept else _NOTHING,
            )

    def _functions(self) -> Iterator[list[tuple[slice, Activation]]]:
        """The runs of neurons with one activation, for each group."""
        codes = self._net.neurons.activation[self._neurons]
        changes = codes[1:] != codes[:-1]
        changes[self._starts[1:-1] - 1] = True
        starts = _starts(changes, len(codes))
        table = [activation_named(name) for name in self._net.activations]
        runs = list(zip(pairwise(starts.tolist()), codes[starts[:-1]].tolist(), strict=True))
        bounds = pairwise(np.searchsorted(starts, self._starts).tolist())
        for first, bound in zip(self._starts[:-1].tolist(), bounds, strict=True):
            of_group = runs[slice(*bound)]
            yield [(slice(a - first, b - first), table[code]) for (a, b), code in of_group]

    def _inputs(self) -> Iterator[tuple[Aggregate, ...]]:
        """The aggregates of the inputs of each group."""
        edges = _sums_before(self._counts)[self._starts]
        large = np.diff(edges) >= _EDGES_AT_ONCE
        apart = large[1:] | large[:-1] | (np.diff(edges[:-1] // _EDGES_AT_ONCE) > 0)
        for begin, end in pairwise(_starts(apart, len(large)).tolist()):
            yield from self._inputs_of(slice(begin, end), self._starts[begin : end + 1])

    def _inputs_of(self, groups: slice, starts: Ints) -> Iterator[tuple[Aggregate, ...]]:
        """The aggregates of groups side by side, whose neurons start there."""
        neurons, counts = (x[starts[0] : starts[-1]] for x in (self._neurons, self._counts))
        starts, edges = starts - starts[0], self._edges_into(neurons)
        weight = self._net.live.weight[edges].astype(self._element, copy=False)
        gain = None if self._gain_row is None else self._gain_row[edges]
        terms, bounds = Terms(self._source_row[edges], weight, gain), _sums_before(counts)[starts]
        aggregations = self._aggregations[groups]
        is_sum = np.array([each is None for each in aggregations]) & (np.diff(bounds) > 0)
        if gain is not None:
            is_sum &= np.diff(_sums_before(gain != NONE)[bounds]) == 0
        matrices = self._matrices(terms, counts, starts, is_sum & self._dense)
        for k, (matrix, aggregation) in enumerate(zip(matrices, aggregations, strict=True)):
            if matrix is not None:
                yield (matrix,)
            elif bounds[k] == bounds[k + 1]:
                yield ()
            else:
                part = terms.part(slice(bounds[k], bounds[k + 1]))
                of_each = counts[starts[k] : starts[k + 1]]
                if aggregation is None:
                    yield self._sums(part, of_each)
                else:
                    yield (Padded.of(np.arange(len(of_each)), part, of_each, aggregation),)

    def _edges_into(self, neurons: Ints) -> slice | Ints:
        """The live connections into neurons: of some side by side, as in a layer, a slice."""
        if neurons.size and np.all(neurons[1:] == neurons[:-1] + 1):
            bounds = self._net.first_edge[[neurons[0], neurons[-1] + 1]]
            return slice(*bounds.tolist())
        return self._net.edges_into(neurons)[1]

    def _sums(self, terms: Terms, counts: Ints) -> tuple[Aggregate, ...]:
        """The sums of a group that is no matrix: neurons that read much the same, as at one place
        of a convolution, as matrices of their own; the rest padded.
        """
        rest, matrices = np.arange(len(counts)), []
        if self._dense and terms.gain is None and len(counts) > _PIECE:
            starts = _sums_before(counts)[:-1]
            order = np.argsort(np.minimum.reduceat(terms.rows, starts), kind="stable")
            pieces = np.append(np.arange(0, len(order), _PIECE), len(order))
            sorted_terms = terms.part(concatenated_ranges(starts[order], counts[order]))
            found = self._matrices(
                sorted_terms, counts[order], pieces, np.ones(len(pieces) - 1, np.bool_),
                order, _MAX_PIECE_PER_WEIGHT,
            )  # fmt: skip
            matrices = [each for each in found if each is not None]
            is_padded = np.repeat([each is None for each in found], np.diff(pieces))
            rest = np.sort(order[is_padded])
        return (*matrices, *sums_of(rest, terms, counts))

    def _matrices(
        self, terms: Terms, counts: Ints, starts: Ints, wanted: Bools,
        neurons: Ints | None = None, per_weight: int = _MAX_DENSE_PER_WEIGHT,
    ) -> list[Matrix | None]:  # fmt: skip
        """The terms of parts of neurons, which start there, as a matrix each; None where that is
        not wanted, or slower, or takes much more memory.

        Args:
            neurons: their positions in the group; None where a part is a group.
            per_weight: how many elements of a matrix are as fast as a weight.
        """
        parts, rows = len(wanted), self.signals.count
        if not np.any(wanted):
            return [None] * parts
        part = np.repeat(np.arange(parts), np.diff(starts))
        columns, column = ranked(terms.rows + np.repeat(part * rows, counts), parts * rows)
        first = np.searchsorted(columns, np.arange(parts + 1) * rows)
        height, width, weights = (
            np.diff(starts),
            np.diff(first),
            np.diff(_sums_before(counts)[starts]),
        )
        most = np.minimum(per_weight * weights, np.maximum(_MAX_PADDED_ELEMENTS, 2 * weights))
        fits = wanted & (height * width <= most)
        begin = _sums_before(np.where(fits, height * width, 0))
        place = (begin[:-1] - starts[:-1] * width - first[:-1])[part] + np.arange(
            len(part)
        ) * width[part]
        flat, weight = np.repeat(place, counts), terms.weight
        flat += column
        if not np.all(fits):
            kept = np.repeat(fits[part], counts)
            flat, weight = flat[kept], weight[kept]
        values = np.bincount(flat, weight, begin[-1]).astype(self._element, copy=False)
        columns %= rows
        bounds = (pairwise(each.tolist()) for each in (starts, first, begin))
        return [
            Matrix(
                slice(None) if neurons is None else neurons[a:b],
                columns[c:d],
                values[e:f].reshape(b - a, -1),
            )
            if fit
            else None
            for fit, (a, b), (c, d), (e, f) in zip(fits.tolist(), *bounds, strict=True)
        ]


def _kept(rows: Ints) -> tuple[Ints, Ints]:
    """The positions and rows of the pre-activations that are kept."""
    places = np.flatnonzero(rows != NONE)
    return places, rows[places]


def _starts(changes: Bools, count: int) -> Ints:
    """Where runs of `count` things start, of which some differ from the one before; and the end."""
    new = np.ones(count + 1, np.bool_)
    new[1:-1] = changes
    return np.flatnonzero(new)


def _sums_before(values: npt.NDArray[Any]) -> Ints:
    """The sum of all values before each, and of all: (n + 1,)."""
    return np.concatenate([[0], np.cumsum(values)])


# --- aggregates of the inputs of many neurons ---------------------------------------------------
#
# For sums, a matrix is the fastest where it has few zeros: of a group, or of some of its neurons,
# which read much the same. Others are padded to a common number of inputs.


@dataclass(frozen=True)
class Terms:
    """The connections into some neurons, neuron by neuron, shape (edges,) each.

    Attributes:
        rows: which values are read.
        weight: what they are multiplied with.
        gain: rows of the gains: NONE is the last row, of ones. None if all are.
    """

    rows: Ints
    weight: Floats
    gain: Ints | None = None

    def part(self, which: slice | Ints) -> Terms:
        """Those at some places."""
        gain = None if self.gain is None else self.gain[which]
        gain = gain if gain is not None and np.any(gain != NONE) else None
        return Terms(self.rows[which], self.weight[which], gain)


class Aggregate(Protocol):
    """The aggregates of the inputs of some neurons of a group, from the values of all rows."""

    def write(self, out: Floats, values: Floats) -> None:
        """Write the ones of its neurons into `out`, (neurons of the group, N)."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Neurons of a group, as weights (m, k) of k values that some of them read.

    Attributes:
        neurons: their positions in the group.
        rows: see `Terms`, (k,).
        weight: (m, k).
    """

    neurons: slice | Ints
    rows: Ints
    weight: Floats

    def write(self, out: Floats, values: Floats) -> None:
        """See `Aggregate`."""
        read = values.take(self.rows, 0, mode="wrap")
        if isinstance(self.neurons, slice):
            np.matmul(self.weight, read, out=out[self.neurons])
        else:
            out[self.neurons] = self.weight @ read


@dataclass(eq=False)
class Padded:
    """Neurons with up to k inputs each, which are aggregated for all at once.

    Missing inputs are the last row, of ones, with weight 0: whatever the values are, they add 0.

    Attributes:
        neurons: their positions in the group, (m,).
        rows, gain: see `Terms`, (k, m).
        weight: (k, m).
        aggregation: of exactly k inputs each; None for sums.
    """

    neurons: Ints
    rows: Ints
    gain: Ints | None
    weight: Floats
    aggregation: Aggregation | None = None

    def __post_init__(self) -> None:
        self._repeated = self.weight[..., None]
        if self.aggregation is not None:
            self._expression = self.aggregation.expression(len(self.rows))

    @classmethod
    def of(
        cls, neurons: Ints, terms: Terms, counts: Ints, aggregation: Aggregation | None = None
    ) -> Padded:
        """Pad some neurons of a group, of which the first has the most inputs."""
        at = np.arange(counts[neurons[0]])[:, None]
        there = at < counts[neurons]
        edges = np.where(there, (np.cumsum(counts) - counts)[neurons] + at, 0)
        return cls(
            neurons,
            np.where(there, terms.rows[edges], NONE),
            None if terms.gain is None else np.where(there, terms.gain[edges], NONE),
            np.where(there, terms.weight[edges], terms.weight.dtype.type(0.0)),
            aggregation,
        )

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
            if self.aggregation is None:
                out[self.neurons[part]] = np.add.reduce(read, 0)
            else:
                out[self.neurons[part]] = self._expression.compute(read.transpose(1, 2, 0))

    def _weights(self, samples: int) -> Floats:
        """The weights, once for each of a few samples: numpy's inner loop is over samples."""
        if samples > _MAX_REPEATED:
            return self.weight[..., None]
        if self._repeated.shape[2] != samples:
            self._repeated = np.repeat(self.weight[..., None], samples, axis=2)
        return self._repeated


def sums_of(neurons: Ints, terms: Terms, counts: Ints) -> tuple[Aggregate, ...]:
    """The sums of some neurons of a group, with `counts` connections each, one or more.

    Neurons with similar numbers of inputs are padded together: as many as cost less than a call.
    """
    order = neurons[np.argsort(-counts[neurons], kind="stable")]
    found: list[Aggregate] = []
    while order.size:
        sizes = counts[order]
        padding = np.cumsum(sizes[0] - sizes)
        many = padding > np.maximum(_MAX_PADDING, np.cumsum(sizes))
        last = int(np.argmax(many)) if np.any(many) else len(order)
        found.append(Padded.of(order[:last], terms, counts))
        order = order[last:]
    return tuple(found)
