"""The layout of a population: one matrix of columns for all members, filled stage by stage.

For P members and N samples the values are X [P, N, columns]: first the inputs, then the registers,
then, stage by stage, columns for the neurons computed there (`stages`). In a stage, neurons of one
aggregation and activation share a range of columns as wide as the member with most of them needs;
other members have columns there that nothing reads. A stage that some connection reads
pre-activations of has these in a second range.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.aggregations import Aggregation, aggregation_named
from neat_onnx.network.genes import NONE, Floats, Ints
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.signals import Signals, signals_of
from neat_onnx.population.stages import stages_of, task_of

_MAX_ELEMENTS = 1 << 28
_PLAIN = ("", 0)  # the kind of a neuron whose inputs are summed

_Kind = tuple[str, int]
_Key = tuple[_Kind, str]


@dataclass(frozen=True)
class Gains:
    """Gated connections: the product of a weighted value and a gain for each.

    Attributes:
        values: (P, columns, edges): picks and weights the values.
        gains: (P, columns, edges): picks the gains; nothing for a gain of 1.
    """

    values: Floats
    gains: Floats


@dataclass(frozen=True)
class Reduction:
    """Neurons that reduce k weighted inputs otherwise than by a sum, or of which some are gated.

    Attributes:
        inputs: of neuron j those from j · k, as Gains with width · k edges.
    """

    width: int
    aggregation: Aggregation
    k: int
    inputs: Gains


@dataclass(frozen=True)
class Stage:
    """A stage of all members.

    Attributes:
        weight: (P, columns, width) of the neurons that sum their inputs, which come first; None
            without any.
        reductions: of the others.
        scale, bias: (P, 1, width): z is scale · aggregate + bias.
        activations: of consecutive ranges of columns, with their widths.
        keeps_pre_activation: whether the pre-activations follow the activations.
    """

    weight: Floats | None
    reductions: tuple[Reduction, ...]
    scale: Floats
    bias: Floats
    activations: tuple[tuple[Activation, int], ...]
    keeps_pre_activation: bool

    @property
    def width(self) -> int:
        """Columns of its neurons, without the columns of pre-activations."""
        return int(self.bias.shape[2])


@dataclass(frozen=True)
class Layout:
    """The columns of a population, and the stages that fill them.

    Attributes:
        members: how many networks.
        inputs, registers: how many columns of each.
        stages: in the order of computation.
        outputs: (P, columns, outputs), picks the outputs.
        following: (P, columns, registers), picks the next values of the registers.
    """

    members: int
    inputs: int
    registers: int
    stages: tuple[Stage, ...]
    outputs: Floats
    following: Floats


@dataclass
class _Member:
    """One network, when its neurons are computed, and where its signals are."""

    net: Network
    signals: Signals
    column: Ints
    stage: Ints

    @cached_property
    def keys(self) -> list[_Key | None]:
        """The aggregation and activation of each neuron; None for inputs."""
        names = zip(self.net.aggregation_names, self.net.activation_names, strict=True)
        return [
            None if inside else self._key(neuron, aggregation, activation)
            for neuron, (inside, (aggregation, activation)) in enumerate(
                zip(self.net.is_input.tolist(), names, strict=True)
            )
        ]

    def edges_into(self, neuron: int) -> Ints:
        """Return the live connections into a neuron."""
        return np.arange(*self.net.first_edge[neuron : neuron + 2])

    def _key(self, neuron: int, aggregation: str, activation: str) -> _Key:
        k = int(self.net.fan_in[neuron])
        if not aggregation_named(aggregation).linear and k:
            return (aggregation, k), activation
        is_gated = np.any(self.signals.gain[self.edges_into(neuron)] != NONE)
        return ("sum", k) if is_gated else _PLAIN, activation


def layout_of(nets: Sequence[Network]) -> Layout:
    """Lay out the columns of a population, whose members have the same ports.

    Raises:
        NetworkError: a member has a cycle without delay, or values that may overflow, which padding
            would turn into NaN; or all of it is too large.
    """
    return _Planner(nets).layout()


class _Planner:
    """Numbers columns and fills the matrices, stage by stage."""

    def __init__(self, nets: Sequence[Network]) -> None:
        self._members = []
        for k, net in enumerate(nets):
            signals, growing = signals_of(net), overflowing(net)
            is_read = signals.pre_activation != NONE
            overflows = growing.activation | (growing.pre_activation & is_read)
            if np.any(overflows):
                raise NetworkError(
                    f"{net.label(int(np.argmax(overflows)))} may overflow, which padding cannot "
                    "carry",
                    where=f"member {k}",
                    hint="Export this network alone",
                )
            self._members.append(
                _Member(net, signals, np.full(signals.count, NONE), np.zeros(len(net), np.int64))
            )
        self._inputs = len(nets[0].input_neurons)
        self._registers = max(len(member.signals.registers) for member in self._members)
        self._columns = self._inputs + self._registers
        for member in self._members:
            member.column[member.net.input_neurons] = np.arange(self._inputs)
            registers = member.signals.registers.signal
            member.column[registers] = self._inputs + np.arange(len(registers))
        tasks = [task_of(member.net, member.keys) for member in self._members]
        for member, stage in zip(self._members, stages_of(tasks), strict=True):
            member.stage = stage

    def layout(self) -> Layout:
        last = max(int(member.stage.max()) for member in self._members)
        stages = tuple(self._stage(k) for k in range(1, last + 1))
        shown = [member.column[member.net.output_neurons] for member in self._members]
        following = [member.column[member.signals.registers.origin] for member in self._members]
        outputs = len(self._members[0].net.output_neurons)
        return Layout(
            members=len(self._members),
            inputs=self._inputs,
            registers=self._registers,
            stages=stages,
            outputs=self._picking(shown, outputs),
            following=self._picking(following, self._registers),
        )

    def _picking(self, columns: Sequence[Ints], width: int) -> Floats:
        """Return (P, columns, width) that picks the given columns of each member."""
        picked = self._zeros(self._columns, width)
        for matrix, chosen in zip(picked, columns, strict=True):
            matrix[chosen, np.arange(len(chosen))] = 1.0
        return picked

    def _stage(self, number: int) -> Stage:
        groups: list[dict[_Key, list[int]]] = []
        for member in self._members:
            found: dict[_Key, list[int]] = {}
            for neuron in np.flatnonzero(member.stage == number).tolist():
                key = member.keys[neuron]
                if key is not None:
                    found.setdefault(key, []).append(neuron)
            groups.append(found)
        widths = Counter[_Key]()
        for found in groups:
            widths |= Counter({key: len(neurons) for key, neurons in found.items()})
        keys = sorted(widths)
        starts = dict(
            zip(keys, np.cumsum([0, *(widths[key] for key in keys)]).tolist(), strict=False)
        )
        slots = [
            {
                neuron: starts[key] + rank
                for key, neurons in found.items()
                for rank, neuron in enumerate(neurons)
            }
            for found in groups
        ]
        stage = self._filled(keys, widths, starts, slots)
        self._place(stage, slots)
        return stage

    def _filled(
        self,
        keys: list[_Key],
        widths: Counter[_Key],
        starts: dict[_Key, int],
        slots: list[dict[int, int]],
    ) -> Stage:
        """Make the matrices of a stage whose neurons have these slots."""
        width = sum(widths.values())
        scale, bias = self._zeros(1, width) + 1.0, self._zeros(1, width)
        for key in keys:
            bias[:, 0, starts[key] : starts[key] + widths[key]] = _padding_bias(key)
        for row, member, placed in zip(range(len(slots)), self._members, slots, strict=True):
            for neuron, slot in placed.items():
                scale[row, 0, slot], bias[row, 0, slot] = _affine(member, neuron)
        plain = [key for key in keys if key[0] == _PLAIN]
        total = sum(widths[key] for key in plain)
        kinds = sorted({key[0] for key in keys} - {_PLAIN})
        reductions = []
        for kind in kinds:
            of_kind = [key for key in keys if key[0] == kind]
            first, count = starts[of_kind[0]], sum(widths[key] for key in of_kind)
            reductions.append(self._reduction(kind, first, count, slots))
        return Stage(
            weight=self._weights(total, slots) if total else None,
            reductions=tuple(reductions),
            scale=scale,
            bias=bias,
            activations=tuple((activation_named(key[1]), widths[key]) for key in keys),
            keeps_pre_activation=any(
                np.any(member.signals.pre_activation[[*placed]] != NONE)
                for member, placed in zip(self._members, slots, strict=True)
                if placed
            ),
        )

    def _weights(self, width: int, slots: list[dict[int, int]]) -> Floats:
        """Return the weights into the sums, which have the first slots."""
        weight = self._zeros(self._columns, width)
        for matrix, member, placed in zip(weight, self._members, slots, strict=True):
            for neuron, slot in placed.items():
                if slot < width:
                    edges = member.edges_into(neuron)
                    source = member.column[member.signals.source[edges]]
                    np.add.at(matrix[:, slot], source, member.net.live.weight[edges])
        return weight

    def _reduction(
        self, kind: _Kind, first: int, width: int, slots: list[dict[int, int]]
    ) -> Reduction:
        name, k = kind
        edges: list[list[int]] = []
        for member, placed in zip(self._members, slots, strict=True):
            chosen = [NONE] * (width * k)
            for neuron, slot in placed.items():
                if first <= slot < first + width:
                    start = (slot - first) * k
                    chosen[start : start + k] = member.edges_into(neuron).tolist()
            edges.append(chosen)
        gains = self._gains(edges, width * k)
        return Reduction(width, aggregation_named(name), k, gains)

    def _gains(self, edges: Sequence[Sequence[int]], count: int) -> Gains:
        """Return the weighted, gated inputs along these edges of each member; NONE is padding."""
        values, gains = self._zeros(self._columns, count), self._zeros(self._columns, count)
        for row, (member, chosen) in enumerate(zip(self._members, edges, strict=True)):
            for rank, edge in enumerate(chosen):
                if edge == NONE:
                    continue
                source, gain = member.signals.source[edge], member.signals.gain[edge]
                values[row, member.column[source], rank] = member.net.live.weight[edge]
                if gain != NONE:
                    gains[row, member.column[gain], rank] = 1.0
        return Gains(values, gains)

    def _place(self, stage: Stage, slots: list[dict[int, int]]) -> None:
        """Give the neurons of a stage their columns."""
        for member, placed in zip(self._members, slots, strict=True):
            for neuron, slot in placed.items():
                member.column[neuron] = self._columns + slot
                pre_activation = member.signals.pre_activation[neuron]
                if pre_activation != NONE:
                    member.column[pre_activation] = self._columns + stage.width + slot
        self._columns += stage.width * (2 if stage.keeps_pre_activation else 1)

    def _zeros(self, rows: int, width: int) -> Floats:
        size = len(self._members) * rows * width
        if size > _MAX_ELEMENTS:
            raise NetworkError(
                f"the padded weights of a stage have {size} elements, of at most {_MAX_ELEMENTS}",
                hint="Split the population",
            )
        return np.zeros((len(self._members), rows, width))


def _affine(member: _Member, neuron: int) -> tuple[float, float]:
    """Return (scale, bias) of a neuron: its response, divided by the inputs of a mean."""
    genes = member.net.neurons
    response, bias = float(genes.response[neuron]), float(genes.bias[neuron])
    aggregation = aggregation_named(member.net.aggregation_names[neuron])
    inputs = len(member.edges_into(neuron))
    if not inputs:
        return 1.0, bias + response * aggregation.empty
    return (response / inputs if aggregation.name == "mean" else response), bias


def _padding_bias(key: _Key) -> float:
    """Return a pre-activation at which the activation is finite, so that zero weights stay zero."""
    function = activation_named(key[1])
    for bias in (0.0, 1.0, 0.5, -1.0):
        if np.isfinite(function(np.array(bias))):
            return bias
    raise NetworkError(f"the activation '{key[1]}' is finite at none of 0, 1, 0.5 and -1")
