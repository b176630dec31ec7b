"""Operators of onnxruntime's own: in standard nodes, and as neurons, they compute the same."""

import numpy as np
import pytest
from onnx import TensorProto, checker, helper, numpy_helper
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import ModelError, canonicalize, export, import_model

RANDOM = np.random.default_rng(3)
SCALE, ODD = np.float32(0.25), np.uint8(7)
TYPES = {
    "u8": {"s": SCALE, "z": ODD, "t": np.float32(0.5), "w": np.uint8(3)},
    "i8": {"s": SCALE, "z": np.int8(-5), "t": np.float32(0.5), "w": np.int8(4)},
}
QUANTIZED, BACK = node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "r t w", "y")


def own(operator, reads, gives="y", **attributes):
    made = node(operator, reads, gives, **attributes)
    made.domain = "com.microsoft"
    return made


def model_of(nodes, x, opset=18, **constants):
    tensors = [
        numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()
    ]
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *x])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", *[None] * len(x)])
    body = helper.make_graph(nodes, "graph", [entry], [result], tensors)
    ids = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(body, opset_imports=ids, ir_version=8)


def assert_same(model, x, scale=1.0):
    """The canonical form, the network, and its export give what the model gives."""
    values = (scale * RANDOM.normal(size=(9, *x))).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": values})
    simple = canonicalize(model)
    assert not any(each.domain for each in simple.graph.node)
    assert canonicalize(simple).to_json() == simple.to_json()
    checker.check_model(simple.to_proto(), full_check=True)
    net = import_model(model)
    for proto in (simple.to_proto(), export(net).to_proto()):
        (got,) = open_session(proto).run(None, {"x": values})
        np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(net.activate({"x": values})["y"], want, rtol=2e-6, atol=2e-6)


STEPS = {
    "add": (own("QLinearAdd", "q s z q s z t w", "r"), (3, 4)),
    "mul": (own("QLinearMul", "q s z q s z t w", "r"), (3, 4)),
    "sigmoid": (own("QLinearSigmoid", "q s z t w", "r"), (3, 4)),
    "leaky relu": (own("QLinearLeakyRelu", "q s z t w", "r", alpha=0.25), (3, 4)),
    "concat": (own("QLinearConcat", "t w q s z q s z", "r", axis=1), (3, 4)),
    "softmax": (own("QLinearSoftmax", "q s z t w", "r", axis=-1, opset=13), (3, 4)),
    "old softmax": (own("QLinearSoftmax", "q s z t w", "r", axis=1, opset=11), (3, 4)),
    "pool": (own("QLinearAveragePool", "q s z t w", "r", kernel_shape=[2, 2]), (2, 4, 4)),
    "whole pool": (own("QLinearGlobalAveragePool", "q s z t w", "r"), (2, 4, 4)),
    "channels last": (
        own("QLinearAveragePool", "q s z t w", "r", kernel_shape=[2, 2], channels_last=1),
        (4, 4, 2),
    ),
    "whole pool, channels last": (
        own("QLinearGlobalAveragePool", "q s z t w", "r", channels_last=1),
        (4, 4, 2),
    ),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", STEPS)
def test_quantized_tensors(name, kind):
    made, x = STEPS[name]
    assert_same(model_of([QUANTIZED, made, BACK], x, **TYPES[kind]), x, 6.0)


@pytest.mark.parametrize(
    "axis", [{"axis": -1, "opset": 13}, {"axis": 1, "opset": 12}, {"opset": 12}]
)
@pytest.mark.parametrize("scale", [1 / 255, 0.0029, 1 / 256])
def test_a_softmax_has_a_whole_number_of_steps_to_one(scale, axis):
    """1 / scale is rounded down: float32 holds a little more than 1/255, so there are 254."""
    given = {**TYPES["u8"], "t": np.float32(scale), "w": np.uint8(0)}
    soft = own("QLinearSoftmax", "q s z t w", "r", **axis)
    assert_same(model_of([QUANTIZED, soft, BACK], (3, 4), **given), (3, 4), 2.0)


@pytest.mark.parametrize("kind", [np.uint16, np.int16])
def test_steps_of_sixteen_bits_before_opset_21(kind):
    """No DequantizeLinear takes them there; results in such steps have no standard form."""
    weights = RANDOM.integers(0, 30_000, (4, 3)).astype(kind)
    for scale, zero in (
        (np.float32(1e-4), kind(700)),
        (np.array([1e-4, 2e-4, 3e-5], np.float32), np.array([5, 0, 900], kind)),
    ):
        given = {"d": weights, "s": scale, "z": zero}
        nodes = [own("DequantizeLinear", "d s z", "m", axis=-1), node("MatMul", "x m", "y")]
        assert_same(model_of(nodes, (4,), **given), (4,))
    nodes = [own("QuantizeLinear", "x s z", "q"), own("DequantizeLinear", "q s z", "y")]
    with pytest.raises(ModelError, match=r"QuantizeLinear"):
        import_model(model_of(nodes, (4,), s=np.float32(1e-4), z=kind(700)))


@pytest.mark.parametrize("scale", [np.float32(1e-3), np.array([1e-3, 2e-3], np.float32)])
def test_inputs_of_sixteen_bits_before_opset_21(scale):
    zero = np.full(scale.shape, 7, np.uint16)
    model = model_of([own("DequantizeLinear", "x s z", "y", axis=1)], (2, 3), s=scale, z=zero)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.UINT16
    values = RANDOM.integers(0, 65_536, (9, 2, 3)).astype(np.uint16)
    (want,) = open_session(model).run(None, {"x": values})
    checker.check_model(canonicalize(model).to_proto(), full_check=True)
    got = import_model(model).activate({"x": values.astype(np.float64)})["y"]
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=2e-6)


