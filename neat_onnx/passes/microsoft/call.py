"""Call: a node of one of onnxruntime's own operators, while standard nodes are put in its place."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Node, Tensor
from neat_onnx.model.draft import Draft, copied

Rule = Callable[["Call"], str | None]
"""Emits the nodes; the name of the result, or None where the operator has no standard form."""

RULES: dict[str, "Rule"] = {}
"""How each of onnxruntime's own operators is said in ONNX's."""

CONV = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
"""The attributes of every convolution."""
_EIGHT_BITS = (DataType.UINT8, DataType.INT8)
SIXTEEN_BITS = 21
"""The first opset that quantizes to steps of 16 bits."""


def rewrites(*operators: str) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule of these operators.

    Raises:
        ModelError: one of them has a rule already.
    """

    def register(rule: Rule) -> Rule:
        for operator in operators:
            if operator in RULES:
                raise ModelError(f"two rules rewrite {operator}")
            RULES[operator] = rule
        return rule

    return register


class QuantizationParameters(NamedTuple):
    """Names of the scale and the zero point of a quantized tensor; "" for a zero point left out."""

    scale: str
    zero: str


class Call:
    """One node, and the nodes that come in its place.

    Attributes:
        node: the node.
        given: its attributes by name.
        nodes: the nodes emitted so far.
    """

    def __init__(self, node: Node, draft: Draft) -> None:
        self.node = node
        self.given = node.given_attributes
        self.nodes: list[Node] = []
        self._draft = draft

    def __call__(self, op_type: str, *reads: str, gives: str = "", **attributes: Any) -> str:
        """Emit a node; the name of its output."""
        names = list(reads)
        while names and not names[-1]:
            names.pop()
        result = gives or self._draft.name(f"{self.node.output[0]}_{op_type.lower()}")
        label = self._draft.node_name(f"{self.node.name}_{op_type}" if self.node.name else "")
        self.nodes.append(self._draft.node(op_type, names, [result], name=label, **attributes))
        return result

    def several(self, op_type: str, *reads: str, count: int) -> list[str]:
        """Emit a node of several outputs; their names."""
        wish = f"{self.node.output[0]}_{op_type.lower()}"
        results = [self._draft.name(wish) for _ in range(count)]
        self.nodes.append(self._draft.node(op_type, reads, results))
        return results

    @property
    def opset(self) -> int:
        """The model's opset of ONNX's own operators."""
        return self._draft.model.opset

    def input(self, position: int) -> str:
        """The name of an input; "" for one that is left out."""
        return self.node.input[position] if position < len(self.node.input) else ""

    def output(self, position: int) -> str:
        """The name of an output; "" for one that is left out."""
        return self.node.output[position] if position < len(self.node.output) else ""

    def options(self, *names: str) -> dict[str, Any]:
        """Attributes of these names, where they are given."""
        return {name: self.given[name] for name in names if name in self.given}

    def constant(self, values: Any, data_type: DataType = DataType.FLOAT) -> str:
        """The name of a new initializer."""
        return self._draft.constant(f"{self.node.output[0]}_constant", values, data_type)

    def integers(self, values: Iterable[int]) -> str:
        """The name of a new initializer of integers."""
        return self.constant([*values], DataType.INT64)

    def tensor(self, name: str) -> Tensor | None:
        """The initializer of this name."""
        return self._draft.tensors.get(name)

    def rank(self, name: str) -> int | None:
        """How many axes a tensor has; None if that is not known."""
        shape = self._draft.facts(name).shape
        return None if shape is None else len(shape)

    def type_of(self, name: str) -> DataType | None:
        """The element type of a tensor; None if that is not known."""
        tensor = self.tensor(name)
        return self._draft.facts(name).elem_type if tensor is None else tensor.data_type

    def numbers(self, position: int) -> str:
        """The numbers that a quantized input means; scale and zero point are the next inputs."""
        return self(
            "DequantizeLinear", *(self.input(position + k) for k in range(3)), **self._axis()
        )

    def quantized(self, value: str, by: QuantizationParameters, like: str = "") -> str | None:
        """Numbers in steps, rounded before the zero point is added, as QuantizeLinear does.

        Without a zero point the steps have the type of the tensor `like`.
        """
        kind = self.type_of(by.zero or like) if by.zero or like else DataType.UINT8
        if kind not in _EIGHT_BITS and self.opset < SIXTEEN_BITS:
            return None
        zero = by.zero
        if not zero and kind is not None and kind is not DataType.UINT8:
            zero = self.constant(0, kind)
        return self("QuantizeLinear", value, by.scale, zero, **self._axis())

    def quantized_with_zero(self, value: str, by: QuantizationParameters, like: str) -> str | None:
        """Numbers in steps, rounded after the zero point is added.

        That differs halfway between two steps, where the zero point is odd.
        """
        zero = self.tensor(by.zero)
        if not by.zero or (zero is not None and not np.any(zero.values % 2)):
            return self.quantized(value, by, like)
        kind = self.type_of(by.zero) or self.type_of(like)
        if kind is None:
            return None
        shift = self("Mul", self("Cast", by.zero, to=int(DataType.FLOAT)), by.scale)
        return self.quantized(
            self("Add", value, shift), QuantizationParameters(by.scale, self.constant(0, kind))
        )

    def _axis(self) -> dict[str, Any]:
        is_itself = self.node.op_type in ("QuantizeLinear", "DequantizeLinear")
        return self.options("axis") if is_itself else {}

    def finished(self, result: str) -> list[Node]:
        """The nodes, the one that gives `result` with the name of the node's output."""
        wanted = self.node.output[:1]
        return [
            copied(each, output=wanted) if each.output == [result] else each for each in self.nodes
        ]
