"""The weights of a model, as one array: they are read, changed, and written where they stood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neat_onnx.model import DataType, Model, Node, Tensor
from neat_onnx.model.draft import copied, make_node, with_graph
from neat_onnx.network.genes import Floats

_KINDS = (DataType.FLOAT, DataType.DOUBLE)


@dataclass(frozen=True)
class Weights:
    """The tensors of float32 and float64 in a graph: its initializers and its Constants.

    A scalar is rarely a weight, as of attention; most are bounds, exponents and other numbers of
    formulas. Tensors of float16 are left out, as they have no room for numbers that are only a
    little different.

    Attributes:
        tensors: by their names.
        values: every element, tensor by tensor, in C order, shape (n,).
    """

    tensors: dict[str, Tensor]
    values: Floats

    @classmethod
    def of(cls, model: Model, *, scalars: bool) -> Weights:
        """Return the weights of a model's graph."""
        constants = [
            copied(node.given_attributes["value"], name=node.output[0])
            for node in model.graph.node
            if _is_constant(node)
        ]
        found = {
            each.name: each
            for each in (*model.graph.initializer, *constants)
            if (each.dims or scalars) and each.data_type in _KINDS
        }
        return cls(found, np.concatenate([[], *(each.values.ravel() for each in found.values())]))

    def written(self, model: Model, values: Floats) -> Model:
        """Return the model of these weights with other numbers, shape (n,)."""
        ends = np.cumsum([each.size for each in self.tensors.values()])
        new = {
            name: copied(each, values=part.reshape(each.dims))
            for (name, each), part in zip(
                self.tensors.items(), np.split(values, ends[:-1]), strict=True
            )
        }

        def constant(node: Node) -> Node:
            if not _is_constant(node) or node.output[0] not in new:
                return node
            value = copied(new[node.output[0]], name=node.given_attributes["value"].name)
            given, opset = {"value": value}, model.opset
            return make_node("Constant", [], node.output, given, name=node.name, opset=opset)

        return with_graph(
            model,
            initializer=[new.get(each.name, each) for each in model.graph.initializer],
            node=[constant(node) for node in model.graph.node],
        )

    def holds(self, values: Floats) -> bool:
        """Whether a file can hold these numbers: rounding makes none of them 0 or infinite."""
        single = np.concatenate(
            [np.full(each.size, each.data_type is DataType.FLOAT) for each in self.tensors.values()]
        )
        with np.errstate(over="ignore"):
            rounded = np.where(single, values.astype(np.float32), values)
        same = (np.isfinite(rounded) == np.isfinite(values)) & ((rounded != 0.0) == (values != 0.0))
        return bool(np.all(same))


def _is_constant(node: Node) -> bool:
    return node.op_type == "Constant" and not node.domain and "value" in node.given_attributes
