"""Floats that are whole numbers, whatever a graph is given: so a Cast to integers changes none."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.model.graph import ONNX_DOMAINS
from neat_onnx.model.node import Node
from neat_onnx.model.operator_types import operator_types

_ROUND = frozenset({"Ceil", "Floor", "Round", "Sign"})
_HAND_ON = frozenset(
    {"Compress", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements"}
    | {"GatherND", "Identity", "Max", "MaxPool", "Min", "OneHot", "Pad", "ReduceMax", "ReduceMin"}
    | {"Reshape", "ScatterElements", "ScatterND", "Slice", "SpaceToDepth", "Split", "Squeeze"}
    | {"Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Where"}
)
_COMPUTE = frozenset(
    {"Abs", "Add", "Clip", "Conv", "ConvTranspose", "CumSum", "MatMul", "Mul", "Neg", "ReduceL1"}
    | {"ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu", "Sub", "Sum"}
)
_FACTORS = ("alpha", "beta")


def are_whole(numbers: npt.NDArray[Any]) -> bool:
    """Whether all numbers of an array are whole."""
    return bool(np.all(numbers == np.rint(numbers)))


def gives_whole_numbers(node: Node, is_whole: Callable[[str], bool]) -> bool:
    """Whether the first output of a node has whole numbers alone.

    Args:
        node: of floats; whether a Cast gives whole numbers is for its reader to say.
        is_whole: whether a tensor of floats that it reads has.
    """
    if node.domain not in ONNX_DOMAINS:
        return False
    if node.op_type in _ROUND:
        return True
    computes = node.op_type in _COMPUTE or _is_whole_layer(node)
    return (computes and _all_read(node, is_whole)) or hands_on_numbers(node, is_whole)


def hands_on_numbers(node: Node, holds: Callable[[str], bool]) -> bool:
    """Whether each number of a node's first output is one that it reads, all of them from tensors
    of which something holds, so that it holds there as well.
    """
    if node.domain not in ONNX_DOMAINS:
        return False
    is_copy = node.op_type == "Sum" and len(node.input) == 1
    return (is_copy or node.op_type in _HAND_ON) and _all_read(node, holds)


def _all_read(node: Node, holds: Callable[[str], bool]) -> bool:
    """Whether all tensors that a node computes with hold something; indices and shapes are none."""
    alike, _ = operator_types(node.op_type, node.domain).alike(node)
    read = [name for name, same in zip(node.input, alike, strict=True) if same and name]
    return bool(read) and all(map(holds, read))


def _is_whole_layer(node: Node) -> bool:
    """Whether a node is a Gemm whose factors are whole numbers."""
    given = node.given_attributes
    return node.op_type == "Gemm" and all(
        float(given.get(name, 1.0)).is_integer() for name in _FACTORS
    )
