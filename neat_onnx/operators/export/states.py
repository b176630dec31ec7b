"""Memory as extra inputs and outputs of the graph: states, tensors that are carried over.

A register (`network.signals`) is a column of an input `hidden_prev…`; its next value is the same
column of the output `hidden_next…`. The k-th of these outputs feeds the k-th of these inputs. A
memory port of the network is written under its own names, in its own shape, where any of its
neurons is read in the next step and all of them matter. Columns that nothing reads are carried all
the same.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from neat_onnx.errors import OptionError, warn
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import UNBOUND
from neat_onnx.model import Model
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
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, marked
from neat_onnx.network.port import MemoryPort
from neat_onnx.operators.export.columns import exactly, in_shape
from neat_onnx.operators.export.ports import bind_input, produce_as, value_info


@dataclass(frozen=True)
class State:
    """One tensor that is carried over.

    Attributes:
        previous, next: the names of the graph's input and output.
        origin: the signals whose values it takes at the end of a step, in C order of its shape
            without the batch.
        initial: the values before the first step, (width,).
    """

    previous: str
    next: str
    origin: Ints
    initial: Floats


def memory_ports(ctx: LoweringContext) -> Sequence[MemoryPort]:
    """The network's memory ports whose names a file may have.

    Without metadata these are the names that tell which output feeds which input. Of a graph of
    sequences there are some where the network is of a model that took both.
    """
    if ctx.options.sequence and all(port.time_axis is None for port in ctx.net.inputs):
        return ()
    if ctx.options.include_metadata:
        return ctx.net.memory
    ends = [(port, [value_info(ctx, name, port.shape) for name in (port.input, port.output)])
            for port in ctx.net.memory]  # fmt: skip
    return [port for port, (before, after) in ends if are_paired_by_name(before, after)]


def _is_written(ctx: LoweringContext, port: MemoryPort, used: Bools) -> bool:
    """Whether a port is written: some neuron is read in the next step, and none is left out."""
    registers, scheduled = ctx.signals.registers, np.concatenate(ctx.schedule.levels)
    read = bool(np.any(used[registers.signal[np.isin(registers.origin, port.neurons)]]))
    return read and bool(np.all(np.isin(port.neurons, scheduled)))


def _open_memory(ctx: LoweringContext, port: MemoryPort, used: Bools) -> State:
    """Bind the registers of a memory port that are used to an input of its name."""
    registers, neurons = ctx.signals.registers, port.neurons
    followed = np.flatnonzero(used[registers.signal])[::-1]
    place = np.full(ctx.signals.count, NONE, np.int64)
    place[registers.origin[followed]] = followed  # the first of those that follow one signal
    at = place[neurons]
    signals = np.where(at == NONE, ctx.signals.spare[neurons], registers.signal[at])
    bind_input(ctx, port.input, signals.reshape(port.shape))
    initial = np.where(at == NONE, 0.0, registers.initial[at])
    return State(port.input, port.output, neurons.reshape(port.shape), initial)


def produce_state(ctx: LoweringContext, state: State) -> None:
    """Make a node produce the output that feeds a state."""
    depth = ctx.schedule.depth
    if state.origin.ndim == 1:
        tensor = exactly(ctx, state.origin, depth)
        ctx.produce("Identity", [tensor], state.next, f"output_{state.next}")
    else:
        produce_as(ctx, in_shape(ctx, state.origin, depth), state.next)


# --- registers -----------------------------------------------------------------------------------


def open_states(ctx: LoweringContext, blocks: Sequence[Block]) -> list[State]:
    """Give every register a column of an input: a memory port's, or that of its level and delay."""
    used = _used(ctx, blocks)
    if ctx.options.state == "joined":
        return _joined(ctx, used)
    written = [port for port in memory_ports(ctx) if _is_written(ctx, port, used)]
    states = [_open_memory(ctx, port, used) for port in written]
    for number, (level, depth, columns) in enumerate(_grouped(ctx, blocks, used)):
        stem = f"_l{level}" if number else ""
        names = _names(ctx, stem + (f"_d{depth}" if depth > 1 else ""))
        signal, origin, initial = zip(*columns, strict=True)
        ctx.bind(np.array(signal), names[0], 0)
        states.append(State(*names, np.array(origin), np.array(initial)))
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
            hint = "Leave the metadata on, or write it all the same with lossy=True"
            raise OptionError(message, where="include_metadata", hint=hint)
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


_Column = tuple[int, int, float]
"""The signal of a register, the one that it follows, and its value before the first step."""


def _grouped(
    ctx: LoweringContext, blocks: Sequence[Block], used: Bools
) -> Iterator[tuple[int, int, list[_Column]]]:
    """Registers that are used and stand nowhere, as (level, delay, columns).

    They are grouped by level, block, whether they follow a state or an activation, and delay. The
    block counts where all its values are carried, and then has all columns, as a recurrent layer's
    matrix wants them; it is -1 for the others of a level. Two registers of one signal that start at
    different values are in two groups.
    """
    net, signals = ctx.net, ctx.signals
    block_of, place = np.full(len(net), -1, np.int64), np.zeros(len(net), np.int64)
    ordered = np.concatenate([net.input_neurons, *(block.neurons for block in blocks)])
    place[ordered] = np.arange(len(ordered))
    for k, block in enumerate(blocks):
        block_of[block.neurons] = k if block.whole_state else -1
    registers, bound = signals.registers, ctx.places.position != UNBOUND
    root, depth = np.arange(signals.count), np.zeros(signals.count, np.int64)
    neuron_of = np.full(signals.count, -1, np.int64)
    neuron_of[signals.pre_activation] = neuron_of[: len(net)] = np.arange(len(net))
    groups: dict[tuple[int, ...], dict[int, _Column]] = {}
    columns = (registers.signal.tolist(), registers.origin.tolist(), registers.initial.tolist())
    for signal, origin, initial in zip(*columns, strict=True):
        root[signal], depth[signal] = root[origin], depth[origin] + 1
        if not used[signal] or bound[signal]:
            continue
        neuron, is_state = neuron_of[root[signal]], root[signal] >= len(net)
        key = tuple(map(int, (ctx.schedule.level[neuron], block_of[neuron], is_state,
                              depth[signal])))  # fmt: skip
        variants = ((*key, number) for number in itertools.count())
        group = next(each for each in variants if place[neuron] not in groups.get(each, {}))
        groups.setdefault(group, {})[int(place[neuron])] = signal, origin, initial
    for (level, number, is_state, delay, _), found in sorted(groups.items(), key=itemgetter(0)):
        if number >= 0 and delay == 1:
            for neuron in blocks[number].neurons.tolist():
                origin = int(signals.pre_activation[neuron]) if is_state else neuron
                found.setdefault(int(place[neuron]), (int(signals.spare[neuron]), origin, 0.0))
        yield level, delay, [found[k] for k in sorted(found)]


def _used(ctx: LoweringContext, blocks: Sequence[Block]) -> Bools:
    """Which signals the blocks read, directly or through gates and longer delays."""
    used = marked(ctx.signals.count, *(ctx.inputs_of(block.neurons)[1] for block in blocks))
    gated = used[ctx.signals.first_product :][: len(ctx.signals.products)]
    values, gains, _ = ctx.signals.factors(ctx.signals.first_product + np.flatnonzero(gated))
    used[values], used[gains] = True, True
    registers = ctx.signals.registers
    for k in reversed(range(len(registers))):  # a register stands after the one it follows
        used[registers.origin[k]] |= used[registers.signal[k]]
    return used
