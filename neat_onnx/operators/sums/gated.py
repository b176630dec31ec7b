"""Layers of which each neuron has one gated input beside plain ones: a Gemm, and a product added.

So are the shifts of a layer that another one modulates, and the updates of cells. Import adds the
product to the neurons of the Gemm: they are the network's again.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.genes import Bools, Ints, distinct
from neat_onnx.operators.formulas.activate import activate, in_column_order, kinds_of
from neat_onnx.operators.formulas.elementwise import Add
from neat_onnx.operators.layout.columns import exactly
from neat_onnx.operators.sums.dense import weighted_sums

_MIN_NEURONS = 4
_MAX_ELEMENTS_PER_WEIGHT = 2  # of the matrix; the others are zeros


@lowers(Stage.LAYOUTS)
def plan_gated_sums(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim sums of several plain inputs and a gated one, if their plain inputs are a matrix."""
    options = ctx.options
    if not options.allow_partial_connectivity or options.mixed_activations != "grouped":
        return Plan()
    claims = []
    for level, neurons in ctx.levels_of(free & _candidates(ctx)):
        kinds = kinds_of(ctx, neurons)
        for number, kind in enumerate(distinct(kinds).tolist(), 1):
            alike = neurons[kinds == kind]
            if _are_a_matrix(ctx, alike):
                suffix = "_modulated" if number == 1 else f"_modulated{number}"
                block = Block(level, in_column_order(ctx, alike), suffix)
                claims.append(Claim(block, lower_gated_sums))
    return Plan(claims)


def _candidates(ctx: LoweringContext) -> Bools:
    """Sums with one gated input of the weight 1, and several others."""
    net, signals = ctx.net, ctx.signals
    gated = signals.are_products(signals.read)
    count = np.bincount(net.live.target[gated], minlength=len(net))
    weighed = np.bincount(net.live.target[gated & (signals.weight != 1.0)], minlength=len(net))
    plain = (net.aggregation_names == "sum") & (net.neurons.response == 1.0) & ~net.is_input
    found: Bools = plain & (count == 1) & (weighed == 0) & (ctx.fan_in > 2)
    return found


def _are_a_matrix(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether plain inputs are of one layer, and none is a gated value or may overflow."""
    _, edge = ctx.edges_into(neurons)
    source = ctx.signals.read[edge]
    gated = ctx.signals.are_products(source)
    values, plain = ctx.signals.factors(source[gated])[0], source[~gated]
    columns = distinct(plain)
    dense = len(neurons) * len(columns) <= _MAX_ELEMENTS_PER_WEIGHT * len(plain)
    harmful = np.any(ctx.signals.overflows[columns]) or np.any(np.isin(values, columns))
    return len(neurons) >= _MIN_NEURONS and dense and not harmful


def lower_gated_sums(ctx: LoweringContext, block: Block) -> None:
    """Emit the Gemm of the plain inputs, the Mul of the gated ones, and their Add."""
    _, edge = ctx.edges_into(block.neurons)
    gated = ctx.signals.are_products(ctx.signals.read[edge])
    sums = weighted_sums(ctx, block, ~gated)
    products = exactly(ctx, ctx.signals.read[edge[gated]], block.level)
    names = block.tensor("Sum"), block.name("sum")
    activate(ctx, block, ctx.emit(Add, [sums, products], *names))
