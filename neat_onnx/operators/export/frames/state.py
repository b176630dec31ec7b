"""Memory as extra inputs and outputs of the graph: the frame of a single step.

A register (`network.signals`) is a column of an input `hidden_prev…`; its next value is the same
column of the output `hidden_next…`. The k-th of these outputs feeds the k-th of these inputs. The
network's memory ports have names and shapes of their own (`frames/memory.py`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neat_onnx.errors import OptionError, warn
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import UNBOUND
from neat_onnx.lowering.registry import Claim, frames
from neat_onnx.model import Graph, Model
from neat_onnx.model.splice import renamed_twice
from neat_onnx.model.states import (
    INITIAL_KEY,
    NEXT,
    PREVIOUS,
    STATE_IN_WORDS,
    STATE_KEY,
    state_pairs,
)
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.network.port import MemoryPort, shared_ports
from neat_onnx.operators.export.frames.memory import (
    State,
    is_written,
    named_ports,
    open_memory,
    produce_state,
    value_after,
    value_before,
)
from neat_onnx.operators.export.frames.ports import (
    as_stated,
    described,
    has_batch,
    metadata_of_single_sample,
    open_input,
    produce_output,
)


@dataclass(frozen=True)
class _Column:
    signal: int
    origin: int
    initial: float


class OneStep:
    """The frame of a single step: the memory comes in as inputs, and goes out as outputs."""

    def __init__(self, ctx: LoweringContext, claims: Sequence[Claim]) -> None:
        self._ctx = ctx
        self._blocks = [claim.block for claim in claims]
        self._states: list[State] = []

    def open(self) -> None:
        """Bind the neurons of the inputs, and the registers."""
        for port in self._ctx.net.inputs:
            open_input(self._ctx, port)
        self._states = _open_states(self._ctx, self._blocks, self._ports())

    def _ports(self) -> Sequence[MemoryPort]:
        """The memory ports that are written under their names."""
        return named_ports(self._ctx)

    def close(self) -> Graph:
        """Produce the outputs, and those that feed the states of the next step."""
        ctx, states = self._ctx, self._states
        for port in ctx.net.outputs:
            produce_output(ctx, port)
        for state in states:
            produce_state(ctx, state)
        return Graph(
            name="neat_onnx",
            inputs=described(ctx, ctx.net.inputs) + [value_before(ctx, each) for each in states],
            outputs=described(ctx, ctx.net.outputs) + [value_after(ctx, each) for each in states],
            initializer=list(ctx.initializers.values()),
            node=ctx.nodes,
        )

    def in_stated_ports(self, model: Model) -> tuple[Model, dict[str, str]]:
        """Give inputs and outputs the types, and the place of the batch, that ports have."""
        ctx, names = self._ctx, dict[str, str]()
        has_samples = ctx.options.batch_dimension is not None
        if ctx.options.dialect == "standard":
            model, names = self._with_shared_inputs(model)
            model, others = as_stated(model, ctx.net)
            names = renamed_twice(names, others)
        if not has_samples and has_batch(model, ctx.net):
            from neat_onnx.operators.export.frames.single_sample import (  # noqa: PLC0415 - of few networks
                of_single_sample,
            )

            model, others = of_single_sample(model)
            names = renamed_twice(names, others)
        return model, names

    def _with_shared_inputs(self, model: Model) -> tuple[Model, dict[str, str]]:
        """Take the batch from inputs that all samples share, if they have it."""
        if self._ctx.options.batch_dimension is None:
            return model, {}
        ranks = {entry.name: len(entry.shape or ()) for entry in model.graph.inputs}
        ports = shared_ports(self._ctx.net.inputs)
        shared = [port for port in ports if ranks[port.name] > len(port.shape)]
        if not shared:
            return model, {}
        from neat_onnx.operators.export.frames.shared_inputs import (  # noqa: PLC0415 - of few networks
            with_shared_inputs,
        )

        return with_shared_inputs(model, shared)

    def metadata(self, model: Model) -> dict[str, str]:
        """Return which output feeds which state, where states start, and that there is no batch."""
        return state_metadata(self._states, model) | self._of_single_sample(model)

    def check_without_metadata(self, model: Model) -> None:
        """Refuse initial values, which only the metadata can hold; warn where import could take the
        first axis for a batch that is none.
        """
        check_lost_states(self._states, model, lossy=self._ctx.options.lossy)
        if self._of_single_sample(model):
            warn(
                "without metadata nothing says that there is no batch: import the file with "
                "batch_axis=None"
            )

    def _of_single_sample(self, model: Model) -> dict[str, str]:
        """The metadata of no batch, where import could take an axis for one."""
        return {} if has_batch(model, self._ctx.net) else metadata_of_single_sample(model)


@frames
def one_step(ctx: LoweringContext, claims: Sequence[Claim]) -> OneStep | None:
    """The frame of everything that is no sequence."""
    return None if ctx.options.sequence else OneStep(ctx, claims)


def _open_states(
    ctx: LoweringContext, blocks: Sequence[Block], ports: Sequence[MemoryPort]
) -> list[State]:
    """Give every register a column of an input: a memory port's, or that of its level and delay."""
    used = _used(ctx, blocks)
    if ctx.options.state == "joined":
        return _joined(ctx, used)
    states = [open_memory(ctx, port, used) for port in ports if is_written(ctx, port, used)]
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
    """Raise OptionError if `model` without metadata would compute something else.

    Args:
        lossy: warn instead.
    """
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
        entries[STATE_IN_WORDS] = _in_words(states, initial)
    return entries | ({INITIAL_KEY: json.dumps(initial)} if initial else {})


def _in_words(states: Sequence[State], initial: Mapping[str, Any]) -> str:
    """The loop that carries the memory, for whoever finds the file and has no documentation."""
    feeds = ", ".join(f"{state.next} feeds {state.previous}" for state in states)
    return feeds + (f", first as {INITIAL_KEY} says" if initial else "")


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
