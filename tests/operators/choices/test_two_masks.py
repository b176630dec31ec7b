"""Scores of attention under two masks, a constant one and a computed one, are under two choices."""

from itertools import product

import numpy as np
import onnx
import pytest
from attending import attention
from support.examples.graphs import assert_valid_in_any_form, node
from support.harness.sweep import each, every

from neat_onnx import export, import_model, verify

BOOL = onnx.TensorProto.BOOL
MASKS = {
    "triangle first": (
        [node("Where", "later low scores", "s1"), node("Where", "absent low s1", "masked")],
        [-np.inf, -1e9],
    ),
    "triangle last": (
        [node("Where", "absent low scores", "s1"), node("Where", "later low s1", "masked")],
        [-np.inf, -1e9],
    ),
    "what stays": (
        [node("Where", "sooner scores low", "s1"), node("Where", "there s1 low", "masked")],
        [-np.inf, -1e9],
    ),
    "what does not": (
        [
            node("Not", "there", "gone"),
            node("Where", "later low scores", "s1"),
            node("Where", "gone low s1", "masked"),
        ],
        [-np.inf, -1e9],
    ),
    "added": (
        [node("Add", "scores bias", "s1"), node("Where", "absent low s1", "masked")],
        [-np.inf],
    ),
    "added last": (
        [node("Where", "absent low scores", "s1"), node("Add", "s1 bias", "masked")],
        [-np.inf],
    ),
    "of other numbers": (
        [node("Where", "later low scores", "s1"), node("Where", "absent lower s1", "masked")],
        [-1e9],
    ),
}

JOINED = {
    "both": [node("And", "there sooner", "both"), node("Where", "both scores low", "masked")],
    "not both": [
        node("And", "there sooner", "both"),
        node("Not", "both", "other"),
        node("Where", "other low scores", "masked"),
    ],
    "either": [node("Or", "absent later", "either"), node("Where", "either low scores", "masked")],
}


def masked_attention(steps, heads, masked, low, bias):
    """Attention whose steps see those before them, where a second input, [N, steps], has them."""
    masking = [
        node("Less", "m half", "absent"),
        node("Greater", "m half", "there"),
        node("Cast", "triangle", "later", to=BOOL),
        node("Cast", "rest", "sooner", to=BOOL),
        *masked,
    ]
    later = 1.0 - np.tri(steps)
    constants = {
        "low": np.array(low), "lower": np.array(2 * low), "triangle": later, "rest": 1.0 - later,
        **({"bias": np.where(later > 0, low, 0.0)} if bias else {}),
    }  # fmt: skip
    return attention(steps, heads, masking, **constants)


@pytest.mark.parametrize(
    ("name", "form"), each(2, every(MASKS, product([(8, 1), (6, 2)], [0, -1])))
)
def test_both_are_choices_again(name, form):
    (masks, lows), ((steps, heads), which) = MASKS[name], form
    model = masked_attention(steps, heads, masks, lows[which], bias="added" in name)
    net = import_model(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, samples=16, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize("heads", [1, 2])
def test_a_choice_by_the_opposite_is_one_by_the_condition(heads):
    nodes = [node("Not", "there", "gone"), node("Where", "gone low scores", "masked")]
    model = masked_attention(8, heads, nodes, -1e9, bias=False)
    net = import_model(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, samples=16, runtime="onnxruntime").passed


@pytest.mark.parametrize(
    ("masks", "size", "low"), every(JOINED, [(8, 1), (12, 2)], [-np.inf, -1e9])
)
def test_a_choice_by_both_is_one_again(masks, size, low):
    steps, heads = size
    model = masked_attention(steps, heads, JOINED[masks], low, bias=False)
    net = import_model(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, samples=16, runtime="onnxruntime").passed
