"""How many elements a node's result has, from its constant inputs: before it is computed.

The numbers are bounds: never less than the result.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.elementwise import is_elementwise

CountRule = Callable[[Node, list[Any]], int]


def _broadcast(node: Node, operands: list[Any]) -> int:
    shapes = [operand.shape for operand in operands if operand is not None]
    return int(math.prod(np.broadcast_shapes(*shapes)))


def _no_more(node: Node, operands: list[Any]) -> int:
    return sum(operand.size for operand in operands if operand is not None)


def _expand(node: Node, operands: list[Any]) -> int:
    return int(math.prod(np.broadcast_shapes(operands[0].shape, tuple(operands[1].tolist()))))


def _filled(node: Node, operands: list[Any]) -> int:
    return int(math.prod(operands[0].tolist()))


def _range(node: Node, operands: list[Any]) -> int:
    start, limit, step = (operand.item() for operand in operands)
    return int(max(0, math.ceil((limit - start) / step)) if step else 0)


def _tile(node: Node, operands: list[Any]) -> int:
    return int(operands[0].size * math.prod(operands[1].tolist()))


def _pad(node: Node, operands: list[Any]) -> int:
    data, pads = operands[:2]
    return int(math.prod(size + int(np.abs(pads).sum()) for size in data.shape))


def _gather(node: Node, operands: list[Any]) -> int:
    data, indices = operands
    axis = node.given_attributes.get("axis", 0)
    return int(data.size // max(1, data.shape[axis]) * indices.size)


def _gather_nd(node: Node, operands: list[Any]) -> int:
    return int(math.prod(operands[0].shape[1:]) * int(operands[1].size))


def _matmul(node: Node, operands: list[Any]) -> int:
    first, second = (np.atleast_2d(operand) for operand in operands)
    batch = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    return int(math.prod(batch) * first.shape[-2] * max(second.shape[-2:]))


def _gemm(node: Node, operands: list[Any]) -> int:
    return int(max(operands[0].shape) * max(operands[1].shape))


def _one_hot(node: Node, operands: list[Any]) -> int:
    return int(operands[0].size * int(operands[1].item()))


def _window(node: Node, operands: list[Any]) -> int:
    return int(operands[0].item())


def _mel(node: Node, operands: list[Any]) -> int:
    bins, length = (int(operand.item()) for operand in operands[:2])
    return bins * (length // 2 + 1)


def _times_rank(node: Node, operands: list[Any]) -> int:
    return int(operands[0].size * max(1, operands[0].ndim))


def _all_of(count: CountRule, operators: str) -> dict[str, CountRule]:
    return dict.fromkeys(operators.split(), count)


_COUNTS: dict[str, CountRule] = {
    **_all_of(
        _no_more,
        "Reshape Squeeze Unsqueeze Flatten Transpose Slice Split Concat Shape Size CastLike",
    ),
    **_all_of(_no_more, "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2"),
    **_all_of(_no_more, "ReduceSumSquare ArgMax ArgMin CumSum Trilu GatherElements TopK Unique"),
    **_all_of(_no_more, "ScatterElements ScatterND DepthToSpace SpaceToDepth DequantizeLinear"),
    **_all_of(_window, "HannWindow HammingWindow BlackmanWindow"),
    "ConstantOfShape": _filled,
    "Expand": _expand,
    "Gather": _gather,
    "GatherND": _gather_nd,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "MelWeightMatrix": _mel,
    "NonZero": _times_rank,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Range": _range,
    "Tile": _tile,
}


def count_rule(node: Node) -> CountRule | None:
    """How to bound the elements of a node's result; None of operators that are not computed.

    They are deterministic, and the reference evaluator computes them right.
    """
    if node.domain:
        return None
    return _broadcast if is_elementwise(node) else _COUNTS.get(node.op_type)
