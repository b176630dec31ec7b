"""A level with several activations as the JSON ONNX of NeatapticTS has it: neuron by neuron.

Each neuron is a Gemm of one row and an activation; a Concat makes the layer of them.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.operators.export.formulas.activation_functions import emit_activation
from neat_onnx.operators.export.layout.shaping import Concat
from neat_onnx.operators.export.sums.dense import Gemm, responses, weight_matrix
from neat_onnx.operators.export.sums.partition import by_overflowing_source


@lowers(Stage.LAYOUTS)
def plan_per_neuron(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim levels of plain sums with several activations, if the options ask for it."""
    if ctx.options.mixed_activations != "per_neuron":
        return Plan()
    levels = ctx.levels_of(free)
    return Plan(
        [
            Claim(Block(level, neurons), lower_per_neuron)
            for level, neurons in levels
            if _is_plain(ctx, neurons)
        ]
    )


def _is_plain(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether they sum, have several activations, and a layer that all read may be padded."""
    return (
        bool(np.all(ctx.net.aggregation_names[neurons] == "sum"))
        and bool(np.all(ctx.net.neurons.response[neurons] == 1.0))
        and not ctx.reads_state(neurons)
        and len(set(ctx.net.activation_names[neurons])) > 1
        and len(by_overflowing_source(ctx, neurons)) == 1
    )


def lower_per_neuron(ctx: LoweringContext, block: Block) -> None:
    """Emit a Gemm and an activation for each neuron, and a Concat."""
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
        activation = str(ctx.net.activation_names[neuron])
        formula = activation_named(activation).expression
        output, name = block.tensor("Layer") + suffix, block.name("act") + suffix
        parts.append(emit_activation(ctx, label_of(activation), formula, result, output, name))
    layer = ctx.emit(Concat, parts, block.tensor("Layer"), block.name("concat"), axis=1)
    ctx.bind(block.neurons, layer, block.level)
