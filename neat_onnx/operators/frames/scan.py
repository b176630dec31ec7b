"""Scan: a network with its time inside, one sequence in and one out.

The graph of one step becomes the body. Its states are the Scan's, its ports gain a time axis in
front: [T, N, …]. The initial values of the states are a constant, expanded to the size of the
    batch.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Literal, NoReturn, Self

import numpy as np
from pydantic import model_validator

from neat_onnx.lifting.context import REGISTER, LiftingContext, Value, lifts
from neat_onnx.lifting.dispatch import lift_node
from neat_onnx.lifting.followed_axes import (
    FEATURE,
    FIRST,
    UNKNOWN,
    AxisFollower,
    FollowedAxes,
    follows,
    merged,
)
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.registry import Claim, frames
from neat_onnx.model import Attributes, Graph, Model, Node, ValueInfo
from neat_onnx.model.wiring import names_made, names_read, producers
from neat_onnx.network.memory import MemoryPort
from neat_onnx.operators.constants import Shape
from neat_onnx.operators.frames.memory import State, ports_of_sequences
from neat_onnx.operators.frames.ports import as_stated
from neat_onnx.operators.frames.state import OneStep, check_lost_states, state_metadata
from neat_onnx.operators.frames.steps import timed
from neat_onnx.operators.layout.arranging import Expand
from neat_onnx.operators.layout.shaping import Concat, Identity, Slice
from neat_onnx.operators.rnn.axes import has_open_time
from neat_onnx.operators.rnn.ends import find_ends, unrolling
from neat_onnx.operators.rnn.starts import Start, check_all_fed, computed_start, feeding
from neat_onnx.passes.splice import renamed


class ScanAttributes(Attributes):
    """Attributes of Scan: the body, how many inputs are sequences, and which way they run.

    An export has all of them forward along the first axis.
    """

    body: Graph
    num_scan_inputs: int
    scan_input_axes: tuple[int, ...] | None = None
    scan_input_directions: tuple[Literal[0, 1], ...] | None = None
    scan_output_axes: tuple[int, ...] | None = None
    scan_output_directions: tuple[Literal[0, 1], ...] | None = None


class Scan(Node):
    """A body applied to each step of sequences, with states carried from step to step."""

    inputs = (1, None)
    outputs = (1, None)
    since = 11
    attributes: ScanAttributes

    @model_validator(mode="after")
    def _sequences(self) -> Self:
        """Refuse more sequences than inputs: onnx's evaluator takes memory for each."""
        count, most = self.attributes.num_scan_inputs, len(self.input)
        if not 0 < count <= most:
            raise ValueError(f"num_scan_inputs is {count}, expected 1 to {most}")
        return self

    def states(self) -> tuple[list[str], list[str]]:
        """The first inputs, and as many outputs."""
        count = len(self.input) - self.attributes.num_scan_inputs
        return self.input[:count], self.output[:count]

    def defaults_in_words(self) -> dict[str, Any]:
        """Sequences forward along the first axis."""
        read = (0,) * self.attributes.num_scan_inputs
        made = (0,) * (len(self.output) - len(self.input) + len(read))
        return {
            "scan_input_axes": read,
            "scan_input_directions": read,
            "scan_output_axes": made,
            "scan_output_directions": made,
        }


_STEP = "_step"  # what the body calls a port, whose own name is the whole sequence's


# --- lowering ------------------------------------------------------------------------------------


class OverSteps(OneStep):
    """The frame of a sequence: the graph of one step is the body of a Scan."""

    def _ports(self) -> Sequence[MemoryPort]:
        """The memory ports that a model of sequences had; other states are inside of the Scan."""
        return ports_of_sequences(self._ctx)

    def close(self) -> Graph:
        """Put the step into a Scan over [T, N, …]."""
        ctx, step = self._ctx, super().close()
        inputs, before = _split(step.inputs, len(ctx.net.inputs))
        outputs, after = _split(step.outputs, len(ctx.net.outputs))
        named = len(self._named)
        crossing = (*inputs, *before[:named], *outputs, *after[:named])
        names = {entry.name: ctx.fresh(entry.name + _STEP) for entry in crossing}
        body = Graph(
            name="step",
            inputs=_renamed([*before, *inputs], names),
            outputs=_renamed([*after, *outputs], names),
            node=[renamed(node, names) for node in ctx.take_nodes()],
        )
        inner = self._states[named:]
        starts = [state.previous for state in self._named]
        starts += _initial_states(ctx, inputs[0].name, inner)
        ends = [state.next for state in self._named]
        ends += [ctx.fresh(f"{state.next}_last") for state in inner]
        ctx.produce(
            Scan,
            [*starts, *(entry.name for entry in inputs)],
            [*ends, *(entry.name for entry in outputs)],
            "scan",
            body=body,
            num_scan_inputs=len(inputs),
        )
        return Graph(
            name=step.name,
            inputs=timed(inputs) + before[:named],
            outputs=timed(outputs) + after[:named],
            initializer=list(ctx.initializers.values()),
            node=ctx.nodes,
        )

    def in_stated_ports(self, model: Model) -> tuple[Model, dict[str, str]]:
        """Give inputs and outputs the types, and time and the batch the place, that ports have."""
        return as_stated(model, self._ctx.net, sequence=True)

    def metadata(self, model: Model) -> dict[str, str]:
        """Which output feeds which state; the others are in the graph with their start, so that
        there is nothing to say of them.
        """
        return state_metadata(self._named, model)

    def check_without_metadata(self, model: Model) -> None:
        """Refuse ports that would be taken for states, and initial values of those that are."""
        check_lost_states(self._named, model, lossy=self._ctx.options.lossy)

    @property
    def _named(self) -> list[State]:
        """The states that cross the ends of the graph, which are the first ones."""
        names = {port.input for port in self._ports()}
        return [state for state in self._states if state.previous in names]


