"""A graph under construction: nodes, initializers, and names that are unique."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.errors import NetworkError
from neat_onnx.model import DataType, Node, Tensor, node_class
from neat_onnx.model.draft import FreshNames, renamed

Operator = str | type[Node]
"""An operator by its op_type, or by its class."""

_MIN_ELEMENTS_SHARED = 2
_MIN_ELEMENTS_SHARED_BY_LAYERS = 32  # of a matrix


class GraphBuilder:
    """Collect nodes and initializers, in order.

    Names that callers pass are wishes: every method returns the name that was given.

    Args:
        data_type: float type of initializers.
        opset: version of ONNX's operators that the nodes are of.
        reserved: names that nothing else may get, such as the names of the graph's inputs and
            outputs.

    Attributes:
        nodes, initializers: the graph so far.
        produced: the outputs of nodes: inputs and initializers are not produced.
        renamed: the names that tensors get in the end, if others: outputs of the graph.
        far_from_zero: the digits of formulas far from 0 count, as values grow; see `writable`.
        layered: each level reads the one before only. NeatapticTS reads such a graph, and looks for
            the weights of each layer by name.
    """

    far_from_zero: bool = False
    layered: bool = False

    def __init__(self, data_type: DataType, opset: int, reserved: Iterable[str] = ()) -> None:
        self.data_type, self.opset = data_type, opset
        self.nodes: list[Node] = []
        self.initializers: dict[str, Tensor] = {}
        self._names = FreshNames(reserved)
        self._made: dict[str, str] = {}
        self._by_content: dict[tuple[Any, ...], str] = {}
        self.produced: set[str] = set()
        self.renamed: dict[str, str] = {}

    def fresh(self, name: str) -> str:
        """Return `name`, or `name_2`, …: a name that nothing has yet."""
        return self._names.like(name)

    def emit(
        self, operator: Operator, inputs: Sequence[str], output: str, name: str, **attributes: Any
    ) -> str:
        """Add a node with one output, and return the name of that."""
        return self.emit_all(operator, inputs, [output], name, **attributes)[0]

    def emit_all(
        self,
        operator: Operator,
        inputs: Sequence[str],
        outputs: Sequence[str],
        name: str,
        **attributes: Any,
    ) -> list[str]:
        """Add a node, and return the names of its outputs."""
        given = [self.fresh(each) for each in outputs]
        self.produce(operator, inputs, given, name, **attributes)
        return given

    def produce(
        self,
        operator: Operator,
        inputs: Sequence[str],
        outputs: str | Sequence[str],
        name: str,
        **attributes: Any,
    ) -> None:
        """Add a node whose outputs have exactly these names, which were reserved before."""
        known = node_class(operator) if isinstance(operator, str) else operator
        given: Any = known.model_fields["attributes"].annotation
        node = known(
            name=self.fresh(f"node:{name}").removeprefix("node:"),
            input=list(inputs),
            output=[outputs] if isinstance(outputs, str) else list(outputs),
            attributes=given(**attributes),
        )
        self.nodes.append(node)
        self.produced.update(node.output)

    def take_nodes(self) -> list[Node]:
        """Return the nodes, `renamed`, and begin anew, with the same names and initializers."""
        names, taken, self.nodes = self.renamed, self.nodes, []
        return [
            node if names.keys().isdisjoint((*node.input, *node.output)) else renamed(node, names)
            for node in taken
        ]

    # --- constants -------------------------------------------------------------------------------

    def initializer(
        self, name: str, values: npt.ArrayLike, data_type: DataType | None = None
    ) -> str:
        """Add an initializer, of the graph's float type unless another is given; return its name.

        One of several numbers that is there already, bit for bit, is shared: steps of a recurrent
        layer that was unrolled have the same weights. Layers share large matrices only: a vector
        of biases of 0 belongs to each.

        Raises:
            NetworkError: a value is beyond the range of that type.
        """
        unique, kind = self.fresh(name), data_type or self.data_type
        _require_range(unique, values, kind)
        tensor = Tensor.of(unique, values, kind)
        least = _MIN_ELEMENTS_SHARED_BY_LAYERS if self.layered else _MIN_ELEMENTS_SHARED
        if tensor.values.size < least or (self.layered and len(tensor.dims) < 2):
            self.initializers[unique] = tensor
            return unique
        content = kind, tensor.dims, sha256(tensor.values.tobytes()).digest()
        known = self._by_content.setdefault(content, unique)
        self.initializers.setdefault(known, tensor)
        return known

    def integers(self, name: str, values: Sequence[int]) -> str:
        """Add a list of int64, such as a shape; return its name."""
        return self.initializer(name, np.array(values, np.int64), DataType.INT64)

    def shared_integers(self, stem: str, values: Sequence[int]) -> str:
        """Return the list of int64 that all who ask for these values under this stem share."""
        name = "_".join([stem, *map(str, values)])
        return self.once(name, lambda: self.integers(name, values))

    def scalar(self, value: float) -> str:
        """Return the initializer of rank 0 that holds `value`, shared by all who ask for it."""
        name = f"const_{value!r}"
        return self.once(name, lambda: self.initializer(name, np.float64(value)))

    def once(self, key: str, make: Callable[[], str]) -> str:
        """Return the tensor that `make` added when this key was first asked for."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


def _require_range(name: str, values: npt.ArrayLike, data_type: DataType) -> None:
    """Refuse values that become ∞: a sum of duplicate connections, a folded product."""
    if data_type.dtype.kind != "f":
        return
    flat = np.asarray(values).ravel()
    beyond = np.flatnonzero(~(np.abs(flat) <= np.finfo(data_type.dtype).max))
    if beyond.size:
        kind = data_type.dtype.name
        raise NetworkError(
            f"{name} would hold {float(flat[beyond[0]]):.6g}, beyond the range of {kind}",
            hint="Sums of duplicate connections, products that fold=True makes and constants of "
            'formulas have to fit; dtype="float64" holds more than float32',
        )
