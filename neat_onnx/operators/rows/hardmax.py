"""Rows of hits lowered: one Hardmax where first hits are read, else a comparison."""

from collections import defaultdict
from collections.abc import Hashable

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.model import Node
from neat_onnx.network.cells import place_of
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.operators.activation_functions import emit_activation
from neat_onnx.operators.columns import exactly, in_shape
from neat_onnx.operators.elementwise import Sub
from neat_onnx.operators.reduce import ReduceMax, ReduceMin, emit_reduced
from neat_onnx.operators.rows.places import HIT, PlaceFinder, Places
from neat_onnx.operators.shaping import Gather
from neat_onnx.operators.softmax import Hardmax

_REDUCTIONS: dict[str, type[Node]] = {"max": ReduceMax, "min": ReduceMin}


@lowers(Stage.LEVELS)
def plan_places(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the rows whose largest or smallest elements are found, and the first of them."""
    groups: dict[Hashable, list[Places]] = defaultdict(list)
    for each in PlaceFinder(ctx, free).places():
        groups[_key(ctx, each)].append(each)
    claims = []
    for number, rows in enumerate(groups.values(), 1):
        suffix = f"_{number}" if len(groups) > 1 else ""
        lowering = RowsOfPlaces(rows, hardmax=_is_hardmax(ctx, rows[0]))
        level = int(ctx.plan.level[lowering.results.ravel()].min())
        claims.append(Claim(Block(level, lowering.neurons, suffix), lowering.lower))
    return Plan(claims)


def _is_hardmax(ctx: LoweringContext, row: Places) -> bool:
    """Whether first hits of the largest are written as one Hardmax; runtimes have it in float32."""
    return row.aggregation == "max" and bool(row.first) and ctx.options.dtype == "float32"


def _key(ctx: LoweringContext, row: Places) -> Hashable:
    """Rows of one key are written together."""
    hardmax = _is_hardmax(ctx, row)
    results = list(row.first.values()) if hardmax else row.hits
    level = int(ctx.plan.level[results].min())
    return row.aggregation, hardmax, level, len(row.hits), *(row.first if hardmax else ())


class RowsOfPlaces:
    """Lowers rows of one width.

    Attributes:
        results: the neurons that others read, (rows, results).
    """

    def __init__(self, rows: list[Places], *, hardmax: bool) -> None:
        self._rows, self._hardmax = rows, hardmax
        self._sources = np.array([row.sources for row in rows], np.int64)
        self._hits = np.array([row.hits for row in rows], np.int64)
        self._extremes = np.array([row.extreme for row in rows], np.int64)
        first = np.array([[*row.first.values()] for row in rows], np.int64)
        self.results: Ints = first if hardmax else self._hits

    @property
    def neurons(self) -> Ints:
        """All neurons that are written."""
        inner = [self._extremes, *([self._hits.ravel()] if self._hardmax else [])]
        return np.concatenate([self.results.ravel(), *inner])

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write the rows, and bind all their neurons."""
        if len(self._rows) == 1:
            x = exactly(ctx, self._sources.ravel(), block.level)
        else:
            x = in_shape(ctx, self._sources, block.level)
        result = self._first(ctx, block, x) if self._hardmax else self._compared(ctx, block, x)
        shape = self.results.shape if len(self._rows) > 1 else None
        names = (block.tensor("Flat"), block.name("flatten"))
        ctx.places.bind(Columns(result, self.results.ravel(), block.level, shape, names))

    def _first(self, ctx: LoweringContext, block: Block, x: str) -> str:
        """The first of the largest elements, those that are read."""
        made = ctx.emit(Hardmax, [x], block.tensor("Hardmax"), block.name("hardmax"), axis=-1)
        ctx.bind(self._extremes, place_of(made, "largest"), ctx.plan.depth + 1)
        ctx.bind(self._hits.ravel(), place_of(made, "hits"), ctx.plan.depth + 1)
        places = [*self._rows[0].first]
        if len(places) == self._hits.shape[1]:
            return made
        index = ctx.integers(block.weights("places"), places)
        return ctx.emit(Gather, [made, index], block.tensor("First"), block.name("first"), axis=-1)

    def _compared(self, ctx: LoweringContext, block: Block, x: str) -> str:
        """1 for each element that equals the extreme."""
        axis = 1 if len(self._rows) == 1 else 2
        operator = _REDUCTIONS[self._rows[0].aggregation]
        names = block.tensor("Extreme"), block.name("extreme")
        extreme = emit_reduced(ctx, operator, x, [axis], names)
        ctx.bind(self._extremes, extreme, ctx.plan.depth + 1)
        less = ctx.emit(Sub, [x, extreme], block.tensor("Less"), block.name("less"))
        return emit_activation(ctx, "", HIT, less, block.tensor("Hits"), block.name("hits"))
