"""Lift: a Model to a Network. The core of import, which names no operator.

Constants and inputs are bound, then each node is lifted in order by the function registered for its
operator. At the end every signal that was settled becomes a neuron, or the activation of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from neat_onnx.errors import ModelError, all_obstacles
from neat_onnx.lifting.context import (
    INPUT,
    REGISTER,
    LiftingContext,
    Value,
    lift_node,
)
from neat_onnx.lifting.neurons import Resolution
from neat_onnx.lifting.support import require_lifts
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.states import initial_states, state_pairs
from neat_onnx.model.wiring import require_wiring
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Ints, Port
from neat_onnx.network.network import Network
from neat_onnx.options import TIME
from neat_onnx.passes import SIMPLE, canonicalize

BatchAxis = Literal["auto"] | None
_MOST_INPUTS = 1 << 24


@dataclass(frozen=True)
class Lifted:
    """What a graph computes, and where.

    Attributes:
        network: ids are positions; neurons in the order in which they were made.
        tensors: for each tensor that neurons could be found for, their positions, flat.
    """

    network: Network
    tensors: dict[str, Ints]


def lift(model: Model, batch_axis: BatchAxis = "auto") -> Lifted:
    """The network that a model's graph is, without a look at its metadata.

    Args:
        batch_axis: "auto" takes the first axis of every input for the batch; with None every axis
            is features.

    Raises:
        ModelError: the graph has something that neurons cannot compute; says which node.
    """
    require_wiring(model.graph)
    model = canonicalize(model, SIMPLE)
    require_lifts(model.graph)
    ctx = LiftingContext(model, features_only=batch_axis is None)
    ctx.operands.update({tensor.name: tensor.values for tensor in model.graph.initializer})
    pairs = state_pairs(model)
    initial = initial_states(model)
    inputs = []
    for entry in model.graph.inputs:
        if entry.name in pairs:
            _open_state(ctx, entry, batch_axis, initial.get(entry.name))
        else:
            inputs.append(_open(ctx, entry, batch_axis, INPUT))
    _lift_all(ctx)
    for previous, following in pairs.items():
        ctx.feed(previous, following)
    outputs = [
        _close(ctx, entry) for entry in model.graph.outputs if entry.name not in pairs.values()
    ]
    resolved = Resolution(ctx)
    network = resolved.network(
        tuple(Port(name, shape, resolved.neuron_of[signals]) for name, shape, signals in inputs),
        tuple(_port(ctx, resolved, entry, batch_axis) for entry in outputs),
    )
    return Lifted(network, resolved.tensors())


def _lift_all(ctx: LiftingContext) -> None:
    """Lift every node, in order.

    Raises:
        ModelError: it tells of every node that cannot be lifted, but not of those that read them.
    """
    obstacles: list[ModelError] = []
    missing: set[str] = set()
    for node in ctx.model.graph.node:
        if missing.isdisjoint(node.input):
            try:
                lift_node(ctx, node)
                continue
            except ModelError as error:
                obstacles.append(error)
        missing.update(filter(None, node.output))
    if obstacles:
        raise all_obstacles(obstacles)


_Entry = tuple[str, tuple[int, ...], Ints]


def _open(ctx: LiftingContext, entry: ValueInfo, batch_axis: BatchAxis, kind: int) -> _Entry:
    """Bind a graph input to fresh signals."""
    if entry.name in ctx.operands:
        raise ModelError(f"graph input '{entry.name}' is an initializer too", where="graph.inputs")
    sizes = entry.shape
    if sizes is None or (batch_axis == "auto" and not sizes):
        raise ModelError(f"graph input '{entry.name}' has no shape", where="graph.inputs")
    leading = leading_axes(sizes) if batch_axis == "auto" else 0
    features = sizes[leading:]
    shape = tuple(size if isinstance(size, int) else -1 for size in features)
    if any(size < 1 for size in shape):
        raise ModelError(
            f"graph input '{entry.name}' has the shape {list(sizes)}",
            where="graph.inputs",
            hint="Every axis but the batch needs a fixed size of 1 or more",
        )
    count = int(np.prod(shape, dtype=object))
    if count > _MOST_INPUTS:
        raise ModelError(f"graph input '{entry.name}' has {count} elements", where="graph.inputs")
    if entry.elem_type.name.startswith(("INT", "UINT")):
        ctx.integer.add(entry.name)
    signals = ctx.add_signals(count, kind)
    ctx.operands[entry.name] = Value(signals.reshape((1,) * leading + shape))
    return entry.name, shape, signals


def leading_axes(sizes: Sequence[int | str | None]) -> int:
    """How many axes are the batch, or time and the batch: two where both have no fixed size.

    Time is also an axis of its name before a batch of one.
    """
    first, second = (*sizes[:2], None, None)[:2]
    two = isinstance(first, str) and (isinstance(second, str) or (first, second) == (TIME, 1))
    return 2 if two else 1


def _open_state(
    ctx: LiftingContext, entry: ValueInfo, batch_axis: BatchAxis, initial: list[float] | None
) -> None:
    """Bind a state input to fresh registers."""
    _, _, signals = _open(ctx, entry, batch_axis, REGISTER)
    if initial is not None:
        if len(initial) != len(signals):
            raise ModelError(f"{len(initial)} initial values for '{entry.name}' of {len(signals)}")
        ctx.initial.update(zip(signals.tolist(), initial, strict=True))


def _close(ctx: LiftingContext, entry: ValueInfo) -> _Entry:
    """Settle a graph output."""
    value = ctx.operands.get(entry.name)
    if value is None:
        raise ModelError(
            f"graph output '{entry.name}' is produced by no node", where="graph.outputs"
        )
    if not isinstance(value, Value):
        raise ModelError(f"graph output '{entry.name}' depends on no input", where="graph.outputs")
    signals = ctx.settle(value).copy()
    registers = ctx.kind[signals] == REGISTER
    signals[registers] = ctx.settled_from(signals[registers], VARIABLE)
    return entry.name, signals.shape, signals.ravel()


def _port(ctx: LiftingContext, resolved: Resolution, entry: _Entry, batch_axis: BatchAxis) -> Port:
    name, shape, signals = entry
    leading = max((leading_axes(entry.shape or ()) for entry in ctx.model.graph.inputs), default=1)
    leading -= name in ctx.ended
    if batch_axis == "auto" and shape[:leading] != (1,) * leading:
        raise ModelError(
            f"the first axis of output '{name}' is not the batch",
            where="graph.outputs",
            hint="Import with batch_axis=None to take every axis for features",
        )
    features = shape[leading:] if batch_axis == "auto" else shape
    return Port(name, features, resolved.neuron_of[signals])
