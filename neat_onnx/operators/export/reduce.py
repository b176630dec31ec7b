"""Neurons that take the product, the largest, the smallest or the median of their inputs.

The neurons of a level with one aggregation and one number of inputs k are lowered together: their
weighted inputs are gathered as [N, neurons, k], the last axis is reduced and kept, and the
[N, neurons, 1] that this gives is flattened. A reduction that does not keep its axis would save the
Flatten, but OpenVINO fuses it with the bias, and adds that to the wrong columns.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.operators.export.activate import (
    activate,
    in_column_order,
    multiplied,
    one_of_many,
    respond,
)
from neat_onnx.operators.export.columns import exactly
from neat_onnx.operators.export.formula import emit_formula


@lowers(Stage.AGGREGATIONS)
def plan_reductions(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim neurons whose aggregation is not linear, by aggregation and number of inputs.

    Of one input every aggregation is that input: such neurons are left to be sums.
    """
    blocks = [block for at in ctx.levels_of(free) for block in _blocks(ctx, *at)]
    return Plan([Claim(block, lower_reduction) for block in blocks])


def _blocks(ctx: LoweringContext, level: int, neurons: Ints) -> list[Block]:
    groups: dict[tuple[str, int], list[int]] = {}
    for neuron in neurons.tolist():
        name, inputs = ctx.net.aggregation_names[neuron], int(ctx.fan_in[neuron])
        if inputs > 1 and not aggregation_named(name).linear:
            groups.setdefault((name, inputs), []).append(neuron)
    return [
        Block(level, in_column_order(ctx, np.array(group)), f"_{name}{inputs}")
        for (name, inputs), group in sorted(groups.items())
    ]


def lower_reduction(ctx: LoweringContext, block: Block) -> None:
    """Gather the weighted inputs as [N, neurons, k], reduce the last axis, and flatten."""
    _, read, weight = ctx.inputs_of(block.neurons)
    read = read.reshape(len(block.neurons), -1)
    rows = weighted_rows(ctx, block, read, weight)
    aggregation = aggregation_named(ctx.net.aggregation_names[block.neurons[0]])
    formula = aggregation.expression(read.shape[1])
    result = emit_formula(ctx, formula, rows, *block.names("Reduced", "reduce"))
    genes = ctx.net.neurons
    response, bias = genes.response[block.neurons], genes.bias[block.neurons]
    if not np.any(bias) and not ctx.options.fold:
        # right before a slope, optimizers would make one factor of both
        result = multiplied(ctx, block, result, response.reshape(-1, 1))
        response = np.ones(len(response))
    result = ctx.emit("Flatten", [result], *block.names("Columns", "columns"), axis=1)
    activate(ctx, block, respond(ctx, block, result, response, bias))


def weighted(ctx: LoweringContext, block: Block, read: Ints, weight: Floats) -> str:
    """The columns of signals, [N, signals], times the weights of the connections that read them."""
    result = exactly(ctx, read, block.level)
    if np.all(weight == 1.0):
        return result
    factors = ctx.initializer(block.weights("W"), one_of_many(weight))
    return ctx.emit("Mul", [result, factors], *block.names("Weighted", "weighted"))


def weighted_rows(ctx: LoweringContext, block: Block, read: Ints, weight: Floats) -> str:
    """The inputs (neurons, k) of a block as [N, neurons, k], times the weights of connections."""
    result = weighted(ctx, block, read.ravel(), weight)
    shape = ctx.integers(block.weights("shape"), [0, *read.shape])
    return ctx.emit("Reshape", [result, shape], *block.names("Inputs", "inputs"))
