"""Quantized operators: rounding to even, saturation, one scale for each channel."""

import numpy as np
import onnxruntime
import pytest
from graphs import assert_lifts, graph, node
from onnx import TensorProto, helper, numpy_helper

from neat_onnx import ModelError, import_model

X = np.random.default_rng(0).normal(size=(8, 3, 4)).astype(np.float32)
HALVES = np.arange(-300, 300, 3, dtype=np.float32).reshape(-1, 2, 4) / np.float32(2.0)
INTS = np.random.default_rng(1).integers(0, 256, (5, 3, 4)).astype(np.uint8)


def check(made, x, **constants):
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.uint8): TensorProto.UINT8}
    entry = helper.make_tensor_value_info("x", kinds[x.dtype], ["N", *x.shape[1:]])
    result = onnx_type(made)
    tensors = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(
        [made], "graph", [entry], [helper.make_tensor_value_info("y", result, None)], tensors
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    (want,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    got = import_model(model).activate({"x": x.astype(np.float64)})["y"]
    np.testing.assert_allclose(got, want, rtol=1e-6)


def onnx_type(made):
    return {"y8": TensorProto.UINT8, "i8": TensorProto.INT8, "i32": TensorProto.INT32}.get(
        made.doc_string, TensorProto.FLOAT
    )


def typed(made, name):
    made.doc_string = name
    return made


def test_quantize_rounds_halves_to_even_and_saturates():
    made = typed(node("QuantizeLinear", "x s z", "y"), "y8")
    check(made, HALVES, s=np.float32(1.0), z=np.uint8(3))
    made = typed(node("QuantizeLinear", "x s z", "y"), "i8")
    check(made, HALVES, s=np.float32(0.5), z=np.int8(-3))
    check(typed(node("QuantizeLinear", "x s", "y"), "y8"), HALVES, s=np.float32(2.0))


def test_a_scale_for_each_channel():
    scale, zero = np.float32([0.5, 0.03, 1.0]), np.uint8([0, 128, 7])
    check(typed(node("QuantizeLinear", "x s z", "y", axis=1), "y8"), X, s=scale, z=zero)
    check(node("DequantizeLinear", "x s z", "y", axis=-2), INTS, s=scale, z=zero)
    check(node("DequantizeLinear", "x s z", "y"), INTS, s=np.float32(0.1), z=np.uint8(9))


def test_a_product_of_integers():
    weights = np.random.default_rng(2).integers(0, 256, (4, 2)).astype(np.uint8)
    made = typed(node("MatMulInteger", "x w a b", "y"), "i32")
    check(made, INTS, w=weights, a=np.uint8(12), b=np.uint8(200))
    check(made, INTS, w=weights, a=np.uint8(12), b=np.uint8([7, 9]))


def test_scales_that_do_not_fit_are_refused():
    made = typed(node("QuantizeLinear", "x s z", "y", axis=1), "y8")
    with pytest.raises(ModelError, match="do not fit"):
        check_import(made, s=np.float32([0.5, 1.0]), z=np.uint8([0, 1]))


def check_import(made, **constants):
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 4])
    tensors = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    result = helper.make_tensor_value_info("y", onnx_type(made), None)
    graph = helper.make_graph([made], "graph", [entry], [result], tensors)
    return import_model(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    )


def test_a_constant_is_cast_like_the_numbers():
    nodes = [
        node("CastLike", "c x", "d"),
        node("Greater", "x d", "t"),
        node("CastLike", "t x", "y"),
    ]
    assert_lifts(graph(nodes, c=np.array([0, 1, -1])))
