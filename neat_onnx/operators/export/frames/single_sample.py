"""Exports of a single sample, whose inputs and outputs have no batch.

Nodes compute with samples first, of which there is one: it gets its axis by an Unsqueeze, and loses
it by a Squeeze, each of them only where no other node gives the tensor another shape as well.
"""

import numpy as np

from neat_onnx.model import DataType, Model, Tensor, ValueInfo
from neat_onnx.model.draft import Draft, renamed, with_graph
from neat_onnx.operators.export.frames.merged_shapes import merged_shapes


def of_single_sample(model: Model) -> tuple[Model, dict[str, str]]:
    """The model of a batch of one without the axis of the batch at its inputs and outputs, and the
    names there of tensors that had others.
    """
    graph, draft = model.graph, Draft(model)
    axes = _first_axis(draft)
    entries = (*graph.inputs, *graph.outputs)
    inner = {entry.name: _inner_name(draft, entry.name) for entry in entries}
    draft.nodes += [
        draft.node("Unsqueeze", [entry.name, axes], [inner[entry.name]]) for entry in graph.inputs
    ]
    draft.nodes += [renamed(node, inner) for node in graph.node]
    draft.nodes += [
        draft.node("Squeeze", [inner[entry.name], axes], [entry.name]) for entry in graph.outputs
    ]
    inputs, outputs = (
        [ValueInfo.of(each.name, each.elem_type, (each.shape or ())[1:]) for each in ends]
        for ends in (graph.inputs, graph.outputs)
    )
    return merged_shapes(with_graph(draft.finished(), inputs=inputs, outputs=outputs))


def _first_axis(draft: Draft) -> str:
    """The constant by which an Unsqueeze and a Squeeze have the axis of the batch."""
    known = [each.name for each in draft.model.graph.initializer if _is_zero(each)]
    return min(known, default="") or draft.constant("first_axis", [0])


def _is_zero(tensor: Tensor) -> bool:
    values = tensor.values
    return tensor.data_type is DataType.INT64 and values.shape == (1,) and not np.any(values)


def _inner_name(draft: Draft, port: str) -> str:
    """The name inside of a graph for an input or output."""
    return draft.name(f"{port}_batch")
