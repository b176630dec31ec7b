"""The last step of a sequence of any length, as Gather and Slice take it."""

from neat_onnx.lifting.context import LiftingContext, Value
from neat_onnx.lifting.followed_axes import FIRST, SECOND
from neat_onnx.model import Node
from neat_onnx.operators.rnn.ends import find_ends


def takes_last_step(ctx: LiftingContext, node: Node, axis: int) -> bool:
    """Whether a node that takes the last element along an axis takes a sequence's last step.

    If so, its output is marked as one that has lost the time axis.

    Raises:
        ModelError: another node reads the output as if it were a sequence.
    """
    name = node.input[0]
    followed = ctx.followed.of(name)
    timed = ctx.time_alone or {FIRST, SECOND} <= {*followed}
    if not (isinstance(ctx.operands[name], Value) and timed and followed[axis] == FIRST):
        return False
    ctx.ended.add(node.output[0])
    find_ends(ctx)
    return True
