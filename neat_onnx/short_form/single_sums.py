"""A Sum of one tensor in the place of an Add of 0: it is shorter, and optimizers leave it alone."""

from neat_onnx.model import Model, Node
from neat_onnx.passes.draft import Draft, is_one_of
from neat_onnx.passes.drop_dead import without_dead
from neat_onnx.short_form.straight import is_zero


def single_sums(model: Model) -> Model:
    """The model with such sums, itself if there are none.

    Args:
        model: without graphs inside of nodes.
    """
    draft = Draft(model)
    changed: dict[int, Node | None] = {
        at: draft.node("Sum", node.input[:1], node.output)
        for at, node in enumerate(model.graph.node)
        if _adds_zeros(draft, node)
    }
    if not changed:
        return model
    return without_dead(draft.replaced(changed))


def _adds_zeros(draft: Draft, node: Node) -> bool:
    """Whether a node adds zeros that have axes, and no more than the other input has."""
    zeros = draft.tensors.get(node.input[1]) if is_one_of(node, "Add") else None
    if zeros is None or not zeros.dims or not is_zero(zeros):
        return False
    if zeros.dims == (1,):
        return True
    shape = draft.facts(node.input[0]).shape or ()
    pairs = zip(zeros.dims[::-1], shape[::-1], strict=False)
    return len(zeros.dims) <= len(shape) and all(size in (1, other) for size, other in pairs)
