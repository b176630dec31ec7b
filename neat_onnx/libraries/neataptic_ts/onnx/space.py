"""Reshape before a Conv that reads a flat tensor, Flatten before a Gemm that reads a spatial one.

NeatapticTS's layers are flat lists of neurons, and its documents have no nodes between layers of
different shapes. The metadata holds the input shape of each Conv. Shapes here have no batch axis;
one that is unknown or impossible is None, and importing such a node says where it is wrong.
"""

import math
from collections.abc import Mapping
from typing import NoReturn, TypeGuard

import numpy as np

from neat_onnx.arguments import is_whole
from neat_onnx.errors import ModelError, NetworkError, warn
from neat_onnx.libraries.neataptic_ts.onnx.spec import CONV_SPECS, RESHAPE, items, layer_number
from neat_onnx.model import DataType, Model, Node, Tensor, ValueInfo
from neat_onnx.model.draft import make_node, renamed, with_graph
from neat_onnx.model.value import is_fixed
from neat_onnx.network.window import Sizes, Window, times
from neat_onnx.operators.export.nodes import Gemm, Windowed

_SLIDING = ("Conv", "MaxPool", "AveragePool")
_MAX_ELEMENTS = 1 << 20  # of a layer; of a larger one no shape is known
_NO_POOLS = "The networks of NeatapticTS have no pools: export it again without pool2dMappings"


def warn_repaired(text: str) -> None:
    """Warn that the document was repaired."""
    warn(f"repaired: {text}")


def _slides(node: Node) -> TypeGuard[Windowed]:
    """Whether a node is a Conv or a pool."""
    return isinstance(node, Windowed) and node.op_type in _SLIDING


def window_of(node: Node, tensors: Mapping[str, Tensor]) -> Window | None:
    """Return the window of a Conv or a pool; None for other nodes, and where nothing says it."""
    if not _slides(node) or node.attributes.auto_pad != "NOTSET":
        return None
    given, kernel = node.attributes, node.attributes.kernel_shape
    if node.op_type == "Conv":
        weights = tensors.get(node.input[1])
        kernel = None if weights is None else weights.dims[2:]
    try:
        steps, pads = (given.strides or (), given.dilations or ()), given.pads or ()
        ceil = bool(getattr(given, "ceil_mode", 0))
        return Window(kernel, *steps, pads, ceil) if kernel else None
    except NetworkError:
        return None


def with_space(model: Model) -> Model:
    """Insert a Reshape or a Flatten where a tensor has another shape than its reader needs."""
    if not any(_slides(node) for node in model.graph.node):
        return model
    walk = _Walk(model)
    for at, node in enumerate(model.graph.node):
        walk.add(f"graph.node[{at}]", node)
    for entry in model.graph.outputs:
        walk.finish(entry)
    initializers = [*model.graph.initializer, *walk.initializers]
    return with_graph(model, node=walk.nodes, initializer=initializers)


