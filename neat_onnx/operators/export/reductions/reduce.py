"""Neurons that take the product, the largest, the smallest or the median of their inputs.

The neurons of a level with one aggregation and one number of inputs k are lowered together: their
weighted inputs are gathered as [N, neurons, k], the last axis is reduced and kept, and the
[N, neurons, 1] that this gives is flattened. A reduction that does not keep its axis would save the
Flatten, but OpenVINO fuses it with the bias, and adds that to the wrong columns.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.model import Attributes, Node
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import Expression
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.operators.export.formulas.activate import (
    activate,
    in_column_order,
    multiplied,
    one_of_many,
    respond,
)
from neat_onnx.operators.export.formulas.elementwise import Mul
from neat_onnx.operators.export.formulas.formula import Emission, FormulaEmitter, emits
from neat_onnx.operators.export.layout.columns import exactly, in_shape
from neat_onnx.operators.export.layout.shaping import Flatten, Reshape
from neat_onnx.operators.export.rows.ranking import ArgMax, GatherElements, TopK


class ReduceAttributes(Attributes):
    """Attributes of reductions: the axes where they are no input, and whether they stay."""

    axes: tuple[int, ...] | None = None
    keepdims: Literal[0, 1] = 1
    noop_with_empty_axes: Literal[0, 1] = 0


class _Reduce(Node, abstract=True):
    inputs = (1, 2)
    since = 13
    attributes: ReduceAttributes = ReduceAttributes.defaults()


class ReduceMax(_Reduce):
    """The largest element along some axes."""


class ReduceMin(_Reduce):
    """The smallest element along some axes."""


class ReduceProd(_Reduce):
    """The product along some axes."""


class ReduceSum(_Reduce):
    """The sum along some axes."""


class ReduceMean(_Reduce):
    """The mean along some axes."""


_AXIS = 2  # the inputs of a neuron, in [N, neurons, k]
_PRIMITIVES: dict[str, type[Node]] = {
    "largest": ReduceMax,
    "smallest": ReduceMin,
    "product": ReduceProd,
    "total": ReduceSum,
}
_ALONG_AXES: dict[str, type[Node]] = {"max": ReduceMax, "min": ReduceMin, "product": ReduceProd}
_AXES_ARE_INPUTS_SINCE: dict[type[Node], int] = {ReduceSum: 13}


# --- lowering ------------------------------------------------------------------------------------


@lowers(Stage.AGGREGATIONS)
def plan_reductions(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim neurons whose aggregation is not linear, by aggregation and number of inputs.

    Of one input every aggregation is that input: such neurons are left to be sums.
    """
    return Plan(
        [
            Claim(block, lower_reduction)
            for level, neurons in ctx.levels_of(free)
            for block in _blocks(ctx, level, neurons)
        ]
    )


def _blocks(ctx: LoweringContext, level: int, neurons: Ints) -> list[Block]:
    groups: dict[tuple[str, int], list[int]] = {}
    for neuron in neurons.tolist():
        name, inputs = ctx.net.aggregation_names[neuron], int(ctx.fan_in[neuron])
        if inputs > 1 and not aggregation_named(name).linear:
            groups.setdefault((name, inputs), []).append(neuron)
    return [
        Block(level, in_column_order(ctx, np.array(group)), f"_{name}{inputs}")
        for (name, inputs), group in sorted(groups.items())
    ]


def lower_reduction(ctx: LoweringContext, block: Block) -> None:
    """Gather the weighted inputs as [N, neurons, k], reduce the last axis, and flatten.

    Inputs without weights that stand in order as [N, k, neurons] are reduced there.
    """
    _, edge = ctx.edges_into(block.neurons)
    read, weight = ctx.signals.read[edge].reshape(len(block.neurons), -1), ctx.signals.weight[edge]
    operator = _ALONG_AXES.get(str(ctx.net.aggregation_names[block.neurons[0]]))
    plain = operator is not None and bool(np.all(weight == 1.0))
    arranged = arranged_inputs(read) if plain else None
    keepdims = int(arranged is None or arranged.ndim > 2)
    if operator is not None and arranged is not None:
        rows = in_shape(ctx, arranged, block.level)
        names = block.tensor("Reduced"), block.name("reduce")
        axes = [arranged.ndim - 1]
        result = emit_reduced(ctx, operator, rows, axes, names, keepdims=keepdims)
    else:
        result = _reduced_rows(ctx, block, read, weight)
    genes = ctx.net.neurons
    response, bias = genes.response[block.neurons], genes.bias[block.neurons]
    if keepdims:
        if not np.any(bias) and not ctx.options.fold:
            # right before a slope, optimizers would make one factor of both
            shape = (-1, 1) if arranged is None else (len(arranged), 1, -1)
            result = multiplied(ctx, block, result, response.reshape(shape))
            response = np.ones(len(response))
        result = ctx.emit(Flatten, [result], block.tensor("Columns"), block.name("columns"), axis=1)
    activate(ctx, block, respond(ctx, block, result, response, bias))


