"""Distances as a Scan over the rows of a constant, as scikit-learn's converters write them."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import canonicalize, export, import_model, verify

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.normal(size=(40, 3)).astype(np.float32)
AXES = numpy_helper.from_array(np.array([1], np.int64), "axes")
THREE = numpy_helper.from_array(np.array([3.0], np.float32), "three")
DIFFERENCE = node("Sub", "next_in next", "d")
HANDED_ON = node("Identity", "next_in", "next_out")
METRICS = {
    "euclidean": [node("ReduceSumSquare", "d axes", "sum", keepdims=0)],
    "manhattan": [node("Abs", "d", "a"), node("ReduceSum", "a axes", "sum", keepdims=0)],
    "minkowski": [node("Abs", "d", "a"), node("Pow", "a three", "p"),
                  node("ReduceSum", "p axes", "sum", keepdims=0)],
}  # fmt: skip


def scanned(nodes, *, rows=ROWS, body=(HANDED_ON, DIFFERENCE), **attributes):
    """The distances of each sample from each row, as [N, rows]."""
    graph = helper.make_graph(
        [*body, *nodes, node("Identity", "sum", "scan_out")], "body",
        [helper.make_tensor_value_info("next_in", TensorProto.FLOAT, [None, 3]),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [None])],
        [helper.make_tensor_value_info("next_out", TensorProto.FLOAT, [None, None]),
         helper.make_tensor_value_info("scan_out", TensorProto.FLOAT, [None])],
        [AXES, THREE],
    )  # fmt: skip
    scan = helper.make_node("Scan", ["x", "rows"], ["last", "found"], body=graph,
                            num_scan_inputs=1, **attributes)  # fmt: skip
    whole = helper.make_graph(
        [scan, node("Transpose", "found", "y", perm=[1, 0])], "distances",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", len(rows)])],
        [numpy_helper.from_array(rows, "rows")],
    )  # fmt: skip
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_one_subtraction(metric):
    model = scanned(METRICS[metric])
    x = RANDOM.normal(size=(9, 3)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    simple = canonicalize(model)
    assert "Scan" not in [each.op_type for each in simple.graph.node]
    assert canonicalize(simple).to_json() == simple.to_json()
    net = import_model(model)
    small = export(net)
    for proto in (simple.to_proto(), small.to_proto()):
        np.testing.assert_allclose(open_session(proto).run(None, {"x": x})[0], want, rtol=1e-5)
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(small.to_json()) == net
    written, given = (len(each.SerializeToString()) for each in (small.to_proto(), model))
    assert written <= 2 * given + 1000


@pytest.mark.parametrize(
    "model",
    [
        scanned(METRICS["euclidean"], scan_output_directions=[1]),
        scanned(METRICS["euclidean"], scan_input_directions=[1]),
        scanned(METRICS["euclidean"], body=(node("Neg", "next_in", "next_out"), DIFFERENCE)),
        scanned([node("ReduceSumSquare", "t axes", "sum", keepdims=0)],
                body=(HANDED_ON, DIFFERENCE, node("Tanh", "d", "t"))),
        scanned(METRICS["euclidean"], body=(HANDED_ON, node("Sub", "next_in next_in", "d"))),
    ],
    ids=["rows backwards", "from the end", "changed state", "another operator", "no row"],
)  # fmt: skip
def test_other_bodies_stay(model):
    simple = canonicalize(model)
    assert [each.op_type for each in simple.graph.node] == ["Scan", "Transpose"]
