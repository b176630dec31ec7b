"""RNN, GRU and LSTM layers as one node each, where the whole sequence is in the graph.

The memory is then in these nodes alone. The other neurons are computed for all steps at once: the
rows of their tensors are the T·N samples of all steps.
"""

from typing import Literal

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.cells import part_name
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.operators.export.dense import weight_matrix
from neat_onnx.operators.export.frames import sequence_of
from neat_onnx.operators.export.recogniser import Layer, layers_of
from neat_onnx.operators.export.states import ports_of_sequences


@lowers(Stage.SEQUENCES)
def plan_fused(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim each layer, if layers hold all of the memory, and the options want nodes of them.

    Runtimes compute these operators in float32 only.
    """
    options = ctx.options
    wanted = options.sequence and options.fused_recurrent and options.dtype == "float32"
    if not (wanted and ctx.net.has_memory and options.allow_partial_connectivity):
        return Plan()
    if ports_of_sequences(ctx):
        return Plan()  # the memory crosses the ends of the graph
    layers = layers_of(ctx.net, ctx.schedule)
    nodes = [(Fused(layer), Block(layer.level, layer.neurons)) for layer in layers]
    if not all(np.all(free[block.neurons]) and fused.is_safe(ctx) for fused, block in nodes):
        return Plan()
    return Plan([Claim(block, fused.lower, all_steps=True) for fused, block in nodes])


class Fused:
    """Lowers the neurons of one layer to one node."""

    def __init__(self, layer: Layer) -> None:
        self._layer, self._cell = layer, layer.cell

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write RNN, GRU or LSTM over the sequence, and its outputs as the layer of the block."""
        layer, op = self._layer, self._cell.operator
        stem = op.lower()
        weights, tensor = self._inputs(ctx, block)
        operands = [
            ("W", weights),
            ("R", self._in_blocks("R", self._recurrent(ctx))),
            ("B", self._bias(ctx)),
        ]
        names = [
            ctx.initializer(block.weights(letter), values[None]) for letter, values in operands
        ]
        peephole = self._peephole(ctx)
        if np.any(peephole):
            names += ["", "", "", ctx.initializer(block.weights("P"), peephole.reshape(1, -1))]
        every = ctx.fresh(block.tensor(op))
        ctx.produce(
            op,
            [sequence_of(ctx, tensor, weights.shape[1]), *names],
            every,
            block.name(stem),
            hidden_size=len(layer.hidden),
            **({self._cell.attribute: 1} if self._cell.attribute else {}),
        )
        axis = ctx.shared_integers("axis", [1])
        sequence = ctx.emit(
            "Squeeze", [every, axis], block.tensor("Steps"), block.name(f"squeeze_{stem}")
        )
        flat = ctx.emit(
            "Flatten", [sequence], block.tensor("Layer"), block.name(f"flatten_{stem}"), axis=2
        )
        ctx.places.sequences[flat] = sequence
        ctx.bind(layer.hidden, flat, block.level)
        for name, neurons in layer.parts.items():  # inside the node, where no other neuron reads
            if name != "hidden":
                ctx.bind(neurons, part_name(every, name), ctx.schedule.depth + 1)

    def is_safe(self, ctx: LoweringContext) -> bool:
        """Whether no zero of a matrix can meet an infinity or NaN, but where all rows read it."""
        overflows, parts = ctx.signals.overflows, self._layer.parts
        if np.any(self._recurrent(ctx)[:, overflows[parts["hidden"]]] == 0.0):
            return False
        peephole = self._peephole(ctx)
        if np.any(peephole):
            blocks = peephole.reshape(-1, len(parts["memory"]))
            if np.any(blocks[:, overflows[parts["memory"]]] == 0.0):
                return False
        rows = self._rows(self._cell.rows_of("W"))
        row, edge = (ends[self._outer(ctx, rows)] for ends in ctx.edges_into(rows))
        source = ctx.net.live.source[edge]
        overflowing = np.unique(source[overflows[source]])
        return all(len(np.unique(row[source == each])) == len(rows) for each in overflowing)

    # --- parameters ------------------------------------------------------------------------------

    def _rows(self, names: tuple[str, ...]) -> Ints:
        return np.concatenate([self._layer.parts[name] for name in names])

    def _inputs(self, ctx: LoweringContext, block: Block) -> tuple[Floats, str]:
        """W (gates · H, width), and the tensor [T·N, width] that it multiplies."""
        rows = self._rows(self._cell.rows_of("W"))
        matrix, tensor = weight_matrix(ctx, Block(block.level, rows), self._outer(ctx, rows))
        return self._in_blocks("W", matrix), tensor

    def _in_blocks(self, letter: Literal["W", "R"], values: Floats) -> Floats:
        """The rows of parts in the blocks of a matrix, with zeros where no part has one."""
        cell, units = self._cell, len(self._layer.hidden)
        blocks = np.zeros((cell.blocks, units, values.shape[1]))
        places = [cell.by_name[name].rows or 0 for name in cell.rows_of(letter)]
        blocks[places] = values.reshape(-1, units, values.shape[1])
        return blocks.reshape(-1, values.shape[1])

    def _outer(self, ctx: LoweringContext, rows: Ints) -> Bools:
        """Which of the connections into `rows` come from other neurons in the same step."""
        live, (_, edge) = ctx.net.live, ctx.edges_into(rows)
        inner = np.isin(live.source[edge], self._layer.neurons)
        outer: Bools = (live.delay[edge] == 0) & ~inner & (live.gater[edge] == NONE)
        return outer

    def _recurrent(self, ctx: LoweringContext) -> Floats:
        """R (gates · H, H)."""
        hidden, live = self._layer.hidden, ctx.net.live
        rows = self._rows(self._cell.rows_of("R"))
        row, edge = ctx.edges_into(rows)
        place = np.full(len(ctx.net), NONE, np.int64)
        place[hidden] = np.arange(len(hidden))
        own = (live.delay[edge] == 1) & (place[live.source[edge]] != NONE)
        matrix = np.zeros((len(rows), len(hidden)))
        np.add.at(matrix, (row[own], place[live.source[edge[own]]]), live.weight[edge[own]])
        return matrix

    def _bias(self, ctx: LoweringContext) -> Floats:
        """[Wb, Rb] (2 · gates · H,): a gate's bias is all in Wb."""
        bias = ctx.net.neurons.bias
        first = self._in_blocks("W", bias[self._rows(self._cell.rows_of("W"))][:, None]).ravel()
        second = np.zeros(len(first))
        for part in self._cell.parts:
            if part.rows is not None and part.matrices == "R":
                units = self._layer.parts[part.name]
                second[part.rows * len(units) :][: len(units)] = bias[units]
        return np.concatenate([first, second])

    def _peephole(self, ctx: LoweringContext) -> Floats:
        """P (3 · H,); empty for cells without memory."""
        if not self._cell.peepholes:
            return np.zeros(0)
        rows, live = self._rows(self._cell.peepholes), ctx.net.live
        row, edge = ctx.edges_into(rows)
        own = np.isin(live.source[edge], self._layer.parts["memory"])
        return np.bincount(row[own], live.weight[edge[own]], len(rows)).astype(np.float64)
