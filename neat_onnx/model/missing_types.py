"""Types that a writer may leave out: of graph outputs, and of values in graphs inside nodes."""

from collections.abc import Iterator

import onnx

from neat_onnx.model.crashes import refuse_crashes_in, refuse_slices
from neat_onnx.model.proto_graphs import graphs_in, nodes_in
from neat_onnx.model.wiring import in_order


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
    proto = _without_negative_sizes(proto)
    order = _topological_order(proto.graph)
    ordered = _with_nodes(proto, order)
    refuse_slices(ordered)
    try:
        inferred = shape_inference.infer_shapes(ordered)
    except (shape_inference.InferenceError, RuntimeError, ValueError):
        return proto
    position = {node: at for at, node in enumerate(order)}
    inferred = _with_nodes(inferred, [position[node] for node in range(len(order))])
    typed = onnx.ModelProto()
    typed.CopyFrom(proto)
    stated = {entry.name: entry.type for entry in inferred.graph.value_info}
    values = zip(_values(typed.graph), _values(inferred.graph), strict=True)
    for entry, found in values:
        if _is_untyped(entry):  # inference gives an output no type that `value_info` states
            entry.type.CopyFrom(
                stated.get(entry.name, found.type) if _is_untyped(found) else found.type
            )
    return typed


def _without_negative_sizes(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with sizes open that are stated as -1; itself where none is."""
    if not any(size.dim_value < 0 for size in _stated_sizes(proto.graph)):
        return proto
    changed = onnx.ModelProto()
    changed.CopyFrom(proto)
    for size in _stated_sizes(changed.graph):
        if size.dim_value < 0:
            size.Clear()
    return changed


def _stated_sizes(graph: onnx.GraphProto) -> Iterator[onnx.TensorShapeProto.Dimension]:
    for entry in (*graph.input, *graph.value_info, *graph.output):
        yield from entry.type.tensor_type.shape.dim


def _topological_order(graph: onnx.GraphProto) -> list[int]:
    """The positions of nodes, each after its sources', as inference wants; as given in a cycle."""
    makers = {name: at for at, node in enumerate(graph.node) for name in node.output if name}
    sources = [
        [makers[name] for each in nodes_in([node]) for name in each.input if name in makers]
        for node in graph.node
    ]
    given = range(len(graph.node))
    return in_order(given, sources.__getitem__) or [*given]


def _with_nodes(proto: onnx.ModelProto, order: list[int]) -> onnx.ModelProto:
    """The model with its nodes in another order, itself where that is the order they have."""
    if order == list(range(len(order))):
        return proto
    ordered = onnx.ModelProto()
    ordered.CopyFrom(proto)
    del ordered.graph.node[:]
    ordered.graph.node.extend(proto.graph.node[at] for at in order)
    return ordered


def _is_untyped(entry: onnx.ValueInfoProto) -> bool:
    kind = entry.type.WhichOneof("value")
    return kind is None or (kind == "tensor_type" and not entry.type.tensor_type.elem_type)


def _values(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    """The outputs of a graph; inputs and outputs of graphs in its nodes, and of those in them."""
    yield from graph.output
    for node in graph.node:
        for inner in graphs_in(node):
            yield from (*inner.input, *inner.output)
