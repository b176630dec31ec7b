"""The node of a layer that was unrolled; layers with the same weights are samples of its batch.

Their samples stand beside the network's own: the node's batch is N times as many.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.network.cells import Cell, part_name
from neat_onnx.network.genes import Ints
from neat_onnx.operators.layout.columns import exactly, in_shape
from neat_onnx.operators.layout.shaping import Reshape, Squeeze, Transpose, Unsqueeze
from neat_onnx.operators.rnn.cell_activations import CellFunction, attributes_of
from neat_onnx.operators.rnn.nodes import GRU, LSTM, RNN, Recurrence, without_last_empty
from neat_onnx.operators.rnn.parameters import Parameters

_NODES: dict[str, type[Recurrence]] = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}


@dataclass(frozen=True, eq=False)
class Unrolled:
    """A layer whose steps all have the weights of the last.

    Attributes:
        cell, functions: the table of its parts, and its activations in the operator's order.
        parts: for each part, its neurons in the steps that have any, (steps, H).
        sources: the signals that W multiplies in each step, (T, I).
        start: by state, the signals of the initial state, (H,); {} for zeros.
        shown: the states besides the hidden one that others read after the last step.
        last: the weights.
    """

    cell: Cell
    functions: tuple[CellFunction, ...]
    parts: Mapping[str, Ints]
    sources: Ints
    start: Mapping[str, Ints]
    shown: tuple[str, ...]
    last: Parameters

    @property
    def hidden(self) -> Ints:
        """The hidden neurons, (T, H)."""
        return self.parts["hidden"]

    @property
    def neurons(self) -> Ints:
        """All neurons, the last step's hidden ones last."""
        return np.concatenate([neurons.ravel() for neurons in self.parts.values()])

    @property
    def read(self) -> Ints:
        """The signals that are read, each once."""
        return np.unique(np.concatenate([self.sources.ravel(), *self.start.values()]))

    @property
    def is_backwards(self) -> bool:
        """Whether the first step reads the last of the sequence."""
        return bool(self.sources[0].min() > self.sources[-1].min())

    @property
    def weights(self) -> Hashable:
        """All that layers of one node have in common."""
        matrices = (self.last.w, self.last.r, self.last.bias, self.last.peephole)
        values = tuple((matrix.shape, matrix.tobytes()) for matrix in matrices)
        kind = self.cell, self.functions, tuple(self.start), self.shown, self.is_backwards
        return kind, tuple((name, each.shape) for name, each in self.parts.items()), values


