"""Plain recurrent layers: a matrix of its own for the connections from the previous step.

    RecurrentSum_k = Gemm(previous layer, W, B) + Gemm(hidden_prev, R)
    Layer_k        = activation(RecurrentSum_k)

Any other recurrence is dense: a Gemm that reads columns of `hidden_prev…` among others.
"""

from typing import Any

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, distinct
from neat_onnx.operators.export.activate import activate, in_column_order
from neat_onnx.operators.export.columns import columns_for, flat_tensor
from neat_onnx.operators.export.dense import (
    by_overflowing_source,
    responses,
    shared_slope,
    weight_matrix,
)


@lowers(Stage.LEVELS)
def plan_recurrent(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim levels of plain sums that read their own previous step, and no other one's."""
    return Plan(
        [
            Claim(Block(level, in_column_order(ctx, neurons), whole_state=True), lower_recurrent)
            for level, neurons in ctx.levels_of(free)
            if _is_plain(ctx, neurons)
        ]
    )


def _is_plain(ctx: LoweringContext, neurons: Ints) -> bool:
    _, edge = ctx.edges_into(neurons)
    origin = ctx.signals.origin_of(ctx.signals.read[edge])
    own = origin[origin != NONE]
    if not own.size:
        return False
    pre_activations = ctx.signals.pre_activation[neurons]
    one_kind = bool(np.all(np.isin(own, neurons)) or np.all(np.isin(own, pre_activations)))
    return (
        one_kind
        and not ctx.options.fold
        and ctx.options.state == "separate"
        and bool(np.all(ctx.net.aggregation_names[neurons] == "sum"))
        and bool(np.all(ctx.net.neurons.response[neurons] == 1.0))
        and not np.any(ctx.signals.are_products(ctx.signals.read[edge]))
        and len(by_overflowing_source(ctx, neurons)) == 1
        and not np.any(ctx.signals.overflows[np.setdiff1d(_carried(ctx, neurons, own), own)])
    )


def _carried(ctx: LoweringContext, neurons: Ints, own: Ints) -> Ints:
    """The signals of the layer's memory: all activations, or all pre-activations."""
    return neurons if np.isin(own[0], neurons) else ctx.signals.pre_activation[neurons]


def lower_recurrent(ctx: LoweringContext, block: Block) -> None:
    """Emit one Gemm for the layer before, one for the layer's own previous step, and their sum."""
    row, edge = ctx.edges_into(block.neurons)
    own = ctx.signals.origin_of(ctx.signals.read[edge]) != NONE
    weights, tensor = weight_matrix(ctx, block, ~own)
    recurrent, hidden = _recurrent_matrix(ctx, block, row[own], edge[own])
    _, bias = responses(ctx, block.neurons)
    slope, core = shared_slope(ctx, block)
    names = [
        ctx.initializer(block.weights(stem), values)
        for stem, values in (("W", weights), ("B", bias), ("R", recurrent))
    ]
    factors: dict[str, Any] = {"alpha": slope, "transB": 1}
    wish = block.tensor("Gemm"), block.name("gemm_in")
    incoming = ctx.emit("Gemm", [tensor, *names[:2]], *wish, **factors, beta=slope)
    wish = block.tensor("Gemm_rec"), block.name("gemm_rec")
    carried = ctx.emit("Gemm", [hidden, names[2]], *wish, **factors)
    wish = block.tensor("RecurrentSum"), block.name("add_recurrent")
    total = ctx.emit("Add", [incoming, carried], *wish)
    activate(ctx, block, total, core)


def _recurrent_matrix(
    ctx: LoweringContext, block: Block, row: Ints, edge: Ints
) -> tuple[Floats, str]:
    """(R, hidden): weights (neurons, width), and the memory [N, width] that they multiply."""
    read = ctx.signals.read[edge]
    positions = distinct(ctx.places.position[read])
    hidden = ctx.places.columns[positions[0]]
    if len(positions) > 1:  # memory ports hold them
        hidden = columns_for(ctx, distinct(read), len(block.neurons), block.level)
    column = np.zeros(ctx.signals.count, np.int64)
    column[hidden.signals] = np.arange(len(hidden.signals))
    matrix = np.zeros((len(block.neurons), len(hidden.signals)))
    np.add.at(matrix, (row, column[read]), ctx.signals.weight[edge])
    return matrix, flat_tensor(ctx, hidden)
