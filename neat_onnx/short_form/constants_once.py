"""Constants that are equal bit for bit are one."""

from collections.abc import Callable

from neat_onnx.model import Model, Tensor
from neat_onnx.passes.draft import with_graph, with_inputs


def constants_once(model: Model) -> Model:
    """The model with each constant once, itself if none is there twice.

    Args:
        model: without graphs inside of nodes.
    """
    names = names_once(model, _content)
    if all(name == own for own, name in names.items()):
        return model
    kept = [
        each for each in model.graph.initializer if names.get(each.name, each.name) == each.name
    ]
    nodes = [
        with_inputs(node, [names.get(name, name) for name in node.input])
        for node in model.graph.node
    ]
    return with_graph(model, node=nodes, initializer=kept)


def names_once(model: Model, content: Callable[[Tensor], tuple[object, ...]]) -> dict[str, str]:
    """For each constant, the name of the first that is equal.

    Args:
        model: without graphs inside of nodes.
        content: all of a tensor but its name.
    """
    first: dict[tuple[object, ...], str] = {}
    return {each.name: first.setdefault(content(each), each.name) for each in _constants(model)}


def _constants(model: Model) -> list[Tensor]:
    """The initializers that are no outputs of the graph, whose names are to stay."""
    outputs = {entry.name for entry in model.graph.outputs}
    return [each for each in model.graph.initializer if each.name not in outputs]


def _content(tensor: Tensor) -> tuple[object, ...]:
    return tensor.data_type, tensor.dims, tensor.to_bytes()
