"""Operators that onnx's evaluator computes otherwise than ONNX says: it agrees with onnxruntime."""

import sys
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import computed, graph, node
from support.harness.sessions import open_session

from neat_onnx import import_model, load_model, verify
from neat_onnx.verification.runtimes.reference import load

STEPS = 4


def looped(body: list[onnx.NodeProto], scanned: list[Any], *, nested: bool = False) -> Any:
    """A Loop over the steps that doubles a state, and gives a tensor of each step."""

    def entry(name: str, kind: int, sizes: list[Any] | None) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, sizes)

    number, flag = TensorProto.FLOAT, TensorProto.BOOL
    inner = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["goes"]), *body],
        "step",
        [entry("i", TensorProto.INT64, []), entry("going", flag, []), entry("h", number, None)],
        [entry("goes", flag, []), entry("next", number, None), entry("row", number, scanned)],
    )
    nodes = [helper.make_node("Loop", ["most", "", "x"], ["last", "rows"], body=inner)]
    if nested:
        within = helper.make_graph(nodes, "branch", [], [entry("rows", number, None)])
        nodes = [helper.make_node("If", ["yes"], ["rows"], then_branch=within, else_branch=within)]
    constants = [
        helper.make_tensor("most", TensorProto.INT64, [], [STEPS]),
        helper.make_tensor("yes", TensorProto.BOOL, [], [True]),
        helper.make_tensor("axes", TensorProto.INT64, [1], [0]),
    ]
    graph = helper.make_graph(
        nodes, "graph", [entry("x", number, [3, 2])], [entry("rows", number, None)], constants
    )
    opsets = [helper.make_opsetid("", 17)]
    return load_model(helper.make_model(graph, opset_imports=opsets, ir_version=8))


DOUBLED = helper.make_node("Add", ["h", "h"], ["next"])
ROW = helper.make_node("Tanh", ["next"], ["row"])
SCALAR = helper.make_node("ReduceSum", ["next"], ["row"], keepdims=0)


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(
    ("last", "shape", "sizes"), [(ROW, (STEPS, 3, 2), [3, 2]), (SCALAR, (STEPS,), [])]
)
def test_a_loop_stacks_its_steps(last, shape, sizes, nested):
    model = looped([DOUBLED, last], sizes, nested=nested)
    feed = {"x": np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)}
    got = load(model).run(feed)["rows"]
    want = open_session(model).run(["rows"], feed)[0]
    assert got.shape == want.shape == shape
    assert np.allclose(got, want)


DRAW = np.random.default_rng(0)
OPERATORS = {
    "BatchNormalization": (
        [node("BatchNormalization", "x s b m v", "y", momentum=0.9)],
        9,
        {
            "x": ["N", 3, 4],
            **{name: DRAW.uniform(0.5, 2.0, size=3) for name in "sbmv"},
        },
    ),
    "ConvTranspose": (
        [node("ConvTranspose", "x w c", "y", group=2, strides=[2])],
        17,
        {"x": ["N", 4, 5], "w": DRAW.normal(size=(4, 3, 2)), "c": DRAW.normal(size=6)},
    ),
    "GatherElements": (
        [node("GatherElements", "x at", "y", axis=1)],
        17,
        {"x": [3, 4], "at": [[0, -1], [3, 2]]},
    ),
    "GlobalMaxPool": ([node("GlobalMaxPool", "x", "y")], 17, {"x": ["N", 3, 5]}),
    "DequantizeLinear": (
        [
            node("QuantizeLinear", "x scale zero", "q"),
            node("DequantizeLinear", "q scale zero", "y"),
        ],
        13,
        {"x": ["N", 3], "scale": 0.25},
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_computed_as_in_onnxruntime(name):
    nodes, opset, given = OPERATORS[name]
    proto = graph(nodes, opset=opset, **given)
    if name == "DequantizeLinear":
        zero = numpy_helper.from_array(np.array(3, np.int8), "zero")
        proto.graph.initializer.append(zero)
    sizes = [size if isinstance(size, int) else 2 for size in given["x"]]
    x = np.random.default_rng(1).normal(size=sizes).astype(np.float32)
    assert np.allclose(load(load_model(proto)).run({"x": x})["y"], computed(proto, x), atol=1e-6)


def test_an_import_is_checked_without_onnxruntime(monkeypatch):
    """Keras writes such a layer; the check had refused it in a browser, where that is all."""
    body = [DOUBLED, helper.make_node("Tanh", ["next"], ["row"])]
    model = looped(body, [3, 2])
    graph = model.graph
    last = helper.make_node("Gather", ["rows", "at"], ["y"], axis=0)
    proto = model.to_proto()
    proto.graph.node.append(last)
    proto.graph.initializer.append(helper.make_tensor("at", TensorProto.INT64, [], [STEPS - 1]))
    del proto.graph.output[:]
    proto.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 2]))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    net = import_model(proto)
    assert graph.node[0].op_type == "Loop"
    assert verify(net, proto).verdict == "equal"


@pytest.mark.parametrize(
    ("operator", "attributes", "want"),
    [
        ("Scaler", {"offset": [0.0], "scale": [0.25]}, [[0.25, 0.5]]),
        ("LinearRegressor", {"coefficients": [0.25, 0.5], "intercepts": [0.5]}, [[1.75]]),
    ],
)
def test_operators_of_numbers_give_numbers_of_integers_too(operator, attributes, want):
    entry = helper.make_tensor_value_info("x", TensorProto.INT64, ["N", 2])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    made = helper.make_node(operator, ["x"], ["y"], domain="ai.onnx.ml", **attributes)
    graph = helper.make_graph([made], "graph", [entry], [result])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = load_model(helper.make_model(graph, opset_imports=opsets, ir_version=8))
    assert load(model).run({"x": np.int64([[1, 2]])})["y"].tolist() == want