class _Walk:
    """A pass over a model's nodes in order.

    Attributes:
        nodes, initializers: those so far, and those that were inserted.
        shapes: the known shape of each tensor.
        flat: the flattened tensor of each spatial one.
        pool: the label of the last pool.
    """

    def __init__(self, model: Model) -> None:
        self.nodes: list[Node] = []
        self.initializers: list[Tensor] = []
        self.flat: dict[str, str] = {}
        self.pool = ""
        self.shapes: dict[str, Sizes] = {}
        for entry in model.graph.inputs:
            sizes = (entry.shape or ())[1:]
            if sizes and is_fixed(sizes):
                self.shapes[entry.name] = sizes
        self._tensors = model.graph.tensors
        keys = ("layerIndex", "inChannels", "inHeight", "inWidth")
        found = [[entry.get(key) for key in keys] for entry in items(model, CONV_SPECS)]
        whole = [spec for spec in found if all(is_whole(size) and size > 0 for size in spec)]
        self._specs = {str(layer): tuple(shape) for layer, *shape in whole}

    def add(self, where: str, node: Node) -> None:
        """Append a node, and the one before it that its input needs."""
        tensor = node.input[0] if node.input else ""
        given = self.shapes.get(tensor)
        if given is not None and _slides(node) and node.op_type == "Conv":
            node = _reading(node, self._spatial(where, node, given))
        elif given is not None and isinstance(node, Gemm):
            columns = self._columns(node, 1)
            if columns and math.prod(given) != columns:
                what = f"node {node.label} has {columns} columns, its input has"
                self._refuse_size(where, what, given)
            node = _reading(node, self._flattened(tensor))
        elif given is not None and _slides(node) and len(given) == 1:
            raise ModelError(
                f"node {node.label}: its input is a flat layer of {given[0]} neurons, and nothing "
                "says its channels, rows and columns",
                where=where,
                hint=_NO_POOLS,
            )
        self._add(node)

    def finish(self, entry: ValueInfo) -> None:
        """Flatten a spatial output of the graph that is declared flat."""
        made, declared = self.shapes.get(entry.name), (entry.shape or ())[1:]
        if made is None or len(declared) != 1 or not isinstance(declared[0], int):
            return
        if math.prod(made) != declared[0]:
            what = f"graph output '{entry.name}' has {declared[0]} columns, what produces it has"
            self._refuse_size("graph.outputs", what, made)
        if len(made) > 1:
            inner = f"{entry.name}_spatial"
            last = next(node for node in self.nodes if entry.name in node.output)
            self.nodes[self.nodes.index(last)] = renamed(last, {entry.name: inner})
            warn_repaired(f"the output '{entry.name}' is spatial: a Flatten stands before it")
            self._add_flatten(inner, entry.name, f"flatten_{entry.name}")

    def _add(self, node: Node) -> None:
        shape = self._shape_after(node)
        self.nodes.append(node)
        if shape is not None:
            self.shapes[node.output[0]] = shape
        if _slides(node) and node.op_type != "Conv":
            self.pool = node.label

    def _shape_after(self, node: Node) -> Sizes | None:
        """The shape of a node's first output; None if it is unknown."""
        given = [self.shapes.get(name) for name in node.input]
        first = given[0] if given else None
        if first is None:
            return None
        match node:
            case Gemm():
                rows = self._columns(node, 0)
                return (rows,) if rows else None
            case Windowed() if _slides(node):
                return self._positions(node, first)
            case Node(op_type="Flatten"):
                return (math.prod(first),)
            case Node(op_type="Concat"):
                return (sum(math.prod(shape) for shape in given if shape is not None),)
            case _ if len(node.input) == 1 or node.op_type == "Add":
                return first
        return None

    def _positions(self, node: Windowed, given: Sizes) -> Sizes | None:
        window, channels = window_of(node, self._tensors), given[0]
        if window is None or len(given) != len(window.kernel) + 1:
            return None
        if node.op_type == "Conv":
            channels, seen, *_ = self._tensors[node.input[1]].dims
            declared = node.attributes.kernel_shape or window.kernel
            if (
                seen * node.given_attributes.get("group", 1) != given[0]
                or declared != window.kernel
            ):
                return None
        shape = (channels, *window.positions(given[1:]))
        return shape if min(shape) > 0 and math.prod(shape) <= _MAX_ELEMENTS else None

    def _columns(self, node: Gemm, axis: int) -> int | None:
        """How many values a Gemm reads (axis 1) or gives (0); None where its matrix is computed."""
        weights = self._tensors.get(node.input[1])
        if weights is None or len(weights.dims) != 2:
            return None
        return weights.dims[axis if node.attributes.transB else 1 - axis]

    def _spatial(self, where: str, node: Windowed, given: Sizes) -> str:
        """The tensor that a Conv can read: its input, reshaped if need be."""
        tensor, label = node.input[0], layer_number(node.name or node.output[0])
        wanted = self._specs.get(label, given)
        if wanted == given and len(given) > 1:
            return tensor
        if len(wanted) == 1:
            raise ModelError(
                f"node {node.label}: its input is flat, {given[0]} values, and nothing tells its "
                "channels, rows and columns",
                where=where,
                hint=f"The metadata {CONV_SPECS} says it",
            )
        if math.prod(wanted) != math.prod(given):
            what = f"node {node.label} reads {times(wanted)} values, its input has"
            self._refuse_size(where, what, given)
        warn_repaired(
            f"node {node.label} reads '{tensor}' as {times(wanted)}: a Reshape stands before it"
        )
        names, shape = RESHAPE.of(label), f"shape_l{label}"
        sizes = np.array([0, *wanted], np.int64)
        self.initializers.append(Tensor.of(shape, sizes, DataType.INT64))
        self.nodes.append(make_node("Reshape", [tensor, shape], [names.output], name=names.node))
        self.shapes[names.output] = wanted
        return names.output

    def _flattened(self, tensor: str) -> str:
        """The tensor, flattened if it is spatial."""
        if len(self.shapes[tensor]) == 1:
            return tensor
        if tensor not in self.flat:
            warn_repaired(
                f"'{tensor}' is spatial, and a Gemm reads it: a Flatten stands between them"
            )
            self.flat[tensor] = f"{tensor}_flat"
            self._add_flatten(tensor, self.flat[tensor], f"flatten_{tensor}")
        return self.flat[tensor]

    def _add_flatten(self, tensor: str, output: str, name: str) -> None:
        self._add(make_node("Flatten", [tensor], [output], {"axis": 1}, name=name))

    def _refuse_size(self, where: str, what: str, given: Sizes) -> NoReturn:
        """Refuse a tensor of another size than its reader needs."""
        text = f"{what} {math.prod(given)}"
        if self.pool:
            text += f": {self.pool} before it changes the size, as NeatapticTS's network never did"
        raise ModelError(text, where=where, hint=_NO_POOLS if self.pool else None)


def _reading(node: Node, tensor: str) -> Node:
    return node.model_copy(update={"input": [tensor, *node.input[1:]]})
