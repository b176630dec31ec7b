"""States: tensors that are carried over, some of which are memory ports of the network.

A memory port is written under its own names, in its own shape, where any of its neurons is read in
the next step and all of them matter. Columns that nothing reads are carried all the same.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.model import ValueInfo
from neat_onnx.model.states import are_paired_by_name
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.port import MemoryPort
from neat_onnx.operators.export.frames.ports import batch_to, produce_as, value_info
from neat_onnx.operators.export.layout.columns import exactly, in_shape
from neat_onnx.operators.export.layout.shaping import Identity, Reshape, Transpose


@dataclass(frozen=True)
class State:
    """One tensor that is carried over.

    Attributes:
        previous, next: the names of the graph's input and output.
        origin: the signals whose values it takes at the end of a step, in column order.
        initial: the values before the first step, (width,).
        shape: its sizes without the batch; None for [N, width].
        batch_axis: where the batch is among its axes.
    """

    previous: str
    next: str
    origin: Ints
    initial: Floats
    shape: tuple[int, ...] | None = None
    batch_axis: int = 0

    @classmethod
    def of(cls, port: MemoryPort, initial: Floats) -> "State":
        """The state that a memory port is."""
        return cls(port.input, port.output, port.neurons, initial, port.shape, port.batch_axis)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Its sizes without the batch."""
        return self.origin.shape if self.shape is None else self.shape


def named_ports(ctx: LoweringContext) -> Sequence[MemoryPort]:
    """The network's memory ports whose names a file may have.

    Without metadata these are the names that tell which output feeds which input.
    """
    if ctx.options.dialect != "standard":
        return ()
    ports: Sequence[MemoryPort] = ctx.net.memory
    if isinstance(ctx.options.batch, int):  # which only the first axis is known as
        ports = [replace(port, batch_axis=0) for port in ports]
    if ctx.options.include_metadata:
        return ports
    return [port for port in ports if _tells_itself(ctx, port)]


def ports_of_sequences(ctx: LoweringContext) -> Sequence[MemoryPort]:
    """The memory ports of a graph of sequences: there are some where the network is of a model that
    took both.
    """
    timed = any(port.time_axis is not None for port in ctx.net.inputs)
    return named_ports(ctx) if timed else ()


def _tells_itself(ctx: LoweringContext, port: MemoryPort) -> bool:
    before, after = (
        value_info(ctx, name, port.shape, port.batch_axis) for name in (port.input, port.output)
    )
    return are_paired_by_name(before, after)


def is_written(ctx: LoweringContext, port: MemoryPort, used: Bools) -> bool:
    """Whether a port is written: some neuron is read in the next step, and none is left out.

    Args:
        used: which signals are read.
    """
    registers, scheduled = ctx.signals.registers, np.concatenate(ctx.schedule.levels)
    read = bool(np.any(used[registers.signal[np.isin(registers.origin, port.neurons)]]))
    return read and bool(np.all(np.isin(port.neurons, scheduled)))


def open_memory(ctx: LoweringContext, port: MemoryPort, used: Bools) -> State:
    """Bind the registers of a memory port to an input of its name.

    Args:
        used: which signals are read.
    """
    registers = ctx.signals.registers
    first = {
        int(registers.origin[k]): k for k in reversed(range(len(registers)))
        if used[registers.signal[k]]
    }  # fmt: skip
    held = [first.get(neuron) for neuron in port.neurons.tolist()]
    spare = ctx.signals.spare[port.neurons].tolist()
    signals = [
        other if k is None else int(registers.signal[k])
        for k, other in zip(held, spare, strict=True)
    ]
    initial = [0.0 if k is None else float(registers.initial[k]) for k in held]
    _bind(ctx, port, np.array(signals, np.int64))
    return State.of(port, np.array(initial))


def _bind(ctx: LoweringContext, port: MemoryPort, signals: Ints) -> None:
    """Bind signals to the input, turned so that the batch comes first."""
    names = (f"{port.input}_flat", f"flatten_{port.input}")
    shape: tuple[int, ...] | None = port.shape
    tensor = port.input
    if port.batch_axis and _has_no_axis_before(port):
        sizes = ctx.shared_integers("shape", [-1, len(signals)])
        tensor, shape = ctx.emit(Reshape, [tensor, sizes], *names), None
    elif port.batch_axis:
        axes = batch_to(0, port.batch_axis, len(port.shape) + 1)
        turned = (f"{port.input}_turned", f"transpose_{port.input}")
        tensor = ctx.emit(Transpose, [tensor], *turned, perm=axes)
    ctx.places.bind(Columns(tensor, signals, 0, None if shape == signals.shape else shape, names))


def _has_no_axis_before(port: MemoryPort | State) -> bool:
    """Whether the axes before the batch have one element."""
    return math.prod((port.shape or ())[: port.batch_axis]) == 1


def produce_state(ctx: LoweringContext, state: State) -> None:
    """Make a node produce the output that feeds a state."""
    depth, name = ctx.schedule.depth, f"output_{state.next}"
    if state.shape is None or (len(state.shape) == 1 and not state.batch_axis):
        ctx.produce(Identity, [exactly(ctx, state.origin, depth)], state.next, name)
    elif state.batch_axis and _has_no_axis_before(state):
        sizes = list(state.sizes)
        sizes.insert(state.batch_axis, -1)
        tensor = exactly(ctx, state.origin, depth)
        shape = ctx.shared_integers("shape", sizes)
        ctx.produce(Reshape, [tensor, shape], state.next, name)
    else:
        tensor = in_shape(ctx, state.origin.reshape(state.sizes), depth)
        if state.batch_axis:
            axes = batch_to(state.batch_axis, 0, len(state.sizes) + 1)
            ctx.produce(Transpose, [tensor], state.next, name, perm=axes)
        else:
            produce_as(ctx, tensor, state.next)


def value_before(ctx: LoweringContext, state: State) -> ValueInfo:
    """The graph's entry for the input of a state."""
    return value_info(ctx, state.previous, state.sizes, state.batch_axis)


def value_after(ctx: LoweringContext, state: State) -> ValueInfo:
    """The graph's entry for the output of a state."""
    return value_info(ctx, state.next, state.sizes, state.batch_axis)
