"""Samples with NaN inside a network, beside which no runtime owes a place of the largest."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from neat_onnx import import_model, verify

WEIGHTS = np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)


def masked_policy(weights=WEIGHTS) -> onnx.ModelProto:
    """The place of the largest logarithm of a probability times a mask, as ML-Agents computes it.

    Random masks are negative in places, and the logarithm NaN there.
    """
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["p"], axis=-1),
        helper.make_node("Mul", ["p", "mask"], ["allowed"]),
        helper.make_node("Log", ["allowed"], ["log_p"]),
        helper.make_node("ArgMax", ["log_p"], ["action"], axis=1, keepdims=1),
    ]
    graph = helper.make_graph(
        nodes,
        "policy",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3]),
            helper.make_tensor_value_info("mask", TensorProto.FLOAT, ["N", 4]),
        ],
        [helper.make_tensor_value_info("action", TensorProto.INT64, ["N", 1])],
        [numpy_helper.from_array(weights, "W")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])
def test_samples_with_nan_inside_are_left_out_and_counted(runtime):
    report = verify(import_model(masked_policy()), masked_policy(), runtime=runtime)
    assert report.passed
    assert 0 < report.unordered < report.samples
    assert f"{report.unordered} are left out: a value inside the network is NaN" in str(report)


def test_the_other_samples_still_count():
    report = verify(import_model(masked_policy()), masked_policy(-WEIGHTS))
    assert report.verdict == "different"


def test_a_policy_whose_masks_are_numbers_is_compared_whole():
    model = masked_policy()
    model.graph.node[3].op_type = "Exp"
    report = verify(import_model(model), model)
    assert report.passed
    assert report.unordered == 0
