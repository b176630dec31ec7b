"""Networks side by side, as one: a generation computes in as many array operations as a member.

Ports have the axis of members in front: x [P, I] and y [P, O]. Nothing is padded and nothing is
shared, so each member computes as it does alone, whatever its shape, its functions or its memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import NONE, Connections, Floats, Ints, Neurons, codes_of
from neat_onnx.network.port import Port
from neat_onnx.network.signals import signals_of
from neat_onnx.network.structure import Structure

_ENDS = ("source", "target", "gater")


@dataclass(frozen=True)
class SideBySide:
    """P networks as one.

    Attributes:
        net: all neurons and connections, member by member, with one input and one output port.
        first: the first neuron of each member, and the end: (P + 1,).
    """

    net: Structure
    first: Ints

    @property
    def members(self) -> int:
        """P, how many networks."""
        return len(self.first) - 1

    def registers(self) -> tuple[Ints, Ints, Floats]:
        """Return the member of each register, its number within the member, and its initial value.

        They stand in the order of `signals_of(net)`, and in a member in the order of its own.
        """
        signals = signals_of(self.net)
        owner = np.empty(signals.count, np.int64)  # the neuron of each signal
        owner[: len(self.net)] = np.arange(len(self.net))
        read = np.flatnonzero(signals.pre_activation != NONE)
        owner[signals.pre_activation[read]] = read
        registers = signals.registers
        for signal, origin in zip(
            registers.signal.tolist(), registers.origin.tolist(), strict=True
        ):
            owner[signal] = owner[origin]
        member = np.searchsorted(self.first, owner[registers.signal], "right") - 1
        order = np.argsort(member, kind="stable")
        counts = np.bincount(member, minlength=self.members)
        number = np.empty(len(member), np.int64)
        number[order] = np.arange(len(member)) - np.repeat(np.cumsum(counts) - counts, counts)
        return member, number, registers.initial


def side_by_side(nets: Sequence[Structure]) -> SideBySide:
    """Put networks side by side.

    Raises:
        NetworkError: there is none, or their ports differ.
    """
    _check_ports(nets)
    first = np.concatenate([[0], np.cumsum([len(net) for net in nets])])
    activations, activation = codes_of([name for net in nets for name in net.activation_names])
    aggregations, aggregation = codes_of([name for net in nets for name in net.aggregation_names])
    numbers: dict[str, Any] = {
        name: np.concatenate([getattr(net.neurons, name) for net in nets])
        for name in ("bias", "response", "initial")
    }
    edges = {
        field.name: np.concatenate(
            [
                _moved(getattr(net.connections, field.name), at)
                if field.name in _ENDS
                else getattr(net.connections, field.name)
                for net, at in zip(nets, first.tolist(), strict=False)
            ]
        )
        for field in fields(Connections)
    }
    inputs, outputs = (
        np.array([neurons + at for neurons, at in zip(sides, first, strict=False)])
        for sides in ([net.input_neurons for net in nets], [net.output_neurons for net in nets])
    )
    neurons = Neurons(np.arange(first[-1]), activation, aggregation, **numbers)
    return SideBySide(
        joined(inputs, outputs, neurons, Connections(**edges), activations, aggregations), first
    )


def joined(
    inputs: Ints,
    outputs: Ints,
    neurons: Neurons,
    connections: Connections,
    activations: tuple[str, ...],
    aggregations: tuple[str, ...],
) -> Structure:
    """Return the one network whose ports are [P, I] and [P, O]."""
    return Structure(
        (Port("input", inputs.shape, inputs.ravel()),),
        (Port("output", outputs.shape, outputs.ravel()),),
        neurons,
        connections,
        activations,
        aggregations,
    )


def _moved(ends: Ints, by: int) -> Ints:
    return np.where(ends == NONE, NONE, ends + by)


def _check_ports(nets: Sequence[Structure]) -> None:
    if not nets:
        raise NetworkError("a population needs one network or more")
    first = _ports(nets[0])
    for k, net in enumerate(nets):
        if _ports(net) != first:
            raise NetworkError(
                f"its ports {_ports(net)} differ from the first member's, {first}",
                where=f"member {k}",
            )


def _ports(net: Structure) -> list[tuple[str, tuple[int, ...]]]:
    return [(port.name, port.shape) for port in (*net.inputs, *net.outputs)]
