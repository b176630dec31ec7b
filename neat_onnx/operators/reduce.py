"""Neurons that take the product, the largest, the smallest or the median of their inputs.

The neurons of a level with one aggregation and one number of inputs k are lowered together: their
weighted inputs are gathered as [N, neurons, k], and the last axis is reduced.
"""

from dataclasses import replace
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.lowering.context import Block, LoweringContext
from neat_onnx.lowering.registry import Claim, Plan, Stage, lowers
from neat_onnx.model import Attributes, Node
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.expression import Expression, call
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.operators.activate import activate, in_column_order, respond
from neat_onnx.operators.columns import exactly
from neat_onnx.operators.elementwise import Mul
from neat_onnx.operators.formula import (
    Emission,
    FormulaEmitter,
    apply_formula,
    emits,
    recognised,
)
from neat_onnx.operators.shaping import Reshape


class ReduceAttributes(Attributes):
    axes: tuple[int, ...] | None = None
    keepdims: Literal[0, 1] = 1


class _Reduce(Node, abstract=True):
    inputs = (1, 2)
    since = 13
    attributes: ReduceAttributes = ReduceAttributes.defaults()


class ReduceMax(_Reduce): ...


class ReduceMin(_Reduce): ...


class ReduceProd(_Reduce): ...


class ReduceSum(_Reduce): ...


class ArgMaxAttributes(Attributes):
    axis: int = 0
    keepdims: Literal[0, 1] = 1
    select_last_index: Literal[0] = 0


class ArgMax(Node):
    since = 13
    attributes: ArgMaxAttributes = ArgMaxAttributes.defaults()


class GatherElementsAttributes(Attributes):
    axis: int = 0


class GatherElements(Node):
    inputs = (2, 2)
    since = 13
    attributes: GatherElementsAttributes = GatherElementsAttributes.defaults()


class TopKAttributes(Attributes):
    axis: int = -1
    largest: Literal[0, 1] = 1
    sorted: Literal[1] = 1


class TopK(Node):
    inputs = (2, 2)
    outputs = (2, 2)
    since = 11
    attributes: TopKAttributes = TopKAttributes.defaults()


_AXIS = 2  # the inputs of a neuron, in [N, neurons, k]
_PRIMITIVES: dict[str, type[Node]] = {
    "largest": ReduceMax,
    "smallest": ReduceMin,
    "product": ReduceProd,
    "total": ReduceSum,
}
_AXES_ARE_INPUTS_SINCE: dict[type[Node], int] = {ReduceSum: 13}
_NAMES = {operator.__name__: primitive for primitive, operator in _PRIMITIVES.items()}


# --- lowering ------------------------------------------------------------------------------------


@lowers(Stage.AGGREGATIONS)
def plan_reductions(ctx: LoweringContext, free: Bools) -> Plan:
    """Claim neurons whose aggregation is not linear, by aggregation and number of inputs."""
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
        if inputs and not aggregation_named(name).linear:
            groups.setdefault((name, inputs), []).append(neuron)
    return [
        Block(level, in_column_order(ctx, np.array(group)), f"_{name}{inputs}")
        for (name, inputs), group in sorted(groups.items())
    ]


def lower_reduction(ctx: LoweringContext, block: Block) -> None:
    """Gather the weighted inputs as [N, neurons, k], and reduce the last axis."""
    _, edge = ctx.edges_into(block.neurons)
    inputs = int(ctx.fan_in[block.neurons[0]])
    weight = ctx.initializer(block.weights("W"), ctx.net.live.weight[edge])
    gathered = exactly(ctx, ctx.signals.read[edge], block.level)
    weighted = ctx.emit(Mul, [gathered, weight], block.tensor("Weighted"), block.name("weighted"))
    shape = ctx.integers(block.weights("shape"), [0, len(block.neurons), inputs])
    rows = ctx.emit(Reshape, [weighted, shape], block.tensor("Inputs"), block.name("inputs"))
    aggregation = aggregation_named(ctx.net.aggregation_names[block.neurons[0]])
    emitter = FormulaEmitter(ctx, rows, block.tensor("Reduced"), block.name("reduce"))
    result = emitter.emit(aggregation.expression(inputs))
    genes = ctx.net.neurons
    response, bias = genes.response[block.neurons], genes.bias[block.neurons]
    activate(ctx, block, respond(ctx, block, result, response, bias))