class Samples:
    """Layers with the same weights.

    Attributes:
        layers: each a sample, S.
        neurons: of all layers.
    """

    def __init__(self, layers: Sequence[Unrolled]) -> None:
        self.layers = layers
        self.neurons = np.concatenate([layer.neurons for layer in layers])

    @property
    def read(self) -> Ints:
        """The signals that are read, each once."""
        return np.unique(np.concatenate([layer.read for layer in self.layers]))

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write one node over all steps, and bind the hidden neurons as [N, T, S, H]."""
        one, cell = self.layers[0], self.layers[0].cell
        stem, last = cell.operator, one.last
        order = slice(None, None, -1 if one.is_backwards else 1)
        names = [
            ctx.initializer(block.weights(letter), values[None])
            for letter, values in (("W", last.w), ("R", last.r), ("B", last.bias))
        ]
        ends = [block.tensor("End") if state in one.shown else "" for state in cell.states]
        x = self._steps(ctx, block, order)
        optional = ["", *self._initial(ctx, block), *self._peephole(ctx, block)]
        every, *after = ctx.emit_all(
            _NODES[stem],
            without_last_empty([x, *names, *optional]),
            [block.tensor(stem), *(ends if one.shown else [])],
            block.name(stem.lower()),
            hidden_size=one.hidden.shape[1],
            **({cell.attribute: 1} if cell.attribute else {}),
            **({"direction": "reverse"} if one.is_backwards else {}),
            **attributes_of(cell, one.functions),
        )
        hidden = np.stack([layer.hidden for layer in self.layers], axis=1)[order]
        layer, flat = self._layer(ctx, block, every), (block.tensor("Flat"), block.name("flat"))
        ctx.places.bind(Columns(layer, hidden.ravel(), block.level, hidden.shape, flat))
        for name in one.parts:  # inside the node, where no other neuron reads
            if name != "hidden":
                parts = np.concatenate([each.parts[name] for each in self.layers])
                ctx.bind(parts.ravel(), part_name(every, name), ctx.schedule.depth + 1)
        for state, end in zip(cell.states, after, strict=False):
            if state in one.shown:
                signals = np.concatenate([each.parts[state][-1] for each in self.layers])
                ctx.bind(signals, self._end(ctx, block, state, end), block.level)

    def _steps(self, ctx: LoweringContext, block: Block, order: slice) -> str:
        """The sequence, [T, N · S, I]."""
        sources = np.stack([layer.sources for layer in self.layers], axis=1)[order]
        steps, count, inputs = sources.shape
        x = in_shape(ctx, sources if count > 1 else sources[:, 0], block.level)
        perm = (1, 0, 2, 3) if count > 1 else (1, 0, 2)
        x = ctx.emit(Transpose, [x], block.tensor("Steps"), block.name("steps"), perm=perm)
        return self._reshaped(ctx, x, (steps, -1, inputs), block, "Samples") if count > 1 else x

    def _peephole(self, ctx: LoweringContext, block: Block) -> list[str]:
        """The node's last input, where it has peepholes."""
        peephole = self.layers[0].last.peephole
        return [ctx.initializer(block.weights("P"), peephole[None])] if np.any(peephole) else []

    def _initial(self, ctx: LoweringContext, block: Block) -> list[str]:
        """The states before the first step; "" is zeros."""
        one, given = self.layers[0], list[str]()
        for state in one.cell.states:
            if state not in one.start:
                given.append("")
                continue
            signals = np.concatenate([layer.start[state] for layer in self.layers])
            tensor = exactly(ctx, signals, block.level)
            if len(self.layers) > 1:
                shape = (1, -1, one.hidden.shape[1])
                given.append(self._reshaped(ctx, tensor, shape, block, "Start"))
            else:
                wish = block.tensor("Start"), block.name(f"start_{state}")
                axis = ctx.shared_integers("axis", [0])
                given.append(ctx.emit(Unsqueeze, [tensor, axis], *wish))
        return given

    def _layer(self, ctx: LoweringContext, block: Block, every: str) -> str:
        """The hidden units, [N, T, S, H]."""
        one, count = self.layers[0], len(self.layers)
        if count > 1:
            shape = (len(one.hidden), -1, count, one.hidden.shape[1])
            every = self._reshaped(ctx, every, shape, block, "Apart")
        wish = block.tensor("Layer"), block.name(f"transpose_{one.cell.operator.lower()}")
        perm = (1, 0, 2, 3) if count > 1 else (2, 0, 1, 3)
        return ctx.emit(Transpose, [every], *wish, perm=perm)

    def _end(self, ctx: LoweringContext, block: Block, state: str, end: str) -> str:
        """A state after the last step, [N, S · H]."""
        if len(self.layers) > 1:
            shape = (-1, len(self.layers) * self.layers[0].hidden.shape[1])
            return self._reshaped(ctx, end, shape, block, "State")
        wish = block.tensor("State"), block.name(f"state_{state}")
        return ctx.emit(Squeeze, [end, ctx.shared_integers("axis", [0])], *wish)

    def _reshaped(
        self, ctx: LoweringContext, tensor: str, shape: tuple[int, ...], block: Block, stem: str
    ) -> str:
        sizes = ctx.shared_integers("shape", shape)
        return ctx.emit(Reshape, [tensor, sizes], block.tensor(stem), block.name(stem.lower()))