@frames
def over_steps(ctx: LoweringContext, claims: Sequence[Claim]) -> OverSteps | None:
    """The frame of sequences whose memory is in no single node."""
    inside = any(claim.all_steps for claim in claims)
    return OverSteps(ctx, claims) if ctx.options.sequence and not inside else None


def _initial_states(ctx: LoweringContext, sequence: str, states: Sequence[State]) -> list[str]:
    """For each state the tensor [N, width] that it starts from."""
    if not states:
        return []
    shape = ctx.emit(Shape, [sequence], "sequence_shape", "sequence_shape")
    bounds = [ctx.shared_integers("axis", [k]) for k in (1, 2, 0)]
    batch = ctx.emit(Slice, [shape, *bounds], "batch", "batch")
    tensors = []
    for state in states:
        width = ctx.shared_integers("width", [len(state.initial)])
        size = ctx.emit(Concat, [batch, width], f"{state.previous}_shape", "state_shape", axis=0)
        start = ctx.initializer(f"{state.previous}_start", state.initial[None, :])
        name = f"{state.previous}_first"
        tensors.append(ctx.emit(Expand, [start, size], name, name))
    return tensors


def _split(entries: Sequence[ValueInfo], count: int) -> tuple[list[ValueInfo], list[ValueInfo]]:
    """The entries of so many ports, and of the states behind them."""
    return [*entries[:count]], [*entries[count:]]


def _renamed(entries: Sequence[ValueInfo], names: dict[str, str]) -> list[ValueInfo]:
    return [
        entry.model_copy(update={"name": names.get(entry.name, entry.name)}) for entry in entries
    ]


# --- lifting -------------------------------------------------------------------------------------


@lifts(Scan)
def lift_scan(ctx: LiftingContext, node: Scan) -> None:
    """The body's nodes once, its states as registers; or once for each step of a fixed length."""
    _require_first_axes(ctx, node)
    body = node.attributes.body
    count = len(node.input) - node.attributes.num_scan_inputs
    if count != len(body.inputs) - node.attributes.num_scan_inputs or count > len(body.outputs):
        ctx.fail(node, "its body's inputs and outputs do not fit")
    for name, entry in zip(node.input, body.inputs, strict=True):
        _hand_type(ctx, name, entry.name)
    if all(_is_of_features(ctx, node, position) for position in range(count, len(node.input))):
        from neat_onnx.operators.frames.unrolled_scan import unroll  # noqa: PLC0415 - of few models

        unroll(ctx, node, body, count)
        return
    changing = [position for position in range(count) if not _is_kept(ctx, node, position)]
    static = set[str]()
    if changing:  # without states, steps are as samples
        has_open_time(ctx, node)
        static = find_ends(ctx)
    begun = {position: _state(ctx, node, position, static) for position in changing}
    for position, entry in enumerate(body.inputs[:count]):
        found = begun.get(position)
        ctx.operands[entry.name] = Value(found.signals) if found else ctx.operand(node, position)
    for position, entry in enumerate(body.inputs[count:], count):
        sequence = ctx.value(node, position)
        if sequence.shape[:1] != (1,) or (changing and not _is_of_time(ctx, node.input[position])):
            ctx.fail(node, "it scans an axis that is not the first one of a graph input")
        ctx.operands[entry.name] = sequence.rearranged(lambda array: array[0])
    ctx.operands.update({tensor.name: tensor.values for tensor in body.initializer})
    with _one_sample(ctx) if _runs_over_samples(ctx.followed, node) else nullcontext():
        for inner in body.node:
            lift_node(ctx, inner)
    for position, start in begun.items():
        ctx.operands[body.inputs[position].name] = Value(start.registers)
        ctx.feed(body.inputs[position].name, body.outputs[position].name)
    for name, following in zip(node.output, body.outputs[:count], strict=False):
        ctx.operands[name] = ctx.operands[following.name]
    results = [ctx.operands.get(entry.name) for entry in body.outputs]
    for name, result in zip(node.output[count:], results[count:], strict=True):
        if not isinstance(result, Value):
            ctx.fail(node, f"its output '{name}' depends on no input")
        ctx.operands[name] = result.rearranged(lambda array: array[None])
    for name, entry in zip(node.output, body.outputs, strict=False):
        _hand_type(ctx, entry.name, name)


