"""Reshape before a Conv that reads a flat tensor, Flatten before a Gemm that reads a spatial one.

NeatapticTS's layers are flat lists of neurons, and its documents have no nodes between layers of
different shapes. The metadata holds the input shape of each Conv. Shapes here have no batch axis;
one that is unknown or impossible is None, and importing such a node says where it is wrong.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from pydantic import Field, ValidationError

from neat_onnx.errors import ModelError, NetworkError, warn
from neat_onnx.libraries.neataptic_ts.onnx.spec import (
    CONV_SPECS,
    RESHAPE,
    NodeNames,
    flatten_of,
    items,
    layer_number,
)
from neat_onnx.model import DataType, Graph, Model, Node, Tensor, ValueInfo
from neat_onnx.model.value import is_fixed
from neat_onnx.model.wiring import Wiring
from neat_onnx.network.window import Sizes, Window, times
from neat_onnx.operators.export.layout.shaping import Concat, Flatten, FlattenAttributes, Reshape
from neat_onnx.operators.export.spatial.nodes import AveragePool, Conv, MaxPool
from neat_onnx.operators.export.sums.dense import Gemm
from neat_onnx.parsing import ForeignDocument

SLIDING = Conv | MaxPool | AveragePool
_ELEMENTWISE = frozenset(
    (
        *("Abs", "Add", "Elu", "Identity", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Sin"),
        *("Softplus", "Softsign", "Tanh"),
    )
)
MAX_ELEMENTS = 1 << 20
"""Most elements of a layer; a larger one has no shape."""


def input_shapes(graph: Graph) -> dict[str, Sizes]:
    """Return the fixed shapes of the graph's inputs, by name."""
    shapes = {}
    for entry in graph.inputs:
        sizes = (entry.shape or ())[1:]
        if sizes and is_fixed(sizes):
            shapes[entry.name] = sizes
    return shapes


def shape_after(
    node: Node, shapes: Mapping[str, Sizes], tensors: Mapping[str, Tensor]
) -> Sizes | None:
    """Return the shape of a node's first output, or None if it is unknown."""
    given = [shapes.get(name) for name in node.input]
    known = [shape for shape in given if shape is not None]
    if not known or given[0] is None:
        return None
    match node:
        case Gemm():
            return _columns(node, tensors)
        case Conv() | MaxPool() | AveragePool():
            return _positions(node, given[0], tensors)
        case Flatten() if node.attributes.axis == 1:
            return (math.prod(given[0]),)
        case Concat() if node.attributes.axis in (1, -1) and len(known) == len(given):
            flat = all(len(shape) == 1 for shape in known)
            return (sum(shape[0] for shape in known),) if flat else None
        case _ if node.op_type in _ELEMENTWISE and all(shape == given[0] for shape in given):
            return given[0]
    return None


def kernel_of(node: SLIDING, tensors: Mapping[str, Tensor]) -> Sizes | None:
    """Return the kernel of a node, or None if its weights are no initializer."""
    if not isinstance(node, Conv):
        return node.attributes.kernel_shape
    weights = tensors.get(node.input[1])
    return None if weights is None else weights.dims[2:]


def window_of(node: SLIDING, kernel: Sizes) -> Window | None:
    """Return the window of a node, or None if its attributes allow none."""
    if node.attributes.auto_pad != "NOTSET":
        return None
    try:
        return node.attributes.window(kernel)
    except NetworkError:
        return None


def _columns(node: Gemm, tensors: Mapping[str, Tensor]) -> Sizes | None:
    weights = tensors.get(node.input[1])
    if weights is None or len(weights.dims) != 2:
        return None
    return (weights.dims[0 if node.attributes.transB else 1],)


def _positions(node: SLIDING, given: Sizes, tensors: Mapping[str, Tensor]) -> Sizes | None:
    kernel = kernel_of(node, tensors)
    window = window_of(node, kernel) if kernel else None
    if window is None or len(given) != len(window.kernel) + 1:
        return None
    channels = given[0]
    if isinstance(node, Conv):
        channels, seen, *_ = tensors[node.input[1]].dims
        declared = node.attributes.kernel_shape
        if seen * node.attributes.group != given[0] or declared not in (None, kernel):
            return None
    shape = (channels, *window.positions(given[1:]))
    return shape if 0 < math.prod(shape) <= MAX_ELEMENTS else None


