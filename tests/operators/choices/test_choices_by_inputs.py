"""Attention whose scores are chosen by an input of truth values, which is 1 or 0 as it is."""

from itertools import product

import numpy as np
import onnx
import pytest
from attending import attention
from support.examples.graphs import assert_valid_in_any_form, node
from support.harness.sweep import each, every

from neat_onnx import export, import_model, verify

BOOL = onnx.TensorProto.BOOL
CHOICES = {
    "stays": [node("Where", "m scores low", "masked")],
    "goes": [node("Where", "m low scores", "masked")],
    "two tensors": [node("Mul", "scores third", "less"), node("Where", "m scores less", "masked")],
    "triangle first": [
        node("Where", "later low scores", "s1"),
        node("Where", "m s1 low", "masked"),
    ],
    "triangle and input": [
        node("And", "m sooner", "both"),
        node("Where", "both scores low", "masked"),
    ],
}


def chosen_attention(steps, heads, chosen, low, *, queries=False):
    """Attention to the steps that an input has, [N, steps], or [N, steps, steps] for each step."""
    masking = [
        node("Cast", "triangle", "later", to=BOOL),
        node("Not", "later", "sooner"),
        *chosen,
    ]
    numbers = {"third": np.array(0.3), "low": np.array(low), "triangle": 1.0 - np.tri(steps)}
    return attention(steps, heads, masking, kind=BOOL, queries=queries, **numbers)


def assert_chosen_whole(model):
    """The export has whole tensors, few bytes, and is the same network."""
    net = import_model(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, samples=16, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize(
    ("name", "form"), each(2, every(CHOICES, product([1, 2], [-np.inf, -1e9])))
)
def test_scores_are_chosen_whole(name, form):
    heads, low = form
    assert_chosen_whole(chosen_attention(8, heads, CHOICES[name], low))


@pytest.mark.parametrize(
    ("name", "heads", "low"), every(["stays", "goes"], [1, 2], [-np.inf, -1e9])
)
def test_each_step_has_a_choice_of_its_own(name, heads, low):
    model = chosen_attention(8, heads, CHOICES[name], low, queries=True)
    assert_chosen_whole(model)
