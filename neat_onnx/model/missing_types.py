"""Types that a writer may leave out: of graph outputs, and of values in graphs inside nodes."""

from collections.abc import Iterator

import onnx

from neat_onnx.model.crashes import graphs_of, refuse_crashes_in


def with_missing_types(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the types that onnx infers for the values that state none.

    These are its outputs, to which tensors inside the graph are often added by their names alone,
    and the inputs and outputs of graphs inside its nodes.

    A model that states them all stays as it is, as does a value whose type cannot be inferred.
    """
    if not any(_is_untyped(entry) for entry in _values(proto.graph)):
        return proto
    from onnx import shape_inference  # noqa: PLC0415 - slow to import

    refuse_crashes_in(proto)
    try:
        inferred = shape_inference.infer_shapes(proto)
    except (shape_inference.InferenceError, RuntimeError, ValueError):
        return proto
    typed = onnx.ModelProto()
    typed.CopyFrom(proto)
    values = zip(_values(typed.graph), _values(inferred.graph), strict=True)
    for entry, found in values:
        if _is_untyped(entry):
            entry.type.CopyFrom(found.type)
    return typed


def _is_untyped(entry: onnx.ValueInfoProto) -> bool:
    kind = entry.type.WhichOneof("value")
    return kind is None or (kind == "tensor_type" and not entry.type.tensor_type.elem_type)


def _values(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    """The outputs of a graph; inputs and outputs of graphs in its nodes, and of those in them."""
    yield from graph.output
    pending = [graph]
    while pending:
        for node in pending.pop().node:
            for attribute in node.attribute:
                for inner in graphs_of(attribute):
                    yield from (*inner.input, *inner.output)
                    pending.append(inner)
