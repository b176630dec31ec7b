"""The structure of a network: ports, neurons and connections, in arrays that nobody can write to.

Whatever computes with a network (the schedule, the compiled program, the documents) takes a
Structure. `Network`, on top of all of these, is a Structure with verbs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self, get_args

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NetworkError
from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import (
    MAX_DELAY,
    NONE,
    Bools,
    Connections,
    Ints,
    Neurons,
    ReadOnly,
    Where,
    concatenated_ranges,
    distinct,
    marked,
    network_error,
    owned,
    same_arrays,
    stable_order,
)
from neat_onnx.network.port import Dtype, MemoryPort, Port
from neat_onnx.network.source import Source
from neat_onnx.network.spatial import SpatialBlock, check_block

IMPORTED = "ONNX"
"""The library of a network that was read from a graph without a genome."""

_DTYPES = get_args(Dtype)
_NOT_COMPARED = ("id", "activation", "aggregation", "name", "spelling")
"""Columns of neurons that are no genes; functions are compared by their names."""


@dataclass(frozen=True, eq=False)
class Structure(ReadOnly):
    """Ports, neurons and connections that fit together. Immutable.

    Attributes:
        inputs, outputs: the ports, at least one output.
        neurons: all neurons; neurons of an input port compute nothing.
        connections: sorted by target, and in link order within one.
        activations, aggregations: tables of names.
        library: the library or tool that wrote it, for people; takes no part in equality.
        blocks: hints at layers that slide a window; they take no part in equality either.
        memory: hints at the names of the memory in a graph; they take no part in equality either.
        source: the model that it was imported from; takes no part in equality either.

    Raises:
        NetworkError: the parts do not fit together; names the first gene that does not.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    neurons: Neurons
    connections: Connections
    activations: tuple[str, ...]
    aggregations: tuple[str, ...]
    library: str = "neat-onnx"
    blocks: tuple[SpatialBlock, ...] = ()
    memory: tuple[MemoryPort, ...] = ()
    source: Source | None = None

    def __post_init__(self) -> None:
        _check_lengths(self.neurons, "neurons")
        _check_lengths(self.connections, "connections")
        target = self.connections.target
        if (target[1:] < target[:-1]).any():
            order = stable_order(target)
            object.__setattr__(self, "connections", self.connections.take(order))
        for name in self.activations:
            activation_named(name)
        for name in self.aggregations:
            aggregation_named(name)
        _check_ports("inputs", self.inputs, len(self))
        _check_ports("outputs", self.outputs, len(self))
        _check_ports("memory", self.memory, len(self))
        _check_sides(self.inputs, self.outputs, self.memory)
        _check_neurons(self.neurons, len(self.activations), len(self.aggregations))
        _check_connections(self.connections, self.neurons, self.is_input)
        _check_blocks(self.blocks, len(self), len(self.connections))

    @classmethod
    def of_genes(
        cls,
        inputs: Ints,
        outputs: Ints,
        neurons: tuple[Neurons, tuple[str, ...], tuple[str, ...]],
        connections: Connections,
        library: str = "neat-onnx",
    ) -> Self:
        """A structure of what `Neurons.of` gives, with a port "input" and a port "output"."""
        genes, activations, aggregations = neurons
        return cls(
            (Port("input", inputs.shape, inputs.ravel()),),
            (Port("output", outputs.shape, outputs.ravel()),),
            genes,
            connections,
            activations,
            aggregations,
            library,
        )

    def __len__(self) -> int:
        """Count the neurons, inputs included."""
        return len(self.neurons)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} of {len(self.neurons)} neurons "
            f"and {len(self.connections)} connections, "
            f"{len(self.input_neurons)} inputs, {len(self.output_neurons)} outputs>"
        )

    def __eq__(self, other: object) -> bool:
        """Compare genomes: the same ports, neurons and connections, in the same order."""
        if not isinstance(other, Structure):
            return NotImplemented
        return (
            self.inputs == other.inputs
            and self.outputs == other.outputs
            and same_arrays(self.connections, other.connections, ())
            and same_arrays(self.neurons, other.neurons, _NOT_COMPARED)
            and np.array_equal(self.neurons.id, other.neurons.id)
            and self.neuron_names == other.neuron_names
            and np.array_equal(self.activation_names, other.activation_names)
            and np.array_equal(self.aggregation_names, other.aggregation_names)
        )

    __hash__ = None  # type: ignore[assignment]

    def without_source(self) -> Self:
        """The same, without the model that it was imported from."""
        return self if self.source is None else self.with_source(None)

    def with_source(self, source: Source | None) -> Self:
        """The same genes, with all that is derived from them already, and another source."""
        found = object.__new__(type(self))
        vars(found).update(vars(self), source=source)
        return found

    @cached_property
    def activation_names(self) -> npt.NDArray[np.object_]:
        """The name of each neuron's activation, shape (n,)."""
        return owned(np.array(self.activations, dtype=object)[self.neurons.activation])

    @cached_property
    def aggregation_names(self) -> npt.NDArray[np.object_]:
        """The name of each neuron's aggregation, shape (n,)."""
        return owned(np.array(self.aggregations, dtype=object)[self.neurons.aggregation])

    @cached_property
    def neuron_names(self) -> tuple[str, ...]:
        """The name of each neuron, empty for none."""
        return self.neurons.name or ("",) * len(self.neurons)

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """The library's unusual name of each neuron's activation, empty for none."""
        return self.neurons.spelling or ("",) * len(self.neurons)

    @cached_property
    def input_neurons(self) -> Ints:
        """The neurons of all input ports, in order."""
        ports = (port.neurons for port in self.inputs)
        return owned(np.concatenate([np.empty(0, np.int64), *ports]))

    @cached_property
    def output_neurons(self) -> Ints:
        """The neurons of all output ports, in order."""
        return owned(np.concatenate([port.neurons for port in self.outputs]))

    @cached_property
    def is_input(self) -> Bools:
        """Whether each neuron is an input, shape (n,)."""
        return owned(marked(len(self), self.input_neurons))

    @cached_property
    def live(self) -> Connections:
        """The enabled connections."""
        if bool(np.all(self.connections.enabled)):
            return self.connections
        return self.connections.take(self.connections.enabled)

    @cached_property
    def first_edge(self) -> Ints:
        """The position in `live` of each neuron's first connection, and the end: shape (n + 1,)."""
        return owned(np.searchsorted(self.live.target, np.arange(len(self) + 1)))

    @cached_property
    def fan_in(self) -> Ints:
        """The number of live connections into each neuron, shape (n,)."""
        return owned(np.diff(self.first_edge))

    @cached_property
    def kinds(self) -> Ints:
        """What one operation can aggregate, (n, 2): sums and means, with inputs or without; or
        another aggregation, and the number of inputs.
        """
        linear = np.array([aggregation_named(name).linear for name in self.aggregations], np.bool_)
        is_sum = linear[self.neurons.aggregation]
        aggregation = np.where(is_sum, NONE, self.neurons.aggregation)
        inputs = np.where(is_sum, np.minimum(self.fan_in, 1), self.fan_in)
        return owned(np.stack([aggregation, inputs], axis=1))

    def groups_of(self, neurons: Ints) -> list[Ints]:
        """Split neurons by what one operation can aggregate; each part is sorted by activation."""
        kinds = self.kinds[neurons]
        order = np.lexsort((self.neurons.activation[neurons], *kinds.T[::-1]))
        breaks = np.flatnonzero(np.any(np.diff(kinds[order], axis=0), axis=1)) + 1
        return [part for part in np.split(neurons[order], breaks) if part.size]

    def functions_of(self, neurons: Ints) -> list[tuple[slice, Activation]]:
        """Return the runs of neurons with one activation."""
        codes = self.neurons.activation[neurons]
        breaks = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), len(neurons)]
        return [
            (slice(a, b), activation_named(self.activations[codes[a]])) for a, b in pairwise(breaks)
        ]

    def edges_into(self, neurons: Ints) -> tuple[Ints, Ints]:
        """Return the live connections into `neurons`: (row, edge), in the order of rows and genes.

        `row` is a position in `neurons`, `edge` one in `live`.
        """
        counts = self.fan_in[neurons]
        row = np.repeat(np.arange(len(neurons)), counts)
        return row, concatenated_ranges(self.first_edge[neurons], counts)

    @cached_property
    def has_memory(self) -> bool:
        """Whether its outputs at one step depend on steps before."""
        live = self.live
        gated = live.gater != NONE
        return bool(np.any(live.delay > 0) or np.any(live.gate_delay[gated] > 0))

    def label(self, neuron: int) -> str:
        """Return the words by which messages call the neuron at this position."""
        name = self.neuron_names[neuron]
        return f"neuron {self.neurons.id[neuron]}" + (f" '{name}'" if name else "")


