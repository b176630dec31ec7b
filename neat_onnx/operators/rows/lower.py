"""Rows lowered: all of one operator, level, width and parameters are one node, or its parts."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import UNBOUND, Columns
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.cells import part_name
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.operators.formulas.activation_functions import emit_activation
from neat_onnx.operators.formulas.elementwise import Mul
from neat_onnx.operators.layout.columns import exactly, in_shape
from neat_onnx.operators.layout.shaping import Identity
from neat_onnx.operators.reductions.reduce import emit_reduced
from neat_onnx.operators.rows.compose import Composition
from neat_onnx.operators.rows.find import FoundRow, RowFinder
from neat_onnx.operators.rows.masked import MaskedRows, are_masked
from neat_onnx.operators.rows.nodes import NodeOfRows, arranged, has_node, key_of, node_of
from neat_onnx.operators.rows.tables import RESULT, WEIGHTED_SOFTMAX, X


@lowers(Stage.LEVELS)
def plan_rows(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the rows that are a softmax or a normalization."""
    found = list(RowFinder(ctx, free).rows())
    masked = [rows for rows in _grouped(ctx, found, _masked_key) if are_masked(rows)]
    taken = {id(row) for rows in masked for row in rows}
    others = [row for row in found if id(row) not in taken and row.width > 1 and row.is_whole]
    groups = [(rows, RowLowering(rows).lower) for rows in _grouped(ctx, others, _key)]
    groups += [(rows, MaskedRows(rows).lower) for rows in masked]
    claims = []
    for number, (rows, lower) in enumerate(groups, 1):
        neurons = np.concatenate([row.neurons for row in rows])
        level = min(_level(ctx, row) for row in rows)
        suffix = f"_{number}" if len(groups) > 1 else ""
        claims.append(Claim(Block(level, neurons, suffix), lower))
    return Plan(claims)


def _grouped(
    ctx: LoweringContext,
    rows: Iterable[FoundRow],
    key: Callable[[LoweringContext, FoundRow], Hashable],
) -> Iterator[list[FoundRow]]:
    """Yield the rows of each key, by their results."""
    groups: dict[Hashable, list[FoundRow]] = defaultdict(list)
    for row in rows:
        groups[key(ctx, row)].append(row)
    for alike in groups.values():
        yield sorted(alike, key=lambda row: row.members[RESULT])


def _level(ctx: LoweringContext, row: FoundRow) -> int:
    return int(ctx.schedule.level[row.members[RESULT]].min())


def _key(ctx: LoweringContext, row: FoundRow) -> Hashable:
    """Rows of one key are written together."""
    has = has_node(ctx, row)
    return (
        id(row.row),
        has,
        _level(ctx, row),
        row.width,
        row.runs,
        *(ctx.net.activation_names[row.members[part.name][0]] for part in row.row.parts),
        *(key_of(ctx, row) if has else ()),
    )


def _masked_key(ctx: LoweringContext, row: FoundRow) -> Hashable:
    """Rows of one key are written together, with a mask, if they are of several widths."""
    return id(row.row), _level(ctx, row), ctx.net.activation_names[row.members[RESULT][0]]


def _are_read_alone(ctx: LoweringContext, neurons: Ints) -> bool:
    """Whether a neuron reads one of these and nothing else: import takes both for one neuron, or
    its bias for theirs, unless these end before.
    """
    live = ctx.net.live
    alone = (ctx.fan_in[live.target] == 1) & (live.gater == NONE)
    return bool(np.any(np.isin(live.source[alone], neurons)))


def _axis_of(node: NodeOfRows) -> int:
    """The axis of a node that works along one, counted from the batch."""
    axis: int = node.attributes["axis"]
    return axis % len(node.shape) + 1


