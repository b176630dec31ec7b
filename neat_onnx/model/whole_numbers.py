"""Floats that are whole numbers, whatever a graph is given: so a Cast to integers changes none."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from neat_onnx.model.graph import ONNX_DOMAINS
from neat_onnx.model.node import Node
from neat_onnx.model.operator_types import operator_types

_ROUND = frozenset({"Ceil", "Floor", "Round", "Sign"})
_MOVE = frozenset(
    {"Compress", "Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "GatherElements"}
    | {"GatherND", "Identity", "OneHot", "Pad", "Reshape", "ScatterElements", "ScatterND", "Slice"}
    | {"SpaceToDepth", "Split", "Squeeze", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze"}
    | {"Where"}
)
_COMPUTE = frozenset(
    {"Abs", "Add", "Clip", "Conv", "ConvTranspose", "CumSum", "MatMul", "Max", "MaxPool", "Min"}
    | {"Mul", "Neg", "ReduceL1", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum"}
    | {"ReduceSumSquare", "Relu", "Sub", "Sum"}
)
_STAY = _MOVE | _COMPUTE
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
    if node.op_type not in _STAY and not _is_whole_layer(node):
        return False
    alike, _ = operator_types(node.op_type, node.domain).alike(node)
    read = [name for name, same in zip(node.input, alike, strict=True) if same and name]
    return bool(read) and all(map(is_whole, read))


def _is_whole_layer(node: Node) -> bool:
    """Whether a node is a Gemm whose factors are whole numbers."""
    given = node.given_attributes
    return node.op_type == "Gemm" and all(
        float(given.get(name, 1.0)).is_integer() for name in _FACTORS
    )
