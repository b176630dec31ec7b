"""Products by constants along the last axes of a tensor, with other shapes of it between."""

from typing import NamedTuple

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.search import Floats, Search, Sizes

_SHAPES = ("Reshape", "Flatten")


class AxisProducts(NamedTuple):
    """Products along the last axes of a tensor.

    Attributes:
        nodes: those that give the tensor its axes, where it was flat.
        source: the tensor.
        sizes: its axes behind the batch.
        matrices: by the axis from the end, -1 or -2, the matrix (out, in).
    """

    nodes: list[Node]
    source: str
    sizes: Sizes
    matrices: dict[int, Floats]


def axis_products(search: Search, last: Node) -> AxisProducts:
    """The products on the way to a tensor: along its last axis, and along the one before that."""
    name, matrices = last.output[0], dict[int, Floats]()
    axes = len(search.draft.axes(name) or ())
    while (node := search.made.get(name)) is not None:
        left, right = (search.factor(node, position) for position in (0, 1))
        of_axes = bool(matrices) and len(search.draft.axes(name) or ()) == axes
        if right is not None and not matrices:
            matrices[-1], name = right.T, node.input[0]
        elif left is not None and -2 not in matrices:
            matrices[-2], name = left, node.input[1]
        elif is_one_of(node, "Identity") or (is_one_of(node, *_SHAPES) and not of_axes):
            name = node.input[0]
        else:
            break
    nodes, sizes = list[Node](), search.draft.axes(name) or ()
    if -min(matrices, default=0) > axes:
        matrices = {}  # its axes are gone in the last tensor
    if matrices and len(sizes) == 1 < axes:
        nodes, name, sizes = search.in_axes(name, *sizes)
    return AxisProducts(nodes, name, sizes, matrices)
