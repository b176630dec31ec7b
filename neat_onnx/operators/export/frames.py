"""Frames: how steps stand in a graph, how inputs come in and outputs go out, how memory is carried.

A graph of one step has its memory as inputs and outputs. A graph of sequences [T, N, …] is a Scan
whose body is the graph of one step; or, where nodes carry the memory themselves, all steps at once:
the rows of its tensors [T·N, width] are the samples of all steps.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from neat_onnx.errors import warn
from neat_onnx.lifting.axes import axes_of_inputs
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.registry import Claim
from neat_onnx.model import Graph, Model, ValueInfo
from neat_onnx.model.draft import renamed
from neat_onnx.model.ports import BATCH_AXIS, NONE
from neat_onnx.operators.export.columns import exactly
from neat_onnx.operators.export.ports import (
    bind_input,
    described,
    produce_as,
    produce_output,
    value_info,
)
from neat_onnx.operators.export.states import (
    State,
    check_lost_states,
    memory_ports,
    open_states,
    produce_state,
    state_metadata,
)
from neat_onnx.options import TIME

_STEP = "_step"  # what the body calls a port, whose own name is the whole sequence's


def frame_of(ctx: LoweringContext, claims: Sequence[Claim]) -> "Frame":
    """Return the frame of an export."""
    if any(claim.all_steps for claim in claims):
        return AllSteps(ctx, claims)
    return OverSteps(ctx, claims) if ctx.options.sequence else OneStep(ctx, claims)


class Frame(ABC):
    """The ends of the graph of one export.

    Attributes:
        states: the memory that crosses them.
    """

    def __init__(self, ctx: LoweringContext, claims: Sequence[Claim]) -> None:
        self._ctx, self._claims = ctx, claims
        self.states: list[State] = []

    @abstractmethod
    def open(self) -> None:
        """Bind the neurons of input ports, and all registers."""

    @abstractmethod
    def close(self) -> Graph:
        """Produce the outputs, and return the whole graph."""

    def _graph(self, inputs: Sequence[ValueInfo], outputs: Sequence[ValueInfo]) -> Graph:
        return Graph(
            name="neat_onnx",
            inputs=list(inputs),
            outputs=list(outputs),
            initializer=list(self._ctx.initializers.values()),
            node=self._ctx.take_nodes(),
        )

    def metadata(self, model: Model) -> dict[str, str]:
        """Return which output feeds which state, where states start, and that there is no batch."""
        no_batch = {BATCH_AXIS: NONE} if self._may_be_mistaken(model) else {}
        return state_metadata(self.states, model) | no_batch

    def check_without_metadata(self, model: Model) -> None:
        """Refuse initial values, which only the metadata can hold, and names that would be taken
        for states; warn where import could take the first axis for a batch that is none.
        """
        check_lost_states(self.states, model, lossy=self._ctx.options.lossy)
        if self._may_be_mistaken(model):
            warn(
                "without metadata nothing says that there is no batch: import the file with "
                "batch_axis=None"
            )

    def _may_be_mistaken(self, model: Model) -> bool:
        """Whether there is no batch, and import could take an axis for one."""
        single = self._ctx.options.batch_dimension is None
        return single and any(axes_of_inputs(model.graph.inputs).values())


class OneStep(Frame):
    """A single step: the memory comes in as inputs, and goes out as outputs."""

    def open(self) -> None:
        """Bind the neurons of the inputs, and a column of an input for every register."""
        for port in self._ctx.net.inputs:
            bind_input(self._ctx, port.name, port.neurons.reshape(port.shape))
        self.states = open_states(self._ctx, [claim.block for claim in self._claims])

    def close(self) -> Graph:
        """Produce the outputs, and those that feed the states of the next step."""
        inputs, outputs, before, after = self._closed()
        return self._graph([*inputs, *before], [*outputs, *after])

    def _closed(self) -> tuple[list[ValueInfo], ...]:
        """Produce the outputs; the entries of inputs and outputs, and of states before and after
        the step.
        """
        ctx, states = self._ctx, self.states
        for port in ctx.net.outputs:
            produce_output(ctx, port)
        for state in states:
            produce_state(ctx, state)
        return (
            described(ctx, ctx.net.inputs),
            described(ctx, ctx.net.outputs),
            [value_info(ctx, state.previous, state.origin.shape) for state in states],
            [value_info(ctx, state.next, state.origin.shape) for state in states],
        )


class OverSteps(OneStep):
    """A sequence: the graph of one step is the body of a Scan over [T, N, …].

    The memory ports that a model of sequences had cross the ends; other states are inside.
    """

    def close(self) -> Graph:
        """Put the step into a Scan."""
        ctx = self._ctx
        inputs, outputs, before, after = self._closed()
        named = {port.input for port in memory_ports(ctx)}
        crossing = sum(state.previous in named for state in self.states)  # which come first
        self.states, inner = self.states[:crossing], self.states[crossing:]
        ports = (*inputs, *before[:crossing], *outputs, *after[:crossing])
        names = {entry.name: ctx.fresh(entry.name + _STEP) for entry in ports}
        body = Graph(
            name="step",
            inputs=_renamed([*before, *inputs], names),
            outputs=_renamed([*after, *outputs], names),
            node=[renamed(node, names) for node in ctx.take_nodes()],
        )
        starts = [state.previous for state in self.states]
        starts += _initial_states(ctx, inputs[0].name, inner)
        ends = [state.next for state in self.states]
        ends += [ctx.fresh(f"{state.next}_last") for state in inner]
        read = [*starts, *(entry.name for entry in inputs)]
        made = [*ends, *(entry.name for entry in outputs)]
        ctx.produce("Scan", read, made, "scan", body=body, num_scan_inputs=len(inputs))
        return self._graph(
            [*_timed(inputs), *before[:crossing]], [*_timed(outputs), *after[:crossing]]
        )


class AllSteps(Frame):
    """A sequence whose memory is in nodes: the rows of tensors are the samples of all steps."""

    def open(self) -> None:
        """Bind the neurons of the inputs as [T·N, width]."""
        ctx = self._ctx
        for port in ctx.net.inputs:
            names = f"{port.name}_flat", f"flatten_{port.name}"
            flat = ctx.emit("Flatten", [port.name], *names, axis=2)
            if len(port.shape) == 1:
                ctx.places.sequences[flat] = port.name
            ctx.bind(port.neurons, flat, 0)

    def close(self) -> Graph:
        """Give the outputs their time axis."""
        ctx, sequences = self._ctx, self._ctx.places.sequences
        for port in ctx.net.outputs:
            tensor = exactly(ctx, port.neurons, ctx.schedule.depth)
            if len(port.shape) == 1 and tensor in sequences:
                produce_as(ctx, sequences[tensor], port.name)
            else:
                shape = _sequence_shape(ctx, *port.shape)
                ctx.produce("Reshape", [tensor, shape], port.name, f"output_{port.name}")
        inputs, outputs = (described(ctx, ports) for ports in (ctx.net.inputs, ctx.net.outputs))
        return self._graph(_timed(inputs), _timed(outputs))


def sequence_of(ctx: LoweringContext, tensor: str, width: int) -> str:
    """Return the tensor [T, N, width] that has the elements of a tensor [T·N, width]."""
    sequences = ctx.places.sequences
    if tensor not in sequences:
        shape, name = _sequence_shape(ctx, width), f"{tensor}_sequence"
        sequences[tensor] = ctx.emit("Reshape", [tensor, shape], name, f"reshape_{tensor}")
    return sequences[tensor]


def _sequence_shape(ctx: LoweringContext, *sizes: int) -> str:
    """The shape [T, N, sizes…] as a tensor."""
    first = ctx.net.inputs[0].name
    leading = ctx.once("time and batch", lambda: _sizes_of(ctx, first, 0, "time_and_batch"))
    if not sizes:
        return leading
    features = ctx.shared_integers("sizes", sizes)
    stem = "_".join(["shape", *map(str, sizes)])
    return ctx.emit("Concat", [leading, features], stem, stem, axis=0)


def _sizes_of(ctx: LoweringContext, sequence: str, start: int, name: str) -> str:
    """The first two sizes of a sequence from one of them on, as a tensor."""
    whole = ctx.emit("Shape", [sequence], "sequence_shape", "sequence_shape")
    bounds = [ctx.shared_integers("axis", [k]) for k in (start, 2, 0)]
    return ctx.emit("Slice", [whole, *bounds], name, name)


def _initial_states(ctx: LoweringContext, sequence: str, states: Sequence[State]) -> list[str]:
    """For each state the tensor [N, width] that it starts from: a constant for each sample."""
    if not states:
        return []
    batch = _sizes_of(ctx, sequence, 1, "batch")
    tensors = []
    for state in states:
        width = ctx.shared_integers("width", [len(state.initial)])
        size = ctx.emit("Concat", [batch, width], f"{state.previous}_shape", "state_shape", axis=0)
        start = ctx.initializer(f"{state.previous}_start", state.initial[None, :])
        name = f"{state.previous}_first"
        tensors.append(ctx.emit("Expand", [start, size], name, name))
    return tensors


def _timed(entries: Sequence[ValueInfo]) -> list[ValueInfo]:
    """Graph inputs or outputs with a time axis in front."""
    return [
        ValueInfo.of(entry.name, entry.elem_type, [TIME, *(entry.shape or ())]) for entry in entries
    ]


def _renamed(entries: Sequence[ValueInfo], names: dict[str, str]) -> list[ValueInfo]:
    return [
        entry.model_copy(update={"name": names.get(entry.name, entry.name)}) for entry in entries
    ]
