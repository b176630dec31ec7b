"""A level with several activations as the JSON ONNX of NeatapticTS has it: neuron by neuron.

Each neuron is a Gemm of one row and an activation; a Concat makes the layer of them.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Ints
from neat_onnx.operators.dense import Gemm, by_overflowing_source, responses, weight_matrix
from neat_onnx.operators.formula import FormulaEmitter
from neat_onnx.operators.shaping import Concat, Identity


class PerNeuron:
    """Claims levels of plain sums with several activations, if the options ask for it."""

    def claim(self, ctx: LoweringContext, level: int, neurons: Ints) -> list[Block]:
        plain = (
            bool(np.all(ctx.net.aggregation_names[neurons] == "sum"))
            and bool(np.all(ctx.net.neurons.response[neurons] == 1.0))
            and not ctx.reads_state(neurons)
        )
        mixed = len(set(ctx.net.activation_names[neurons])) > 1
        if ctx.options.mixed_activations != "per_neuron" or not (plain and mixed):
            return []
        if len(by_overflowing_source(ctx, neurons)) > 1:
            return []  # a layer that everything reads would put zeros where 0 · ∞ may be
        return [Block(level, neurons)]

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        weights, tensor = weight_matrix(ctx, block)
        _, bias = responses(ctx, block.neurons)
        parts = []
        for k, neuron in enumerate(block.neurons.tolist()):
            suffix = f"_n{k}"
            inputs = [
                tensor,
                ctx.initializer(block.weights("W") + suffix, weights[k : k + 1]),
                ctx.initializer(block.weights("B") + suffix, bias[k : k + 1]),
            ]
            output, name = block.tensor("Gemm") + suffix, block.name("gemm") + suffix
            result = ctx.emit(Gemm, inputs, output, name, alpha=1.0, beta=1.0, transB=1)
            formula = activation_named(ctx.net.activation_names[neuron]).expression
            output, name = block.tensor("Layer") + suffix, block.name("act") + suffix
            parts.append(
                ctx.emit(Identity, [result], output, name)
                if formula == VARIABLE
                else FormulaEmitter(ctx, result, output, name).emit(formula)
            )
        layer = ctx.emit(Concat, parts, block.tensor("Layer"), block.name("concat"), axis=1)
        ctx.bind(block.neurons, layer, block.level)
