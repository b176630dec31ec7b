"""Plain recurrent layers: a matrix of its own for the connections from the previous step.

    RecurrentSum_k = Gemm(previous layer, W, B) + Gemm(hidden_prev, R)
    Layer_k        = activation(RecurrentSum_k)

Any other recurrence is dense: a Gemm that reads columns of `hidden_prev…` among others.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.genes import NONE, Bools, Ints, distinct
from neat_onnx.operators.export.activate import activate, in_column_order
from neat_onnx.operators.export.dense import (
    by_overflowing_source,
    gemm,
    responses,
    shared_slope,
    weight_matrix,
)


@lowers(Stage.LEVELS)
def plan_recurrent(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim levels of plain sums that read their own previous step, and no other one's."""
    claims = [
        Claim(Block(level, in_column_order(ctx, neurons), whole_state=True), lower_recurrent)
        for level, neurons in ctx.levels_of(free)
        if _is_plain(ctx, neurons)
    ]
    return Plan(claims)


def _is_plain(ctx: LoweringContext, neurons: Ints) -> bool:
    _, read, _ = ctx.inputs_of(neurons)
    origin = ctx.signals.origin[read]
    own = origin[origin != NONE]
    if not own.size:
        return False
    # the layer's memory: all activations, or all pre-activations
    carried = neurons if np.isin(own[0], neurons) else ctx.signals.pre_activation[neurons]
    return (
        bool(np.all(np.isin(own, carried)))
        and not ctx.options.fold
        and ctx.options.state == "separate"
        and bool(np.all(ctx.net.aggregation_names[neurons] == "sum"))
        and bool(np.all(ctx.net.neurons.response[neurons] == 1.0))
        and not np.any(ctx.signals.are_products(read))
        and len(by_overflowing_source(ctx, neurons)) == 1
        and not np.any(ctx.signals.overflows[np.setdiff1d(carried, own)])
    )


def lower_recurrent(ctx: LoweringContext, block: Block) -> None:
    """Emit one Gemm for the layer before, one for the layer's own previous step, and their sum."""
    _, read, _ = ctx.inputs_of(block.neurons)
    own = ctx.signals.origin[read] != NONE
    weights, tensor = weight_matrix(ctx, block, ~own)
    positions = distinct(ctx.places.position[read[own]])
    memory = ctx.places.columns[positions[0]] if len(positions) == 1 else None
    recurrent, hidden = weight_matrix(ctx, block, own, memory)
    _, bias = responses(ctx, block.neurons)
    slope, core = shared_slope(ctx, block)
    layer, names = {"W": weights, "B": bias}, ("Gemm", "gemm_in")
    incoming = gemm(ctx, block, tensor, layer, names, alpha=slope, beta=slope)
    carried = gemm(ctx, block, hidden, {"R": recurrent}, ("Gemm_rec", "gemm_rec"), alpha=slope)
    total = ctx.emit("Add", [incoming, carried], *block.names("RecurrentSum", "add_recurrent"))
    activate(ctx, block, total, core)
