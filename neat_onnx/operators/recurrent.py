"""A plain recurrent layer: what it reads of its own previous step has a matrix of its own.

    RecurrentSum_k = Gemm(previous layer, W, B) + Gemm(hidden_prev, R)
    Layer_k        = activation(RecurrentSum_k)

Any other recurrence is dense: a Gemm that reads columns of `hidden_prev…` among others.
"""

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.operators.activate import activate, groups_of, in_column_order
from neat_onnx.operators.dense import (
    Gemm,
    by_overflowing_source,
    carried_slope,
    responses,
    weight_matrix,
)
from neat_onnx.operators.elementwise import Add


class Recurrent:
    """Claims a level of plain sums that reads its own previous step, and no other one's."""

    def claim(self, ctx: LoweringContext, level: int, neurons: Ints) -> list[Block]:
        if not neurons.size or not self._is_plain(ctx, neurons):
            return []
        return [Block(level, in_column_order(ctx, neurons), whole_state=True)]

    def _is_plain(self, ctx: LoweringContext, neurons: Ints) -> bool:
        _, edge = ctx.edges_into(neurons)
        origin = ctx.origin_of(ctx.reads[edge])
        own = origin[origin != NONE]
        if not own.size:
            return False
        one_kind = bool(np.all(np.isin(own, neurons)) or np.all(np.isin(own, ctx.state[neurons])))
        return (
            one_kind
            and not ctx.options.fold
            and bool(np.all(ctx.net.aggregation_names[neurons] == "sum"))
            and bool(np.all(ctx.net.neurons.response[neurons] == 1.0))
            and bool(np.all(ctx.signals.gain[edge] == NONE))
            and len(by_overflowing_source(ctx, neurons)) == 1
        )

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        row, edge = ctx.edges_into(block.neurons)
        origin = ctx.origin_of(ctx.reads[edge])
        own = origin != NONE
        weights, tensor = weight_matrix(ctx, block, ~own)
        hidden = ctx.columns[ctx.bound_in[ctx.reads[edge[own]][0]]]
        column = {signal: k for k, signal in enumerate(hidden.signals.tolist())}
        recurrent = np.zeros((len(block.neurons), len(hidden.signals)))
        at = [column[signal] for signal in ctx.reads[edge[own]].tolist()]
        np.add.at(recurrent, (row[own], at), ctx.net.live.weight[edge[own]])
        _, bias = responses(ctx, block.neurons)
        groups = groups_of(ctx, block.neurons)
        slope, core = (
            (1.0, None) if len(groups) > 1 else carried_slope(ctx, block, groups[0].formula)
        )
        names = [
            ctx.initializer(block.weights(stem), values)
            for stem, values in (("W", weights), ("B", bias), ("R", recurrent))
        ]
        incoming = ctx.emit(
            Gemm,
            [tensor, *names[:2]],
            block.tensor("Gemm"),
            block.name("gemm_in"),
            alpha=slope,
            beta=slope,
            transB=1,
        )
        carried = ctx.emit(
            Gemm,
            [hidden.tensor, names[2]],
            block.tensor("Gemm_rec"),
            block.name("gemm_rec"),
            alpha=slope,
            transB=1,
        )
        total = ctx.emit(
            Add,
            [incoming, carried],
            block.tensor("RecurrentSum"),
            block.name("add_recurrent"),
        )
        activate(ctx, block, total, core)
