"""GRU and LSTM layers over a sequence of fixed length, whose steps are neurons of their own.

They are written as one node over all steps, if all steps have the same weights.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.cells import LINEAR_GRU, Cell, place_of
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.schedule import Together, schedule
from neat_onnx.operators.columns import in_shape
from neat_onnx.operators.rnn.chains import Chain, ChainFinder
from neat_onnx.operators.rnn.nodes import GRU, LSTM, Recurrence
from neat_onnx.operators.shaping import Transpose

_NODES: dict[str, type[Recurrence]] = {"GRU": GRU, "LSTM": LSTM}


@lowers(Stage.SEQUENCES)
def plan_unrolled(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the layers that are a GRU or an LSTM; runtimes compute these in float32 only."""
    options = ctx.options
    wanted = options.fused_recurrent and options.allow_partial_connectivity
    if options.dtype != "float32" or not wanted or ctx.net.has_memory:
        return Plan()
    claims: list[Claim] = []
    taken = np.zeros(len(ctx.net), np.bool_)
    for chains in ChainFinder(ctx, free).layers():
        layer = Unrolled.of(ctx, chains)
        if layer is None or np.any(taken[layer.neurons]) or not layer.holds():
            continue
        window = Together(layer.neurons, np.unique(layer.sources))
        earlier = [claim.window for claim in claims if claim.window is not None]
        try:
            schedule(ctx.net, [*ctx.windows, *earlier, window])
        except NetworkError:  # a later step reads something that depends on an earlier one
            continue
        taken[layer.neurons] = True
        suffix = f"_{len(claims) + 1}" if claims else ""
        claims.append(Claim(Block(0, layer.neurons, suffix), layer.lower, window))
    return Plan(claims)


@dataclass(frozen=True)
class _Parameters:
    """W (gates · H, I), R (gates · H, H) and both biases of one step, NaN in rows without neurons.

    R is None for the first step, which reads no step before it.
    """

    w: Floats
    r: Floats | None
    bias: Floats


