"""Reshape before a Conv that reads a flat tensor, Flatten before a Gemm that reads a spatial one.

NeatapticTS's layers are flat lists of neurons, and its documents have no nodes between layers of
different shapes. The metadata holds the input shape of each Conv. Shapes here have no batch axis;
one that is unknown or impossible is None, and importing such a node says where it is wrong.
"""

import math
from collections.abc import Mapping
from typing import Any, NoReturn, TypeGuard

import numpy as np

from neat_onnx.arguments import is_whole
from neat_onnx.errors import ModelError, NetworkError, warn
from neat_onnx.libraries.neataptic_ts.onnx.spec import (
    CONV_SPECS,
    RESHAPE,
    NodeNames,
    flatten_of,
    items,
    layer_number,
)
from neat_onnx.model import DataType, Model, Node, Tensor, ValueInfo
from neat_onnx.model.draft import make_node
from neat_onnx.model.value import is_fixed
from neat_onnx.model.wiring import Wiring
from neat_onnx.network.window import Sizes, Window, times
from neat_onnx.operators.export.nodes import (
    Concat,
    Conv,
    Flatten,
    FlattenAttributes,
    Gemm,
    Windowed,
)

_SLIDING = ("Conv", "MaxPool", "AveragePool")
_ELEMENTWISE = (
    *("Abs", "Add", "Elu", "Identity", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Sin"),
    *("Softplus", "Softsign", "Tanh"),
)
_MAX_ELEMENTS = 1 << 20
"""Most elements of a layer; a larger one has no shape."""
_NO_POOLS = "The networks of NeatapticTS have no pools: export it again without pool2dMappings"


def warn_repaired(text: str) -> None:
    """Warn that the document was repaired."""
    warn(f"repaired: {text}")


def with_graph(model: Model, **changes: Any) -> Model:
    """Return the model with fields of its graph replaced."""
    return model.model_copy(update={"graph": model.graph.model_copy(update=changes)})


def renamed(names: list[str], old: str, new: str) -> list[str]:
    """Return the names with `old` replaced by `new`."""
    return [new if name == old else name for name in names]


def _slides(node: Node) -> TypeGuard[Windowed]:
    """Whether a node is a Conv or a pool."""
    return isinstance(node, Windowed) and node.op_type in _SLIDING


def window_of(node: Node, tensors: Mapping[str, Tensor]) -> Window | None:
    """Return the window of a Conv or a pool; None for other nodes, and where nothing says it."""
    if not _slides(node):
        return None
    kernel = _kernel_of(node, tensors)
    if not kernel or node.attributes.auto_pad != "NOTSET":
        return None
    try:
        return node.attributes.window(kernel)
    except NetworkError:
        return None


def _kernel_of(node: Windowed, tensors: Mapping[str, Tensor]) -> Sizes | None:
    if not isinstance(node, Conv):
        return node.attributes.kernel_shape
    weights = tensors.get(node.input[1])
    return None if weights is None else weights.dims[2:]


def _shape_after(
    node: Node, shapes: Mapping[str, Sizes], tensors: Mapping[str, Tensor]
) -> Sizes | None:
    """The shape of a node's first output; None if it is unknown."""
    given = [shapes.get(name) for name in node.input]
    first = given[0] if given else None
    if first is None:
        return None
    match node:
        case Gemm():
            weights = tensors.get(node.input[1])
            if weights is None or len(weights.dims) != 2:
                return None
            return (weights.dims[0 if node.attributes.transB else 1],)
        case Windowed() if _slides(node):
            return _positions(node, first, tensors)
        case Flatten() if node.attributes.axis == 1:
            return (math.prod(first),)
        case Concat() if node.attributes.axis in (1, -1):
            flat = [shape[0] for shape in given if shape is not None and len(shape) == 1]
            return (sum(flat),) if len(flat) == len(given) else None
        case _ if node.op_type in _ELEMENTWISE and all(shape == first for shape in given):
            return first
    return None


def _positions(node: Windowed, given: Sizes, tensors: Mapping[str, Tensor]) -> Sizes | None:
    window = window_of(node, tensors)
    if window is None or len(given) != len(window.kernel) + 1:
        return None
    channels = given[0]
    if isinstance(node, Conv):
        channels, seen, *_ = tensors[node.input[1]].dims
        declared = node.attributes.kernel_shape
        if seen * node.attributes.group != given[0] or declared not in (None, window.kernel):
            return None
    shape = (channels, *window.positions(given[1:]))
    return shape if 0 < math.prod(shape) <= _MAX_ELEMENTS else None


def _specs(model: Model) -> list[tuple[str, Sizes]]:
    """The number of each layer in the metadata, and the shape in which its Conv reads."""
    keys = ("layerIndex", "inChannels", "inHeight", "inWidth")
    found = [[entry.get(key) for key in keys] for entry in items(model, CONV_SPECS)]
    whole = [spec for spec in found if all(is_whole(size) and size > 0 for size in spec)]
    return [(str(layer), tuple(shape)) for layer, *shape in whole]


def with_space(model: Model) -> Model:
    """Insert a Reshape or a Flatten where a tensor has another shape than its reader needs."""
    if not any(_slides(node) for node in model.graph.node):
        return model
    walk = _Walk(model)
    for at, node in enumerate(model.graph.node):
        walk.add(at, node)
    for entry in model.graph.outputs:
        walk.finish(entry)
    if not walk.changed:
        return model
    initializers = [*model.graph.initializer, *walk.initializers]
    return with_graph(model, node=walk.nodes, initializer=initializers)


class _Walk:
    """A pass over a model's nodes in order.

    Attributes:
        nodes, initializers: those so far, and those that were inserted.
        shapes: the known shape of each tensor.
        window: the last Conv or pool before each spatial tensor.
        flat: the flattened tensor of each spatial one.
        changed: whether a node was inserted.
    """

    def __init__(self, model: Model) -> None:
        self.nodes: list[Node] = []
        self.initializers: list[Tensor] = []
        self.window: dict[str, Windowed] = {}
        self.flat: dict[str, str] = {}
        self.changed = False
        self.shapes: dict[str, Sizes] = {}
        for entry in model.graph.inputs:
            sizes = (entry.shape or ())[1:]
            if sizes and is_fixed(sizes):
                self.shapes[entry.name] = sizes
        self._tensors, self._specs = model.graph.tensors, _specs(model)
        self._is_flat = False  # set by the first flat input of a Conv: from there on specs decide
        wiring = Wiring(model.graph)
        self._names = {*wiring.given, *wiring.producer}

    def add(self, at: int, node: Node) -> None:
        """Append a node, and the one before it that its input needs."""
        given = self.shapes.get(node.input[0]) if node.input else None
        where = f"graph.node[{at}]"
        if given is not None and isinstance(node, Conv):
            node = _reading(node, self._spatial(where, node, given))
        elif given is not None and isinstance(node, Gemm):
            self._check_columns(where, node, given)
            node = _reading(node, self._flattened(node.input[0]))
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
            self._refuse_size("graph.outputs", what, entry.name, declared[0])
        if len(made) > 1:
            inner = self._fresh("Spatial")
            self.nodes = [_rewired(node, entry.name, inner) for node in self.nodes]
            self.shapes[inner] = made
            warn_repaired(f"the output '{entry.name}' is spatial: a Flatten stands before it")
            self._add_flatten(inner, NodeNames(f"flatten_{entry.name}", entry.name))

    def _add(self, node: Node) -> None:
        shape = _shape_after(node, self.shapes, self._tensors)
        self.nodes.append(node)
        if shape is None or not node.output:
            return
        self.shapes[node.output[0]] = shape
        if _slides(node):
            self.window[node.output[0]] = node
        elif not isinstance(node, Gemm) and node.input[0] in self.window:
            self.window[node.output[0]] = self.window[node.input[0]]

    def _spatial(self, where: str, node: Conv, given: Sizes) -> str:
        """The tensor that a Conv can read: its input, reshaped if need be."""
        tensor = node.input[0]
        wanted = self._wanted(node, given)
        if wanted in (None, given):
            return tensor
        assert wanted is not None
        if math.prod(wanted) != math.prod(given):
            what = f"node {node.label} reads {times(wanted)} values, its input has"
            self._refuse_size(where, what, tensor, math.prod(wanted))
        stem = layer_number(node.name or node.output[0]) or node.output[0]
        warn_repaired(
            f"node {node.label} reads '{tensor}' as {times(wanted)}: a Reshape stands before it"
        )
        names = RESHAPE.of(stem)
        output, shape = self._fresh(names.output), self._fresh(f"shape_l{stem}")
        sizes = np.array([0, *wanted], np.int64)
        self.initializers.append(Tensor.of(shape, sizes, DataType.INT64))
        self._add(make_node("Reshape", [tensor, shape], [output], name=names.node))
        self.shapes[output] = wanted
        if tensor in self.window:
            self.window[output] = self.window[tensor]
        self.changed = True
        return output

    def _wanted(self, node: Conv, given: Sizes) -> Sizes | None:
        """The shape in which a Conv reads a tensor of shape `given`; None for the same."""
        kernel = _kernel_of(node, self._tensors)
        self._is_flat |= bool(kernel) and len(given) == 1
        if not kernel or not self._is_flat:
            return None
        channels, size = self._tensors[node.input[1]].dims[1] * node.attributes.group, given[0]
        layer, specs = layer_number(node.name or node.output[0]), self._specs
        own = {shape for number, shape in specs if number == layer}
        whole = math.prod(given)
        fitting = {s for _, s in specs if s[0] == channels and math.prod(s) == whole}
        for found in (own, fitting):
            if len(found) == 1:
                return found.pop()
        if len(given) > 1:
            return None
        possible = self._possible(node, kernel, channels, size)
        if len(possible) != 1:
            ways = ", ".join(map(times, possible)) or "none"
            raise ModelError(
                f"node {node.label}: its input is flat, {size} values, and nothing tells its "
                f"channels, rows and columns (possible: {ways})",
                where=node.name or None,
                hint=f"The metadata {CONV_SPECS} says it",
            )
        return possible[0]

    def _possible(self, node: Conv, kernel: Sizes, channels: int, size: int) -> list[Sizes]:
        """The shapes of a flat tensor over which a Conv's window can slide."""
        space, rest = divmod(size, max(channels, 1))
        window = window_of(node, self._tensors)
        if rest or space > _MAX_ELEMENTS or window is None or len(kernel) not in (1, 2):
            return []
        spaces: list[Sizes] = [(space,)]
        if len(kernel) == 2:
            spaces = [(rows, space // rows) for rows in range(1, space + 1) if space % rows == 0]
        return [(channels, *sizes) for sizes in spaces if 0 not in window.positions(sizes)]

    def _flattened(self, tensor: str) -> str:
        """The tensor, flattened if it is spatial."""
        if len(self.shapes[tensor]) == 1:
            return tensor
        if tensor not in self.flat:
            warn_repaired(
                f"'{tensor}' is spatial, and a Gemm reads it: a Flatten stands between them"
            )
            names = flatten_of(tensor)
            self.flat[tensor] = self._fresh(names.output)
            self._add_flatten(tensor, NodeNames(names.node, self.flat[tensor]))
        return self.flat[tensor]

    def _add_flatten(self, tensor: str, names: NodeNames) -> None:
        axis = FlattenAttributes(axis=1)
        self._add(Flatten(name=names.node, input=[tensor], output=[names.output], attributes=axis))
        self.changed = True

    def _check_columns(self, where: str, node: Gemm, given: Sizes) -> None:
        weights = self._tensors.get(node.input[1])
        if weights is None or len(weights.dims) != 2:
            return
        columns = weights.dims[1 if node.attributes.transB else 0]
        if math.prod(given) != columns:
            what = f"node {node.label} has {columns} columns, its input has"
            self._refuse_size(where, what, node.input[0], columns)

    def _refuse_size(self, where: str, what: str, tensor: str, wanted: int) -> NoReturn:
        """Refuse a tensor of another size than its reader needs."""
        size, window = math.prod(self.shapes[tensor]), self.window.get(tensor)
        reason, hint = "", None
        if window is not None:
            effect = "smaller" if size < wanted else "larger"
            is_pool = not isinstance(window, Conv)
            reason = f": {window.label} before it makes the layer {effect}" + (
                ", which NeatapticTS's network never did" if is_pool else " than it should be"
            )
            hint = _NO_POOLS if is_pool else "Correct its strides and pads"
        raise ModelError(f"{what} {size}{reason}", where=where, hint=hint)

    def _fresh(self, name: str) -> str:
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name


def _reading(node: Node, tensor: str) -> Node:
    return node.model_copy(update={"input": [tensor, *node.input[1:]]})


def _rewired(node: Node, old: str, new: str) -> Node:
    ends = {"input": renamed(node.input, old, new), "output": renamed(node.output, old, new)}
    return node.model_copy(update=ends)
