"""Rows written as one node: its shape, its attributes and its parameters."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.model import Node
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.operators.reductions.reduce import ReduceLogSumExp
from neat_onnx.operators.rows.find import FoundRow
from neat_onnx.operators.rows.normalization import (
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    LpNormalization,
    RMSNormalization,
)
from neat_onnx.operators.rows.softmax import LogSoftmax, Softmax
from neat_onnx.operators.rows.tables import LAYER_NORMALIZATION, RESULT, X

Numbers = TypeVar("Numbers", Ints, Floats)


class NodeOfRows(NamedTuple):
    """The node of rows of one operator.

    Attributes:
        operator: its class.
        attributes: of the node.
        parameters: its constant inputs, by name.
        shape: of the elements of all rows, without the batch.
        after: how many elements of other rows are between two of a row.
    """

    operator: type[Node]
    attributes: dict[str, Any]
    parameters: dict[str, Floats]
    shape: tuple[int, ...]
    after: int = 1

    def arranged(self, values: Numbers) -> Numbers:
        """Values (rows, width) in the order of the shape."""
        return arranged(values, self.after).reshape(self.shape)


def elements_between(neurons: Ints) -> int:
    """How many elements of other rows stand between two of a row, and one of them; 1 where the
    neurons (rows, width) are in no such order.
    """
    rows, width = neurons.shape
    if width == 1:
        return 1
    found = int(np.searchsorted(np.sort(neurons, axis=None), neurons[0, 1]))
    if found < 1 or rows % found:
        return 1
    return found if np.all(np.diff(arranged(neurons, found).ravel()) > 0) else 1


def arranged(values: Numbers, after: int) -> Numbers:
    """Values (rows, width) with so many rows side by side behind each element, as [rows, width] or
    [rows, width, rows]; the axis of rows in front is left out where there is one.
    """
    rows, width = values.shape
    by_plane = values.reshape(-1, after, width).swapaxes(1, 2)
    shape = (rows // after, width) if after == 1 else (rows // after, width, after)
    return by_plane.reshape(shape[rows == after :])


def has_node(ctx: LoweringContext, row: FoundRow) -> bool:
    """Whether the opset has an operator for the row that runtimes compute in the file's type."""
    table = row.row
    if not table.operator or (ctx.options.dtype == "float64" and not table.in_float64):
        return False
    if table.operator != "GroupNormalization":
        return ctx.opset >= table.since
    by_run = ctx.net.neurons.bias[row.members[RESULT]].reshape(row.runs, -1)
    return bool(np.all(by_run == by_run[:, :1])) and (row.runs == 1 or ctx.opset >= table.since)


def node_of(ctx: LoweringContext, rows: list[FoundRow]) -> NodeOfRows:
    """The node of rows that have one key."""
    return _NODES[rows[0].row.operator](ctx, rows)


def key_of(ctx: LoweringContext, row: FoundRow) -> tuple[float, ...]:
    """The parameters that rows of one node share."""
    if row.row.operator in ("LayerNormalization", "RMSNormalization"):
        bias = ctx.net.neurons.bias[row.members[RESULT]].tolist()
        (scale,) = row.weights.values()
        return _epsilon(ctx, row), *scale, *bias
    if row.row.operator == "GroupNormalization":
        return _epsilon(ctx, row), float(row.runs)
    return ()


def _epsilon(ctx: LoweringContext, row: FoundRow) -> float:
    return float(ctx.net.neurons.bias[row.members["scale"][0]])


def _softmax(ctx: LoweringContext, rows: list[FoundRow]) -> NodeOfRows:
    operator = Softmax if rows[0].row.operator == "Softmax" else LogSoftmax
    return _along_an_axis(operator, {}, rows)


def _along_an_axis(
    operator: type[Node], attributes: dict[str, Any], rows: list[FoundRow], part: str = RESULT
) -> NodeOfRows:
    """The node of rows along the last axis, or along the one before, where neurons of other rows
    are between theirs: nothing has to be transposed, and the genome keeps its order.

    Args:
        operator: of the node.
        attributes: all but the axis.
        rows: the rows.
        part: the one whose neurons tell the order.
    """
    after = elements_between(np.array([row.members[part] for row in rows]))
    shape = arranged(np.zeros((len(rows), rows[0].width)), after).shape
    return NodeOfRows(operator, {**attributes, "axis": -1 - (after > 1)}, {}, shape, after)


def _layer_normalization(ctx: LoweringContext, rows: list[FoundRow]) -> NodeOfRows:
    (scale,) = rows[0].weights.values()
    parameters = {"scale": np.array(scale)}
    if rows[0].row is LAYER_NORMALIZATION:
        parameters["shift"] = ctx.net.neurons.bias[rows[0].members[RESULT]]
    kind = LayerNormalization if "Layer" in rows[0].row.operator else RMSNormalization
    return NodeOfRows(
        kind, {"axis": -1, "epsilon": _epsilon(ctx, rows[0])}, parameters, _plane(rows)
    )


def _group_normalization(ctx: LoweringContext, rows: list[FoundRow]) -> NodeOfRows:
    runs, width = rows[0].runs, rows[0].width
    first = np.array([row.members[RESULT] for row in rows])[:, :: width // runs]
    parameters = {
        "scale": np.array([row.weights["factor"] for row in rows]).ravel(),
        "shift": ctx.net.neurons.bias[first].ravel(),
    }
    attributes: dict[str, Any] = {"epsilon": _epsilon(ctx, rows[0])}
    shape = (len(rows) * runs, width // runs)
    if runs == 1:
        return NodeOfRows(InstanceNormalization, attributes, parameters, shape)
    attributes["num_groups"] = len(rows)
    return NodeOfRows(GroupNormalization, attributes, parameters, shape)


def _lp_normalization(ctx: LoweringContext, rows: list[FoundRow]) -> NodeOfRows:
    return _along_an_axis(LpNormalization, {"p": 2}, rows)


def _log_sum_exp(ctx: LoweringContext, rows: list[FoundRow]) -> NodeOfRows:
    return _along_an_axis(ReduceLogSumExp, {}, rows, X)


def _plane(rows: list[FoundRow]) -> tuple[int, ...]:
    """The shape of rows, the axis of rows left out where there is one."""
    return (len(rows), rows[0].width)[-min(len(rows), 2) :]


_NODES: dict[str, Callable[[LoweringContext, list[FoundRow]], NodeOfRows]] = {
    "Softmax": _softmax,
    "LogSoftmax": _softmax,
    "ReduceLogSumExp": _log_sum_exp,
    "LayerNormalization": _layer_normalization,
    "RMSNormalization": _layer_normalization,
    "GroupNormalization": _group_normalization,
    "LpNormalization": _lp_normalization,
}