def _reduced_rows(ctx: LoweringContext, block: Block, read: Ints, weight: Floats) -> str:
    """The weighted inputs as [N, neurons, k], the last axis reduced."""
    rows = weighted_rows(ctx, block, read, weight)
    aggregation = aggregation_named(ctx.net.aggregation_names[block.neurons[0]])
    emitter = FormulaEmitter(ctx, rows, block.tensor("Reduced"), block.name("reduce"))
    return emitter.emit(aggregation.expression(read.shape[1]))


def weighted(ctx: LoweringContext, block: Block, read: Ints, weight: Floats) -> str:
    """The columns of signals, [N, signals], times the weights of the connections that read them."""
    result = exactly(ctx, read, block.level)
    if np.all(weight == 1.0):
        return result
    factors = ctx.initializer(block.weights("W"), one_of_many(weight))
    return ctx.emit(Mul, [result, factors], block.tensor("Weighted"), block.name("weighted"))


def weighted_rows(ctx: LoweringContext, block: Block, read: Ints, weight: Floats) -> str:
    """The inputs (neurons, k) of a block as [N, neurons, k], times the weights of connections."""
    result = weighted(ctx, block, read.ravel(), weight)
    shape = ctx.integers(block.weights("shape"), [0, *read.shape])
    return ctx.emit(Reshape, [result, shape], block.tensor("Inputs"), block.name("inputs"))


def arranged_inputs(read: Ints) -> Ints | None:
    """The inputs of neurons (neurons, k) as [k, neurons] or [outer, k, inner], if they ascend so.

    A reduction along that axis then needs no Transpose, and often no Reshape.
    """
    count, inputs = read.shape
    if count < 2 or inputs < 2:
        return None
    inner = int(np.count_nonzero(read[:, 0] < read[0, 1]))
    if inner < 2 or count % inner:
        return None
    found = read.reshape(-1, inner, inputs).swapaxes(1, 2)
    if np.any(np.diff(found.ravel()) <= 0):
        return None
    return found if len(found) > 1 else found[0]


def emit_reduced(
    ctx: LoweringContext,
    operator: type[Node],
    tensor: str,
    axes: Sequence[int],
    names: tuple[str, str],
    *,
    keepdims: int = 1,
) -> str:
    """Emit the reduction of a tensor along axes, which stay with the length 1.

    Args:
        operator: the reduction.
        axes: from 0.
        names: wished names of the result and of the node.
        keepdims: 0 if they do not stay.
    """
    if ctx.opset >= _AXES_ARE_INPUTS_SINCE.get(operator, 18):
        inputs = [tensor, ctx.shared_integers("axes", list(axes))]
        return ctx.emit(operator, inputs, *names, keepdims=keepdims)
    return ctx.emit(operator, [tensor], *names, axes=tuple(axes), keepdims=keepdims)


@emits(*_PRIMITIVES)
def emit_reduce(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit the reduction over the inputs of a neuron."""
    operator, ctx = _PRIMITIVES[part.op], emitter.ctx
    data = emitter.operand(part.args[0])
    if ctx.opset >= _AXES_ARE_INPUTS_SINCE.get(operator, 18):
        return Emission(operator, [data, ctx.shared_integers("axes", [_AXIS])], {"keepdims": 1})
    return Emission(operator, [data], {"axes": (_AXIS,), "keepdims": 1})


@emits("where_largest")
def emit_where_largest(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit ArgMax over the inputs of a neuron."""
    return Emission(ArgMax, [emitter.operand(part.args[0])], {"axis": _AXIS, "keepdims": 1})


@emits("pick")
def emit_pick(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit GatherElements over the inputs of a neuron."""
    return Emission(GatherElements, [emitter.operand(arg) for arg in part.args], {"axis": _AXIS})


@emits("lowest")
def emit_lowest(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit TopK of the smallest inputs of a neuron, sorted."""
    data, count = part.args
    wanted = emitter.ctx.shared_integers("lowest", [int(count.value)])
    attributes = {"axis": _AXIS, "largest": 0, "sorted": 1}
    return Emission(TopK, [emitter.operand(data), wanted], attributes, ("", "_places"))


# --- lifting -------------------------------------------------------------------------------------
