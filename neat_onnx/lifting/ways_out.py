"""Hints of errors that more than one operator meets: how a graph can be imported all the same."""

import warnings
from collections.abc import Callable, Sequence

from neat_onnx.errors import ImportAdvice, ModelError, NeatOnnxError, NeatOnnxWarning
from neat_onnx.lifting.axes import AS_FEATURES, axes_of_inputs, example_shapes
from neat_onnx.model import Graph, Model, Node, ValueInfo
from neat_onnx.model.value import is_fixed
from neat_onnx.model.wiring import producers
from neat_onnx.model.input_shapes import with_input_shapes

MAX_NODES_TRIED = 1_000
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
    shapes = shapes_of_samples(model.graph.inputs, 1)
    if not shapes or len(model.graph.node) > MAX_NODES_TRIED:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NeatOnnxWarning)
        try:
            lift(with_input_shapes(model, shapes))
        except NeatOnnxError:
            return None
    return ImportAdvice("One sample alone can be imported: {}", {"shapes": shapes})


def shapes_of_samples(inputs: Sequence[ValueInfo], samples: int) -> dict[str, tuple[int, ...]]:
    """The argument `shapes` for so many samples; {} where other axes than the batch are open."""
    axes, shapes = axes_of_inputs(inputs), dict[str, tuple[int, ...]]()
    for entry in inputs:
        sizes = [*(entry.shape or ())]
        for axis in axes[entry.name][-1:]:
            sizes[axis] = sizes[axis] if isinstance(sizes[axis], int) else samples
        if not is_fixed(known := tuple(sizes)):
            return {}
        if known != entry.shape:
            shapes[entry.name] = known
    return shapes


def either_way(error: ModelError, other: ModelError) -> ModelError:
    """The error of a batch, with the one of every axis as features, which does not help then."""
    hints = [hint for hint in error.hints if hint != AS_FEATURES]
    if fresh := [fault for fault in other.faults if fault not in error.faults]:
        hints.insert(0, f"With every axis as features: {fresh[0]}")
    found = ModelError(error.message, where=error.where, hint=hints)
    found.obstacles = error.obstacles
    return found


def initializer_hint(graph: Graph, name: str) -> str | None:
    """A hint for a tensor that has to be constant; None if it is no input of the graph."""
    if all(entry.name != name for entry in graph.inputs):
        return None
    made = f"onnx.numpy_helper.from_array(value, {name!r})"
    return (
        f"Make '{name}' an initializer, with the value it is to have; "
        f"in Python model.graph.initializer.append({made}), for an array of numpy"
    )


def number_hints(graph: Graph, nodes: Sequence[Node]) -> list[str]:
    """Hints for nodes that read single integers or truth values, as the rounds of a loop, which
    are inputs of the graph.
    """
    single = {
        entry.name
        for entry in graph.inputs
        if entry.elem_type.is_discrete and entry.shape in ((), (1,))
    }
    made = producers(graph) if single else {}
    hints = []
    for name in (name for node in nodes if single for name in node.input):
        while (maker := made.get(name)) is not None and len(maker.input) == 1:
            name = maker.input[0]  # noqa: PLW2901
        hints += [initializer_hint(graph, name)] if name in single else []
    return [each for each in dict.fromkeys(hints) if each]
