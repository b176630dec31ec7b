"""Inputs that are places in a table, as the words of an embedding: runtimes refuse any others."""

from collections.abc import Mapping

from neat_onnx.model import Graph

_MOVES = frozenset(
    {"Cast", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose"}
    | {"Split", "Unsqueeze"}
)
"""Operators that hand on the elements of their first input."""


def table_sizes(graph: Graph) -> Mapping[str, int]:
    """For each graph input that Gather reads as places in a constant, how many there are."""
    origin = {entry.name: entry.name for entry in graph.inputs}
    tables, sizes = graph.tensors, dict[str, int]()
    for node in graph.node:
        first = node.input[0] if node.input else ""
        if node.op_type == "Gather" and node.input[1] in origin and first in tables:
            dims = tables[first].dims
            axis = getattr(node.attributes, "axis", 0)
            if -len(dims) <= axis < len(dims):
                name = origin[node.input[1]]
                sizes[name] = min(dims[axis], sizes.get(name, dims[axis]))
        elif node.op_type in _MOVES and first in origin:
            origin.update(dict.fromkeys(filter(None, node.output), origin[first]))
    return sizes
