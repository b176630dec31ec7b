"""All steps at once: the rows of a tensor [T·N, width] are the samples of all steps.

What has no memory is computed like a batch. Where time matters, the same elements are needed as a
sequence [T, N, width].
"""

from neat_onnx.lowering.context import LoweringContext, Steps
from neat_onnx.operators.shaping import Concat, Reshape, Shape, Slice


def sequence_of(ctx: LoweringContext, steps: Steps, tensor: str, width: int) -> str:
    """The tensor [T, N, width] that has the elements of `tensor`."""
    if tensor not in steps.sequences:
        shape, name = sequence_shape(ctx, steps, width), f"{tensor}_sequence"
        steps.sequences[tensor] = ctx.emit(Reshape, [tensor, shape], name, f"reshape_{tensor}")
    return steps.sequences[tensor]


def sequence_shape(ctx: LoweringContext, steps: Steps, *sizes: int) -> str:
    """The shape [T, N, sizes…] as a tensor."""
    if not steps.sizes:
        whole = ctx.emit(Shape, [ctx.net.inputs[0].name], "sequence_shape", "sequence_shape")
        bounds = [ctx.shared_integers("axis", [k]) for k in (0, 2, 0)]
        steps.sizes = ctx.emit(Slice, [whole, *bounds], "time_and_batch", "time_and_batch")
    if not sizes:
        return steps.sizes
    features = ctx.shared_integers("sizes", sizes)
    stem = "_".join(["shape", *map(str, sizes)])
    return ctx.emit(Concat, [steps.sizes, features], stem, stem, axis=0)
