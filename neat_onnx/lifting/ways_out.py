"""Hints of errors that more than one operator meets: how a graph can be imported all the same."""

from collections.abc import Sequence

from neat_onnx.lifting.axes import AS_FEATURES, shapes_example
from neat_onnx.model import Graph, ValueInfo

FINITE = "Export the model with large numbers in their place, as -1e9"


def features_hint(inputs: Sequence[ValueInfo]) -> str:
    """A hint for a graph that works along the axis which is taken for the batch."""
    example = shapes_example(inputs)
    return f"Give axes that are features a size, as {example}" if example else AS_FEATURES


def initializer_hint(graph: Graph, name: str) -> str | None:
    """A hint for a tensor that has to be constant; None if it is no input of the graph."""
    is_input = any(entry.name == name for entry in graph.inputs)
    return "Make it an initializer, with the value it is to have" if is_input else None
