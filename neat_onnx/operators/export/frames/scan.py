"""Scan: a network with its time inside, one sequence in and one out.

The graph of one step becomes the body. Its states are the Scan's, its ports gain a time axis in
front: [T, N, …]. The initial values of the states are a constant, expanded to the size of the
    batch.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

from pydantic import model_validator

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.registry import Claim, frames
from neat_onnx.model import Attributes, Graph, Model, Node, ValueInfo
from neat_onnx.model.draft import renamed
from neat_onnx.network.port import MemoryPort
from neat_onnx.operators.export.constants import Shape
from neat_onnx.operators.export.frames.memory import State, ports_of_sequences
from neat_onnx.operators.export.frames.ports import as_stated
from neat_onnx.operators.export.frames.state import OneStep, check_lost_states, state_metadata
from neat_onnx.operators.export.frames.steps import timed
from neat_onnx.operators.export.layout.arranging import Expand
from neat_onnx.operators.export.layout.shaping import Concat, Slice


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