class ConvInput(ForeignDocument):
    """An entry of `conv2d_specs`, read for the shape in which a Conv sees the layer before it."""

    layer_index: int = Field(alias="layerIndex")
    channels: int = Field(alias="inChannels", ge=1)
    rows: int = Field(alias="inHeight", ge=1)
    columns: int = Field(alias="inWidth", ge=1)

    @property
    def shape(self) -> Sizes:
        """Channels, rows, columns."""
        return self.channels, self.rows, self.columns


def warn_repaired(text: str) -> None:
    """Warn that the document was repaired."""
    warn(f"repaired: {text}")


def with_graph(model: Model, **changes: Any) -> Model:
    """Return the model with fields of its graph replaced."""
    return model.model_copy(update={"graph": model.graph.model_copy(update=changes)})


def renamed(names: list[str], old: str, new: str) -> list[str]:
    """Return the names with `old` replaced by `new`."""
    return [new if name == old else name for name in names]


_NO_POOLS = "The networks of NeatapticTS have no pools: export it again without pool2dMappings"


class ConvInputs:
    """The input shapes of a model's convolutions."""

    def __init__(self, model: Model) -> None:
        self._tensors = model.graph.tensors
        self._specs = _specs(model)
        self._is_flat = False  # set by the first flat input: from there on specs decide

    def shape_for(self, node: Conv, given: Sizes) -> Sizes | None:
        """Return the shape in which a Conv reads a tensor of shape `given`; None for the same."""
        kernel = kernel_of(node, self._tensors)
        if not kernel:
            return None
        self._is_flat |= len(given) == 1
        if not self._is_flat:
            return None
        channels = self._tensors[node.input[1]].dims[1] * node.attributes.group
        specified = self._specified(node, channels, math.prod(given))
        if specified is not None or len(given) > 1:
            return specified
        possible = _possible(node, kernel, channels, given[0])
        if len(possible) != 1:
            ways = ", ".join(map(times, possible)) or "none"
            raise ModelError(
                f"node {node.label}: its input is flat, {given[0]} values, and nothing tells its "
                f"channels, rows and columns (possible: {ways})",
                where=node.name or None,
                hint=f"The metadata {CONV_SPECS} says it",
            )
        return possible[0]

    def layer_of(self, node: Conv) -> str:
        """Return the number of the layer in a Conv's name, or ""."""
        return layer_number(node.name or node.output[0])

    def _specified(self, node: Conv, channels: int, size: int) -> Sizes | None:
        """Return the shape in the layer's own spec, else that of all specs that fit."""
        layer = self.layer_of(node)
        own = {spec.shape for spec in self._specs if str(spec.layer_index) == layer}
        fitting = {
            spec.shape
            for spec in self._specs
            if spec.channels == channels and math.prod(spec.shape) == size
        }
        for found in (own, fitting):
            if len(found) == 1:
                return found.pop()
        return None


def _specs(model: Model) -> list[ConvInput]:
    found = []
    for entry in items(model, CONV_SPECS):
        try:
            found.append(ConvInput.model_validate(entry))
        except ValidationError:
            continue  # without it, the input must have one possible shape, or is refused
    return found


