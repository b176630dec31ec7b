"""Models that onnx's checker and shape inference do not survive, refused before they are called.

Both are written in C++. On a few mistakes they abort the process, or fill the memory, instead of
saying no: outputs of a Split that `num_outputs` does not count, axes beyond 32 bits, a GatherND of
fewer batch axes than none, inputs that an operator needs but that are left out, and a Slice of a
tensor with a size below 0. A Conv or a pool whose window is larger than its input gives such sizes,
and a Pad that takes away too much.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from neat_onnx.errors import ModelError
from neat_onnx.model.graph import ONNX_DOMAINS, schema_of

if TYPE_CHECKING:
    import onnx

    from neat_onnx.model.model import Model

    Types = dict[str, onnx.TypeProto]

_MAX_INT32 = 2**31 - 1
_MAX_DATA = 4096  # elements of a constant that may be sizes, places or pads
_Versions = Mapping[str, int]


def nodes_in(nodes: "Iterable[onnx.NodeProto]") -> "Iterator[onnx.NodeProto]":
    """Yield the nodes, then the nodes of the graphs inside them."""
    bodies = [nodes]
    while bodies:
        for node in bodies.pop():
            yield node
            if node.attribute:
                bodies.extend(graph.node for graph in own_graphs(node))


def own_graphs(node: "onnx.NodeProto") -> "Iterator[onnx.GraphProto]":
    """Yield the graphs inside a node, without those inside of theirs."""
    for attribute in node.attribute:
        yield from graphs_of(attribute)


def graphs_of(attribute: "onnx.AttributeProto") -> "list[onnx.GraphProto]":
    """The graphs that an attribute is."""
    return [*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs]


def tensors_read(nodes: "Iterable[onnx.NodeProto]") -> set[str]:
    """The tensors that nodes read, in the graphs inside them too."""
    found: set[str] = set()
    for node in nodes_in(nodes):
        found.update(node.input)
        if node.attribute:
            found.update(entry.name for graph in own_graphs(node) for entry in graph.output)
    return found - {""}


def surviving_proto(model: "Model") -> "onnx.ModelProto":
    """The model as protobuf has it, for onnx's checker and shape inference.

    Raises:
        ModelError: they would crash on it; says which node, and why.
    """
    proto = model.to_proto()
    refuse_negative_sizes(proto)
    return proto


def refuse_crashes(proto: "onnx.ModelProto") -> _Versions:
    """Refuse a model with a node whose form alone onnx would crash on.

    Returns:
        The version of each domain.

    Raises:
        ModelError: says which node, and why.
    """
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    own = next((versions[domain] for domain in ONNX_DOMAINS if domain in versions), _MAX_INT32)
    versions |= dict.fromkeys(ONNX_DOMAINS, own)
    for body in (proto.graph.node, *(function.node for function in proto.functions)):
        for node in nodes_in(body):
            if problem := _problem(node, versions):
                raise _refusal(node, problem)
    return versions


def refuse_negative_sizes(proto: "onnx.ModelProto") -> None:
    """Refuse, beside those, a model in which a Slice reads a tensor with a size below 0.

    Raises:
        ModelError: says which node, and the shape.
    """
    versions = refuse_crashes(proto)
    if any(node.op_type == "Slice" for node in nodes_in(proto.graph.node)):
        _refuse_slices(proto, versions, proto.graph, {})


def _refusal(node: "onnx.NodeProto", problem: str, hint: str | None = None) -> ModelError:
    name = node.name or next(iter(node.output), "")  # bytes, if it is no UTF-8
    return ModelError(
        f"node {name} ({node.op_type}): {problem}", where=node.name or None, hint=hint
    )


def _problem(node: "onnx.NodeProto", versions: _Versions) -> str:
    if not node.attribute and node.op_type != "Split" and "" not in node.input:
        return ""
    given = {each.name: each.i for each in node.attribute if each.HasField("i")}
    outputs, axis = given.get("num_outputs", len(node.output)), given.get("axis", 0)
    batch_axes = given.get("batch_dims", 0)
    if node.op_type == "Split" and outputs != len(node.output):
        return f"num_outputs is {outputs}, and it has {len(node.output)} outputs"
    if abs(axis) > _MAX_INT32:
        return f"axis is {axis}, beyond 32 bits"
    if not 0 <= batch_axes <= _MAX_INT32:
        return f"batch_dims is {batch_axes}, expected a number of axes"
    version = versions.get(node.domain, 1)
    schema = schema_of(node.op_type, node.domain, version) if "" in node.input else None
    for at, each in enumerate(schema.inputs[: len(node.input)] if schema else ()):
        if not node.input[at] and each.option == each.option.Single:
            return f"input {at} is left out, and it needs that"
    return ""


def _refuse_slices(
    proto: "onnx.ModelProto", versions: _Versions, graph: "onnx.GraphProto", around: "Types"
) -> None:
    """Infer types node by node, in the types around the graph, up to a Slice that would abort.

    Raises:
        ModelError: a Slice reads a tensor with a size below 0.
    """
    from onnx import helper  # noqa: PLC0415 - slow to import

    types = around | {each.name: each.type for each in (*graph.input, *graph.value_info)}
    data = {each.name: each for each in graph.initializer}
    for name, tensor in data.items():
        types[name] = helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
    for node in graph.node:
        if node.op_type == "Slice" and node.domain in ONNX_DOMAINS and node.input:
            read = types.get(node.input[0])
            sizes = [size.dim_value for size in read.tensor_type.shape.dim] if read else []
            if min(sizes, default=0) < 0:
                raise _refusal(
                    node,
                    f"its input '{node.input[0]}' would have the shape {sizes}",
                    "No size is below 0: a window before it is larger than the tensor that it "
                    "reads, or a Pad takes away more than there is",
                )
        inside = [name for each in nodes_in([node]) for name in each.input]
        known = {name: types[name] for name in inside if name in types}
        for inner in own_graphs(node):
            _refuse_slices(proto, versions, inner, known)
        if node.op_type == "Constant" and node.output:
            values = [each.t for each in node.attribute if each.HasField("t")]
            data |= dict(zip(node.output, values, strict=False))
        small = {name: data[name] for name in node.input if name in data}
        small = {name: each for name, each in small.items() if math.prod(each.dims) <= _MAX_DATA}
        types |= _inferred(proto, versions, node, known, small)


def _inferred(
    proto: "onnx.ModelProto",
    versions: _Versions,
    node: "onnx.NodeProto",
    known: "Types",
    data: "dict[str, onnx.TensorProto]",
) -> "Types":
    """The types of the outputs of a node, as far as they can be inferred."""
    from onnx import shape_inference  # noqa: PLC0415 - slow to import

    schema = schema_of(node.op_type, node.domain, versions.get(node.domain, 1))
    if schema is None:
        return {}
    try:
        found = shape_inference.infer_node_outputs(
            schema, node, known, data, None, [*proto.opset_import], proto.ir_version
        )
    except (shape_inference.InferenceError, KeyError, RuntimeError, ValueError):
        return {}  # ValueError: a type of a graph inside a node that is left out
    return {name: kind for name, kind in found.items() if name}
