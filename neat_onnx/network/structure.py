"""The structure of a network: ports, neurons and connections, in arrays that nobody can write to.

Whatever computes with a network (the schedule, the compiled program, the documents) takes a
Structure. `Network`, on top of all of these, is a Structure with verbs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from neat_onnx.network.check import (
    check_blocks,
    check_connections,
    check_lengths,
    check_memory,
    check_names,
    check_neurons,
    check_ports,
)
from neat_onnx.network.genes import (
    NONE,
    Bools,
    Connections,
    Ints,
    Neurons,
    ReadOnly,
    concatenated_ranges,
    owned,
    same_arrays,
    stable_order,
)
from neat_onnx.network.port import MemoryPort, Port
from neat_onnx.network.source import Source
from neat_onnx.network.spatial import SpatialBlock

IMPORTED = "ONNX"
"""The library of a network that was read from a graph without a genome."""

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
        check_lengths(self.neurons, "neurons")
        check_lengths(self.connections, "connections")
        target = self.connections.target
        if np.any(target[1:] < target[:-1]):
            order = stable_order(target)
            object.__setattr__(self, "connections", self.connections.take(order))
        check_names(self.activations, self.aggregations)
        check_ports(self.inputs, self.outputs, len(self))
        check_neurons(self.neurons, len(self.activations), len(self.aggregations))
        check_connections(self.connections, self.neurons, self.is_input)
        check_memory(self.memory, self.inputs + self.outputs, len(self))
        check_blocks(self.blocks, len(self), len(self.connections))

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
            self.has_same_genes(other)
            and np.array_equal(self.neurons.id, other.neurons.id)
            and self.neuron_names == other.neuron_names
        )

    __hash__ = None  # type: ignore[assignment]

    def has_same_genes(self, other: Structure) -> bool:
        """Whether `other` has these ports, and these genes at the same positions.

        Such networks compute the same; the ids and names of their neurons may differ.
        """
        return (
            self.inputs == other.inputs
            and self.outputs == other.outputs
            and same_arrays(self.connections, other.connections, ())
            and same_arrays(self.neurons, other.neurons, _NOT_COMPARED)
            and np.array_equal(self.activation_names, other.activation_names)
            and np.array_equal(self.aggregation_names, other.aggregation_names)
        )

    def without_source(self) -> Self:
        """The same, without the model that it was imported from."""
        return self if self.source is None else replace(self, source=None)

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
        mask = np.zeros(len(self.neurons), np.bool_)
        mask[self.input_neurons] = True
        return owned(mask)

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