# --- the rules that the parts must keep to: each is refused at the first gene that breaks one -----


def _check_lengths(genes: Neurons | Connections, where: Where) -> None:
    """Refuse columns that are not all of one length."""
    count = len(genes)
    for name, column in vars(genes).items():
        if name in ("name", "spelling"):
            if column and len(column) != count:
                raise NetworkError(f"{len(column)} {name}s of {count} neurons", where=where)
        elif column.shape != (count,):
            found = list(column.shape)
            raise NetworkError(f"{name} has the shape {found}, expected {[count]}", where=where)


def _check_sides(
    inputs: tuple[Port, ...], outputs: tuple[Port, ...], memory: tuple[MemoryPort, ...]
) -> None:
    """Refuse a network without outputs, ports of one name, and a neuron that is an input twice."""
    if not any(port.neurons.size for port in outputs):
        raise NetworkError("the network has no outputs", where="outputs")
    names = [port.name for port in inputs + outputs]
    names += [name for port in memory for name in (port.input, port.output)]
    if len(set(names)) != len(names):
        name = next(name for name in names if names.count(name) > 1)
        raise NetworkError(
            f"two ports have the same name '{name}'",
            where="inputs, outputs, memory" if memory else "inputs, outputs",
            hint="An output that hands on an input has a name of its own",
        )
    for where, ports in (("inputs", inputs), ("memory", memory)):
        neurons = [port.neurons.ravel() for port in ports]
        if ports and len(distinct(np.concatenate(neurons))) < sum(map(len, neurons)):
            raise NetworkError("a neuron is in a port twice", where=where)


