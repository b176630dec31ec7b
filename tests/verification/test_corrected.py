"""Operators that onnx's evaluator computes otherwise than ONNX says: it agrees with onnxruntime."""

import sys
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import computed, graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, import_model, load_model, verify
from neat_onnx.runtimes.packages import reference as load

STEPS = 4


def looped(
    body: list[onnx.NodeProto], scanned: list[Any], *, nested: bool = False, steps: int = STEPS
) -> Any:
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
        helper.make_tensor("most", TensorProto.INT64, [], [steps]),
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


@pytest.mark.parametrize("sizes", [[3, 2], ["a", 2], None])
def test_a_loop_of_no_steps_gives_none_of_their_shape(sizes):
    model = looped([DOUBLED, ROW], sizes, steps=0)
    feed = {"x": np.ones((3, 2), np.float32)}
    got, want = load(model).run(feed)["rows"], open_session(model).run(["rows"], feed)[0]
    assert (got.shape, got.dtype) == (want.shape, want.dtype)


DRAW = np.random.default_rng(0)
OPERATORS = {
    "BatchNormalization": (
        [node("BatchNormalization", "x s b m v", "y", momentum=0.9)],
        9,
        {"x": ["N", 3, 4], **{name: DRAW.uniform(0.5, 2.0, size=3) for name in "sbmv"}},
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
    want = computed(proto, x)
    assert np.allclose(load(load_model(proto)).run({"x": x})["y"], want, atol=1e-6)
    if name != "DequantizeLinear":
        assert np.allclose(import_model(proto).activate({"x": x})["y"], want, atol=1e-5)


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


REFUSED = {
    "ConvTranspose": {"output_shape": [10], "auto_pad": "SAME_UPPER"},
    "LRN": {"size": 3},
    "TreeEnsembleClassifier": {"class_ids": [0, 0], "classlabels_int64s": [3, 5, 9]},
    "Normalizer": {"norm": "MAX"},
    "Scaler": {"offset": [0.0], "scale": [0.25]},
}


@pytest.mark.parametrize("operator", REFUSED)
def test_what_the_evaluator_computes_otherwise_and_nothing_corrects_is_refused(operator):
    domain = "" if operator in ("ConvTranspose", "LRN") else "ai.onnx.ml"
    reads = ["x", "w"] if operator == "ConvTranspose" else ["x"]
    gives = ["y", "z"] if operator.startswith("Tree") else ["y"]
    made = helper.make_node(operator, reads, gives, domain=domain, **REFUSED[operator])
    kind = TensorProto.INT64 if operator == "Scaler" else TensorProto.FLOAT
    ends = [helper.make_tensor_value_info(name, kind, None) for name in "xw"]
    ends.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, None))
    graph = helper.make_graph([made], "graph", ends[:2], ends[2:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = load_model(helper.make_model(graph, opset_imports=opsets, ir_version=8))
    with pytest.raises(ModelError, match="evaluator computes another result") as refused:
        load(model)
    assert "pip install onnxruntime" in refused.value.hint
