"""The fast evaluator: a Network compiled to a few array operations a level.

All values of a step stand in one matrix of rows × samples: first a row for each neuron's activation
in level order (so the results of a level are one slice), then a row for each pre-activation that
some
connection reads, then the delay registers.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.aggregations import Aggregation, aggregation_named
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, ranked
from neat_onnx.network.growth import overflowing
from neat_onnx.network.schedule import Schedule, schedule
from neat_onnx.network.signals import signals_of
from neat_onnx.network.structure import Structure

_DENSE_UP_TO = 64  # a dense product is that much faster per weight than a sparse one
_SAMPLES_AT_ONCE = 1024


@dataclass(frozen=True)
class _Inputs:
    """The weighted inputs of some neurons: rows to read, to multiply and to sum or reduce.

    Attributes:
        rows: which values are read: (columns,) with a matrix, (edges,) or (neurons, k) without.
        weight: (neurons, columns) with a matrix, else like `rows`.
        gain: rows of the gains, like `rows`; NONE where there is none. None if nothing is gated.
        starts: where each neuron's edges start, if `rows` is (edges,).
    """

    rows: Ints
    weight: Floats
    gain: Ints | None = None
    starts: Ints | None = None

    def weighted(self, values: Floats) -> Floats:
        """w · gain · v: (*rows.shape, N)."""
        product = values[self.rows] * self.weight[..., None]
        if self.gain is not None:
            product *= np.where(self.gain[..., None] == NONE, 1.0, values[self.gain])
        return product


@dataclass(frozen=True)
class _Group:
    """Neurons of one level with one kind of aggregation: a slice of rows.

    Attributes:
        rows: the slice they fill.
        inputs: the matrix of their inputs; None if they have none.
        aggregation: None for sums, which `inputs` says how to take.
        scale: multiplies the aggregate, (neurons, 1): the response; for a mean, divided by k.
        bias: (neurons, 1).
        functions: the activation of each sub-slice.
        states: (position in the group, row) of the pre-activations that are kept.
    """

    rows: slice
    inputs: _Inputs | None
    aggregation: Aggregation | None
    scale: Floats
    bias: Floats
    functions: tuple[tuple[slice, Activation], ...]
    states: tuple[Ints, Ints]

    def compute(self, values: Floats) -> None:
        z = self._aggregate(values) * self.scale + self.bias
        where, rows = self.states
        if rows.size:
            values[rows] = z[where]
        out = values[self.rows]
        for part, function in self.functions:
            out[part] = function.expression.compute(z[part])

    def _aggregate(self, values: Floats) -> Floats:
        inputs = self.inputs
        if inputs is None:
            empty = 0.0 if self.aggregation is None else self.aggregation.empty
            return np.full((len(self.bias), values.shape[1]), empty)
        if self.aggregation is not None:
            return self.aggregation(np.moveaxis(inputs.weighted(values), 1, -1))
        if inputs.starts is None:
            return np.asarray(inputs.weight @ values[inputs.rows])
        return np.add.reduceat(inputs.weighted(values), inputs.starts, axis=0)


class Program:
    """A compiled Network.

    Args:
        net: any network that has a schedule.
        dense: use matrices where they are faster; False if values may be infinite.
        element: the type that genes and values are rounded to, after every operation.
    """

    def __init__(
        self, net: Structure, *, dense: bool = True, element: npt.DTypeLike = np.float64
    ) -> None:
        plan = schedule(net)
        builder = _Builder(net, plan, dense, np.dtype(element))
        self._element = np.dtype(element)
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
        self._rows = builder.signals.count

    @np.errstate(all="ignore")
    def run(self, x: Floats) -> tuple[Floats, bool]:
        """(T, N, I) to (T, N, O): N sequences side by side, each from the reset state.

        Also says whether every value stayed finite: where not, the values of a dense program may be
        NaN by padding (0 · ∞), and a sparse one has to say.
        """
        steps, samples, _ = x.shape
        out = np.empty((steps, samples, len(self._outputs)))
        finite = True
        for start in range(0, samples, _SAMPLES_AT_ONCE):
            part = slice(start, min(start + _SAMPLES_AT_ONCE, samples))
            finite &= self._run_part(x[:, part], out[:, part])
        return out, finite

    def initial_state(self, samples: int) -> Floats:
        """The values of the registers at first: (samples, registers)."""
        return np.tile(self._initial, (samples, 1))

    @np.errstate(all="ignore")
    def step(self, x: Floats, state: Floats) -> tuple[Floats, Floats, bool]:
        """One step of N sequences: (N, I) and a state (N, registers) to (N, O) and the next state.

        Also says whether every value stayed finite, as `run` does.
        """
        values = np.zeros((self._rows, len(x)), self._element)
        values[self._register_rows] = state.T
        self._step(values, x)
        following = values[self._register_origins].T
        return values[self._outputs].T.copy(), following.copy(), _is_finite(values)

    @np.errstate(all="ignore")
    def neuron_values(self, x: Floats) -> Floats:
        """The activation of every neuron at every step: (T, N, I) to (T, neurons, N)."""
        values = self._start(x.shape[1])
        history = np.empty((len(x), len(self._neurons), x.shape[1]))
        for t in range(len(x)):
            self._step(values, x[t])
            history[t] = values[self._neurons]
            values[self._register_rows] = values[self._register_origins]
        return history

    def _run_part(self, x: Floats, out: Floats) -> bool:
        values, finite = self._start(x.shape[1]), True
        for t in range(len(x)):
            self._step(values, x[t])
            out[t] = values[self._outputs].T
            values[self._register_rows] = values[self._register_origins]
            finite &= _is_finite(values)
        return finite

    def _start(self, samples: int) -> Floats:
        values = np.zeros((self._rows, samples), self._element)
        values[self._register_rows] = self.initial_state(samples).T
        return values

    def _step(self, values: Floats, x: Floats) -> None:
        """Compute all rows for the inputs (N, I)."""
        values[self._inputs] = x.T
        for group in self._groups:
            group.compute(values)


def _is_finite(values: Floats) -> bool:
    return bool(np.isfinite(np.add.reduce(values, axis=None)))


class _Builder:
    """Lays out the rows and makes the groups."""

    def __init__(self, net: Structure, plan: Schedule, dense: bool, element: np.dtype[Any]) -> None:
        self._net, self._dense, self._element = net, dense, element
        self._overflows = overflowing(net, over_time=False).activation
        genes = net.neurons
        counts = net.fan_in
        linear = np.array([aggregation_named(name).linear for name in net.aggregations])
        self._linear = linear[genes.aggregation]
        # within a level: sums first, then by aggregation and number of inputs, then by activation
        fan_in = np.where(self._linear, np.minimum(counts, 1), counts)
        kind = np.where(self._linear, -1, genes.aggregation)
        self._shape = np.stack([kind, fan_in], axis=1)
        order = np.lexsort((genes.activation, fan_in, kind, plan.level))
        self.row = np.empty(len(net), np.int64)
        self.row[order] = np.arange(len(net))
        self._fan_in = counts
        signals = signals_of(net)
        self.row_of = np.concatenate([self.row, np.arange(len(net), signals.count)])
        self._state = signals.state
        self._source_row = self.row_of[signals.source]
        self._gain_row: Ints | None = None
        if np.any(signals.gain != NONE):
            self._gain_row = np.where(signals.gain == NONE, NONE, self.row_of[signals.gain])
        self.signals = signals

    def groups_of(self, level: Ints) -> list[_Group]:
        """The groups of one level's neurons, in row order."""
        neurons = level[np.argsort(self.row[level])]
        shape = self._shape[neurons]
        breaks = np.flatnonzero(np.any(shape[1:] != shape[:-1], axis=1)) + 1
        return [self._group(part) for part in np.split(neurons, breaks) if part.size]

    def _group(self, neurons: Ints) -> _Group:
        net, genes = self._net, self._net.neurons
        linear = bool(self._linear[neurons[0]])
        name = net.aggregation_names[neurons[0]]
        scale = genes.response[neurons]
        if linear:
            mean = net.aggregation_names[neurons] == "mean"
            scale = np.where(mean, scale / np.maximum(self._fan_in[neurons], 1), scale)
        codes = genes.activation[neurons]
        breaks = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(neurons)]
        kept = np.flatnonzero(self._state[neurons] != NONE)
        return _Group(
            rows=slice(int(self.row[neurons[0]]), int(self.row[neurons[-1]]) + 1),
            inputs=self._inputs_of(neurons, linear) if self._fan_in[neurons[0]] else None,
            aggregation=None if linear else aggregation_named(name),
            scale=scale[:, None].astype(self._element),
            bias=genes.bias[neurons][:, None].astype(self._element),
            functions=tuple(
                (slice(a, b), activation_named(net.activations[codes[a]]))
                for a, b in pairwise(breaks)
            ),
            states=(kept, self._state[neurons][kept]),
        )

    def _inputs_of(self, neurons: Ints, linear: bool) -> _Inputs:
        counts = self._fan_in[neurons]
        _, edges = self._net.edges_into(neurons)
        rows = self._source_row[edges]
        weight = self._net.live.weight[edges].astype(self._element)
        gain = None if self._gain_row is None else self._gain_row[edges]
        gain = gain if gain is not None and np.any(gain != NONE) else None
        if not linear:
            shape = (len(neurons), int(counts[0]))
            gains = None if gain is None else gain.reshape(shape)
            return _Inputs(rows.reshape(shape), weight.reshape(shape), gains)
        columns, column = ranked(rows, self.signals.count)
        size = len(neurons) * len(columns)
        overflows: Bools = self._overflows[self._net.live.source[edges]]
        if (
            self._dense
            and gain is None
            and size <= _DENSE_UP_TO * len(edges)
            and not np.any(overflows)
        ):
            flat = np.repeat(np.arange(len(neurons)), counts) * len(columns) + column
            matrix = np.bincount(flat, weight, size).astype(self._element).reshape(len(neurons), -1)
            return _Inputs(columns, matrix)
        return _Inputs(rows, weight, gain, np.cumsum(counts) - counts)
