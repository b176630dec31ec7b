"""Small rewrites of a graph: each a file, local, idempotent, and about structure only."""

from collections.abc import Callable

from neat_onnx.model import Graph
from neat_onnx.passes.drop_dead import drop_dead

PASSES: tuple[Callable[[Graph], Graph], ...] = (drop_dead,)


def apply_passes(graph: Graph) -> Graph:
    """The graph after all passes, until none of them changes anything."""
    while True:
        before = graph
        for each in PASSES:
            graph = each(graph)
        if graph == before:
            return graph


__all__ = ["PASSES", "apply_passes", "drop_dead"]
