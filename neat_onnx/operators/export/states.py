"""Memory as extra inputs and outputs of the graph: states, tensors that are carried over.

A register (`network.signals`) is a column of an input `hidden_prev…`; its next value is the same
column of the output `hidden_next…`. The k-th of these outputs feeds the k-th of these inputs. A
memory port of the network is written under its own names, in its own shape, where any of its
neurons is read in the next step and all of them matter. Columns that nothing reads are carried all
the same.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from neat_onnx.errors import OptionError, warn
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import UNBOUND, Columns
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.states import (
    INITIAL_KEY,
    NEXT,
    PREVIOUS,
    STATE_IN_WORDS,
    STATE_KEY,
    are_paired_by_name,
    pairs_in_words,
    state_pairs,
)
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.port import MemoryPort
from neat_onnx.operators.export.columns import exactly, in_shape
from neat_onnx.operators.export.ports import produce_as, value_info


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

    def described(self, ctx: LoweringContext) -> tuple[ValueInfo, ValueInfo]:
        """The graph's entries for its input and its output."""
        before, after = (
            value_info(ctx, name, self.sizes, self.batch_axis)
            for name in (self.previous, self.next)
        )
        return before, after


def named_ports(ctx: LoweringContext) -> Sequence[MemoryPort]:
    """The network's memory ports whose names a file may have.

    Without metadata these are the names that tell which output feeds which input.
    """
    ports: Sequence[MemoryPort] = ctx.net.memory
    if isinstance(ctx.options.batch, int):  # which only the first axis is known as
        ports = [replace(port, batch_axis=0) for port in ports]
    if ctx.options.include_metadata:
        return ports
    nothing = np.empty(0)
    return [port for port in ports if are_paired_by_name(*State.of(port, nothing).described(ctx))]


def ports_of_sequences(ctx: LoweringContext) -> Sequence[MemoryPort]:
    """The memory ports of a graph of sequences: there are some where the network is of a model that
    took both.
    """
    timed = any(port.time_axis is not None for port in ctx.net.inputs)
    return named_ports(ctx) if timed else ()


def _is_written(ctx: LoweringContext, port: MemoryPort, used: Bools) -> bool:
    """Whether a port is written: some neuron is read in the next step, and none is left out."""
    registers, scheduled = ctx.signals.registers, np.concatenate(ctx.schedule.levels)
    read = bool(np.any(used[registers.signal[np.isin(registers.origin, port.neurons)]]))
    return read and bool(np.all(np.isin(port.neurons, scheduled)))


def _open_memory(ctx: LoweringContext, port: MemoryPort, used: Bools) -> State:
    """Bind the registers of a memory port that are used to an input of its name."""
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
    tensor = port.input
    if port.batch_axis:
        axes = _batch_to(0, port.batch_axis, len(port.shape) + 1)
        turned = (f"{port.input}_turned", f"transpose_{port.input}")
        tensor = ctx.emit("Transpose", [tensor], *turned, perm=axes)
    shape = None if port.shape == signals.shape else port.shape
    ctx.places.bind(Columns(tensor, signals, 0, shape, names))


def _batch_to(place: int, now: int, rank: int) -> tuple[int, ...]:
    """The order of axes in which the batch, which stands `now` there, is at a place."""
    axes = [axis for axis in range(rank) if axis != now]
    return (*axes[:place], now, *axes[place:])


def produce_state(ctx: LoweringContext, state: State) -> None:
    """Make a node produce the output that feeds a state."""
    depth, name = ctx.schedule.depth, f"output_{state.next}"
    if state.shape is None or (len(state.shape) == 1 and not state.batch_axis):
        ctx.produce("Identity", [exactly(ctx, state.origin, depth)], state.next, name)
        return
    tensor = in_shape(ctx, state.origin.reshape(state.sizes), depth)
    if state.batch_axis:
        axes = _batch_to(state.batch_axis, 0, len(state.sizes) + 1)
        ctx.produce("Transpose", [tensor], state.next, name, perm=axes)
    else:
        produce_as(ctx, tensor, state.next)


# --- registers -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    signal: int
    origin: int
    initial: float


def open_states(
    ctx: LoweringContext, blocks: Sequence[Block], ports: Sequence[MemoryPort]
) -> list[State]:
    """Give every register a column of an input: a memory port's, or that of its level and delay."""
    used = _used(ctx, blocks)
    if ctx.options.state == "joined":
        return _joined(ctx, used)
    states = [_open_memory(ctx, port, used) for port in ports if _is_written(ctx, port, used)]
    for number, ((level, _, _, depth, _), columns) in enumerate(_grouped(ctx, blocks, used)):
        stem = f"_l{level}" if number else ""
        previous, following = _names(ctx, stem + (f"_d{depth}" if depth > 1 else ""))
        ctx.bind(np.array([column.signal for column in columns], np.int64), previous, 0)
        states.append(
            State(
                previous,
                following,
                np.array([column.origin for column in columns], np.int64),
                np.array([column.initial for column in columns]),
            )
        )
    return states


def _joined(ctx: LoweringContext, used: Bools) -> list[State]:
    """Give every register a column of one input, in their order; unused ones stay as they are."""
    registers = ctx.signals.registers
    if not len(registers):
        return []
    previous, following = _names(ctx, "")
    ctx.bind(registers.signal, previous, 0)
    origin = np.where(used[registers.signal], registers.origin, registers.signal)
    return [State(previous, following, origin, registers.initial)]


