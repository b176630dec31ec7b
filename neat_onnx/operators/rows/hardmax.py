"""Rows of hits lowered: ArgMax where the number of a place is read, Hardmax where first hits are,
else a comparison.
"""

from collections import defaultdict
from collections.abc import Hashable
from typing import Any, Literal

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.model import Node
from neat_onnx.network.activations import activation_named
from neat_onnx.network.cells import part_name
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.operators.formulas.activate import activate
from neat_onnx.operators.formulas.activation_functions import emit_activation
from neat_onnx.operators.formulas.elementwise import Sub
from neat_onnx.operators.formulas.logic import Cast
from neat_onnx.operators.layout.columns import exactly, in_shape
from neat_onnx.operators.layout.shaping import Flatten, Gather
from neat_onnx.operators.reductions.reduce import ReduceMax, ReduceMin, emit_reduced
from neat_onnx.operators.rows.nodes import arranged, elements_between
from neat_onnx.operators.rows.places import HIT, PlaceFinder, Places
from neat_onnx.operators.rows.ranking import ArgMax, ArgMin
from neat_onnx.operators.rows.softmax import Hardmax

Form = Literal["number", "first", "hits"]
_REDUCTIONS: dict[str, type[Node]] = {"max": ReduceMax, "min": ReduceMin}
_NUMBERS: dict[str, type[Node]] = {"max": ArgMax, "min": ArgMin}


