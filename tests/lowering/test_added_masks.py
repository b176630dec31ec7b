"""Attention whose scores are masked by a sum, as 1 - m times a low number, and by a triangle."""

import numpy as np
import onnx
import pytest
from graphs import graph, node, operators

from neat_onnx import export, import_model, verify

BOOL = onnx.TensorProto.BOOL
LEAST = float(np.finfo(np.float32).min)
MASKS = {
    "triangle first": [
        node("Where", "later low scores", "s1"),
        node("Add", "s1 gone", "masked"),
    ],
    "triangle last": [
        node("Add", "scores gone", "s1"),
        node("Where", "later low s1", "masked"),
    ],
}


def attention(steps, heads, masked, low):
    """Attention whose steps see those before them, where a second input, [N, steps], is 1."""
    nodes = [
        node("MatMul", "x w", "q"),
        node("Reshape", "q apart", "q1"),
        node("Transpose", "q1", "q2", perm=[0, 2, 1, 3]),
        node("Transpose", "q1", "k2", perm=[0, 2, 3, 1]),
        node("MatMul", "q2 k2", "raw"),
        node("Mul", "raw half", "scores"),
        node("Unsqueeze", "mask ones", "m"),
        node("Sub", "one m", "absent"),
        node("Mul", "absent lower", "gone"),
        node("Cast", "triangle", "later", to=BOOL),
        *masked,
        node("Softmax", "masked", "p", axis=-1),
        node("MatMul", "p q2", "y"),
    ]
    constants = {
        "w": np.random.default_rng(0).normal(size=(8, 8)), "half": np.array(0.5),
        "one": np.array(1.0), "ones": [1, 2], "low": np.array(low),
        "lower": np.array(max(low, LEAST)), "apart": [0, steps, heads, 8 // heads],
        "triangle": 1.0 - np.tri(steps),
    }  # fmt: skip
    model = graph(nodes, x=("N", steps, 8), **constants)
    entry = onnx.helper.make_tensor_value_info("mask", onnx.TensorProto.FLOAT, ["N", steps])
    model.graph.input.append(entry)
    return model


@pytest.mark.parametrize("low", [-np.inf, -1e9, LEAST])
@pytest.mark.parametrize(("steps", "heads"), [(12, 1), (12, 2), (24, 2)])
@pytest.mark.parametrize("name", MASKS)
def test_masks_are_whole_again(name, steps, heads, low):
    model = attention(steps, heads, MASKS[name], low)
    net = import_model(model)
    short = export(net)
    assert "Gather" not in operators(short)
    assert "Gemm" not in operators(short)
    assert operators(short).count("Where") == 1
    assert len(short.to_bytes()) <= 1.2 * len(model.SerializeToString())
    assert import_model(short) == net
    assert verify(net, short, samples=16, runtime="onnxruntime").passed
