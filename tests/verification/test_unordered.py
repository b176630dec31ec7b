"""Samples with NaN inside a network, beside which no runtime owes a place of the largest."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from neat_onnx import import_model, verify

WEIGHTS = np.random.default_rng(3).normal(size=(3, 4)).astype(np.float32)


def masked_policy(weights=WEIGHTS) -> onnx.ModelProto:
    """The place of the largest logarithm of a probability times a mask, as ML-Agents computes it.

    Random masks are negative in places, and the logarithm NaN there.
    """
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> policy '
        "(float[N, 3] x, float[N, 4] mask) => (int64[N, 1] action) {"
        "logits = MatMul(x, W) p = Softmax<axis = -1>(logits) allowed = Mul(p, mask)"
        "log_p = Log(allowed) action = ArgMax<axis = 1, keepdims = 1>(log_p) }"
    )
    model.graph.initializer.append(numpy_helper.from_array(weights, "W"))
    return model


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