def test_without_zero_points():
    given = {"s": SCALE, "t": np.float32(0.5), "z": np.int8(0)}
    nodes = [
        QUANTIZED,
        own("QLinearSigmoid", "q s z t _", "r"),
        node("DequantizeLinear", "r t z", "y"),
    ]
    assert_same(model_of(nodes, (4,), **given), (4,), 6.0)


def test_a_choice_between_steps():
    chosen = own("QLinearWhere", "c q s z q t w t w", "r")
    condition = np.array([True, False, True, True])
    given = {**TYPES["u8"], "c": condition}
    assert_same(model_of([QUANTIZED, chosen, BACK], (4,), **given), (4,), 6.0)


def test_quantization_in_the_other_domain():
    nodes = [own("QuantizeLinear", "x s z", "q"), own("DequantizeLinear", "q s z", "y")]
    assert_same(model_of(nodes, (4,), s=SCALE, z=ODD), (4,), 6.0)


def test_a_product_in_numbers():
    weights = RANDOM.integers(-90, 90, (4, 3)).astype(np.int8)
    scales = np.array([0.125, 0.5, 0.03], np.float32)
    product = own("MatMulIntegerToFloat", "q m s t z b c")
    given = {"m": weights, "t": scales, "b": np.int8(3), "c": np.ones(3, np.float32)}
    assert_same(model_of([QUANTIZED, product], (4,), s=SCALE, z=ODD, **given), (4,), 6.0)