class Unrolled:
    """The units of one cell side by side, over all steps.

    Attributes:
        parts: for each part, its neurons in the steps that have any, (steps, H).
        sources: the neurons that each step reads, (T, I).
    """

    def __init__(self, ctx: LoweringContext, cell: Cell, steps: list[dict[str, Ints]]) -> None:
        self._ctx, self._cell, self._steps = ctx, cell, steps
        self.parts: dict[str, Ints] = {
            part.name: np.stack([step[part.name] for step in steps if part.name in step])
            for part in cell.parts
        }
        self.sources: Ints = np.empty((0, 0), np.int64)

    @classmethod
    def of(cls, ctx: LoweringContext, chains: list[Chain]) -> "Unrolled | None":
        """The layer of units of one length, in the order of their neurons."""
        chains = sorted(chains, key=lambda chain: chain.steps[0]["hidden"])
        kinds = {(chain.cell.operator, *(tuple(step) for step in chain.steps)) for chain in chains}
        if len(kinds) > 1:
            return None
        steps = [
            {name: np.array([chain.steps[k][name] for chain in chains]) for name in step}
            for k, step in enumerate(chains[0].steps)
        ]
        return cls(ctx, chains[0].cell, steps)

    @property
    def neurons(self) -> Ints:
        """All neurons, the last step's hidden ones last."""
        return np.concatenate([neurons.ravel() for neurons in self.parts.values()])

    @property
    def hidden(self) -> Ints:
        """The hidden neurons, (T, H)."""
        return self.parts["hidden"]

    # --- checking --------------------------------------------------------------------------------

    def holds(self) -> bool:
        """Whether all steps have the weights of the last, and no other neuron reads inner ones."""
        if len(np.unique(self.neurons)) < len(self.neurons) or not self._is_closed():
            return False
        sources = [self._sources_of(k) for k in range(len(self._steps))]
        if len({len(each) for each in sources}) > 1 or not len(sources[0]):
            return False
        self.sources = np.stack(sources)
        if np.any(np.isin(self.sources, self.neurons)):
            return False
        last = self._parameters[-1]
        alike = all(self._is_alike(each, last) for each in self._parameters)
        return alike and not np.any(np.isnan(last.w)) and self._is_safe(last.w)

    def _is_closed(self) -> bool:
        live, count = self._ctx.net.live, len(self._ctx.net)
        inner, everyone = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        everyone[self.neurons] = inner[self.neurons] = True
        inner[self.hidden] = False
        gates = (live.gater != NONE) & inner[live.gater]
        outside = (inner[live.source] | gates) & ~everyone[live.target]
        return not np.any(outside) and not np.any(inner[self._ctx.net.output_neurons])

    def _is_safe(self, w: Floats) -> bool:
        """Whether no zero weight can meet a value that may overflow."""
        wild = np.any(self._ctx.signals.overflows[self.sources], axis=0)
        hidden = np.any(self._ctx.signals.overflows[self.hidden])
        return not hidden and not np.any(w[:, wild] == 0.0)

    def _is_alike(self, one: _Parameters, last: _Parameters) -> bool:
        given = ~np.isnan(one.bias)
        pairs = [(one.bias, last.bias), (one.w, last.w)]
        if one.r is not None and last.r is not None:
            pairs.append((one.r, last.r))
        rows = [given] + [~np.isnan(mine[:, :1]).ravel() for mine, _ in pairs[1:]]
        return all(
            np.array_equal(mine[which], other[which])
            for (mine, other), which in zip(pairs, rows, strict=True)
        )

    # --- parameters ------------------------------------------------------------------------------

    def _connections(self, k: int, matrix: str) -> tuple[Ints, Ints, Bools]:
        """(row, edge) of the ungated connections into the rows of W or R, and which lead from h."""
        net, step = self._ctx.net, self._steps[k]
        names = self._cell.rows_of("W" if matrix == "W" else "R")
        units, before = len(self.hidden[0]), self.hidden[k - 1] if k else np.empty(0, np.int64)
        rows, edges = [], []
        for block, name in enumerate(names):
            if name in step:
                row, edge = net.edges_into(step[name])
                rows.append(row + block * units)
                edges.append(edge)
        row, edge = np.concatenate(rows), np.concatenate(edges)
        plain = net.live.gater[edge] == NONE
        row, edge = row[plain], edge[plain]
        return row, edge, np.isin(net.live.source[edge], before)

    def _sources_of(self, k: int) -> Ints:
        """The neurons that a step reads of others, in ascending order."""
        _, edge, own = self._connections(k, "W")
        return np.unique(self._ctx.net.live.source[edge[~own]])

    @cached_property
    def _parameters(self) -> list[_Parameters]:
        return [self._parameters_of(k) for k in range(len(self._steps))]

    def _parameters_of(self, k: int) -> _Parameters:
        first = self._matrix(k, "W", self.sources[k])
        return _Parameters(first, self._matrix(k, "R", self.hidden[k - 1]) if k else None,
                           self._biases(k))  # fmt: skip

    def _matrix(self, k: int, matrix: str, columns: Ints) -> Floats:
        """The weights of a step; rows of parts that the step lacks are NaN.

        A connection that has no place in it, such as one into R's part from other neurons, makes
        all of it NaN.
        """
        live, units = self._ctx.net.live, len(self.hidden[0])
        names = self._cell.rows_of("W" if matrix == "W" else "R")
        row, edge, own = self._connections(k, matrix)
        mine = own if matrix == "R" else ~own
        values = np.zeros((len(names) * units, len(columns)))
        place = np.searchsorted(columns, live.source[edge[mine]])
        np.add.at(values, (row[mine], place), live.weight[edge[mine]])
        for block, name in enumerate(names):
            strange = name not in self._cell.rows_of("R" if matrix == "W" else "W")
            if strange and np.any(~mine & (row // units == block)):
                return np.full_like(values, np.nan)
            if name not in self._steps[k]:
                values[block * units : (block + 1) * units] = np.nan
        return values

    def _biases(self, k: int) -> Floats:
        """[Wb, Rb]: the bias of a part is in Wb if the part has rows of W."""
        bias, step, units = self._ctx.net.neurons.bias, self._steps[k], len(self.hidden[0])
        of_w, of_r = self._cell.rows_of("W"), self._cell.rows_of("R")
        nothing = np.full(units, np.nan)
        first = [bias[step[name]] if name in step else nothing for name in of_w]
        zeros = np.zeros(units)
        second = [zeros if name in of_w else bias[step[name]] for name in of_r]
        return np.concatenate([*first, *second])

    # --- lowering --------------------------------------------------------------------------------

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write one node over all steps, and bind the hidden neurons as [N, T, 1, H]."""
        stem, last = self._cell.operator, self._parameters[-1]
        assert last.r is not None
        backwards = bool(self.sources[0].min() > self.sources[-1].min())
        order = slice(None, None, -1 if backwards else 1)
        x = in_shape(ctx, self.sources[order], block.level)
        steps = ctx.emit(Transpose, [x], block.tensor("Steps"), block.name("steps"), perm=(1, 0, 2))
        names = [
            ctx.initializer(block.weights(letter), values[None])
            for letter, values in (("W", last.w), ("R", last.r), ("B", last.bias))
        ]
        every = ctx.emit(
            _NODES[stem],
            [steps, *names],
            block.tensor(stem),
            block.name(stem.lower()),
            hidden_size=len(self.hidden[0]),
            **({"linear_before_reset": 1} if self._cell is LINEAR_GRU else {}),
            **({"direction": "reverse"} if backwards else {}),
        )
        wish = block.tensor("Layer"), block.name(f"transpose_{stem.lower()}")
        layer = ctx.emit(Transpose, [every], *wish, perm=(2, 0, 1, 3))
        hidden = self.hidden[order]
        shape, flat = (len(hidden), 1, len(hidden[0])), (block.tensor("Flat"), block.name("flat"))
        ctx.places.bind(Columns(layer, hidden.ravel(), block.level, shape, flat))
        for name, neurons in self.parts.items():  # inside the node, where no other neuron reads
            if name != "hidden":
                ctx.bind(neurons.ravel(), place_of(every, name), ctx.plan.depth + 1)
