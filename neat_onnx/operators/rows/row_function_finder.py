"""Functions of rows in the axes of a tensor that was given one axis of rows for them, and its own
axes back.
"""

from math import prod

from neat_onnx.model import Node
from neat_onnx.passes.draft import copied, is_one_of
from neat_onnx.short_form.groups.search import Found, Search

_OF_ROWS = ("Softmax", "LogSoftmax", "Hardmax", "LayerNormalization")


def find_row_function(search: Search, shape: Node) -> Found | None:
    """The function along the last axis, whatever the axes before it."""
    end, sizes = shape.output[0], search.draft.axes(shape.output[0])
    node = search.draft.maker(search.copied(shape.input[0]), *_OF_ROWS)
    if node is None or sizes is None or node.output[1:]:
        return None
    before = search.made.get(search.copied(node.input[0]))
    rows = search.draft.axes(node.input[0]) or ()
    if before is None or node.given_attributes.get("axis", -1) != -1 or sizes[-1:] != rows[-1:]:
        return None
    if not is_one_of(before, "Reshape"):
        return None
    nodes, source, whole = list[Node](), before.input[0], search.draft.axes(before.input[0])
    if whole != sizes:
        nodes, source, whole = search.in_axes(before.input[0], prod(sizes))
    if whole != sizes:
        return None
    reads = [source, *node.input[1:]]
    return end, [*nodes, copied(node, name="", input=reads, output=[end])]
