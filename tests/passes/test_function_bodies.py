"""Operators that ONNX defines by others, whose optional inputs are left out."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify

STEPS = {"q": 3, "k": 3, "v": 3, "past_k": 2, "past_v": 2}


@pytest.mark.parametrize("causal", [0, 1])
def test_attention_with_a_past_and_no_mask(causal):
    """It was refused: onnx's inliner asks for the type of the mask."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 2, steps, 4])
        for name, steps in STEPS.items()
    ]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "k2", "v2")
    ]
    reads = ["q", "k", "v", "", "past_k", "past_v"]
    node = helper.make_node("Attention", reads, ["y", "k2", "v2"], is_causal=causal)
    graph = helper.make_graph([node], "attention", inputs, outputs)
    ids = [helper.make_opsetid("", 23)]
    model = helper.make_model(graph, opset_imports=ids, ir_version=10)
    random = np.random.default_rng(0)
    feed = {
        name: random.normal(size=(3, 2, steps, 4)).astype(np.float32)
        for name, steps in STEPS.items()
    }
    net = import_model(model)
    got = net.activate(feed)
    for name, want in zip(got, open_session(model).run(None, feed), strict=True):
        np.testing.assert_allclose(got[name], want, atol=1e-6)
    assert verify(net, export(net), runtime="onnxruntime").passed


@pytest.mark.parametrize("steps", [1, 2])
def test_attention_to_nothing_is_zero(steps):
    """Where the mask takes all away; softmax is NaN there, of one element as well."""
    sizes = (1, 1, steps, 1)
    entries = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name in "qkv"]
    mask = helper.make_tensor_value_info("m", TensorProto.BOOL, (steps, steps))
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, sizes)
    node = helper.make_node("Attention", ["q", "k", "v", "m"], ["y"])
    graph = helper.make_graph([node], "attention", [*entries, mask], [output])
    ids = [helper.make_opsetid("", 23)]
    model = helper.make_model(graph, opset_imports=ids, ir_version=10)
    net = import_model(model, batch_axis=None)
    for last in (False, True):
        mask = np.zeros((steps, steps), np.bool_)
        mask[-1, -1] = last
        feed = {name: np.full(sizes, 2.0, np.float32) for name in "qkv"} | {"m": mask}
        (want,) = open_session(model).run(None, feed)
        got = net.activate({name: values[None] for name, values in feed.items()})["y"][0]
        np.testing.assert_allclose(got, want, atol=1e-6)
        assert got.ravel().tolist() == [0.0] * (steps - 1) + [2.0 * last]