@emits(*_PRIMITIVES)
def emit_reduce(emitter: FormulaEmitter, part: Expression) -> Emission:
    operator, ctx = _PRIMITIVES[part.op], emitter.ctx
    data = emitter.operand(part.args[0])
    if ctx.options.opset >= _AXES_ARE_INPUTS_SINCE.get(operator, 18):
        return Emission(operator, [data, ctx.shared_integers("axes", [_AXIS])], {"keepdims": 0})
    return Emission(operator, [data], {"axes": (_AXIS,), "keepdims": 0})


@emits("where_largest")
def emit_where_largest(emitter: FormulaEmitter, part: Expression) -> Emission:
    return Emission(ArgMax, [emitter.operand(part.args[0])], {"axis": _AXIS, "keepdims": 1})


@emits("pick")
def emit_pick(emitter: FormulaEmitter, part: Expression) -> Emission:
    return Emission(GatherElements, [emitter.operand(arg) for arg in part.args], {"axis": _AXIS})


@emits("lowest")
def emit_lowest(emitter: FormulaEmitter, part: Expression) -> Emission:
    data, count = part.args
    wanted = emitter.ctx.shared_integers("lowest", [int(count.value)])
    attributes = {"axis": _AXIS, "largest": 0, "sorted": 1}
    return Emission(TopK, [emitter.operand(data), wanted], attributes, ("", "_places"))


# --- lifting -------------------------------------------------------------------------------------


@lifts(*_PRIMITIVES.values())
def lift_reduce(ctx: LiftingContext, node: _Reduce) -> None:
    axes = node.attributes.axes
    if ctx.optional(node, 1) is not None:
        axes = tuple(ctx.integers(node, 1))
    if node.attributes.keepdims:
        ctx.fail(node, "keepdims: expected 0, got 1")
    value = _last_axis(ctx, node, axes)
    formula = call(_NAMES[node.op_type], value.formula)
    reduced = replace(value, formula=formula, reduced=True)
    ctx.bind(node, recognised(ctx, node, reduced))


@lifts(ArgMax)
def lift_argmax(ctx: LiftingContext, node: ArgMax) -> None:
    value = _last_axis(ctx, node, (node.attributes.axis,))
    if not node.attributes.keepdims:
        ctx.fail(node, "keepdims: expected 1, got 0")
    ctx.bind(node, replace(value, formula=call("where_largest", value.formula)))


@lifts(GatherElements)
def lift_gather_elements(ctx: LiftingContext, node: GatherElements) -> None:
    value, place = _last_axis(ctx, node, (node.attributes.axis,)), ctx.value(node, 1)
    picked = apply_formula(ctx, node, "pick", [value, place])
    if picked is None or place.formula.op != "where_largest":
        ctx.fail(node, "its indices have to be the ArgMax of what it picks from")
    ctx.bind(node, picked)


@lifts(TopK)
def lift_topk(ctx: LiftingContext, node: TopK) -> None:
    value = _last_axis(ctx, node, (node.attributes.axis,))
    if node.attributes.largest:
        ctx.fail(node, "largest: expected 0, got 1")
    (count,) = ctx.integers(node, 1)
    ctx.bind(node, replace(value, formula=call("lowest", value.formula, float(count))))


def _last_axis(ctx: LiftingContext, node: Node, axes: tuple[int, ...] | None) -> Value:
    """The first input, which `axes` reduce along its last axis."""
    value = ctx.value(node, 0)
    rank = len(value.shape)
    if value.reduced or axes is None or [axis % rank for axis in axes] != [rank - 1]:
        ctx.fail(node, f"it works along the axes {list(axes or [])} of {rank}, expected the last")
    return value
