"""Hints of errors that more than one operator meets: how a graph can be imported all the same."""

from collections.abc import Sequence

from neat_onnx.errors import ImportAdvice
from neat_onnx.lifting.axes import AS_FEATURES, example_shapes
from neat_onnx.model import Graph, ValueInfo

FINITE = "Export the model with large numbers in their place, as -1e9"


def features_hint(inputs: Sequence[ValueInfo]) -> ImportAdvice:
    """A hint for a graph that works along the axis which is taken for the batch."""
    shapes = example_shapes(inputs)
    if not shapes:
        return AS_FEATURES
    return ImportAdvice("Give axes that are features a size, as {}", {"shapes": shapes})


def initializer_hint(graph: Graph, name: str) -> str | None:
    """A hint for a tensor that has to be constant; None if it is no input of the graph."""
    is_input = any(entry.name == name for entry in graph.inputs)
    return "Make it an initializer, with the value it is to have" if is_input else None
