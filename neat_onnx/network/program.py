"""The fast evaluator: a Network compiled to a few array operations a level.

All values of a step stand in one matrix of rows × samples: first a row for each neuron's activation
in level order (so the results of a level are one slice), then a row for each pre-activation that
some connection reads, then the delay registers, and last a row of ones, the gain of connections
that nothing gates. As many samples are computed at once as keep that matrix small.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Floats, Ints, ranked
from neat_onnx.network.schedule import Schedule, schedule
from neat_onnx.network.signals import signals_of
from neat_onnx.network.structure import Structure
from neat_onnx.network.sums import Aggregate, Aggregated, Matrix, Terms, sums_of

_MAX_DENSE_PER_WEIGHT = 64  # a dense product is that much faster per weight than a sparse one
_MAX_PADDED_ELEMENTS = 1 << 20  # of a matrix with more zeros than weights
_SAMPLES_AT_ONCE = 1024
_VALUES_AT_ONCE = 1 << 22  # numbers of the matrix of all values


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
    functions: tuple[tuple[slice, Activation], ...]
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
            part = slice(start, min(start + most, samples))
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
        values = self._start(state)
        self._step(values, x)
        following = values[self._register_origins].T
        finite = not self._dense or _is_finite(values)
        return values[self._outputs].T.copy(), following.copy(), finite

    @np.errstate(all="ignore")
    def neuron_values(self, x: Floats) -> Floats:
        """The activation of every neuron at every step: (T, N, I) to (T, neurons, N)."""
        values = self._start(self.initial_state(x.shape[1]))
        history = np.empty((len(x), len(self._neurons), x.shape[1]))
        for t in range(len(x)):
            self._step(values, x[t])
            history[t] = values[self._neurons]
            values[self._register_rows] = values[self._register_origins]
        return history

    def _run_part(self, x: Floats, out: Floats) -> bool:
        values, finite = self._start(self.initial_state(x.shape[1])), True
        for t in range(len(x)):
            self._step(values, x[t])
            out[t] = values[self._outputs].T
            values[self._register_rows] = values[self._register_origins]
            finite = finite and (not self._dense or _is_finite(values))
        return finite

    def _start(self, state: Floats) -> Floats:
        """All rows before a step, from the registers (samples, registers)."""
        values = np.zeros((self._rows, len(state)), self._element)
        values[self._register_rows] = state.T
        values[-1] = 1.0
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
        self._pre_activation = signals.pre_activation
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
        kept = np.flatnonzero(self._pre_activation[neurons] != NONE)
        return _Group(
            rows=slice(int(self.row[neurons[0]]), int(self.row[neurons[-1]]) + 1),
            inputs=self._inputs_of(neurons, name) if self._fan_in[neurons[0]] else (),
            empty=0.0 if linear else aggregation_named(name).empty,
            scale=scale[:, None].astype(self._element) if np.any(scale != 1.0) else None,
            bias=genes.bias[neurons][:, None].astype(self._element),
            functions=tuple(
                (slice(a, b), activation_named(net.activations[codes[a]]))
                for a, b in pairwise(breaks)
            ),
            pre_activations=(kept, self._pre_activation[neurons][kept]),
        )

    def _inputs_of(self, neurons: Ints, aggregation: str) -> tuple[Aggregate, ...]:
        """The aggregates of neurons that all have inputs."""
        counts = self._fan_in[neurons]
        edges = self._edges_into(neurons)
        weight = self._net.live.weight[edges].astype(self._element, copy=False)
        gain = None if self._gain_row is None else self._gain_row[edges]
        gain = gain if gain is not None and np.any(gain != NONE) else None
        terms = Terms(self._source_row[edges], weight, gain)
        if not self._linear[neurons[0]]:
            return (Aggregated(aggregation_named(aggregation), terms.shaped(len(neurons))),)
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
