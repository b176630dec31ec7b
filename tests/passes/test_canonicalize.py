"""Each pass on a small graph: what is there afterwards, and the same outputs in onnxruntime."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
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


def test_matmul_and_add_are_a_gemm():
    nodes = [node("MatMul", "x w", "a"), node("Add", "b a", "y")]
    assert simple(graph(nodes, w=np.ones((3, 2)), b=[1.0, -1.0])) == ["Gemm"]


def test_matmul_and_add_of_integers_stay():
    """Of them onnxruntime has no Gemm."""
    nodes = [node("Cast", "x", "i", to=TensorProto.INT64), node("MatMul", "i w", "a")]
    nodes += [node("Add", "a b", "s"), node("Cast", "s", "y", to=TensorProto.FLOAT)]
    given = {"w": np.arange(6).reshape(3, 2), "b": np.arange(2)}
    assert simple(graph(nodes, **given)) == ["Cast", "MatMul", "Add", "Cast"]


def test_a_normalisation_folds_into_the_gemm_before_it():
    nodes = [node("Gemm", "x w b", "a"), node("BatchNormalization", "a s t m v", "y")]
    rows = {"s": [2.0, 3.0], "t": [0.1, 0.2], "m": [0.5, -0.5], "v": [1.5, 0.5]}
    assert simple(graph(nodes, w=np.ones((3, 2)), b=[1.0, -1.0], **rows)) == ["Gemm"]


def test_a_normalisation_folds_into_a_bare_product():
    nodes = [node("MatMul", "x w", "a"), node("BatchNormalization", "a s t m v", "y")]
    rows = {"s": [2.0, 3.0], "t": [0.1, 0.2], "m": [0.5, -0.5], "v": [1.5, 0.5]}
    assert simple(graph(nodes, w=np.arange(6.0).reshape(3, 2), **rows)) == ["Gemm"]


@pytest.mark.parametrize(
    ("variance", "scale", "kind"),
    [(-1.0, 1.0, np.float32), (1e-12, 1e38, np.float32), (1e-12, 6e4, np.float16)],
    ids=["a root of less than 0", "beyond float32", "beyond float16"],
)
def test_a_normalisation_that_makes_a_number_infinite_stays(variance, scale, kind):
    nodes = [node("Gemm", "x w", "a"), node("BatchNormalization", "a s t m v", "y")]
    rows = {"s": [2.0, scale], "t": [0.1, 0.2], "m": [0.5, -0.5], "v": [1.5, variance]}
    model = graph(nodes, w=np.ones((3, 2)), **rows)
    for tensor in model.graph.initializer:
        tensor.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(tensor).astype(kind), tensor.name)
        )
    if kind is np.float16:
        for entry in (*model.graph.input, *model.graph.output):
            entry.type.tensor_type.elem_type = TensorProto.FLOAT16
    simple = [each.op_type for each in canonicalize(model).graph.node]
    assert simple == ["Gemm", "BatchNormalization"]


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
