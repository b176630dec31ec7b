"""Nodes that onnx's checker and shape inference do not survive, refused before they are called.

Both are written in C++. On a few mistakes they abort the process, or fill the memory, instead of
saying no: outputs of a Split that `num_outputs` does not count, axes beyond 32 bits, a GatherND of
fewer batch axes than none, inputs that an operator needs but that are left out, and a Slice of a
tensor with a size below 0.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from neat_onnx.errors import ModelError
from neat_onnx.model.graph import NEWEST_OPSET, ONNX_DOMAINS, Content
from neat_onnx.model.node import Node
from neat_onnx.model.proto_graphs import nodes_in
from neat_onnx.model.wiring import subgraphs

if TYPE_CHECKING:
    import onnx

    from neat_onnx.model.model import Model

_MAX_AXIS = 2**31 - 1


def refuse_crashes(model: Content) -> None:
    """Refuse a model that onnx's checker and shape inference would crash on.

    Raises:
        ModelError: says which node, and why.
    """
    versions = {entry.domain: entry.version for entry in model.opset_import}
    versions |= dict.fromkeys(ONNX_DOMAINS, model.opset)
    for node in _nodes(model):
        given = node.given_attributes
        _refuse(node, given, versions, node.label)


def refuse_crashes_in(proto: "onnx.ModelProto") -> None:
    """Refuse the same of a model as protobuf has it, but for its functions.

    Raises:
        ModelError: says which node, and why.
    """
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    own = [versions[domain] for domain in ONNX_DOMAINS if domain in versions]
    versions |= dict.fromkeys(ONNX_DOMAINS, own[0] if own else NEWEST_OPSET)
    for node in nodes_in(proto.graph.node):
        given = {each.name: each.i for each in node.attribute if each.HasField("i")}
        name = node.name or next(iter(node.output), "")  # bytes, if it is no UTF-8
        _refuse(node, given, versions, f"{name} ({node.op_type})")


def surviving_proto(model: "Model") -> "onnx.ModelProto":
    """The model as protobuf has it, for onnx's checker and shape inference.

    Raises:
        ModelError: they would crash on it; says which node, and why.
    """
    refuse_crashes(model)
    proto = model.to_proto()
    refuse_slices(proto)
    return proto


def refuse_slices(proto: "onnx.ModelProto") -> None:
    """Refuse a model in which a Slice reads a tensor with a size below 0.

    Raises:
        ModelError: says which node, and the shape.
    """
    if any(node.op_type == "Slice" for node in nodes_in(proto.graph.node)):
        from neat_onnx.model.negative_sizes import (  # noqa: PLC0415 - seldom needed
            refuse_negative_sizes,
        )

        refuse_negative_sizes(proto)


def _refuse(
    node: "Node | onnx.NodeProto",
    given: Mapping[str, object],
    versions: Mapping[str, int],
    label: str,
) -> None:
    problem = (
        _split(node, given.get("num_outputs"))
        or _axis(given.get("axis"))
        or _batch_axes(given.get("batch_dims"))
        or _left_out(node, versions.get(node.domain, 1))
    )
    if problem:
        raise ModelError(f"node {label}: {problem}", where=node.name or None)


def _nodes(model: Content) -> Iterator[Node]:
    """Every node: of the graph, of graphs inside nodes, and of functions."""
    bodies = [model.graph.node, *(function.node for function in model.functions)]
    while bodies:
        for node in bodies.pop():
            yield node
            bodies.extend(graph.node for graph in subgraphs(node))


def _split(node: "Node | onnx.NodeProto", count: object) -> str:
    if node.op_type != "Split" or count is None or count == len(node.output):
        return ""
    return f"num_outputs is {count}, and it has {len(node.output)} outputs"


def _axis(axis: object) -> str:
    if not isinstance(axis, int) or abs(axis) <= _MAX_AXIS:
        return ""
    return f"axis is {axis}, beyond 32 bits"


def _batch_axes(count: object) -> str:
    if not isinstance(count, int) or 0 <= count <= _MAX_AXIS:
        return ""
    return f"batch_dims is {count}, expected a number of axes"


def _left_out(node: "Node | onnx.NodeProto", version: int) -> str:
    if "" not in node.input:
        return ""
    needed = _needed_inputs(node.op_type, node.domain, version)
    left_out = [at for at, name in enumerate(node.input) if not name and at in needed]
    return f"input {left_out[0]} is left out, and it needs that" if left_out else ""


@cache
def _needed_inputs(op_type: str, domain: str, version: int) -> frozenset[int]:
    """The positions of inputs that are not optional; none for an operator that is not known."""
    from onnx import defs  # noqa: PLC0415 - slow to import

    try:
        schema = defs.get_schema(op_type, min(version, NEWEST_OPSET), domain)
    except defs.SchemaError:
        return frozenset()
    single = defs.OpSchema.FormalParameterOption.Single
    return frozenset(at for at, each in enumerate(schema.inputs) if each.option == single)
