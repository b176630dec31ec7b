"""Attention whose scores are masked by a sum, as 1 - m times a low number, and by a triangle."""

import numpy as np
import onnx
import pytest
from attending import attention
from support.examples.graphs import assert_valid_in_any_form, node
from support.harness.sweep import every

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


def masked_attention(steps, heads, masked, low):
    """Attention whose steps see those before them, where a second input, [N, steps], is 1."""
    masking = [
        node("Sub", "one m", "absent"),
        node("Mul", "absent lower", "gone"),
        node("Cast", "triangle", "later", to=BOOL),
        *masked,
    ]
    numbers = {"one": np.array(1.0), "low": np.array(low), "lower": np.array(max(low, LEAST))}
    return attention(steps, heads, masking, triangle=1.0 - np.tri(steps), **numbers)


@pytest.mark.parametrize(
    ("name", "size", "low"), every(MASKS, [(8, 1), (8, 2)], [-np.inf, -1e9, LEAST])
)
def test_masks_are_whole_again(name, size, low):
    steps, heads = size
    model = masked_attention(steps, heads, MASKS[name], low)
    net = import_model(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, samples=16, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)
