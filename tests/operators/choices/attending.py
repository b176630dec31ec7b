"""Attention whose scores are masked, by nodes that read a second input."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from support.examples.graphs import graph, node


def attention(
    steps: int,
    heads: int,
    masking: Sequence[onnx.NodeProto],
    *,
    kind: int = onnx.TensorProto.FLOAT,
    queries: bool = False,
    **constants: Any,
) -> onnx.ModelProto:
    """Attention of the steps of x, [N, steps, 8].

    Args:
        steps, heads: how many there are.
        masking: nodes that give "masked" of "scores", [N, heads, steps, steps], and of "m", the
            second input in as many axes.
        kind: the type of the second input, which is [N, steps].
        queries: it has a row for each step, [N, steps, steps].
        constants: that the nodes may read.
    """
    nodes = [
        node("MatMul", "x w", "q"),
        node("Reshape", "q apart", "q1"),
        node("Transpose", "q1", "q2", perm=[0, 2, 1, 3]),
        node("Transpose", "q1", "k2", perm=[0, 2, 3, 1]),
        node("MatMul", "q2 k2", "raw"),
        node("Mul", "raw half", "scores"),
        node("Unsqueeze", "mask ones", "m"),
        *masking,
        node("Softmax", "masked", "p", axis=-1),
        node("MatMul", "p q2", "y"),
    ]
    given = constants | {
        "w": np.random.default_rng(0).normal(size=(8, 8)), "half": np.array(0.5),
        "ones": [1] if queries else [1, 2], "apart": [0, steps, heads, 8 // heads],
    }  # fmt: skip
    read = {name for each in nodes for name in each.input}
    kept = {name: each for name, each in given.items() if name in read}
    model = graph(nodes, x=("N", steps, 8), **kept)
    shape = ["N", *[steps] * (1 + queries)]
    model.graph.input.append(onnx.helper.make_tensor_value_info("mask", kind, shape))
    return model
