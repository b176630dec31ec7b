"""Rows written part by part, where no runtime computes their operator as the neurons do."""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.model import Node
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Floats
from neat_onnx.operators.formulas.activation_functions import emit_activation
from neat_onnx.operators.formulas.elementwise import Add, Mul, Sub
from neat_onnx.operators.formulas.several import Sum
from neat_onnx.operators.layout.shaping import Identity, Reshape
from neat_onnx.operators.reductions.reduce import ReduceMax, ReduceMean, ReduceSum, emit_reduced
from neat_onnx.operators.rows.find import FoundRow
from neat_onnx.operators.rows.tables import RESULT, Part, X
from neat_onnx.operators.sums.dense import MatMul

_REDUCTIONS: dict[str, type[Node]] = {"sum": ReduceSum, "mean": ReduceMean, "max": ReduceMax}


class Composition:
    """Emits the parts of rows of one table and one width, each a tensor [N, rows, runs, elements].

    Attributes:
        tensors: that of each part, by its name.
    """

    def __init__(self, ctx: LoweringContext, block: Block, rows: list[FoundRow], x: str) -> None:
        self._ctx, self._block, self._rows = ctx, block, rows
        self.tensors = {X: x}

    def emit(self) -> str:
        """Emit all parts; return the pre-activations of the result."""
        for part in self._rows[0].row.parts:
            self.tensors[part.name] = self._part(part)
        return self.tensors[RESULT]

    def _part(self, part: Part) -> str:
        first, *others = part.links
        tensor = self.tensors[first.source]
        if first.weight is None:
            tensor = self._scaled(part, tensor)
        if part.is_separate:
            tensor = self._named(Sum, [tensor], part, "apart")
        if first.gate:
            tensor = self._named(Mul, [tensor, self.tensors[first.gate]], part, "gated")
        for other in others:  # each is taken away
            tensor = self._named(Sub, [tensor, self.tensors[other.source]], part, "less")
        if part.whole and not self._is_whole(first.source):
            tensor = self._reduced(part, tensor)
        return self._activated(part, self._shifted(part, tensor))

    def _scaled(self, part: Part, tensor: str) -> str:
        """The source times the weights.

        Import takes a Mul by one number for a part of the formula, and a MatMul for neurons; an
        addend that follows a Mul is the bias of the same neurons, unless an Identity is between.
        Weights of 1 would be no neurons at all: biases of 0 are.
        """
        weights = np.array([row.weights[part.name] for row in self._rows])
        if not part.runs or np.any(weights != weights[0, 0]):
            ones = not part.runs and np.all(weights == 1.0)
            operator, numbers = (Add, np.zeros_like(weights)) if ones else (Mul, weights)
            constant = self._constant(f"N{part.name}", numbers)
            tensor = self._named(operator, [tensor, constant], part, "scaled")
            inside = part.name != RESULT and not part.runs
            return self._named(Identity, [tensor], part, "end") if inside else tensor
        factors = self._ctx.initializer(self._block.weights(f"N{part.name}"), weights[:1])
        tensor = self._named(MatMul, [tensor, factors], part, "scaled")
        if weights.shape[1] == 1:
            return tensor
        shape = self._ctx.shared_integers("shape", [0, *weights.shape, 1])
        return self._named(Reshape, [tensor, shape], part, "runs")

    def _is_whole(self, name: str) -> bool:
        return any(part.whole and part.name == name for part in self._rows[0].row.parts)

    def _named(self, operator: type[Node], inputs: list[str], part: Part, stem: str) -> str:
        wish = f"{part.name}_{stem}"
        return self._ctx.emit(operator, inputs, self._block.tensor(wish), self._block.name(wish))

    def _reduced(self, part: Part, tensor: str) -> str:
        wish = f"{part.name}_all"
        names = self._block.tensor(wish), self._block.name(wish)
        return emit_reduced(self._ctx, _REDUCTIONS[part.aggregation], tensor, [2, 3], names)

    def _shifted(self, part: Part, tensor: str) -> str:
        if not part.any_bias:
            return tensor
        biases = self._ctx.net.neurons.bias[[row.members[part.name] for row in self._rows]]
        return self._named(Add, [tensor, self._constant(f"B{part.name}", biases)], part, "shifted")

    def _activated(self, part: Part, tensor: str) -> str:
        name = str(self._ctx.net.activation_names[self._rows[0].members[part.name][0]])
        formula = activation_named(name).expression
        if part.name == RESULT or formula == VARIABLE:
            return tensor
        wish = self._block.tensor(part.name), self._block.name(part.name)
        return emit_activation(self._ctx, label_of(name), formula, tensor, *wish)

    def _constant(self, name: str, array: Floats) -> str:
        """An initializer of values (rows, n); an axis along which all are the same has length 1."""
        runs = min(self._rows[0].runs, array.shape[1])
        array = array.reshape(len(array), runs, -1)
        for axis in range(array.ndim):
            first = array.take([0], axis)
            array = first if np.all(array == first) else array
        return self._ctx.initializer(self._block.weights(name), array)
