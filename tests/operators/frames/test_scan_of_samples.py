"""A Scan over the samples hands its body one of them, all of whose axes are features."""

import math

import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph, node

from neat_onnx import ModelError, import_model, verify


def _scan(*nodes: onnx.NodeProto, result: str = "r") -> onnx.NodeProto:
    """A Scan from x to y, whose body reads a."""
    entries = [
        helper.make_value_info(name, helper.make_tensor_type_proto(TensorProto.FLOAT, None))
        for name in ("a", result)
    ]
    body = helper.make_graph(list(nodes), "body", entries[:1], entries[1:])
    return helper.make_node("Scan", ["x"], ["y"], "scan", body=body, num_scan_inputs=1)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Softmax", "a", "r", axis=0)],
        [node("ReduceMax", "a", "m", keepdims=0), node("Div", "a m", "r")],
        [node("Transpose", "a", "t", perm=[1, 0]), node("MatMul", "a t", "r")],
        [node("DynamicQuantizeLinear", "a", "q r z")],
    ],
    ids=["softmax", "maximum", "product", "scale"],
)
def test_a_body_works_along_any_axis_of_a_sample(nodes: list[onnx.NodeProto]):
    model = graph([_scan(*nodes)], x=("N", 3, 4))
    net = import_model(model)
    assert verify(net, model, samples=32, runtime="onnxruntime").passed


def test_a_body_that_reads_all_samples_is_refused():
    nodes = [node("ReduceMax", "b", "m", keepdims=0), node("Div", "a m", "r")]
    model = graph([node("Abs", "x", "b"), _scan(*nodes)], x=("N", 3, 4))
    with pytest.raises(ModelError, match="would mix samples"):
        import_model(model)


def test_a_body_divides_integers_as_integers():
    entries = [
        helper.make_value_info(name, helper.make_tensor_type_proto(TensorProto.INT32, None))
        for name in ("a", "r")
    ]
    three = helper.make_tensor("three", TensorProto.INT32, [], [3])
    body = helper.make_graph(
        [node("Div", "a three", "r")], "body", entries[:1], entries[1:], [three]
    )
    scan = helper.make_node("Scan", ["x"], ["y"], "scan", body=body, num_scan_inputs=1)
    ends = [helper.make_tensor_value_info(name, TensorProto.INT32, ["N", 4]) for name in "xy"]
    whole = helper.make_graph([scan], "graph", ends[:1], ends[1:])
    opset = helper.make_opsetid("", 18)
    net = import_model(model := helper.make_model(whole, opset_imports=[opset], ir_version=8))
    assert net.activate([7.0, 8.0, -7.0, 9.0]).tolist() == [2.0, 2.0, -2.0, 3.0]
    assert verify(net, model, samples=32, runtime="onnxruntime").passed


@pytest.mark.parametrize("more", [[], [node("Abs", "chosen", "r")]], ids=["result", "read"])
def test_an_infinity_in_a_body_is_one(more: list[onnx.NodeProto]):
    """A low number does in its place only where all that read it are known."""
    result = "r" if more else "chosen"
    least = helper.make_tensor("least", TensorProto.FLOAT, [], [-math.inf])
    none = helper.make_tensor("none", TensorProto.FLOAT, [], [0.0])
    nodes = [
        node("Constant", "", "least", value=least), node("Constant", "", "none", value=none),
        node("Greater", "a none", "b"), node("Where", "b a least", "chosen"), *more,
    ]  # fmt: skip
    model = graph([_scan(*nodes, result=result)], x=("N", 3))
    net = import_model(model, check=False)
    assert net.activate([1.0, -1.0, 2.0]).tolist() == [1.0, math.inf if more else -math.inf, 2.0]
    assert verify(net, model, samples=32, runtime="onnxruntime").passed
