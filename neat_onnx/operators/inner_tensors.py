"""Names for the neurons inside a node that lifts to several: by these the genome finds them."""

from collections.abc import Mapping

from neat_onnx.lifting.context import LiftingContext, Operand, Value
from neat_onnx.model import Node
from neat_onnx.network.cells import part_name


def bind_with_parts(
    ctx: LiftingContext, node: Node, result: Operand, parts: Mapping[str, Operand], *more: Operand
) -> None:
    """Bind the outputs of a node that is several neurons an element, and remember those inside.

    Args:
        ctx: the import.
        node: the node.
        result: its first output, which gets neurons of its own.
        parts: the tensors inside, by the names of their parts.
        more: its other outputs.
    """
    if isinstance(result, Value):
        result = ctx.as_signals(result)
    ctx.bind(node, result, *more)
    for name, part in parts.items():
        if isinstance(part, Value):
            ctx.operands.setdefault(part_name(node.output[0], name), Value(ctx.materialize(part)))


def as_neurons(ctx: LiftingContext, operand: Operand) -> Operand:
    """The operand as activations: a factor of it is a weight then, and no part of its formula."""
    return Value(ctx.materialize(operand)) if isinstance(operand, Value) else operand