def _possible(node: Conv, kernel: Sizes, channels: int, size: int) -> list[Sizes]:
    """Return the shapes of a flat tensor over which a Conv's window can slide."""
    space, rest = divmod(size, max(channels, 1))
    window = window_of(node, kernel)
    if rest or space > MAX_ELEMENTS or window is None or len(kernel) not in (1, 2):
        return []
    spaces: list[Sizes] = [(space,)]
    if len(kernel) == 2:
        spaces = [(rows, space // rows) for rows in range(1, space + 1) if space % rows == 0]
    return [(channels, *sizes) for sizes in spaces if 0 not in window.positions(sizes)]


def with_space(model: Model) -> Model:
    """Insert a Reshape or a Flatten where a tensor has another shape than its reader needs."""
    if not any(isinstance(node, SLIDING) for node in model.graph.node):
        return model
    walk = _Walk(model, ConvInputs(model))
    for at, node in enumerate(model.graph.node):
        walk.add(at, node)
    for entry in model.graph.outputs:
        walk.finish(entry)
    if not walk.changed:
        return model
    initializers = [*model.graph.initializer, *walk.initializers]
    return with_graph(model, node=walk.nodes, initializer=initializers)


@dataclass
class _Walk:
    """A pass over a model's nodes in order.

    Attributes:
        model: the model.
        specs: the input shapes of its convolutions.
        nodes: the nodes so far, inserted ones included.
        initializers: the initializers that inserted nodes read.
        shapes: the known shape of each tensor, without the batch axis.
        window: the last Conv or pool before each spatial tensor.
        flat: the flattened tensor of each spatial one.
        changed: whether a node was inserted.
    """

    model: Model
    specs: ConvInputs
    nodes: list[Node] = field(default_factory=list)
    initializers: list[Tensor] = field(default_factory=list)
    shapes: dict[str, Sizes] = field(default_factory=dict)
    window: dict[str, SLIDING] = field(default_factory=dict)
    flat: dict[str, str] = field(default_factory=dict)
    changed: bool = False

    def __post_init__(self) -> None:
        self.shapes |= input_shapes(self.model.graph)
        self._tensors = self.model.graph.tensors
        wiring = Wiring(self.model.graph)
        self._names = {*wiring.given, *wiring.producer}

    def add(self, at: int, node: Node) -> None:
        """Append a node, and the one before it that its input needs."""
        given = self.shapes.get(node.input[0]) if node.input else None
        if given is not None:
            if isinstance(node, Conv):
                node = self._read(node, self._spatial(at, node, given))
            elif isinstance(node, MaxPool | AveragePool):
                self._check_spatial(at, node, given)
            elif isinstance(node, Gemm):
                self._check_columns(at, node, given)
                node = self._read(node, self._flat(node.input[0]))
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
        shape = shape_after(node, self.shapes, self._tensors)
        self.nodes.append(node)
        if shape is None or not node.output:
            return
        self.shapes[node.output[0]] = shape
        if isinstance(node, SLIDING):
            self.window[node.output[0]] = node
        elif not isinstance(node, Gemm) and node.input[0] in self.window:
            self.window[node.output[0]] = self.window[node.input[0]]

    def _read(self, node: Node, tensor: str) -> Node:
        return node.model_copy(update={"input": [tensor, *node.input[1:]]})

    def _spatial(self, at: int, node: Conv, given: Sizes) -> str:
        """Return a tensor that a Conv can read, reshaped if need be."""
        tensor = node.input[0]
        wanted = self.specs.shape_for(node, given)
        if wanted is None or wanted == given:
            return tensor
        if math.prod(wanted) != math.prod(given):
            what = f"node {node.label} reads {times(wanted)} values, its input has"
            self._refuse_size(f"graph.node[{at}]", what, tensor, math.prod(wanted))
        stem = self.specs.layer_of(node) or node.output[0]
        warn_repaired(
            f"node {node.label} reads '{tensor}' as {times(wanted)}: a Reshape stands before it"
        )
        names = RESHAPE.of(stem)
        output, shape = self._fresh(names.output), self._fresh(f"shape_l{stem}")
        sizes = np.array([0, *wanted], np.int64)
        self.initializers.append(Tensor.of(shape, sizes, DataType.INT64))
        self._add(Reshape(name=names.node, input=[tensor, shape], output=[output]))
        self.shapes[output] = wanted
        if tensor in self.window:
            self.window[output] = self.window[tensor]
        self.changed = True
        return output

    def _flat(self, tensor: str) -> str:
        """Return the tensor, flattened if it is spatial."""
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

    def _check_spatial(self, at: int, node: MaxPool | AveragePool, given: Sizes) -> None:
        if len(given) == 1:
            raise ModelError(
                f"node {node.label}: its input is a flat layer of {given[0]} neurons, and nothing "
                "says its channels, rows and columns",
                where=f"graph.node[{at}]",
                hint=_NO_POOLS,
            )

    def _check_columns(self, at: int, node: Gemm, given: Sizes) -> None:
        weights = self._tensors.get(node.input[1])
        if weights is None or len(weights.dims) != 2:
            return
        columns = weights.dims[1 if node.attributes.transB else 0]
        if math.prod(given) != columns:
            what = f"node {node.label} has {columns} columns, its input has"
            self._refuse_size(f"graph.node[{at}]", what, node.input[0], columns)

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


def _rewired(node: Node, old: str, new: str) -> Node:
    ends = {"input": renamed(node.input, old, new), "output": renamed(node.output, old, new)}
    return node.model_copy(update=ends)