class RowLowering:
    """Lowers rows of one operator, of one width and with the same parameters."""

    def __init__(self, rows: list[FoundRow]) -> None:
        self._rows = rows
        self._row = rows[0].row

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write the rows, and bind all their neurons."""
        if has_node(ctx, self._rows[0]):
            node = self._as_it_stands(ctx, node_of(ctx, self._rows))
            made = self._emitted(ctx, block, node)
            result = made if not self._is_weighted else self._weighted(ctx, block, node, made)
            self._bind(ctx, block, result, self._results(node), with_identity=self._is_weighted)
            inside, after = {name: part_name(made, name) for name in self._inner}, node.after
        else:
            shape = (len(self._rows), self._rows[0].runs, -1)
            x = self._neurons(X).reshape(shape)
            parts = Composition(ctx, block, self._rows, in_shape(ctx, x, block.level))
            neurons = self._neurons(RESULT).reshape(x.shape)
            self._bind(ctx, block, parts.emit(), neurons, with_identity=self._row.ends_in_product)
            inside, after = parts.tensors, 1
        for name, neurons in self._inner.items():
            in_order = arranged(neurons, after) if neurons.shape[1] > 1 else neurons
            ctx.bind(in_order.ravel(), inside[name], ctx.schedule.depth + 1)

    @property
    def _inner(self) -> dict[str, Ints]:
        """The neurons of each part that no other neuron reads, (rows, each); for the genome."""
        return {part.name: self._neurons(part.name) for part in self._row.inner}

    def _as_it_stands(self, ctx: LoweringContext, node: NodeOfRows) -> NodeOfRows:
        """The node along an axis of the tensor that it reads, if that is the elements in order."""
        axis, sources = node.attributes.get("axis"), node.arranged(self._neurons(X)).ravel()
        at = ctx.places.position[sources[0]]
        held = None if at == UNBOUND or axis is None else ctx.places.columns[at]
        if held is None or held.shape is None or not np.array_equal(held.signals, sources):
            return node
        if node.parameters and held.shape[-1] != self._rows[0].width:
            return node
        width = self._rows[0].width
        for place, size in enumerate(held.shape):
            if size == width and math.prod(held.shape[place + 1 :]) == node.after:
                attributes = {**node.attributes, "axis": place - len(held.shape)}
                return node._replace(shape=held.shape, attributes=attributes)
        return node

    def _emitted(self, ctx: LoweringContext, block: Block, node: NodeOfRows) -> str:
        name = node.operator.__name__
        sources = node.arranged(self._neurons(X))
        if sources.ndim == 1:
            tensor = exactly(ctx, sources, block.level)
        else:
            tensor = in_shape(ctx, sources, block.level)
        if self._row.parts[-1].whole:
            names = block.tensor(name), block.name(name.lower())
            return emit_reduced(ctx, node.operator, tensor, [_axis_of(node)], names)
        inputs = [tensor]
        for key, values in node.parameters.items():
            inputs.append(ctx.initializer(block.weights(f"N{key}"), values))
        names = block.tensor(name), block.name(name.lower())
        return ctx.emit(node.operator, inputs, *names, **node.attributes)

    @property
    def _is_weighted(self) -> bool:
        """Whether constants multiply the results of a node."""
        return self._row is WEIGHTED_SOFTMAX

    def _weighted(self, ctx: LoweringContext, block: Block, node: NodeOfRows, made: str) -> str:
        """The results of a node times their weights."""
        weights = node.arranged(np.array([row.weights[RESULT] for row in self._rows]))
        if np.all(weights == weights.flat[0]):
            factors = ctx.scalar(float(weights.flat[0]))
        else:
            factors = ctx.initializer(block.weights("N"), weights)
        return ctx.emit(Mul, [made, factors], block.tensor("Weighted"), block.name("weighted"))

    def _results(self, node: NodeOfRows) -> Ints:
        """The results in the shape of the node's output."""
        results = self._neurons(RESULT)
        if not self._row.parts[-1].whole:
            return node.arranged(results)
        shape = list(node.shape)
        shape[_axis_of(node) - 1] = 1
        return results.reshape(shape)

    def _neurons(self, part: str) -> Ints:
        return np.array([row.members[part] for row in self._rows], np.int64)

    def _bind(
        self,
        ctx: LoweringContext,
        block: Block,
        made: str,
        results: Ints,
        *,
        with_identity: bool = False,
    ) -> None:
        """Bind the results to `made`; or to an Identity of it, of which import makes neurons."""
        shape = results.shape if results.ndim > 1 else None
        flat = (block.tensor("Flat"), block.name("flatten"))
        neurons = results.ravel()
        name = str(ctx.net.activation_names[neurons[0]])
        formula = activation_named(name).expression
        result = made
        if formula != VARIABLE:
            output = block.tensor("Layer")
            result = emit_activation(ctx, label_of(name), formula, made, output, block.name("act"))
        if with_identity or (formula == VARIABLE and _are_read_alone(ctx, neurons)):
            wish = block.tensor("Ends"), block.name("ends")
            result = ctx.emit(Identity, [result], *wish)
        if ctx.reads_state(neurons):
            signals = ctx.signals.pre_activation[neurons]
            flat = (f"{made}_flat", f"flatten_{made}")
            ctx.places.bind(Columns(made, signals, block.level, shape, flat))
        ctx.places.bind(Columns(result, neurons, block.level, shape, flat))
