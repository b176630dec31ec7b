"""RNN, GRU and LSTM layers as one node each, where the whole sequence is in the graph.

The memory is then in these nodes alone. The other neurons are computed for all steps at once: the
rows of their tensors are the T·N samples of all steps.
"""

from typing import Literal

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.cells import part_name
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, place_among
from neat_onnx.operators.export.dense import weight_matrix
from neat_onnx.operators.export.frames import sequence_of
from neat_onnx.operators.export.recogniser import Layer, layers_of
from neat_onnx.operators.export.states import memory_ports


@lowers(Stage.SEQUENCES)
def plan_fused(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim each layer, if layers hold all of the memory, and the options want nodes of them.

    Runtimes compute these operators in float32 only.
    """
    options = ctx.options
    wanted = options.sequence and options.fused_recurrent and options.dtype == "float32"
    if not (wanted and ctx.net.has_memory and options.allow_partial_connectivity):
        return Plan()
    if memory_ports(ctx):
        return Plan()  # the memory crosses the ends of the graph
    nodes = [_Fused(ctx, layer) for layer in layers_of(ctx.net, ctx.schedule)]
    if not all(np.all(free[node.layer.neurons]) and node.is_safe(ctx) for node in nodes):
        return Plan()
    blocks = [Block(node.layer.level, node.layer.neurons) for node in nodes]
    pairs = zip(blocks, nodes, strict=True)
    return Plan([Claim(block, node.lower, all_steps=True) for block, node in pairs])


class _Fused:
    """The parameters of one layer, and the node that has them."""

    def __init__(self, ctx: LoweringContext, layer: Layer) -> None:
        self.layer, self._cell = layer, layer.cell
        net, hidden = ctx.net, layer.hidden
        self._rows = self._neurons(self._cell.rows_of("W"))
        live, (_, edge) = net.live, net.edges_into(self._rows)
        inner = np.isin(live.source[edge], layer.neurons)
        self._outer = (live.delay[edge] == 0) & ~inner & (live.gater[edge] == NONE)
        rows = self._neurons(self._cell.rows_of("R"))
        row, edge = net.edges_into(rows)
        place = place_among(hidden, len(net))
        own = (live.delay[edge] == 1) & (place[live.source[edge]] != NONE)
        self._recurrent = np.zeros((len(rows), len(hidden)))
        ends = row[own], place[live.source[edge[own]]]
        np.add.at(self._recurrent, ends, live.weight[edge[own]])
        self._peephole = np.zeros((len(self._cell.peepholes), len(hidden)))
        if self._cell.peepholes:
            row, edge = net.edges_into(self._neurons(self._cell.peepholes))
            own = np.isin(live.source[edge], layer.parts["memory"])
            np.add.at(self._peephole.reshape(-1), row[own], live.weight[edge[own]])

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write RNN, GRU or LSTM over the sequence, and its outputs as the layer of the block."""
        op = self._cell.operator
        stem = op.lower()
        matrix, tensor = weight_matrix(ctx, Block(block.level, self._rows), self._outer)
        weights = self._in_blocks("W", matrix)
        operands = [("W", weights), ("R", self._in_blocks("R", self._recurrent))]
        operands.append(("B", self._bias(ctx.net.neurons.bias)))
        names = [
            ctx.initializer(block.weights(letter), values[None]) for letter, values in operands
        ]
        if np.any(self._peephole):
            peephole = self._peephole.reshape(1, -1)
            names += ["", "", "", ctx.initializer(block.weights("P"), peephole)]
        every = ctx.fresh(block.tensor(op))
        given = {self._cell.attribute: 1} if self._cell.attribute else {}
        inputs = [sequence_of(ctx, tensor, weights.shape[1]), *names]
        units = len(self.layer.hidden)
        ctx.produce(op, inputs, every, block.name(stem), hidden_size=units, **given)
        inputs = [every, ctx.shared_integers("axis", [1])]
        sequence = ctx.emit("Squeeze", inputs, block.tensor("Steps"), block.name(f"squeeze_{stem}"))
        flat = ctx.emit("Flatten", [sequence], *block.names("Layer", f"flatten_{stem}"), axis=2)
        ctx.places.sequences[flat] = sequence
        ctx.bind(self.layer.hidden, flat, block.level)
        for name, neurons in self.layer.parts.items():  # inside, where no other neuron reads
            if name != "hidden":
                ctx.bind(neurons, part_name(every, name), ctx.schedule.depth + 1)

    def is_safe(self, ctx: LoweringContext) -> bool:
        """Whether no zero of a matrix can meet an infinity or NaN, but where all rows read it."""
        overflows, parts = ctx.signals.overflows, self.layer.parts
        if np.any(self._recurrent[:, overflows[parts["hidden"]]] == 0.0):
            return False
        if np.any(self._peephole) and np.any(self._peephole[:, overflows[parts["memory"]]] == 0.0):
            return False
        row, edge = (ends[self._outer] for ends in ctx.net.edges_into(self._rows))
        source = ctx.net.live.source[edge]
        read = (row[source == each] for each in np.unique(source[overflows[source]]))
        return all(len(np.unique(rows)) == len(self._rows) for rows in read)

    # --- parameters ------------------------------------------------------------------------------

    def _neurons(self, names: tuple[str, ...]) -> Ints:
        return np.concatenate([self.layer.parts[name] for name in names])

    def _in_blocks(self, letter: Literal["W", "R"], values: Floats) -> Floats:
        """The rows of parts in the blocks of a matrix, with zeros where no part has one."""
        cell, units = self._cell, len(self.layer.hidden)
        blocks = np.zeros((cell.blocks, units, values.shape[1]))
        places = [cell.by_name[name].rows or 0 for name in cell.rows_of(letter)]
        blocks[places] = values.reshape(-1, units, values.shape[1])
        return blocks.reshape(-1, values.shape[1])

    def _bias(self, bias: Floats) -> Floats:
        """[Wb, Rb] (2 · gates · H,): a gate's bias is all in Wb."""
        rows = self._neurons(self._cell.rows_of("R"))
        second = np.where(np.isin(rows, self._rows), 0.0, bias[rows])
        first = self._in_blocks("W", bias[self._rows][:, None])
        return np.concatenate([first, self._in_blocks("R", second[:, None])]).ravel()
