"""Rows written as nodes: all of one operator, level, width and parameters are one node."""

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.placement import Columns
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.model import Node
from neat_onnx.network.activations import activation_named, label_of
from neat_onnx.network.cells import place_of
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.operators.activation_functions import emit_activation
from neat_onnx.operators.columns import exactly, in_shape
from neat_onnx.operators.normalization import LayerNormalization
from neat_onnx.operators.rows.find import FoundRow, RowFinder
from neat_onnx.operators.rows.tables import LAYER_NORMALIZATION, RESULT, X
from neat_onnx.operators.softmax import LogSoftmax, Softmax

_NODES: dict[str, type[Node]] = {
    "Softmax": Softmax,
    "LogSoftmax": LogSoftmax,
    "LayerNormalization": LayerNormalization,
}


@lowers(Stage.LEVELS)
def plan_rows(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim the rows that are a Softmax, a LogSoftmax or a LayerNormalization."""
    groups: dict[Hashable, list[FoundRow]] = defaultdict(list)
    for row in RowFinder(ctx, free).rows():
        # runtimes add up a LayerNormalization in float32
        if row.row.operator != "LayerNormalization" or ctx.options.dtype == "float32":
            groups[_key(ctx, row)].append(row)
    claims = []
    for number, rows in enumerate(groups.values(), 1):
        rows.sort(key=lambda row: row.members[RESULT])
        neurons = np.concatenate([row.neurons for row in rows])
        level = min(_level(ctx, row) for row in rows)
        suffix = f"_{number}" if len(groups) > 1 else ""
        claims.append(Claim(Block(level, neurons, suffix), Rows(rows).lower))
    return Plan(claims)


def _level(ctx: LoweringContext, row: FoundRow) -> int:
    return int(ctx.plan.level[row.members[RESULT]].min())


def _key(ctx: LoweringContext, row: FoundRow) -> Hashable:
    """Rows of one key are written as one node."""
    results = row.members[RESULT]
    return (
        row.row.operator,
        _level(ctx, row),
        len(results),
        ctx.net.activation_names[results[0]],
        *(tuple(values) for values in _parameters(ctx, row).values()),
    )


def _parameters(ctx: LoweringContext, row: FoundRow) -> dict[str, list[float]]:
    """The epsilon, scale and shift of a normalization."""
    if row.row.operator != "LayerNormalization":
        return {}
    bias = ctx.net.neurons.bias
    (scale,) = row.weights.values()
    given = {"epsilon": bias[row.members["scale"]].tolist(), "scale": list(scale)}
    if row.row is LAYER_NORMALIZATION:
        given["shift"] = bias[row.members[RESULT]].tolist()
    return given


class Rows:
    """Lowers rows of one operator, of one width and with the same parameters."""

    def __init__(self, rows: list[FoundRow]) -> None:
        self._rows = rows
        self._row = rows[0].row

    def lower(self, ctx: LoweringContext, block: Block) -> None:
        """Write the operator over the last axis of its rows, and bind its result."""
        stem = self._row.operator.lower()
        inputs, attributes = [self._tensor(ctx, block.level)], dict[str, Any]()
        given = _parameters(ctx, self._rows[0])
        if given:
            (attributes["epsilon"],) = given["epsilon"]
            inputs += [ctx.initializer(block.weights(f"N{name}"), given[name])
                       for name in given if name != "epsilon"]  # fmt: skip
        made = ctx.emit(
            _NODES[self._row.operator],
            inputs,
            block.tensor(self._row.operator),
            block.name(stem),
            axis=-1,
            **attributes,
        )
        self._bind(ctx, block, made)

    def _tensor(self, ctx: LoweringContext, level: int) -> str:
        sources = self._neurons(X)
        if len(sources) == 1:
            return exactly(ctx, sources[0], level)
        return in_shape(ctx, sources, level)

    def _neurons(self, part: str) -> Ints:
        return np.array([row.members[part] for row in self._rows], np.int64)

    def _bind(self, ctx: LoweringContext, block: Block, made: str) -> None:
        neurons = self._neurons(RESULT)
        several = len(neurons) > 1
        shape = neurons.shape if several else None
        flat = (block.tensor("Flat"), block.name("flatten"))
        neurons = neurons.ravel()
        name = str(ctx.net.activation_names[neurons[0]])
        formula = activation_named(name).expression
        result = made
        if formula != VARIABLE:
            output = block.tensor("Layer")
            result = emit_activation(ctx, label_of(name), formula, made, output, block.name("act"))
        if ctx.reads_state(neurons):
            states = ctx.signals.state[neurons]
            state_flat = (f"{made}_flat", f"flatten_{made}")
            ctx.places.bind(Columns(made, states, block.level, shape, state_flat))
        ctx.places.bind(Columns(result, neurons, block.level, shape, flat))
        for part in self._row.inner:  # inside the node, where no other neuron reads
            ctx.bind(
                self._neurons(part.name).ravel(), place_of(made, part.name), ctx.plan.depth + 1
            )