MATRIX = RANDOM.normal(size=(4, 3)).astype(np.float32)
KERNEL = RANDOM.normal(size=(2, 2, 3, 3)).astype(np.float32)
ONES, BIAS = np.linspace(0.5, 1.5, 4, dtype=np.float32), np.linspace(-1, 1, 4, dtype=np.float32)
FUSED = {
    "gemm": ([own("FusedGemm", "x m c", activation="LeakyRelu", activation_alpha=0.125)], (4,)),
    "gemm of a matrix": ([own("FusedGemm", "x n", activation="Relu", transB=1)], (4,)),
    "conv": ([own("FusedConv", "x k", activation="Relu", pads=[1, 1, 1, 1])], (2, 5, 5)),
    "conv and clip": (
        [own("FusedConv", "x k", activation="Clip", activation_params=[-0.5, 1.5])], (2, 5, 5),
    ),
    "conv and sum": (
        [own("FusedConv", "x k _ x", activation="Relu", pads=[1, 1, 1, 1])], (2, 5, 5),
    ),
    "conv and hard sigmoid": (
        [own("FusedConv", "x k", activation="HardSigmoid", activation_params=[0.3, 0.4])],
        (2, 5, 5),
    ),
    "distances": ([own("CDist", "x n", metric="euclidean")], (4,)),
    "squares of distances": ([own("CDist", "x n", metric="sqeuclidean")], (4,)),
    "matmul": ([own("FusedMatMul", "x n", transB=1, alpha=0.5)], (4,)),
    "matmul of both": ([own("FusedMatMul", "x x", transA=1)], (3, 4)),
    "gelu": ([own("Gelu", "x")], (4,)),
    "gelu of a sum": ([own("BiasGelu", "x b")], (4,)),
    "fast gelu": ([own("FastGelu", "x")], (4,)),
    "fast gelu of a sum": ([own("FastGelu", "x b")], (4,)),
    "quick gelu": ([own("QuickGelu", "x", alpha=1.5)], (4,)),
    "skip": ([node("Tanh", "x", "a"), own("SkipLayerNormalization", "x a g b", epsilon=1e-5)],
             (3, 4)),
    "skip and sum": (
        [node("Tanh", "x", "a"),
         own("SkipLayerNormalization", "x a g b b", "n1 _ _ s", epsilon=1e-3),
         node("Add", "n1 s", "y")],
        (3, 4),
    ),
    "simplified": ([node("SimplifiedLayerNormalization", "x g", "y", axis=-1, epsilon=1e-5)],
                   (3, 4)),
    "skip, simplified": (
        [node("Tanh", "x", "a"),
         own("SkipSimplifiedLayerNormalization", "x a g", epsilon=1e-5)],
        (3, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FUSED)
def test_fused_operators(name):
    nodes, x = FUSED[name]
    for each in nodes:
        each.output[:] = ["" if output == "_" else output for output in each.output]
    given = {"m": MATRIX, "n": MATRIX.T.copy(), "c": BIAS[:3], "k": KERNEL, "g": ONES, "b": BIAS}
    used = {read for each in nodes for read in each.input}
    model = model_of(nodes, x, **{key: value for key, value in given.items() if key in used})
    assert_same(model, x)


def test_a_batch_between_the_axes_of_a_matrix():
    nodes = [own("FusedMatMul", "v x", transBatchA=1, transA=1)]
    given = RANDOM.normal(size=(4, 1, 5)).astype(np.float32)
    model = model_of(nodes, (4, 3), v=given)
    values = RANDOM.normal(size=(1, 4, 3)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": values})
    (got,) = open_session(canonicalize(model).to_proto()).run(None, {"x": values})
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-6)


def test_normalization_before_opset_17():
    nodes = [node("LayerNormalization", "x g b", "y", axis=-1, epsilon=1e-5)]
    assert_same(model_of(nodes, (3, 4), opset=13, g=ONES, b=BIAS), (3, 4))


def test_an_operator_without_a_standard_form_is_refused_by_name():
    model = model_of([own("FusedGemm", "x m c", activation="Shout")], (4,), m=MATRIX, c=BIAS[:3])
    with pytest.raises(ModelError, match="FusedGemm"):
        import_model(model)


def test_a_node_without_its_weights_is_refused_by_name():
    with pytest.raises(ModelError, match=r"LayerNormalization\): has 1 inputs, expected 2 to 3"):
        import_model(model_of([own("SkipLayerNormalization", "x x")], (4,)))
