"""RNN, GRU and LSTM layers over a sequence of fixed length, whose steps are neurons of their own.

They are written as one node over all steps, if all steps have the same weights. It begins at zero,
or at the values of any other neurons.
"""

from collections.abc import Mapping
from itertools import chain

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.cells import LINEAR_GRU, place_of
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.schedule import Together, schedule
from neat_onnx.operators.columns import exactly, in_shape
from neat_onnx.operators.rnn.chains import ChainFinder
from neat_onnx.operators.rnn.elman import elman_layers
from neat_onnx.operators.rnn.nodes import GRU, LSTM, RNN, Recurrence
from neat_onnx.operators.rnn.parameters import Parameters, StepReader, runs_of
from neat_onnx.operators.rnn.reads import Reads, Steps
from neat_onnx.operators.shaping import Squeeze, Transpose, Unsqueeze

_NODES: dict[str, type[Recurrence]] = {"RNN": RNN, "GRU": GRU, "LSTM": LSTM}


@lowers(Stage.SEQUENCES)
def plan_unrolled(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the layers that are RNN, GRU or LSTM; runtimes compute these in float32 only."""
    options = ctx.options
    wanted = options.fused_recurrent and options.allow_partial_connectivity
    stepping = options.sequence and ctx.net.has_memory
    if options.dtype != "float32" or not wanted or stepping:
        return Plan()
    claims: list[Claim] = []
    taken = np.zeros(len(ctx.net), np.bool_)
    reads = Reads(ctx, free)
    runs = (runs_of(reads, layer) for layer in ChainFinder(reads).layers())
    for layer in chain(*runs, elman_layers(reads)):
        found = Unrolled.of(ctx, reads, layer)
        if found is None or np.any(taken[found.neurons]):
            continue
        read = found.read
        window = Together(found.neurons, read[read < len(ctx.net)])
        earlier = [claim.window for claim in claims if claim.window is not None]
        try:
            schedule(ctx.net, [*ctx.windows, *earlier, window])
        except NetworkError:  # a later step reads something that depends on an earlier one
            continue
        taken[found.neurons] = True
        suffix = f"_{len(claims) + 1}" if claims else ""
        claims.append(Claim(Block(0, found.neurons, suffix), found.lower, window))
    return Plan(claims)


class Unrolled:
    """A layer whose steps all have the weights of the last.

    Attributes:
        parts: for each part, its neurons in the steps that have any, (steps, H).
        sources: the signals that W multiplies in each step, (T, I).
        start: by state, the signals of the initial state, (H,); {} for zeros.
        shown: the states besides the hidden one that others read after the last step.
    """

    def __init__(
        self, layer: Steps, steps: list[Parameters], start: Mapping[str, Ints], shown: list[str]
    ) -> None:
        self._cell, self._functions, self._last = layer.cell, layer.functions, steps[-1]
        self.parts, self.hidden = _parts_of(layer), layer.hidden
        self.sources, self.start = np.stack([step.sources for step in steps]), start
        self.shown = shown

    @classmethod
    def of(cls, ctx: LoweringContext, reads: Reads, layer: Steps) -> "Unrolled | None":
        """The layer, if one node computes it and no other neuron reads inner ones."""
        shown = _shown(ctx, layer)
        if shown is None:
            return None
        reader, hidden = StepReader(reads, layer), layer.hidden
        later = [reader.step(k, before) for k, before in enumerate(hidden[:-1], 1)]
        last = later[-1]
        if last is None or not last.sources.size or np.any(np.isnan(last.w)):
            return None
        steps = [step for step in [reader.first(last), *later] if step is not None]
        if len(steps) < len(hidden) or not all(step.is_alike(last) for step in steps):
            return None
        before = steps[0].before
        start = dict(layer.start) | ({"hidden": before} if before.size else {})
        if start and set(start) != set(layer.cell.states):
            return None
        found = cls(layer, steps, start, shown)
        return found if found._is_safe(ctx) else None

    @property
    def neurons(self) -> Ints:
        """All neurons, the last step's hidden ones last."""
        return np.concatenate([neurons.ravel() for neurons in self.parts.values()])

    @property
    def read(self) -> Ints:
        """The signals that are read, each once."""
        return np.unique(np.concatenate([self.sources.ravel(), *self.start.values()]))

    def _is_safe(self, ctx: LoweringContext) -> bool:
        """Whether it reads others alone, and no zero weight can meet a value that may overflow."""
        if np.any(np.isin(self.read, self.neurons)):
            return False
        if any(len(np.unique(signals)) < len(signals) for signals in self.start.values()):
            return False
        first = [self.start["hidden"]] if self.start else []
        before = np.vstack([*first, self.hidden[:-1]])
        return not any(
            np.any(matrix[:, np.any(ctx.signals.overflows[signals], axis=0)] == 0.0)
            for matrix, signals in ((self._last.w, self.sources), (self._last.r, before))
        )

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write one node over all steps, and bind the hidden neurons as [N, T, 1, H]."""
        stem, last = self._cell.operator, self._last
        backwards = bool(self.sources[0].min() > self.sources[-1].min())
        order = slice(None, None, -1 if backwards else 1)
        x = in_shape(ctx, self.sources[order], block.level)
        steps = ctx.emit(Transpose, [x], block.tensor("Steps"), block.name("steps"), perm=(1, 0, 2))
        names = [
            ctx.initializer(block.weights(letter), values[None])
            for letter, values in (("W", last.w), ("R", last.r), ("B", last.bias))
        ]
        ends = [block.tensor("End") if state in self.shown else "" for state in self._cell.states]
        every, *after = ctx.emit_all(
            _NODES[stem],
            [steps, *names, *self._initial(ctx, block)],
            [block.tensor(stem), *(ends if self.shown else [])],
            block.name(stem.lower()),
            hidden_size=len(self.hidden[0]),
            **({"linear_before_reset": 1} if self._cell is LINEAR_GRU else {}),
            **({"direction": "reverse"} if backwards else {}),
            **({"activations": self._functions} if self._functions != self._cell.functions else {}),
        )
        wish = block.tensor("Layer"), block.name(f"transpose_{stem.lower()}")
        layer = ctx.emit(Transpose, [every], *wish, perm=(2, 0, 1, 3))
        hidden = self.hidden[order]
        shape, flat = (len(hidden), 1, len(hidden[0])), (block.tensor("Flat"), block.name("flat"))
        ctx.places.bind(Columns(layer, hidden.ravel(), block.level, shape, flat))
        for name, neurons in self.parts.items():  # inside the node, where no other neuron reads
            if name != "hidden":
                ctx.bind(neurons.ravel(), place_of(every, name), ctx.plan.depth + 1)
        for state, end in zip(self._cell.states, after, strict=False):
            if state in self.shown:
                wish = block.tensor("State"), block.name(f"state_{state}")
                axis = ctx.shared_integers("axis", [0])
                flat_end = ctx.emit(Squeeze, [end, axis], *wish)
                ctx.bind(self.parts[state][-1], flat_end, block.level)

    def _initial(self, ctx: LoweringContext, block: Block) -> list[str]:
        """The node's inputs after the biases: no lengths, and the states before the first step."""
        if not self.start:
            return []
        given = [""]
        for state in self._cell.states:
            tensor = exactly(ctx, self.start[state], block.level)
            wish = block.tensor("Start"), block.name(f"start_{state}")
            axis = ctx.shared_integers("axis", [0])
            given.append(ctx.emit(Unsqueeze, [tensor, axis], *wish))
        return given


def _parts_of(layer: Steps) -> dict[str, Ints]:
    return {
        part.name: np.stack([step[part.name] for step in layer.steps if part.name in step])
        for part in layer.cell.parts
    }


def _shown(ctx: LoweringContext, layer: Steps) -> list[str] | None:
    """The states besides the hidden one that others read after the last step.

    None if others read more of the layer, but for its hidden neurons.
    """
    neurons = np.concatenate([each.ravel() for each in _parts_of(layer).values()])
    hidden, last = layer.hidden.ravel(), layer.steps[-1]
    if _is_closed(ctx, neurons, hidden):
        return []
    names = [state for state in layer.cell.states if state != "hidden"]
    ends = [last[state] for state in names]
    return names if _is_closed(ctx, neurons, np.concatenate([hidden, *ends])) else None


def _is_closed(ctx: LoweringContext, neurons: Ints, shown: Ints) -> bool:
    """Whether each of these neurons is another one, and others read `shown` ones alone."""
    live, count = ctx.net.live, len(ctx.net)
    inner, everyone = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    everyone[neurons] = inner[neurons] = True
    inner[shown] = False
    if np.count_nonzero(everyone) < len(neurons) or ctx.reads_state(neurons):
        return False
    gates = (live.gater != NONE) & inner[live.gater]
    outside = (inner[live.source] | gates) & ~everyone[live.target]
    return not np.any(outside) and not np.any(inner[ctx.net.output_neurons])
