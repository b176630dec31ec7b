"""Inputs [N, unknown]: the nodes that read them say how many features there are."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, import_model, verify

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 2)).astype(np.float32)
ML = {"domain": "ai.onnx.ml"}
LINEAR = [0.5, -1.0, 2.0, 0.25, 1.0, -0.5]
VECTORS = {
    "coefficients": [0.5, -1.0], "support_vectors": LINEAR, "n_supports": 2, "rho": [0.1],
    "kernel_type": "RBF", "kernel_params": [0.5, 0.0, 0.0],
}  # fmt: skip
TREE = {
    "n_targets": 1, "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [2, 7, 7], "nodes_values": [0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0], "target_treeids": [0, 0], "target_nodeids": [1, 2],
    "target_ids": [0, 0], "target_weights": [1.0, -1.0],
}  # fmt: skip
READERS = {
    "MatMul": [node("MatMul", "x w", "y")],
    "Gemm": [node("Gemm", "x wt", "y", transB=1)],
    "Gemm behind others": [node("Sub", "x mean", "a"), node("Gemm", "a w", "y")],
    "Gemm behind a function": [node("Abs", "x", "a"), node("Gemm", "a w", "y")],
    "Sub": [node("Sub", "x mean", "y")],
    "Scaler": [node("Scaler", "x", "y", offset=[1.0, 2.0, 3.0], scale=[0.5, 1.0, 2.0], **ML)],
    "LinearRegressor": [node("LinearRegressor", "x", "y", coefficients=LINEAR, targets=2,
                             intercepts=[0.0, 1.0], **ML)],
    "LinearClassifier": [node("LinearClassifier", "x", "label y", coefficients=LINEAR,
                              intercepts=[0.0, 1.0], classlabels_ints=[0, 1], **ML)],
    "SVMRegressor": [node("SVMRegressor", "x", "y", **VECTORS, **ML)],
    "trees": [node("Normalizer", "x", "n", **ML), node("TreeEnsembleRegressor", "x", "y", **TREE,
                                                       **ML)],
    "ArrayFeatureExtractor": [node("ArrayFeatureExtractor", "x places", "y", **ML)],
}  # fmt: skip


def opened(nodes: list[onnx.NodeProto]) -> onnx.ModelProto:
    model = graph(nodes, w=W, wt=W.T, mean=[0.5, 1.0, 1.5], places=[0, 2])
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    model.graph.input[0].CopyFrom(
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, None])
    )
    return model


@pytest.mark.parametrize("case", READERS)
def test_a_reader_says_how_many_features_there_are(case: str):
    model = opened(READERS[case])
    with pytest.warns(NeatOnnxWarning, match="'x' does not say how many features it has: 3, as"):
        net = import_model(model)
    assert net.inputs[0].shape == (3,)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    x = RNG.normal(size=(5, 3)).astype(np.float32)
    (want,) = open_session(model).run(["y"], {"x": x})
    np.testing.assert_allclose(net.activate({"x": x})["y"].reshape(want.shape), want, rtol=1e-5)


def test_the_last_of_many_splits_counts():
    """A list of splits: each goes on with the next one, the last one to a leaf."""
    count = 24

    def tensor(kind: int, values: list[float]) -> onnx.TensorProto:
        return helper.make_tensor("", kind, [len(values)], values)

    trees = {
        "tree_roots": [0],
        "nodes_featureids": [*range(count)],
        "nodes_modes": tensor(TensorProto.UINT8, [0] * count),
        "nodes_splits": tensor(TensorProto.FLOAT, [0.5] * count),
        "nodes_truenodeids": [*range(1, count + 1)],
        "nodes_trueleafs": [0] * (count - 1) + [1],
        "nodes_falsenodeids": [*range(count)],
        "nodes_falseleafs": [1] * count,
        "leaf_targetids": [0] * (count + 1),
        "leaf_weights": tensor(TensorProto.FLOAT, [*range(count + 1)]),
    }
    model = opened([node("TreeEnsemble", "x", "y", **trees, **ML)])
    model.opset_import[1].version = 5
    with pytest.warns(NeatOnnxWarning, match=f"how many features it has: {count}, as"):
        net = import_model(model, check=False)
    assert net.inputs[0].shape == (count,)


def test_an_input_that_nobody_counts_is_refused():
    with pytest.raises(ModelError, match="needs a fixed size"):
        import_model(opened([node("Relu", "x", "y")]))


@pytest.mark.parametrize("size", [None, "batch_size"])
def test_a_vector_that_a_matrix_multiplies_is_no_batch(size):
    """As PyTorch exports a network of one sample whose only axis is called dynamic."""
    nodes = [node("MatMul", "x w", "m"), node("Relu", "m", "y")]
    model = graph(nodes, x=(size,), w=W)
    with pytest.warns(NeatOnnxWarning, match="how many features it has: 3"):
        net = import_model(model)
    assert net.inputs[0].shape == (3,)
    assert net.outputs[0].shape == (2,)
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_vector_that_is_a_number_of_each_sample_stays_one():
    net = import_model(graph([node("Relu", "x", "y")], x=("batch_size",)))
    assert net.inputs[0].neurons.size == 1
