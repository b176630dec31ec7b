"""Space: a flat tensor gets channels, rows and columns before a Conv, and loses them before a Gemm.

NeatapticTS's layers are flat lists of neurons, and its documents hand them from node to node as if
ONNX did not care. How a Conv sees its input is in the metadata.
"""

import math
import re
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.libraries.neataptic_ts.onnx.repair.shapes import SLIDING, input_shapes, shape_after
from neat_onnx.libraries.neataptic_ts.onnx.repair.specs import Specs
from neat_onnx.libraries.neataptic_ts.onnx.repair.telling import tell, with_graph
from neat_onnx.model import DataType, Model, Node, Tensor, ValueInfo
from neat_onnx.model.wiring import Wiring
from neat_onnx.network.window import Sizes, times
from neat_onnx.operators.dense import Gemm
from neat_onnx.operators.shaping import Flatten, FlattenAttributes, Reshape
from neat_onnx.operators.spatial.nodes import AveragePool, Conv, MaxPool

_NO_POOLS = "The networks of NeatapticTS have no pools: export it again without pool2dMappings"
_NUMBERED = re.compile(r"(Layer|Pool)_(\d+)")
_FLAT_NAMES = {"Layer": ("Flat_", "flatten_l"), "Pool": ("PoolFlat_", "flatten_after_l")}


def with_space(model: Model) -> Model:
    """The model with a Reshape or a Flatten where a tensor is not shaped as its reader wants it.

    Raises:
        ModelError: a layer has not the size that its reader wants, or nothing tells its shape.
    """
    if not any(isinstance(node, SLIDING) for node in model.graph.node):
        return model
    walk = _Walk(model, Specs(model))
    for at, node in enumerate(model.graph.node):
        walk.take(at, node)
    for entry in model.graph.outputs:
        walk.give(entry)
    if not walk.changed:
        return model
    initializers = [*model.graph.initializer, *walk.initializers]
    return with_graph(model, node=walk.nodes, initializer=initializers)


@dataclass
class _Walk:
    """What has been seen of a model, from its inputs on.

    Attributes:
        model, specs: what is walked through, and what its metadata says of convolutions.
        nodes, initializers: the repaired ones, and those that the repairs take.
        shapes: of each tensor without the batch, where it is known.
        window: of a tensor that windows have slid over, the last node of them.
        flat: what has been flattened, to what.
        changed: there was something to repair.
    """

    model: Model
    specs: Specs
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

    def take(self, at: int, node: Node) -> None:
        """The next node."""
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

    def give(self, entry: ValueInfo) -> None:
        """An output of the graph: flat, if it is declared so."""
        made, declared = self.shapes.get(entry.name), (entry.shape or ())[1:]
        if made is None or len(declared) != 1 or not isinstance(declared[0], int):
            return
        if math.prod(made) != declared[0]:
            what = f"graph output '{entry.name}' has {declared[0]} columns, what produces it has"
            self._refuse_size("graph.outputs", what, entry.name, declared[0])
        if len(made) > 1:
            inner = self._fresh("Spatial")
            self.nodes = [_renamed(node, entry.name, inner) for node in self.nodes]
            self.shapes[inner] = made
            tell(f"the output '{entry.name}' is spatial: a Flatten stands before it")
            self._add_flatten(inner, entry.name, f"flatten_{entry.name}")

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
        """The tensor that a Conv can read."""
        tensor = node.input[0]
        wanted = self.specs.shape_for(node, given)
        if wanted is None or wanted == given:
            return tensor
        if math.prod(wanted) != math.prod(given):
            what = f"node {node.label} reads {times(wanted)} values, its input has"
            self._refuse_size(f"graph.node[{at}]", what, tensor, math.prod(wanted))
        stem = self.specs.layer_of(node) or node.output[0]
        tell(f"node {node.label} reads '{tensor}' as {times(wanted)}: a Reshape stands before it")
        output, shape = self._fresh(f"Spatial_{stem}"), self._fresh(f"shape_l{stem}")
        sizes = np.array([0, *wanted], np.int64)
        self.initializers.append(Tensor.of(shape, sizes, DataType.INT64))
        self._add(Reshape(name=f"reshape_l{stem}", input=[tensor, shape], output=[output]))
        self.shapes[output] = wanted
        if tensor in self.window:
            self.window[output] = self.window[tensor]
        self.changed = True
        return output

    def _flat(self, tensor: str) -> str:
        """The tensor with its elements in one row."""
        if len(self.shapes[tensor]) == 1:
            return tensor
        if tensor not in self.flat:
            found = _NUMBERED.fullmatch(tensor)
            prefixes = _FLAT_NAMES[found[1]] if found else (f"{tensor}_flat", f"flatten_{tensor}")
            number = found[2] if found else ""
            tell(f"'{tensor}' is spatial, and a Gemm reads it: a Flatten stands between them")
            self.flat[tensor] = self._fresh(prefixes[0] + number)
            self._add_flatten(tensor, self.flat[tensor], prefixes[1] + number)
        return self.flat[tensor]

    def _add_flatten(self, tensor: str, output: str, name: str) -> None:
        axis = FlattenAttributes(axis=1)
        self._add(Flatten(name=name, input=[tensor], output=[output], attributes=axis))
        self.changed = True

    def _check_spatial(self, at: int, node: MaxPool | AveragePool, given: Sizes) -> None:
        if len(given) == 1:
            raise ModelError(
                f"node {node.label}: its input is a flat layer of {given[0]} neurons, and nothing "
                "tells its channels, rows and columns",
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
        """Refuse that a tensor has another size than what reads it wants."""
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


def _renamed(node: Node, old: str, new: str) -> Node:
    def swapped(names: list[str]) -> list[str]:
        return [new if name == old else name for name in names]

    return node.model_copy(update={"input": swapped(node.input), "output": swapped(node.output)})