def _check_ports(side: Where, ports: Sequence[Port | MemoryPort], count: int) -> None:
    """Refuse ports that do not fit `count` neurons."""
    for position, port in enumerate(ports):
        axes, size = len(port.shape), port.neurons.size
        wrong = None
        if size != math.prod(port.shape) or min(port.shape, default=0) < 0:
            wrong = f"shape {list(port.shape)} is not {size} neurons"
        elif port.batch_axis is not None and not 0 <= port.batch_axis <= axes:
            wrong = f"batch_axis is {port.batch_axis} of {axes} axes and the batch"
        elif isinstance(port, Port):
            if port.time_axis is not None and not 0 <= port.time_axis <= axes + 1:
                wrong = f"time_axis is {port.time_axis} of {axes} axes, the batch and time"
            elif port.dtype not in _DTYPES:
                known = ", ".join(filter(None, _DTYPES))
                wrong = f"dtype is {port.dtype!r}, expected '' or one of {known}"
        if wrong is not None:
            raise network_error(side, position, wrong)
        _check_inside(side, position, port.neurons, count)


def _check_neurons(genes: Neurons, activations: int, aggregations: int) -> None:
    """Refuse ids that occur twice, numbers that are not finite, and codes outside the tables."""
    if len(distinct(genes.id)) < len(genes):
        ids, counts = np.unique(genes.id, return_counts=True)
        raise NetworkError(f"two neurons have the id {ids[counts > 1][0]}", where="neurons")
    for name, size in (("activation", activations), ("aggregation", aggregations)):
        codes = getattr(genes, name)
        _refuse_first((codes < 0) | (codes >= size), "neurons", f"no such {name}: {{}}", codes)
    _check_finite(genes, "neurons", ("bias", "response", "initial"))


def _check_connections(genes: Connections, neurons: Neurons, is_input: Bools) -> None:
    """Refuse ends that do not exist, numbers out of range, and connections into inputs."""
    count = len(neurons)
    for name, least in (("source", 0), ("target", 0), ("gater", NONE)):
        ends = getattr(genes, name)
        what = "gater" if name == "gater" else "neuron"
        _refuse_first((ends < least) | (ends >= count), "connections", f"no such {what} {{}}", ends)
    _check_finite(genes, "connections", ("weight", "initial_gain"))
    for name in ("delay", "gate_delay"):
        values = getattr(genes, name)
        _refuse_first(values < 0, "connections", f"{name} is negative: {{}}", values)
        too_long = f"{name} is more than {MAX_DELAY} steps: {{}}"
        _refuse_first(values > MAX_DELAY, "connections", too_long, values)
    into_input = is_input[genes.target] & genes.enabled
    if np.count_nonzero(into_input):
        ids = neurons.id[genes.target]
        _refuse_first(into_input, "connections", "it ends in neuron {}, an input", ids)


def _check_finite(genes: Neurons | Connections, where: Where, names: Sequence[str]) -> None:
    for name in names:
        values = getattr(genes, name)
        _refuse_first(~np.isfinite(values), where, f"{name} is not a finite number: {{}}", values)


def _refuse_first(wrong: Bools, where: Where, message: str, values: np.ndarray) -> None:
    if np.count_nonzero(wrong):  # of few values found several times as fast as by `any`
        position = int(np.argmax(wrong))
        raise network_error(where, position, message.format(values[position]))


def _check_inside(where: Where, position: int, neurons: Ints, count: int) -> None:
    outside = (neurons < 0) | (neurons >= count)
    if np.count_nonzero(outside):
        raise network_error(where, position, f"no such neuron {neurons[outside][0]}")


def _check_blocks(blocks: tuple[SpatialBlock, ...], count: int, connections: int) -> None:
    """Refuse blocks by sizes and neurons only: whether a block holds is asked where it is used."""
    for position, block in enumerate(blocks):
        try:
            check_block(block, connections)
        except NetworkError as error:
            raise network_error("blocks", position, error.message) from error
        _check_inside("blocks", position, block.sources, count)
        _check_inside("blocks", position, block.neurons, count)
