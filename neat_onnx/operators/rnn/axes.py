"""The axis that a recurrence runs along.

A recurrence runs along the first axis of X. A network runs along the first axis of its inputs. The
import of one as the other is right only where both are the same axis.
"""

from neat_onnx.errors import ImportAdvice, warn
from neat_onnx.lifting.axes import axes_of_inputs, names_batch
from neat_onnx.lifting.context import LiftingContext
from neat_onnx.lifting.followed_axes import FEATURE, FIRST
from neat_onnx.model import Node
from neat_onnx.network.axis_names import names_time
from neat_onnx.operators.rnn.nodes import Recurrence

_BATCH_FIRST = "Transpose its input to [T, N, features], or give the sequence a fixed length"


def runs_over_time(ctx: LiftingContext, node: Recurrence) -> bool:
    """Whether a recurrence of one step runs along the first axis of the graph's inputs.

    If not, its only step is one of features, and every sample starts anew.

    Raises:
        ModelError: it runs along the second axis, or along a first axis of a fixed size.
    """
    followed = ctx.followed.of(node.input[0])
    time = followed[1 if node.attributes.layout else 0]
    if time == FEATURE:
        return False
    if time != FIRST:
        ctx.fail(node, "its sequence is not the first axis of the graph's inputs", _BATCH_FIRST)
    return has_open_time(ctx, node)


def has_open_time(ctx: LiftingContext, node: Node) -> bool:
    """Whether the first axis of the graph's inputs, which a node runs along, has no fixed size.

    Raises:
        ModelError: its size is fixed, and more than 1.
    """
    inputs = ctx.model.graph.inputs
    leading = axes_of_inputs(inputs)
    most = max(map(len, leading.values()))  # one of fewer axes has no time
    sizes = [
        entry.shape[axes[0]]
        for entry in inputs
        if entry.shape and (axes := leading[entry.name]) and len(axes) == most
    ]
    names = [size for size in sizes if not isinstance(size, int)]
    ctx.time_alone |= bool(names) and most == 1
    _warn_of_time(node, {name for name in names if name}, alone=most == 1)
    fixed = [size for size in sizes if isinstance(size, int) and size != 1]
    if fixed and not names:
        ctx.fail(
            node,
            f"its sequence has the fixed length {fixed[0]}, which a network's has not",
            ImportAdvice("With {} every step gets neurons of its own", {"batch_axis": None}),
        )
    return bool(names)


def _warn_of_time(node: Node, names: set[str], *, alone: bool) -> None:
    """Warn of an axis whose name says that it is the batch; or says nothing, if it is alone."""
    called = sorted(name for name in names if names_batch(name) or (alone and not names_time(name)))
    if called:
        warn(f"node {node.label} runs along the axis '{called[0]}': it is taken for time")
