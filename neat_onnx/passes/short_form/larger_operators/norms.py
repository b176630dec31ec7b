"""ReduceL2: the root of a sum of squares."""

from itertools import islice

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search

_AXES_ARE_READ = 18  # the opset from which on ReduceL2 reads its axes


def norm(search: Search, root: Node) -> Found | None:
    """The norm of a row whose squares are added by a Gemm of one row of ones."""
    sums, squares = [*islice(search.before(root.input[0]), 2), root, root][:2]
    weights = search.matrix(sums)
    if weights is None or len(weights) != 1 or not (weights == 1).all():
        return None
    if not is_one_of(squares, "Mul") or squares.input[0] != squares.input[1]:
        return None
    reads = [search.unchanged(squares.input[0])]
    if search.draft.model.opset < _AXES_ARE_READ:
        node = search.node("ReduceL2", reads, root.output, axes=[1], keepdims=1)
    else:
        reads.append(search.draft.constant("axes", [1]))
        node = search.node("ReduceL2", reads, root.output, keepdims=1)
    return root.output[0], [node]
