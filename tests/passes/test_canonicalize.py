"""Each pass on a small graph: what is there afterwards, and the same outputs in onnxruntime."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph, node
from support.harness.canonical import simple

from neat_onnx import ModelError, canonicalize, import_model


def test_nodes_that_hand_on_go():
    nodes = [
        node("Identity", "x", "a"),
        node("Cast", "a", "b", to=TensorProto.FLOAT),
        node("Dropout", "b", "c"),
        node("Tanh", "c", "d"),
        node("Sum", "d", "y"),
    ]
    assert simple(graph(nodes)) == ["Tanh"]
    assert simple(graph([node("Dropout", "x", "y")])) == ["Identity"]


def test_a_dropout_whose_mask_a_branch_reads_stays():
    result = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)
    made = node("Cast", "mask", "z", to=TensorProto.FLOAT), node("Neg", "d", "z")
    yes, no = (helper.make_graph([each], "branch", [], [result]) for each in made)
    nodes = [node("Dropout", "x", "d mask"), node("ReduceMax", "x", "m", keepdims=0)]
    nodes += [node("Greater", "m zero", "c"), node("If", "c", "y", then_branch=yes, else_branch=no)]
    operators = simple(graph(nodes, zero=0.0))
    assert operators == ["Dropout", "ReduceMax", "Greater", "If"]


def test_weights_among_the_inputs():
    model = graph([node("MatMul", "x w", "y")], w=np.ones((3, 2)))
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3, 2]))
    model.ir_version = 3
    assert [entry.name for entry in canonicalize(model).graph.inputs] == ["x"]


@pytest.mark.parametrize(
    "damaged",
    [node("Gemm", "_ three b", "d"), node("Scan", "x three", "d e", num_scan_inputs=1)],
    ids=["an input left out", "no body"],
)
def test_nodes_in_a_form_that_none_has_are_refused_by_name(damaged):
    made = [damaged, node("Mul", "x three", "m"), node("Mul", "m d", "y")]
    with pytest.raises(ModelError):
        import_model(graph(made, three=np.ones((3, 3), np.float32), b=np.ones(3, np.float32)))