def _names(ctx: LoweringContext, stem: str) -> tuple[str, str]:
    """The names of a state's input and output: each tells the other, also where ports have some."""
    while True:
        previous = ctx.fresh(f"{PREVIOUS}{stem}")
        following = previous.replace(PREVIOUS, NEXT)
        if ctx.fresh(following) == following:
            return previous, following


def check_lost_states(states: Sequence[State], model: Model, *, lossy: bool) -> None:
    """Refuse a model that without metadata computes something else; warn of it if `lossy`."""
    found = []
    lost = [state.previous for state in states if np.any(state.initial != 0.0)]
    if lost:
        found.append(f"without metadata nothing says that {', '.join(lost)} do not start at zero")
    mistaken = state_pairs(model).keys() - {state.previous for state in states}
    if mistaken:
        names = ", ".join(sorted(mistaken))
        found.append(f"without metadata nothing says that {names} is an input, and no state")
    for message in found:
        if not lossy:
            raise OptionError(
                message,
                where="include_metadata",
                hint="Leave the metadata on, or write it all the same with lossy=True",
            )
        warn(message)


def state_metadata(states: Sequence[State], model: Model) -> dict[str, str]:
    """Which output feeds which input, and where they start if not at zero; in words as well.

    It is said of no state too where ports of `model` have names that would be taken for one.
    """
    if not states and not state_pairs(model):
        return {}
    entries = {STATE_KEY: json.dumps([[state.previous, state.next] for state in states])}
    initial = {
        state.previous: state.initial.tolist() for state in states if np.any(state.initial != 0.0)
    }
    if states:
        pairs = {state.previous: state.next for state in states}
        entries[STATE_IN_WORDS] = pairs_in_words(pairs, begins=bool(initial))
    return entries | ({INITIAL_KEY: json.dumps(initial)} if initial else {})


_Key = tuple[int, int, int, int, int]


def _grouped(
    ctx: LoweringContext, blocks: Sequence[Block], used: Bools
) -> list[tuple[_Key, list[_Column]]]:
    """Registers that are used and stand nowhere, by (level, block, state or activation, delay,
    variant), in that order.

    The block counts where all its values are carried; it is -1 for the others of a level. Two
    registers of one signal that start at different values are variants.
    """
    block_of, place = _places(ctx, blocks)
    registers, bound = ctx.signals.registers, ctx.places.position != UNBOUND
    root, depth = np.arange(ctx.signals.count), np.zeros(ctx.signals.count, np.int64)
    neuron_of = np.full(ctx.signals.count, -1, np.int64)
    neuron_of[ctx.signals.pre_activation] = neuron_of[: len(ctx.net)] = np.arange(len(ctx.net))
    groups: dict[_Key, dict[int, _Column]] = {}
    for signal, origin, initial in zip(
        registers.signal.tolist(),
        registers.origin.tolist(),
        registers.initial.tolist(),
        strict=True,
    ):
        root[signal], depth[signal] = root[origin], depth[origin] + 1
        if not used[signal] or bound[signal]:
            continue
        neuron, is_state = int(neuron_of[root[signal]]), bool(root[signal] >= len(ctx.net))
        level = int(ctx.schedule.level[neuron])
        variant = 0
        key = (level, int(block_of[neuron]), int(is_state), int(depth[signal]), variant)
        while place[neuron] in groups.get(key, {}):
            variant += 1
            key = (*key[:4], variant)
        groups.setdefault(key, {})[int(place[neuron])] = _Column(signal, origin, initial)
    for (_, block, kind, delay, _), columns in groups.items():
        if block >= 0 and delay == 1:
            _complete(ctx, blocks[block].neurons, place, bool(kind), columns)
    return [(key, [columns[k] for k in sorted(columns)]) for key, columns in sorted(groups.items())]


def _used(ctx: LoweringContext, blocks: Sequence[Block]) -> Bools:
    """Which signals the blocks read, directly or through gates and longer delays."""
    used = np.zeros(ctx.signals.count, np.bool_)
    for block in blocks:
        used[ctx.signals.read[ctx.edges_into(block.neurons)[1]]] = True
    gated = used[ctx.signals.first_product :][: len(ctx.signals.products)]
    values, gains, _ = ctx.signals.factors(ctx.signals.first_product + np.flatnonzero(gated))
    used[values], used[gains] = True, True
    registers = ctx.signals.registers
    for k in reversed(range(len(registers))):  # a register stands after the one it follows
        used[registers.origin[k]] |= used[registers.signal[k]]
    return used


def _places(ctx: LoweringContext, blocks: Sequence[Block]) -> tuple[Ints, Ints]:
    """The block of each neuron, -1 if it is not carried as a whole, and where the neuron stands
    among all, inputs first.
    """
    block_of = np.full(len(ctx.net), -1, np.int64)
    place = np.zeros(len(ctx.net), np.int64)
    ordered = np.concatenate([ctx.net.input_neurons, *(block.neurons for block in blocks)])
    place[ordered] = np.arange(len(ordered))
    for k, block in enumerate(blocks):
        if block.whole_state:
            block_of[block.neurons] = k
    return block_of, place


def _complete(
    ctx: LoweringContext, neurons: Ints, place: Ints, is_state: bool, columns: dict[int, _Column]
) -> None:
    """A column for every neuron of a block, as a recurrent layer's matrix wants it."""
    for neuron in neurons.tolist():
        origin = int(ctx.signals.pre_activation[neuron]) if is_state else neuron
        columns.setdefault(int(place[neuron]), _Column(int(ctx.signals.spare[neuron]), origin, 0.0))
