"""Quantized products, running products and norms of windows, with every value of an attribute."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model

RANDOM = np.random.default_rng(5)
STEP, TWO_STEPS = np.float32(0.0625), np.array([0.125, 0.03125], np.float32)
ZERO = np.uint8(120)
MATRIX = RANDOM.integers(-90, 90, (4, 2)).astype(np.int8)
KERNEL = RANDOM.integers(-90, 90, (2, 2, 2, 2)).astype(np.int8)
GROUPED = RANDOM.integers(-90, 90, (4, 1, 3)).astype(np.int8)
BIAS = np.array([300, -900], np.int32)
QUANTIZED = node("QuantizeLinear", "x s z", "q")
BACK = node("DequantizeLinear", "r s z", "y")
AS_FLOAT = node("Cast", "r", "y", to=1)


def quantized_model(nodes, x, **constants):
    given = {"s": STEP, "z": ZERO, **constants}
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in given.items()]
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", *x])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    body = helper.make_graph(nodes, "graph", [entry], [result], tensors)
    ids = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(body, opset_imports=ids, ir_version=8)


def assert_same_steps(model, x):
    net = import_model(model)
    values = RANDOM.normal(size=(7, *x)).astype(np.float32)
    for proto in (model, export(net).to_proto()):
        session = open_session(proto)
        (want,) = session.run(None, {"x": values})
        got = net.activate({"x": values})["y"]
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("zeros", [(), (np.int8(3),), (np.array([3, -5], np.int8),)])
def test_matrices_of_integers(zeros):
    product = node("MatMulInteger", "q w z b" if zeros else "q w", "r")
    given = {"w": MATRIX} | ({"b": zeros[0]} if zeros else {})
    assert_same_steps(quantized_model([QUANTIZED, product, AS_FLOAT], (3, 4), **given), (3, 4))


@pytest.mark.parametrize("scale", [STEP, TWO_STEPS])
def test_matrices_of_steps(scale):
    zero = np.zeros(scale.shape, np.int8)
    nodes = [QUANTIZED, node("QLinearMatMul", "q s z w t b s z", "r"), BACK]
    assert_same_steps(quantized_model(nodes, (3, 4), w=MATRIX, t=scale, b=zero), (3, 4))


@pytest.mark.parametrize("operator", ["QLinearMatMul", "MatMulInteger"])
def test_rows_share_one_matrix_of_integers(operator):
    nodes = [QUANTIZED, node("QLinearMatMul", "q s z w t b s z", "r"), BACK]
    if operator == "MatMulInteger":
        nodes = [QUANTIZED, node("MatMulInteger", "q w z", "r"), AS_FLOAT]
    matrix = RANDOM.integers(-90, 90, (32, 32)).astype(np.int8)
    model = quantized_model(nodes, (8, 32), w=matrix, t=np.float32(0.0371), b=np.int8(0))
    assert_same_steps(model, (8, 32))
    written = export(import_model(model))
    assert written.to_proto().ByteSize() <= 2 * model.ByteSize() + 2048
    assert (32, 32) in [tensor.dims for tensor in written.graph.initializer]


@pytest.mark.parametrize(
    "attributes",
    [{}, {"pads": [1, 0, 1, 1]}, {"strides": [2, 1]}, {"auto_pad": "SAME_UPPER"},
     {"dilations": [2, 2]}, {"kernel_shape": [2, 2]}],
)  # fmt: skip
def test_windows(attributes):
    steps = node("QLinearConv", "q s z w t b s z c", "r", **attributes)
    given = {"w": KERNEL, "t": TWO_STEPS, "b": np.zeros(2, np.int8), "c": BIAS}
    assert_same_steps(quantized_model([QUANTIZED, steps, BACK], (2, 4, 5), **given), (2, 4, 5))
    integers = node("ConvInteger", "q w z", "r", **attributes)
    model = quantized_model([QUANTIZED, integers, AS_FLOAT], (2, 4, 5), w=KERNEL)
    if attributes.get("auto_pad") is None:  # whose padding onnxruntime takes for 0 steps
        assert_same_steps(model, (2, 4, 5))


def test_windows_in_groups():
    steps = node("QLinearConv", "q s z w s b s z", "r", group=2)
    model = quantized_model([QUANTIZED, steps, BACK], (2, 6), w=GROUPED, b=np.int8(0))
    assert_same_steps(model, (2, 6))


@pytest.mark.parametrize("opset", [12, 18])
@pytest.mark.parametrize("result", ["", " s z"])
@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5}, {"transB": 1}])
def test_dense_layers_of_steps(attributes, result, opset):
    matrix = MATRIX.T.copy() if attributes.get("transB") else MATRIX
    nodes = [
        QUANTIZED,
        node("QGemm", f"q s z w t b c{result}", "r" if result else "y", **attributes),
        *([BACK] if result else []),
    ]
    nodes[1].domain = "com.microsoft"
    given = {"w": matrix, "t": TWO_STEPS, "b": np.zeros(2, np.int8), "c": BIAS}
    model = quantized_model(nodes, (4,), **given)
    model.opset_import[0].version = opset  # of ONNX's own operators
    assert_same_steps(model, (4,))


def test_scales_along_an_axis():
    nodes = [node("QuantizeLinear", "x t b", "r", axis=2),
             node("DequantizeLinear", "r t b", "y", axis=-1)]  # fmt: skip
    zeros = np.array([3, 200], np.uint8)
    assert_same_steps(quantized_model(nodes, (3, 2), t=TWO_STEPS, b=zeros), (3, 2))


@pytest.mark.parametrize(
    ("x", "made", "constants"),
    [
        (("N", 3, 3), [node("EyeLike", "e", "i", k=1), node("Add", "x i", "y")],
         {"e": np.zeros((3, 3))}),
        (("N", 4), [node("Range", "a b c", "r"), node("Add", "x r", "y")],
         {"a": np.array(2.0), "b": np.array(4.0), "c": np.array(0.5)}),
        (("N", 2, 4, 5), [node("LpPool", "x", "y", kernel_shape=[2, 3], p=3, ceil_mode=1,
                               strides=[2, 2])], {}),
        (("N", 2, 6), [node("LpPool", "x", "y", kernel_shape=[3], dilations=[2],
                            pads=[1, 1], p=1)], {}),
        (("N", 2, 4, 5), [node("GlobalLpPool", "x", "y", p=4)], {}),
    ],
)  # fmt: skip
def test_it_computes_what_onnxruntime_does(x, made, constants):
    assert_lifts(graph(made, x=x, **constants))


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
def test_running_products(exclusive, reverse):
    made = node("CumProd", "x a", "y", exclusive=exclusive, reverse=reverse)
    model = graph([made], x=("N", 3, 4), a=np.array(-1), opset=26)
    model.ir_version = 13
    x = RANDOM.normal(size=(5, 3, 4)).astype(np.float32)
    (want,) = ReferenceEvaluator(model).run(None, {"x": x})  # onnxruntime has no kernel of it
    np.testing.assert_allclose(import_model(model).activate({"x": x})["y"], want, rtol=1e-5)


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(ModelError, match=r"y \(LpPool\).*p is 0"):
        import_model(graph([node("LpPool", "x", "y", kernel_shape=[2], p=0)], x=("N", 2, 4)))
    with pytest.raises(ModelError, match="its step is 0"):
        model = graph([node("Range", "a a b", "r"), node("Add", "x r", "y")], x=("N", 4),
                      a=np.array(1.0), b=np.array(0.0))  # fmt: skip
        import_model(model)


def test_ranges_that_a_model_computes_are_refused_with_a_way_on():
    """Its scale is rounded to float32, so that a network would take other steps now and then."""
    nodes = [
        node("DynamicQuantizeLinear", "x", "q scale zero"),
        node("MatMulInteger", "q w zero", "i"),
        node("Cast", "i", "f", to=1),
        node("Mul", "f scale", "y"),
    ]
    with pytest.raises(ModelError, match="DynamicQuantizeLinear") as raised:
        import_model(quantized_model(nodes, (4,), w=MATRIX))
    assert "before it was quantized" in (raised.value.hint or "")


@pytest.mark.parametrize("fmod", [0, 1])
def test_remainders_of_integers_that_are_both_computed(fmod):
    entries = [helper.make_tensor_value_info(name, TensorProto.INT64, ["N", 3]) for name in "aby"]
    nodes = [helper.make_node("Mod", ["a", "b"], ["y"], fmod=fmod)]
    body = helper.make_graph(nodes, "remainders", entries[:2], entries[2:])
    ids = [helper.make_opsetid("", 18)]
    model = helper.make_model(body, opset_imports=ids, ir_version=8)
    random = np.random.default_rng(0)
    feed = {"a": random.integers(-99, 99, (50, 3)), "b": random.integers(1, 9, (50, 3))}
    feed["b"] *= random.choice([-1, 1], (50, 3))
    (want,) = open_session(model).run(None, feed)
    net = import_model(model, check=False)
    np.testing.assert_array_equal(net.activate(feed)["y"], want)
