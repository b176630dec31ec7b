"""Hints of errors that more than one operator meets: how a graph can be imported all the same."""

import warnings
from collections.abc import Callable, Sequence

from neat_onnx.errors import ImportAdvice, NeatOnnxError, NeatOnnxWarning
from neat_onnx.lifting.axes import AS_FEATURES, axes_of_inputs, example_shapes
from neat_onnx.model import Graph, Model, ValueInfo
from neat_onnx.model.value import is_fixed
from neat_onnx.passes.input_shapes import with_input_shapes

_MAX_NODES_TRIED = 1_000
FINITE = "Export the model with large numbers in their place, as -1e9"


def features_hint(inputs: Sequence[ValueInfo]) -> ImportAdvice:
    """A hint for a graph that works along the axis which is taken for the batch."""
    shapes = example_shapes(inputs)
    if not shapes:
        return AS_FEATURES
    return ImportAdvice("Give axes that are features a size, as {}", {"shapes": shapes})


def single_sample_advice(model: Model, lift: Callable[[Model], object]) -> ImportAdvice | None:
    """Advice to import one sample alone; None where that does not help, or other axes are open.

    Args:
        model: the model, which cannot be imported.
        lift: imports a model.
    """
    shapes = _of_one_sample(model.graph.inputs)
    if not shapes or len(model.graph.node) > _MAX_NODES_TRIED:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)
        try:
            lift(with_input_shapes(model, shapes))
        except NeatOnnxError:
            return None
    return ImportAdvice("One sample alone can be imported: {}", {"shapes": shapes})


def _of_one_sample(inputs: Sequence[ValueInfo]) -> dict[str, tuple[int, ...]]:
    """The argument `shapes` for one sample; {} where other axes than the batch are open."""
    axes, shapes = axes_of_inputs(inputs), dict[str, tuple[int, ...]]()
    for entry in inputs:
        sizes = [*(entry.shape or ())]
        for axis in axes[entry.name][-1:]:
            sizes[axis] = sizes[axis] if isinstance(sizes[axis], int) else 1
        if not is_fixed(known := tuple(sizes)):
            return {}
        if known != entry.shape:
            shapes[entry.name] = known
    return shapes


def initializer_hint(graph: Graph, name: str) -> str | None:
    """A hint for a tensor that has to be constant; None if it is no input of the graph."""
    is_input = any(entry.name == name for entry in graph.inputs)
    return "Make it an initializer, with the value it is to have" if is_input else None
