"""ReduceL2: the root of a sum of squares."""

from itertools import islice

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.short_form.larger_operators.search import Found, Search


def norm(search: Search, root: Node) -> Found | None:
    """The norm of a row whose squares are added by a Gemm of one row of ones."""
    sums, squares = [*islice(search.before(root.input[0]), 2), root, root][:2]
    weights = search.matrix(sums)
    if weights is None or len(weights) != 1 or not (weights == 1).all():
        return None
    if not is_one_of(squares, "Mul") or squares.input[0] != squares.input[1]:
        return None
    source, end = search.unchanged(squares.input[0]), root.output[0]
    return end, [search.reduced("ReduceL2", source, [1], end, keepdims=True)]
