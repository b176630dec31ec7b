"""Axes of tensors: which axis of the graph's inputs each one is, followed through the nodes.

A recurrence runs along the first axis of X. A network runs along the first axis of its inputs. The
import of one as the other is right only where both are the same axis.
"""

import warnings
from collections.abc import Sequence

from neat_onnx.errors import NeatOnnxWarning
from neat_onnx.lifting.axes import BATCH_NAMES, axes_of_inputs
from neat_onnx.lifting.context import LiftingContext, Value
from neat_onnx.model import Node
from neat_onnx.operators.rnn.nodes import Recurrence
from neat_onnx.operators.shaping import Flatten, Reshape, Squeeze, Transpose, Unsqueeze

FEATURE, UNKNOWN = -1, -2

Axes = tuple[int, ...]
"""For each axis of a tensor: 0 or 1, the axis of the inputs that it is; FEATURE; or UNKNOWN."""


_BATCH_FIRST = "Transpose its input to [T, N, features], or give the sequence a fixed length"


def runs_over_time(ctx: LiftingContext, node: Recurrence) -> bool:
    """Whether a recurrence of one step runs along the first axis of the graph's inputs.

    If not, its only step is one of features, and every sample starts anew.

    Raises:
        ModelError: it runs along the second axis, or along a first axis of a fixed size.
    """
    followed = axes_of(ctx, node.input[0])
    time = followed[1 if node.attributes.layout else 0]
    if time == FEATURE:
        return False
    if time != 0:
        ctx.fail(node, "its sequence is not the first axis of the graph's inputs", _BATCH_FIRST)
    inputs = ctx.model.graph.inputs
    leading = axes_of_inputs(inputs)
    sizes = [
        entry.shape[axes[0]] for entry in inputs if entry.shape and (axes := leading[entry.name])
    ]
    names = [size for size in sizes if not isinstance(size, int)]
    if names:
        _warn_of_batch(node, {name for name in names if name})
    fixed = [size for size in sizes if isinstance(size, int) and size != 1]
    if fixed and not names:
        ctx.fail(
            node,
            f"its sequence has the fixed length {fixed[0]}, which a network's has not",
            "With batch_axis=None every step gets neurons of its own",
        )
    return bool(names)


def _warn_of_batch(node: Recurrence, names: set[str]) -> None:
    called = sorted(name for name in names if name.lower() in BATCH_NAMES)
    if called:
        warnings.warn(
            f"node {node.label} runs along the axis '{called[0]}': it is taken for time",
            NeatOnnxWarning,
            stacklevel=2,
        )


def axes_of(ctx: LiftingContext, name: str) -> Axes:
    """Return the axes of a tensor that has been lifted.

    Args:
        name: a graph input, an initializer, or the output of a node that was lifted.
    """
    known = _of_inputs(ctx)
    for node in ctx.model.graph.node:
        if name in known:
            break
        known.update(zip(node.output, _outputs(ctx, node, known), strict=False))
    return known.get(name, (UNKNOWN,) * _rank(ctx, name))


def _of_inputs(ctx: LiftingContext) -> dict[str, Axes]:
    """The axes of each graph input: time, the batch, features."""
    found: dict[str, Axes] = {}
    leading = axes_of_inputs(ctx.model.graph.inputs)
    for entry in ctx.model.graph.inputs:
        which = {axis: at for at, axis in enumerate(leading[entry.name])}
        found[entry.name] = tuple(
            which.get(axis, FEATURE) for axis in range(len(entry.shape or ()))
        )
    return found


def _outputs(ctx: LiftingContext, node: Node, known: dict[str, Axes]) -> list[Axes]:
    """The axes of each output of a node."""
    ranks = [_rank(ctx, name) for name in node.output]
    first = known.get(node.input[0]) if node.input else None
    if isinstance(node, Recurrence) and first is not None and len(first) == 3:
        return _recurrent(first, node.attributes.layout)
    if isinstance(node, Transpose) and first is not None:
        perm = node.attributes.perm or range(len(first))[::-1]
        return [tuple(first[axis] for axis in perm)]
    if isinstance(node, Squeeze | Unsqueeze) and first is not None:
        return [_squeezed(ctx, node, first, ranks[0])]
    if isinstance(node, Reshape | Flatten) and first:
        return [_reshaped(ctx, first, node.output[0])]
    read = [known[name] for name in node.input if name in known]
    return [_merged(read, rank) for rank in ranks]


def _recurrent(x: Axes, layout: int) -> list[Axes]:
    time, batch, _ = x
    every = (time, FEATURE, batch, FEATURE)
    last = (FEATURE, batch, FEATURE)
    if layout:
        batch, time, _ = x
        every, last = (batch, time, FEATURE, FEATURE), (batch, FEATURE, FEATURE)
    return [every, last, last]


def _squeezed(ctx: LiftingContext, node: Node, axes: Axes, rank: int) -> Axes:
    """The axes after some of length 1 were taken out or put in."""
    operand = ctx.operands.get(node.input[1]) if len(node.input) > 1 else None
    if operand is None or isinstance(operand, Value):
        return (UNKNOWN,) * rank
    longer = max(rank, len(axes))
    changed = {int(axis) % longer for axis in operand.ravel()}
    if isinstance(node, Squeeze):
        return tuple(axis for place, axis in enumerate(axes) if place not in changed)
    left = iter(axes)
    return tuple(FEATURE if place in changed else next(left) for place in range(rank))


def _reshaped(ctx: LiftingContext, axes: Axes, name: str) -> Axes:
    """The axes after a change of shape, which leaves the order of the elements."""
    operand, rank = ctx.operands.get(name), _rank(ctx, name)
    if axes[0] not in (0, 1) or not rank or operand is None:
        return (UNKNOWN,) * rank
    two = any(1 in axes for axes in _of_inputs(ctx).values())
    second = 1 - axes[0] if two and rank > 2 and operand.shape[1] == 1 else FEATURE
    return (axes[0], second, *(FEATURE for _ in range(rank)))[:rank]


def _merged(read: Sequence[Axes], rank: int) -> Axes:
    """The axes of a tensor, from the axes of its operands, aligned at the end.

    It is so for elementwise operators, products of matrices, and whatever keeps the rank; where the
    rank changes, nothing is known.
    """
    same = [axes for axes in read if len(axes) == rank]
    if not same or any(len(axes) > rank for axes in read):
        return (UNKNOWN,) * rank
    merged = []
    for each in zip(*same, strict=True):
        kinds = set(each) - {FEATURE}
        merged.append(FEATURE if not kinds else kinds.pop() if len(kinds) == 1 else UNKNOWN)
    return tuple(merged)


def _rank(ctx: LiftingContext, name: str) -> int:
    operand = ctx.operands.get(name)
    return 0 if operand is None else len(operand.shape)
