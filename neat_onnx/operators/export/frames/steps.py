"""All steps at once: the rows of a tensor [T·N, width] are the samples of all steps.

Neurons without memory are computed like a batch. Where time matters, the same elements are needed
as a sequence [T, N, width].
"""

from collections.abc import Sequence

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.lowering.registry import Claim, frames
from neat_onnx.model import Graph, Model, ValueInfo
from neat_onnx.network.port import Port
from neat_onnx.operators.export.constants import Shape
from neat_onnx.operators.export.frames.memory import (
    State,
    ports_of_sequences,
    value_after,
    value_before,
)
from neat_onnx.operators.export.frames.ports import as_stated, described, produce_as
from neat_onnx.operators.export.frames.state import check_lost_states, state_metadata
from neat_onnx.operators.export.layout.columns import exactly
from neat_onnx.operators.export.layout.shaping import Concat, Flatten, Reshape, Slice
from neat_onnx.options import TIME


class AllSteps:
    """The frame of a graph whose nodes carry the memory themselves."""

    def __init__(self, ctx: LoweringContext) -> None:
        self._ctx, self._ports = ctx, ports_of_sequences(ctx)
        self._states = [State.of(port, np.zeros(port.neurons.size)) for port in self._ports]

    def open(self) -> None:
        """Bind the neurons of the inputs: rows are the samples of all steps."""
        ctx = self._ctx
        for port in ctx.net.inputs:
            flat = ctx.emit(
                Flatten, [port.name], f"{port.name}_flat", f"flatten_{port.name}", axis=2
            )
            if len(port.shape) == 1:
                ctx.places.sequences[flat] = port.name
            ctx.bind(port.neurons, flat, 0)

    def close(self) -> Graph:
        """Give the outputs their time axis."""
        ctx = self._ctx
        for port in ctx.net.outputs:
            self._produce(port)
        if self._ports:
            from neat_onnx.operators.export.rnn.carried_rows import CarriedRows  # noqa: PLC0415 - of few networks

            CarriedRows(ctx, self._ports).produce()
        before, after = (
            [of(ctx, state) for state in self._states] for of in (value_before, value_after)
        )
        return Graph(
            name="neat_onnx",
            inputs=timed(described(ctx, ctx.net.inputs)) + before,
            outputs=timed(described(ctx, ctx.net.outputs)) + after,
            initializer=list(ctx.initializers.values()),
            node=ctx.nodes,
        )

    def _produce(self, port: Port) -> None:
        ctx = self._ctx
        tensor = exactly(ctx, port.neurons, ctx.schedule.depth)
        sequences = ctx.places.sequences
        if len(port.shape) == 1 and tensor in sequences:
            produce_as(ctx, sequences[tensor], port.name)
            return
        shape = sequence_shape(ctx, *port.shape)
        ctx.produce(Reshape, [tensor, shape], port.name, f"output_{port.name}")

    def in_stated_ports(self, model: Model) -> tuple[Model, dict[str, str]]:
        """Give inputs and outputs the types, and time and the batch the place, that ports have."""
        return as_stated(model, self._ctx.net, sequence=True)

    def metadata(self, model: Model) -> dict[str, str]:
        """Which output feeds which state, of those that cross the graph's ends."""
        return state_metadata(self._states, model)

    def check_without_metadata(self, model: Model) -> None:
        """Refuse names of ports that would be taken for states."""
        check_lost_states(self._states, model, lossy=self._ctx.options.lossy)


@frames
def all_steps(ctx: LoweringContext, claims: Sequence[Claim]) -> AllSteps | None:
    """The frame for claims that compute all steps in one node."""
    return AllSteps(ctx) if any(claim.all_steps for claim in claims) else None


def sequence_of(ctx: LoweringContext, tensor: str, width: int) -> str:
    """Return the tensor [T, N, width] that has the elements of `tensor`."""
    sequences = ctx.places.sequences
    if tensor not in sequences:
        shape, name = sequence_shape(ctx, width), f"{tensor}_sequence"
        sequences[tensor] = ctx.emit(Reshape, [tensor, shape], name, f"reshape_{tensor}")
    return sequences[tensor]


def sequence_shape(ctx: LoweringContext, *sizes: int) -> str:
    """Return the shape [T, N, sizes…] as a tensor."""
    leading = ctx.once("time and batch", lambda: _time_and_batch(ctx))
    if not sizes:
        return leading
    features = ctx.shared_integers("sizes", sizes)
    stem = "_".join(["shape", *map(str, sizes)])
    return ctx.emit(Concat, [leading, features], stem, stem, axis=0)


def _time_and_batch(ctx: LoweringContext) -> str:
    whole = ctx.emit(Shape, [ctx.net.inputs[0].name], "sequence_shape", "sequence_shape")
    bounds = [ctx.shared_integers("axis", [k]) for k in (0, 2, 0)]
    return ctx.emit(Slice, [whole, *bounds], "time_and_batch", "time_and_batch")


def timed(entries: Sequence[ValueInfo]) -> list[ValueInfo]:
    """Return graph inputs or outputs with a time axis in front."""
    return [
        ValueInfo.of(entry.name, entry.elem_type, [TIME, *(entry.shape or ())]) for entry in entries
    ]
