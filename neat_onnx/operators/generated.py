"""EyeLike and Range: constants that a few numbers describe."""

import math

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.model.budget import Budget

_REAL = (DataType.FLOAT, DataType.DOUBLE, DataType.FLOAT16, DataType.BFLOAT16)


class EyeLikeAttributes(Attributes):
    """Attributes of EyeLike: the element type, and which diagonal."""

    dtype: int | None = None
    k: int = 0


class EyeLike(Node):
    """Ones on a diagonal of a matrix, in the shape of the input; `k` says how far to the right."""

    since = 9
    exact = True
    attributes: EyeLikeAttributes = EyeLikeAttributes.defaults()


class Range(Node):
    """Start, limit, and the step between the numbers."""

    inputs = (3, 3)
    since = 11


@lifts(EyeLike)
def lift_eye_like(ctx: LiftingContext, node: EyeLike) -> None:
    """Lift EyeLike: a constant in the shape of its input."""
    operand, given = ctx.operand(node, 0), node.attributes
    if len(operand.shape) != 2:
        ctx.fail(node, f"its input has {len(operand.shape)} axes, expected 2")
    if isinstance(operand, Value):
        ctx.refuse_batch(node)
    Budget().take("elements", math.prod(operand.shape), node.label)
    real = not ctx.has_integers(node) if given.dtype is None else given.dtype in _REAL
    rows, columns = operand.shape
    ctx.bind(node, np.eye(rows, columns, given.k, np.float64 if real else np.int64))


@lifts(Range)
def lift_range(ctx: LiftingContext, node: Range) -> None:
    """Lift Range of constants: a constant."""
    start, limit, step = (ctx.single(node, position) for position in range(3))
    if step == 0:
        ctx.fail(node, "its step is 0")
    count = max(0, math.ceil((limit - start) / step))
    Budget().take("elements", count, node.label)
    ctx.bind(node, start + np.arange(count) * step)
