"""DynamicQuantizeLinear: steps of 8 bits over the range that the numbers have.

The range is that of a whole tensor, so that samples of a batch share it: a network has one sample
alone, as a model has in use, where every axis is features. The scale is no number of float32, as it
is in a runtime, so that a number halfway between two steps may be the other one.
"""

from neat_onnx.lifting.context import LiftingContext, lifts
from neat_onnx.model import Node
from neat_onnx.operators.algebra import Algebra

_MOST = 255.0  # the largest number of 8 bits


class DynamicQuantizeLinear(Node):
    """The steps of x, from 0 to 255, their scale and their zero point."""

    inputs = (1, 1)
    outputs = (3, 3)
    since = 11


@lifts(DynamicQuantizeLinear)
def lift_dynamic_quantize(ctx: LiftingContext, node: DynamicQuantizeLinear) -> None:
    """Lift DynamicQuantizeLinear, by the formulas of ONNX's operator; not along the batch.

    The range has 0 in it. Where all numbers are 0 the scale is 1, as in onnxruntime, whose steps
    would be no numbers else.
    """
    if ctx.is_output(node.output[0]):
        ctx.fail(
            node,
            f"its steps, '{node.output[0]}', are an output: where two are equally near, the "
            "rounding of their scale to float32 decides",
            hint="Import the numbers that are made of the steps",
        )
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    axes = tuple(range(len(x.shape)))
    ctx.refuse_along(node, axes)
    low = tensors("minimum", tensors.reduced("min", x, axes, keepdims=False), 0.0)
    high = tensors("maximum", tensors.reduced("max", x, axes, keepdims=False), 0.0)
    span = tensors("sub", high, low)
    scale = tensors("where", tensors("equal", span, 0.0), 1.0, tensors("div", span, _MOST))
    zero = tensors("div", tensors("neg", low), scale)
    zero = tensors("clip", tensors("round", zero), 0.0, _MOST)
    steps = tensors("add", tensors("round", tensors("div", x, scale)), zero)
    steps = tensors("clip", steps, 0.0, _MOST)
    ctx.integer.update((node.output[0], node.output[2]))
    ctx.bind(node, steps, scale, zero)
