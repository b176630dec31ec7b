"""Choices by computed conditions that are broadcast, as padding masks of attention."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node, operators

from neat_onnx import export, import_model, verify


def attention(steps: int, heads: int, masked: list[onnx.NodeProto], **more: object):
    """Attention whose scores are masked by a second input, [N, steps]."""
    nodes = [
        node("MatMul", "x w", "q"),
        node("Reshape", "q apart", "q1"),
        node("Transpose", "q1", "q2", perm=[0, 2, 1, 3]),
        node("Transpose", "q1", "k2", perm=[0, 2, 3, 1]),
        node("MatMul", "q2 k2", "scores"),
        node("Unsqueeze", "mask ones", "m"),
        node("Less", "m half", "absent"),
        *masked,
        node("Softmax", "masked", "p", axis=-1),
        node("MatMul", "p q2", "y"),
    ]
    constants = {
        "w": np.random.default_rng(0).normal(size=(8, 8)), "half": np.array(0.5), "ones": [1, 2],
        "apart": [0, steps, heads, 8 // heads], **more,
    }  # fmt: skip
    return graph(nodes, x=("N", steps, 8), beside={"mask": ("N", steps)}, **constants)


def assert_short(model: onnx.ModelProto):
    net = import_model(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert verify(net, short, samples=16, runtime="onnxruntime").passed
    return operators(short)


@pytest.mark.parametrize("heads", [1, 2])
def test_steps_that_are_absent_are_one_choice(heads: int):
    masked = [node("Where", "absent low scores", "masked")]
    assert_short(attention(12, heads, masked, low=np.array(-1e9)))


def test_steps_that_are_absent_or_later():
    masked = [node("Or", "absent later", "no"), node("Where", "no low scores", "masked")]
    model = attention(12, 2, masked, low=np.array(-1e9))
    later = onnx.numpy_helper.from_array(~np.tri(12).astype(bool), "later")
    model.graph.initializer.append(later)
    assert_short(model)


def test_sums_of_products_that_are_no_choice_stay():
    """The second product is by another condition, which does not hold exactly where the first does
    not.
    """
    nodes = [
        node("Less", "x half", "low"), node("Cast", "low", "a", to=1), node("Mul", "a x", "c"),
        node("Greater", "x zero", "high"), node("Cast", "high", "b", to=1),
        node("Mul", "b x", "d"), node("Add", "c d", "y"),
    ]  # fmt: skip
    model = graph(nodes, x=("N", 4, 8), half=np.array(0.5), zero=np.array(0.0))
    net = import_model(model)
    assert "Where" not in operators(export(net))
    assert verify(net, export(net), runtime="onnxruntime").passed
