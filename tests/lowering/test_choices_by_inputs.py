"""Attention whose scores are chosen by an input of truth values, which is 1 or 0 as it is."""

import numpy as np
import onnx
import pytest
from graphs import graph, node, operators

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


def attention(steps, heads, chosen, low, *, queries=False):
    """Attention to the steps that an input has, [N, steps], or [N, steps, steps] for each step."""
    nodes = [
        node("MatMul", "x w", "q"),
        node("Reshape", "q apart", "q1"),
        node("Transpose", "q1", "q2", perm=[0, 2, 1, 3]),
        node("Transpose", "q1", "k2", perm=[0, 2, 3, 1]),
        node("MatMul", "q2 k2", "raw"),
        node("Mul", "raw half", "scores"),
        node("Unsqueeze", "mask ones", "m"),
        node("Cast", "triangle", "later", to=BOOL),
        node("Not", "later", "sooner"),
        *chosen,
        node("Softmax", "masked", "p", axis=-1),
        node("MatMul", "p q2", "y"),
    ]
    constants = {
        "w": np.random.default_rng(0).normal(size=(8, 8)), "half": np.array(0.5),
        "third": np.array(0.3), "ones": [1] if queries else [1, 2], "low": np.array(low),
        "apart": [0, steps, heads, 8 // heads], "triangle": 1.0 - np.tri(steps),
    }  # fmt: skip
    model = graph(nodes, x=("N", steps, 8), **constants)
    shape = ["N", *[steps] * (1 + queries)]
    model.graph.input.append(onnx.helper.make_tensor_value_info("mask", BOOL, shape))
    return model


@pytest.mark.parametrize("low", [-np.inf, -1e9])
@pytest.mark.parametrize(("steps", "heads"), [(12, 1), (12, 2), (24, 2)])
@pytest.mark.parametrize("name", CHOICES)
def test_scores_are_chosen_whole(name, steps, heads, low):
    model = attention(steps, heads, CHOICES[name], low)
    net = import_model(model)
    short = export(net)
    assert "Gather" not in operators(short)
    assert len(short.to_bytes()) <= 1.2 * len(model.SerializeToString())
    assert import_model(short) == net
    assert verify(net, short, samples=16, runtime="onnxruntime").passed


@pytest.mark.parametrize("low", [-np.inf, -1e9])
@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("name", ["stays", "goes"])
def test_each_step_has_a_choice_of_its_own(name, heads, low):
    model = attention(12, heads, CHOICES[name], low, queries=True)
    net = import_model(model)
    short = export(net)
    assert "Gather" not in operators(short)
    assert len(short.to_bytes()) <= 1.2 * len(model.SerializeToString())
    assert import_model(short) == net
    assert verify(net, short, samples=16, runtime="onnxruntime").passed
