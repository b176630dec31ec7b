"""The fast evaluator: a Network compiled to a few array operations a level.

All values of a step stand in one matrix of rows × samples: first a row for each neuron's activation
in level order (so the results of a level are one slice), then a row for each pre-activation that
some connection reads, then the delay registers, and last a row of ones, the gain of connections
that nothing gates. As many samples are computed at once as keep that matrix small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from neat_onnx.network.activations import Activation
from neat_onnx.network.aggregations import Aggregation, aggregation_named
from neat_onnx.network.genes import NONE, Floats, Ints, ranked
from neat_onnx.network.schedule import Schedule, schedule
from neat_onnx.network.signals import signals_of
from neat_onnx.network.structure import Structure

_MAX_DENSE_PER_WEIGHT = 64  # a dense product is that much faster per weight than a sparse one
_MAX_PADDED_ELEMENTS = 1 << 20  # of a matrix with more zeros than weights
_SAMPLES_AT_ONCE = 1024
_VALUES_AT_ONCE = 1 << 22  # numbers of the matrix of all values
_ELEMENTS_AT_ONCE = 1 << 18  # of an array that is made on the way: as many as a cache holds
_MAX_PADDING = 2000  # elements, which take as long as another call
_MAX_REPEATED = 32  # samples


@dataclass(frozen=True)
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
        self._groups = tuple(
            group for level in plan.levels[1:] for group in builder.groups_of(level)
        )
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
    """Lays out the rows and makes the groups."""

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

    def groups_of(self, level: Ints) -> list[_Group]:
        """The groups of one level's neurons, in row order."""
        return [self._group(part) for part in self._net.groups_of(level)]

    def _group(self, neurons: Ints) -> _Group:
        net, genes = self._net, self._net.neurons
        linear = net.kinds[neurons[0], 0] == NONE
        name = net.aggregation_names[neurons[0]]
        scale = genes.response[neurons]
        if linear:
            mean = net.aggregation_names[neurons] == "mean"
            scale = np.where(mean, scale / np.maximum(net.fan_in[neurons], 1), scale)
        kept = np.flatnonzero(self._pre_activation[neurons] != NONE)
        return _Group(
            rows=slice(int(self.row[neurons[0]]), int(self.row[neurons[-1]]) + 1),
            inputs=self._inputs_of(neurons, name) if net.fan_in[neurons[0]] else (),
            empty=0.0 if linear else aggregation_named(name).empty,
            scale=scale[:, None].astype(self._element) if np.any(scale != 1.0) else None,
            bias=genes.bias[neurons][:, None].astype(self._element),
            functions=net.functions_of(neurons),
            pre_activations=(kept, self._pre_activation[neurons][kept]),
        )

    def _inputs_of(self, neurons: Ints, aggregation: str) -> tuple[Aggregate, ...]:
        """The aggregates of neurons that all have inputs."""
        counts = self._net.fan_in[neurons]
        edges = self._edges_into(neurons)
        weight = self._net.live.weight[edges].astype(self._element, copy=False)
        gain = None if self._gain_row is None else self._gain_row[edges]
        gain = gain if gain is not None and np.any(gain != NONE) else None
        terms = Terms(self._source_row[edges], weight, gain)
        if self._net.kinds[neurons[0], 0] != NONE:
            whole = np.arange(len(neurons))
            return (Padded.of(whole, terms, counts, aggregation_named(aggregation)),)
        if self._dense and gain is None and (matrix := self._matrix(terms, counts)) is not None:
            return (matrix,)
        return sums_of(terms, counts)

    def _edges_into(self, neurons: Ints) -> slice | Ints:
        """The live connections into neurons: of some side by side, as in a layer, a slice."""
        if np.all(neurons[1:] == neurons[:-1] + 1):
            bounds = self._net.first_edge[[neurons[0], neurons[-1] + 1]]
            return slice(*bounds.tolist())
        return self._net.edges_into(neurons)[1]

    def _matrix(self, terms: Terms, counts: Ints) -> Matrix | None:
        """The terms as one matrix; None where that is slower, or takes much more memory."""
        columns, column = ranked(terms.rows, self.signals.count)
        size = len(counts) * len(columns)
        weights = len(column)
        if size > min(_MAX_DENSE_PER_WEIGHT * weights, max(_MAX_PADDED_ELEMENTS, 2 * weights)):
            return None
        flat = np.repeat(np.arange(len(counts)) * len(columns), counts)
        flat += column
        matrix = np.bincount(flat, terms.weight, size).astype(self._element, copy=False)
        return Matrix(columns, matrix.reshape(len(counts), -1))


# --- aggregates of the inputs of many neurons ---------------------------------------------------
#
# For sums, a matrix is the fastest where it has few zeros. Where it has many, neurons are padded to
# a common number of inputs.


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


class Aggregate(Protocol):
    """The aggregates of the inputs of some neurons of a group, from the values of all rows."""

    def write(self, out: Floats, values: Floats) -> None:
        """Write the ones of its neurons into `out`, (neurons of the group, N)."""


@dataclass(frozen=True)
class Matrix:
    """All neurons of a group, as weights (neurons, k) of k values that some of them read."""

    rows: Ints
    weight: Floats

    def write(self, out: Floats, values: Floats) -> None:
        """See `Aggregate`."""
        np.matmul(self.weight, values[self.rows], out=out)


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
                out[self.neurons[part]] = self.aggregation(np.moveaxis(read, 0, -1))

    def _weights(self, samples: int) -> Floats:
        """The weights, once for each of a few samples: numpy's inner loop is over samples."""
        if samples > _MAX_REPEATED:
            return self.weight[..., None]
        if self._repeated.shape[2] != samples:
            self._repeated = np.repeat(self.weight[..., None], samples, axis=2)
        return self._repeated


def sums_of(terms: Terms, counts: Ints) -> tuple[Aggregate, ...]:
    """The sums of neurons with `counts` connections each, one or more.

    Neurons with similar numbers of inputs are padded together: as many as cost less than a call.
    """
    order = np.argsort(-counts, kind="stable")
    found: list[Aggregate] = []
    while order.size:
        sizes = counts[order]
        padding = np.cumsum(sizes[0] - sizes)
        many = padding > np.maximum(_MAX_PADDING, np.cumsum(sizes))
        last = int(np.argmax(many)) if np.any(many) else len(order)
        found.append(Padded.of(order[:last], terms, counts))
        order = order[last:]
    return tuple(found)
