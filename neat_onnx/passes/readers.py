"""Who reads a tensor, where it is one node alone."""

from neat_onnx.model import Graph
from neat_onnx.model.wiring import reads


def sole_readers(graph: Graph) -> dict[str, int]:
    """The position of the node that reads a tensor, where it alone does, and only once."""
    found: dict[str, int] = {}
    several = {entry.name for entry in graph.outputs}
    for at, node in enumerate(graph.node):
        for name in reads(node):
            if name in found:
                several.add(name)
            found[name] = at
    return {name: at for name, at in found.items() if name and name not in several}