@lowers(Stage.LEVELS)
def plan_places(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the rows whose largest or smallest elements are found, and the first of them."""
    groups: dict[Hashable, list[Places]] = defaultdict(list)
    for each in PlaceFinder(ctx, free).places():
        groups[_key(ctx, each)].append(each)
    claims = []
    for number, rows in enumerate(groups.values(), 1):
        suffix = f"_{number}" if len(groups) > 1 else ""
        lowering = RowsOfPlaces(rows, _form(ctx, rows[0]))
        level = int(ctx.schedule.level[lowering.results.ravel()].min())
        claims.append(Claim(Block(level, lowering.neurons, suffix), lowering.lower))
    return Plan(claims)


def of_first_hits(ctx: LoweringContext, free: Bools) -> Bools:
    """The first hits that are written with their rows, and the numbers of their places: no window
    may claim them before.
    """
    found = np.zeros(len(ctx.net), np.bool_)
    for each in PlaceFinder(ctx, free).places():
        form = _form(ctx, each)
        if form != "hits":
            found[[*each.first.values(), *([each.number] if form == "number" else [])]] = True
    return found


def _form(ctx: LoweringContext, row: Places) -> Form:
    """The numbers of places are ArgMax or ArgMin, first hits of the largest a Hardmax, which
    runtimes have in float32.
    """
    if row.number != NONE:
        return "number"
    hardmax = row.aggregation == "max" and row.first and ctx.options.dtype == "float32"
    return "first" if hardmax else "hits"


def _are_plain(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether neurons hand on their sums, each is needed once, and nothing reads the sums."""
    names = {str(name) for name in ctx.net.activation_names[neurons]}
    plain = all(activation_named(name).expression == VARIABLE for name in names)
    return plain and not ctx.reads_state(neurons)


def _results(row: Places, form: Form) -> list[int]:
    """The neurons that others read."""
    return {"number": [row.number], "first": [*row.first.values()], "hits": row.hits}[form]


def _key(ctx: LoweringContext, row: Places) -> Hashable:
    """Rows of one key are written together."""
    form = _form(ctx, row)
    level = int(ctx.schedule.level[_results(row, form)].min())
    which = (row.is_last, *(row.first if form == "first" else ()))
    return row.aggregation, form, level, len(row.hits), *which


class RowsOfPlaces:
    """Lowers rows of one width.

    Attributes:
        results: the neurons that others read, (rows, results).
    """

    def __init__(self, rows: list[Places], form: Form) -> None:
        self._rows, self._form = rows, form
        order = slice(None, None, -1 if rows[0].is_last else 1)
        self._sources = np.array([row.sources[order] for row in rows], np.int64)
        self._hits = np.array([row.hits for row in rows], np.int64)
        self._extremes = np.array([row.extreme for row in rows], np.int64)
        numbered = form == "number"  # by all first hits; of others some may not be read
        firsts = [[*row.first.values()] if numbered else [] for row in rows]
        self._firsts = np.array(firsts, np.int64)
        self._after = elements_between(self._hits)
        self._axis = -1 if self._after == 1 else -2
        self.results: Ints = np.array([_results(row, form) for row in rows], np.int64)

    @property
    def neurons(self) -> Ints:
        """All neurons that are written."""
        inner = {"number": [self._firsts, self._hits], "first": [self._hits], "hits": []}
        parts = [self.results, *inner[self._form], self._extremes]
        return np.concatenate([each.ravel() for each in parts])

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write the rows, and bind all their neurons."""
        if len(self._rows) == 1:
            x = exactly(ctx, self._sources.ravel(), block.level)
        else:
            x = in_shape(ctx, arranged(self._sources, self._after), block.level)
        if self._form == "number":
            self._lower_numbers(ctx, block, x)
            return
        result = (self._first if self._form == "first" else self._compared)(ctx, block, x)
        results = arranged(self.results, self._after)
        shape = results.shape if len(self._rows) > 1 else None
        names = (block.tensor("Flat"), block.name("flatten"))
        ctx.places.bind(Columns(result, results.ravel(), block.level, shape, names))

    def _lower_numbers(self, ctx: LoweringContext, block: Block, x: str) -> None:
        """The number of the place in each row, [N, rows]; [N] for an output of that shape, and
        [N, rows, rows] where there are rows both before the axis and behind it.
        """
        operator = _NUMBERS[self._rows[0].aggregation]
        names = block.tensor("Place"), block.name("place")
        numbers = Block(block.level, self.results.ravel(), block.suffix)
        plain = _are_plain(ctx, numbers.neurons)
        whole = plain and any(
            not port.shape and np.array_equal(port.neurons.ravel(), numbers.neurons)
            for port in ctx.net.outputs
        )
        keeps = len(self._rows) == 1 and not whole
        last: dict[str, Any] = {"select_last_index": 1} if self._rows[0].is_last else {}
        made = ctx.emit(operator, [x], *names, axis=self._axis, keepdims=int(keeps), **last)
        hits, firsts = (arranged(each, self._after) for each in (self._hits, self._firsts))
        for part, neurons in (("largest", self._extremes), ("hits", hits), ("first", firsts)):
            ctx.bind(neurons.ravel(), part_name(made, part), ctx.schedule.depth + 1)
        output, name = block.tensor("Number"), block.name("number")
        made = ctx.emit(Cast, [made], output, name, to=int(ctx.data_type))
        flat = (block.tensor("Flat"), block.name("flatten"))
        rows = len(self._rows)
        axes = None if self._after in (1, rows) else (rows // self._after, self._after)
        if plain:
            shape = () if whole else axes
            ctx.places.bind(Columns(made, numbers.neurons, block.level, shape, flat))
        else:
            made = made if axes is None else ctx.emit(Flatten, [made], *flat, axis=1)
            activate(ctx, numbers, made)

    def _first(self, ctx: LoweringContext, block: Block, x: str) -> str:
        """The first of the largest elements, those that are read."""
        names = block.tensor("Hardmax"), block.name("hardmax")
        made = ctx.emit(Hardmax, [x], *names, axis=self._axis)
        ctx.bind(self._extremes, part_name(made, "largest"), ctx.schedule.depth + 1)
        hits = arranged(self._hits, self._after).ravel()
        ctx.bind(hits, part_name(made, "hits"), ctx.schedule.depth + 1)
        places = [*self._rows[0].first]
        if len(places) == self._hits.shape[1]:
            return made
        index = ctx.integers(block.weights("places"), places)
        names = block.tensor("First"), block.name("first")
        return ctx.emit(Gather, [made, index], *names, axis=self._axis)

    def _compared(self, ctx: LoweringContext, block: Block, x: str) -> str:
        """1 for each element that equals the extreme."""
        axis = arranged(self._hits, self._after).ndim + 1 + self._axis
        operator = _REDUCTIONS[self._rows[0].aggregation]
        names = block.tensor("Extreme"), block.name("extreme")
        extreme = emit_reduced(ctx, operator, x, [axis], names)
        ctx.bind(self._extremes, extreme, ctx.schedule.depth + 1)
        less = ctx.emit(Sub, [x, extreme], block.tensor("Less"), block.name("less"))
        return emit_activation(ctx, "", HIT, less, block.tensor("Hits"), block.name("hits"))