def _hand_type(ctx: LiftingContext, name: str, other: str) -> None:
    """Take a tensor for one of integers if another is, at the ends of a body."""
    if ctx.is_integer(name):
        ctx.integer.add(other)


def _require_first_axes(ctx: LiftingContext, node: Scan) -> None:
    """Refuse sequences that a pass has not turned: it does not know how many axes they have."""
    for name in node.defaults_in_words():
        if any(found := getattr(node.attributes, name) or ()):
            hint = "State the shapes of the tensors that it scans, or transpose them before it"
            ctx.fail(node, f"{name}: {list(found)}, of sequences whose axes are not known", hint)


def _is_kept(ctx: LiftingContext, node: Scan, position: int) -> bool:
    """Whether a state is a constant that every step hands on."""
    body = node.attributes.body
    made, name = producers(body), body.outputs[position].name
    for _ in body.node:
        if name in made and isinstance(made[name], Identity):
            name = made[name].input[0]
    return name == body.inputs[position].name and not isinstance(ctx.operand(node, position), Value)


def _state(ctx: LiftingContext, node: Scan, position: int, static: set[str]) -> Start:
    """The registers of a state: new ones, or an input of the graph that an output feeds."""
    start = ctx.operand(node, position)
    if isinstance(start, Value):
        if start.plain and np.all(ctx.kind[start.signals] == REGISTER):
            return Start(start.signals, start.signals)
        if node.input[position] not in static or ctx.states:
            _refuse_start(ctx, node, position)
        return computed_start(ctx, ctx.materialize(start))
    check_all_fed(ctx, node)
    signals = ctx.add_signals(start.size, REGISTER)
    ctx.initial.update(zip(signals.tolist(), start.ravel().tolist(), strict=True))
    return Start(*[signals.reshape(start.shape)] * 2)


def _refuse_start(ctx: LiftingContext, node: Scan, position: int) -> NoReturn:
    """Refuse an initial state that is no memory; an input is one if its last state is an output."""
    name, last = node.input[position], node.output[position]
    hint = feeding(ctx)
    if last and name in {entry.name for entry in ctx.model.graph.inputs}:
        hint = (
            f"With its last state '{last}' among the outputs of the graph, it is the network's "
            "memory",
            unrolling(ctx),
        )
    ctx.fail(node, f"its initial state {name} is computed", hint)


@follows(Scan)
def scanned(axes: AxisFollower, node: Scan) -> list[FollowedAxes]:
    """Sequences in time stay so; of steps that are unrolled the body is not followed."""
    if _runs_over_samples(axes, node):
        return [_of_samples(axes.rank(name)) for name in node.output]
    last = node.input[-1]
    if isinstance(axes.operands.get(last), Value) and axes.of(last)[:1] == (0,):
        return [merged([axes.of(last)], axes.rank(name)) for name in node.output]
    return [(UNKNOWN,) * axes.rank(name) for name in node.output]


def _runs_over_samples(axes: AxisFollower, node: Scan) -> bool:
    """Whether each step is one sample, all of whose axes are features, and reads no other one."""
    body = node.attributes.body
    inside = {*names_made(body)}
    return (
        axes.samples == 1
        and node.attributes.num_scan_inputs == len(node.input)
        and all(axes.of(name) == _of_samples(axes.rank(name)) for name in node.input)
        and not any(
            isinstance(axes.operands.get(name), Value)
            for name in names_read(body)
            if name not in inside
        )
    )


def _of_samples(rank: int) -> FollowedAxes:
    """The axes of a tensor with the batch first, and features behind it."""
    return (FIRST,) + (FEATURE,) * (rank - 1)


@contextmanager
def _one_sample(ctx: LiftingContext) -> Iterator[None]:
    """Take every axis for features, as a single sample has no others."""
    before, ctx.features_only = ctx.features_only, True
    try:
        yield
    finally:
        ctx.features_only = before


def _is_of_time(ctx: LiftingContext, name: str) -> bool:
    """Whether the first axis of a tensor is the first one that the graph's inputs have open."""
    return ctx.followed.of(name)[0] == FIRST


def _is_of_features(ctx: LiftingContext, node: Scan, position: int) -> bool:
    """Whether a sequence is a constant, or its first axis is neither time nor the batch."""
    operand = ctx.operand(node, position)
    if not isinstance(operand, Value) or ctx.features_only:
        return True
    return operand.shape[:1] != (1,) and not any(ctx.leading(node.input[position])[:1])
