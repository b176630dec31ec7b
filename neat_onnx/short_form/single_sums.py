"""A Sum of one tensor in the place of an Add of 0: it is shorter, and optimizers leave it alone.

So it stands in the place of an Identity, too, that tells neurons from a tensor which others read,
or would read once an optimizer has made one node of two that are alike.
"""

from collections import Counter

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
    shared = _copies_of_shared(model)
    numbers = model.graph.number_type
    changed: dict[int, Node | None] = {
        at: draft.node("Sum", node.input[:1], node.output)
        for at, node in enumerate(model.graph.node)
        if _adds_zeros(draft, node)
        or (at in shared and draft.facts(node.input[0]).elem_type is numbers)
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


def _copies_of_shared(model: Model) -> set[int]:
    """The places of Identities of tensors that other nodes read, or that are computed twice."""
    first: dict[tuple[object, ...], Node] = {}
    same: dict[str, str] = {}
    reads = [_reads_once(node, same, first) for node in model.graph.node]
    readers = Counter(name for names in reads for name in names)
    return {
        at
        for at, node in enumerate(model.graph.node)
        if is_one_of(node, "Identity") and node.input[0] in same and readers[reads[at][0]] > 1
    }


def _reads_once(
    node: Node, same: dict[str, str], first: dict[tuple[object, ...], Node]
) -> list[str]:
    """The names that a node reads, each that of the first tensor that is computed like it."""
    reads = [same.get(name, name) for name in node.input]
    given = node.attributes.model_dump_json() if node.attributes.model_fields_set else "[]"
    key = node.op_type, node.domain, *reads, len(node.output), given
    ends = zip(node.output, first.setdefault(key, node).output, strict=True)
    same.update((name, other) for name, other in ends if name)
    return reads
