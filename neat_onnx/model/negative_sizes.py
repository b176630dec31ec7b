"""Sizes below 0, which a Slice must not read: onnx's shape inference aborts the process there.

A Conv or a pool whose window is larger than its input gives them, and a Pad that takes away too
much. So the shapes are inferred node by node, up to the first Slice that would read one.
"""

import math
from collections.abc import Mapping

import onnx
from onnx import defs, shape_inference

from neat_onnx.errors import ModelError
from neat_onnx.model.graph import NEWEST_OPSET, ONNX_DOMAINS
from neat_onnx.model.proto_graphs import nodes_in, own_graphs

_MAX_DATA = 4096  # elements of a constant that may be sizes, places or pads

_NOT_KNOWN = (
    defs.SchemaError,
    shape_inference.InferenceError,
    onnx.checker.ValidationError,
    KeyError,
    RuntimeError,
    ValueError,  # a type of a graph inside a node that is left out
)
_Types = dict[str, onnx.TypeProto]
_Data = dict[str, onnx.TensorProto]


def refuse_negative_sizes(proto: onnx.ModelProto) -> None:
    """Refuse a model in which a Slice reads a tensor with a size below 0.

    Raises:
        ModelError: says which node, and the size.
    """
    _Walk(proto).through(proto.graph, {})


class _Walk:
    """The nodes of a model in their order, with the types that are known before each."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        self._opsets, self._ir_version = [*proto.opset_import], proto.ir_version
        self._versions = {
            "" if each.domain in ONNX_DOMAINS else each.domain: min(each.version, NEWEST_OPSET)
            for each in proto.opset_import
        }

    def through(self, graph: onnx.GraphProto, around: Mapping[str, onnx.TypeProto]) -> None:
        """Walk through a graph, in the types around it.

        Raises:
            ModelError: a Slice reads a tensor with a size below 0.
        """
        types = {**around, **{each.name: each.type for each in (*graph.input, *graph.value_info)}}
        data = {each.name: each for each in graph.initializer}
        for name, tensor in data.items():
            types[name] = onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)
        for node in graph.node:
            if node.op_type == "Slice" and node.domain in ONNX_DOMAINS and node.input:
                _refuse(node, types.get(node.input[0]))
            inside = [name for each in nodes_in([node]) for name in each.input]
            read = {name: types[name] for name in inside if name in types}
            for inner in own_graphs(node):
                self.through(inner, read)
            if node.op_type == "Constant" and node.output:
                values = [each.t for each in node.attribute if each.HasField("t")]
                data |= dict(zip(node.output, values, strict=False))
            types |= {name: each for name, each in self._inferred(node, read, data).items() if name}

    def _inferred(self, node: onnx.NodeProto, read: _Types, data: _Data) -> _Types:
        """The types of the outputs of a node, as far as they can be inferred."""
        small = {name: data[name] for name in node.input if name in data and _is_small(data[name])}
        domain = "" if node.domain in ONNX_DOMAINS else node.domain
        try:
            schema = defs.get_schema(node.op_type, self._versions.get(domain, 1), domain)
            return shape_inference.infer_node_outputs(
                schema, node, read, small, None, self._opsets, self._ir_version
            )
        except _NOT_KNOWN:
            return {}


def _is_small(tensor: onnx.TensorProto) -> bool:
    return bool(math.prod(tensor.dims) <= _MAX_DATA)


def _refuse(node: onnx.NodeProto, read: onnx.TypeProto | None) -> None:
    sizes = [] if read is None else [size.dim_value for size in read.tensor_type.shape.dim]
    if min(sizes, default=0) < 0:
        label = f"{node.name or next(iter(node.output), '')} (Slice)"
        raise ModelError(
            f"node {label}: its input '{node.input[0]}' would have the shape {sizes}",
            where=node.name or None,
            hint="No size is below 0: a window before it is larger than the tensor that it reads, "
            "or a Pad takes away more than there is",
        )
