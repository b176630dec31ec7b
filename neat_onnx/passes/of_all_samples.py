"""Operators that were imported alone, as nodes between tensors of numbers of all samples.

An export computes with numbers, samples first. Integers and truth values are cast for an operator,
an input that all samples share is taken from the first one, and operators without a batch run for
each sample.
"""

from collections.abc import Mapping

import numpy as np

from neat_onnx.model import DataType, Graph, Node, Tensor, ValueInfo
from neat_onnx.passes.draft import make_node
from neat_onnx.passes.each_sample import for_each_sample
from neat_onnx.passes.splice import renamed


def of_all_samples(graph: Graph, numbers: DataType) -> tuple[list[Node], list[Tensor]]:
    """The nodes of a graph between tensors of numbers, named by `name_of_samples`, and constants.

    Args:
        graph: the operators alone; an axis without a size is the batch.
        numbers: the type of the tensors.
    """
    names, constants = dict[str, str](), [*graph.initializer]
    first, last = list[Node](), list[Node]()
    for entry in graph.inputs:
        names[entry.name] = read = name_of_samples(entry)
        if has_batch(graph) and not _is_of_samples(entry):
            constants = [*graph.initializer, Tensor.of("first", np.array([0]), DataType.INT64)]
            names[entry.name] = f"{entry.name}_once"
            first.append(make_node("Squeeze", [read, "first"], [names[entry.name]]))
        if entry.elem_type.is_discrete:
            read, names[entry.name] = names[entry.name], f"{entry.name}_{entry.elem_type.name}"
            first.append(_cast(read, names[entry.name], entry.elem_type))
    for entry in graph.outputs:
        names[entry.name] = name_of_samples(entry)
        if entry.elem_type.is_discrete:
            names[entry.name] = f"{entry.name}_{entry.elem_type.name}"
            last.append(_cast(names[entry.name], name_of_samples(entry), numbers))
    nodes = [renamed(node, names) for node in graph.node]
    if not has_batch(graph):
        nodes, constants = [_for_each_sample(graph, names)], []
    return [*first, *nodes, *last], constants


def name_of_samples(entry: ValueInfo) -> str:
    """The name of the tensor that has an input or output for all samples."""
    return f"{entry.name}_of_samples"


def has_batch(graph: Graph) -> bool:
    """Whether the first axis of some input is the batch."""
    return any(map(_is_of_samples, graph.inputs))


def _is_of_samples(entry: ValueInfo) -> bool:
    return any(isinstance(size, str) for size in entry.shape or ())


def _for_each_sample(graph: Graph, names: Mapping[str, str]) -> Node:
    reads, gives = (
        {names[entry.name]: entry.name for entry in entries}
        for entries in (graph.inputs, graph.outputs)
    )
    kinds = {entry.name: entry.elem_type for entry in (*graph.inputs, *graph.outputs)}
    return for_each_sample(graph.node, reads, gives, graph.initializer, kinds)


def _cast(source: str, target: str, kind: DataType) -> Node:
    return make_node("Cast", [source], [target], {"to": int(kind)})
