"""The bytes of a model's file, counted without writing it.

Many forms of one model differ in a few nodes: the parts that they share are measured once.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from neat_onnx.model.attributes import Attributes
from neat_onnx.model.model import Model
from neat_onnx.model.node import Node
from neat_onnx.model.proto import node_to_proto, tensor_to_proto
from neat_onnx.model.tensor import Tensor

_BITS_PER_BYTE = 7  # of a length
_MAX_ELEMENTS_KEPT = 1 << 12  # of a tensor that is remembered
Part = TypeVar("Part")
Content = tuple[object, ...]
"""The type, the dims and the bytes of a tensor."""


class FileSizes:
    """The bytes of models that differ from one in nodes and constants alone, without graphs inside
    of nodes.

    Protobuf writes each field as a byte for its number, the length of its content, and the content.
    """

    def __init__(self, model: Model) -> None:
        empty = model.graph.model_copy(update={"node": [], "initializer": []})
        proto = model.model_copy(update={"graph": empty}).to_proto()
        self._inside: int = proto.graph.ByteSize()
        self._around: int = proto.ByteSize() - _field(self._inside)
        self._known: dict[int, tuple[object, int]] = {}  # with the part, whose number stays its own
        self._contents: dict[int, tuple[Tensor, Content]] = {}

    def content(self, tensor: Tensor) -> Content:
        """All of a tensor but its name."""
        if id(tensor) in self._contents:
            return self._contents[id(tensor)][1]
        found = tensor.data_type, tensor.dims, tensor.to_bytes()
        if tensor.size <= _MAX_ELEMENTS_KEPT:
            self._contents[id(tensor)] = tensor, found
        return found

    def of(self, model: Model, names: Mapping[str, str] | None = None) -> int:
        """The bytes of a model.

        Args:
            model: one of these.
            names: of initializers, the names of equal ones that stand in place of them.
        """
        others = {name: other for name, other in (names or {}).items() if other != name}
        kept = (each for each in model.graph.initializer if each.name not in others)
        inside = self._inside + sum(_field(self._of_tensor(tensor)) for tensor in kept)
        for node in model.graph.node:
            if others.keys().isdisjoint(node.input):
                inside += self._measured(node, self._field_of_node)
            else:
                reads = [others.get(name, name) for name in node.input]
                inside += self._field_of_node(node.model_copy(update={"input": reads}))
        return self._around + _field(inside)

    def _field_of_node(self, node: Node) -> int:
        texts = (text for text in (node.op_type, node.name, node.domain) if text)
        listed = sum(map(_text, (*node.input, *node.output, *texts)))
        given = node.attributes
        known = self._measured(given, _bytes_of_attributes) if given.model_fields_set else 0
        return _field(listed + known)

    def _of_tensor(self, tensor: Tensor) -> int:
        if tensor.size > _MAX_ELEMENTS_KEPT:
            return _bytes_of_tensor(tensor)
        return self._measured(tensor, _bytes_of_tensor)

    def _measured(self, part: Part, measure: Callable[[Part], int]) -> int:
        if id(part) not in self._known:
            self._known[id(part)] = part, measure(part)
        return self._known[id(part)][1]


def _bytes_of_attributes(attributes: Attributes) -> int:
    return int(node_to_proto(Node.model_construct(attributes=attributes)).ByteSize())


def _bytes_of_tensor(tensor: Tensor) -> int:
    return int(tensor_to_proto(tensor).ByteSize())


def _text(text: str) -> int:
    return _field(len(text) if text.isascii() else len(text.encode()))


def _field(length: int) -> int:
    """The bytes of a field of so many."""
    return 1 + max(1, -(-length.bit_length() // _BITS_PER_BYTE)) + length
