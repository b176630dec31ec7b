"""The recurrent layers of a graph, and the axes of the graph's inputs that they run along."""

from collections.abc import Sequence
from functools import cached_property

from neat_onnx.model import Model, Node, ValueInfo
from neat_onnx.model.inference import TensorFacts, inferred_facts
from neat_onnx.model.value import Extent
from neat_onnx.model.draft import with_graph
from neat_onnx.passes.elementwise import MOVING

Axes = tuple[int, ...]

_RECURRENT = ("RNN", "GRU", "LSTM")
_MOVING = MOVING | {"Cast", "Dropout", "Expand"}  # and Concat, which has several inputs


def is_recurrent(node: Node) -> bool:
    """Whether a node is RNN, GRU or LSTM."""
    return node.op_type in _RECURRENT and not node.domain and bool(node.input)


def _first_sequence(node: Node) -> str:
    """The first tensor that a Scan with states scans; "" of any other node."""
    if node.op_type != "Scan" or node.domain:
        return ""
    states = len(node.input) - int(node.given_attributes.get("num_scan_inputs", 0))
    return node.input[states] if 0 < states < len(node.input) else ""


def _axis_of_first(scan: Node) -> int:
    """The axis that a Scan runs along, of its first sequence."""
    axes = scan.given_attributes.get("scan_input_axes")
    return int(axes[0]) if axes else 0


class RecurrentLayers:
    """The recurrent layers of a model, each a node.

    Attributes:
        nodes: the layers, in order.
        scans: Scans that carry states.
        entries: the graph inputs by name, without those that are constant. Each axis of no fixed
            size has a name.
    """

    def __init__(self, model: Model) -> None:
        graph, constant = model.graph, {tensor.name for tensor in model.graph.initializer}
        self.nodes = [node for node in graph.node if is_recurrent(node)]
        self.scans = [node for node in graph.node if _first_sequence(node)]
        self._made = {name: node for node in graph.node for name in node.output if name}
        inputs = [_named(entry) for entry in graph.inputs if entry.name not in constant]
        self.entries = {entry.name: entry for entry in inputs}
        self._model = model

    @cached_property
    def _facts(self) -> dict[str, TensorFacts]:
        inputs = [self.entries.get(entry.name, entry) for entry in self._model.graph.inputs]
        return inferred_facts(with_graph(self._model, inputs=inputs))

    def input_of(self, node: Node) -> tuple[str, Axes]:
        """The graph input whose axes a layer runs along, by their names in onnx's shape inference.

        Returns:
            The name of the input, and its axes of time and the batch; of time alone where the batch
            is added later; "" and () where they are not known.
        """
        shape = self._shape(node)
        for name, entry in self.entries.items() if shape else ():
            if axes := _axes(entry.shape or (), *shape):
                return name, axes
        return "", ()

    def shape_of(self, name: str) -> tuple[Extent, ...]:
        """The sizes of a tensor by onnx's shape inference; () if nothing is known of it."""
        return self._facts.get(name, TensorFacts(None, None)).shape or ()

    def _shape(self, node: Node) -> tuple[Extent, ...]:
        """The sizes of time and the batch of a layer's sequence; () if nothing is known of it.

        Any axis of a Scan's sequence but the first may be the batch.
        """
        if sequence := _first_sequence(node):
            shape, axis = self.shape_of(sequence), _axis_of_first(node)
            return (shape[axis], None) if -len(shape) <= axis < len(shape) else ()
        shape = self.shape_of(node.input[0])
        if len(shape) != 3:
            return ()
        return shape[:2][:: -1 if node.given_attributes.get("layout") else 1]

    def has_open_sequence(self, node: Node) -> bool:
        """Whether a layer runs along an axis of a graph input that has no fixed size.

        Where its axis is not known, whether an input has such an axis beside the batch.
        """
        name, axes = self.input_of(node)
        if axes:
            return isinstance((self.entries[name].shape or ())[axes[0]], str)
        if isinstance(next(iter(self._shape(node)), None), int):
            return False
        shapes = [entry.shape or () for entry in self.entries.values()]
        return any(sum(isinstance(size, str) for size in sizes) > 1 for sizes in shapes)

    def sources(self, name: str) -> set[str]:
        """The graph inputs, and outputs of layers, that a tensor's elements are from.

        Empty if elements are computed.
        """
        found: set[str] = set()
        seen, waiting = {name}, [name]
        while waiting:
            tensor = waiting.pop()
            node = self._made.get(tensor)
            if tensor in self.entries or (node is not None and is_recurrent(node)):
                found.add(tensor)
            elif node is None or not (reads := _moved(node)):
                return set()
            else:
                new = [each for each in reads if each and each not in seen]
                seen.update(new)
                waiting += new
        return found


def has_unbatched_sequence(model: Model) -> bool:
    """Whether a layer runs along the only axis of an input that has no fixed size."""
    layers = RecurrentLayers(model)
    return any(
        len(layers.input_of(node)[1]) == 1 and layers.has_open_sequence(node)
        for node in layers.nodes
    )


def _axes(sizes: tuple[Extent, ...], time: Extent, batch: Extent) -> Axes:
    """The axes of an input that have these sizes, of which one may be unknown; () if none has."""
    at: dict[Extent, int] = {size: axis for axis, size in enumerate(sizes) if isinstance(size, str)}
    first, second = at.get(time), at.get(batch)
    if first is not None and second is not None:
        return (first, second)
    if first is not None and batch == 1:
        ones = [axis for axis in (0, 1) if len(sizes) > 2 and sizes[axis] == 1]
        return (first, *ones[:1])
    known = first if second is None else second
    others = [axis for axis in at.values() if axis != known]
    if known is None or len(others) != 1:
        return ()
    return (known, others[0]) if second is None else (others[0], known)


def _moved(node: Node) -> Sequence[str]:
    """The inputs whose elements a node moves; none if it computes."""
    if node.op_type == "Concat":
        return node.input
    return node.input[:1] if node.op_type in _MOVING and not node.domain else ()


def _named(entry: ValueInfo) -> ValueInfo:
    """An input with names for its axes of no fixed size."""
    sizes = [
        f"{entry.name} axis {axis}" if size is None else size
        for axis, size in enumerate(entry.shape or ())
    ]
    return entry if entry.shape is None else ValueInfo.of(entry.name, entry.elem_type, sizes)
