"""Scan over a sequence of fixed length: neurons of their own for every step."""

from functools import partial

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value
from neat_onnx.lifting.dispatch import lift_node
from neat_onnx.model import Graph, Node
from neat_onnx.model.budget import Budget
from neat_onnx.model.wiring import names_read
from neat_onnx.operators.algebra import rearranged
from neat_onnx.operators.layout.arranging import combined

_MAX_STEPS = 1000


def unroll(ctx: LiftingContext, node: Node, body: Graph, count: int) -> None:
    """The body's nodes for each step, its states handed on, its other outputs side by side."""
    sequences = [ctx.operand(node, position) for position in range(count, len(node.input))]
    lengths = {(*operand.shape, 0)[0] for operand in sequences}  # a number has none
    if len(lengths) != 1 or not 0 < max(lengths) <= _MAX_STEPS:
        ctx.fail(
            node, f"its sequences have the lengths {sorted(lengths)}, the most is {_MAX_STEPS}"
        )
    states = [ctx.operand(node, position) for position in range(count)]
    Budget().take("nodes", len(body.node) * max(lengths), node.label)
    ctx.operands.update({tensor.name: tensor.values for tensor in body.initializer})
    for name in names_read(body):  # at every step, though it stands there once
        if isinstance(captured := ctx.operands.get(name), Value):
            ctx.operands[name] = captured.shared
    parts: list[list[Operand]] = []
    for step in range(max(lengths)):
        given = [
            *states,
            *(rearranged(each, partial(np.take, indices=step, axis=0)) for each in sequences),
        ]
        for entry, operand in zip(body.inputs, given, strict=True):
            ctx.operands[entry.name] = operand.shared if isinstance(operand, Value) else operand
        for inner in body.node:
            lift_node(ctx, inner)
        results = [ctx.operands[entry.name] for entry in body.outputs]
        states = results[:count]
        parts.append(results[count:])
    stacked = [combined(ctx, node, each, _stacked) for each in zip(*parts, strict=True)]
    ctx.bind(node, *states, *stacked)


def _stacked(*rows: Array) -> Array:
    return np.stack(rows)
