"""The label of an ensemble of trees, where leaves score some classes alone."""

import sys
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model, load_model, verify
from neat_onnx.verification.runtimes.reference import load

LABELS = [3, 5, 9]
SPLIT = {"modes": "BRANCH_LEQ", "truenodeids": 1, "falsenodeids": 2}
LEAF = {"modes": "LEAF", "truenodeids": 0, "falsenodeids": 0}


def stumps(*scores: tuple[dict[int, float], dict[int, float]], **more: Any) -> onnx.ModelProto:
    """A tree for each pair: the weights of the classes on its true leaf, and on its false one."""
    given: dict[str, list[Any]] = {}
    for tree, sides in enumerate(scores):
        for at, node in enumerate((SPLIT, LEAF, LEAF)):
            row = {"treeids": tree, "nodeids": at, "featureids": tree % 2, "values": 0.0, **node}
            for key, value in row.items():
                given.setdefault(f"nodes_{key}", []).append(value)
        for at, side in enumerate(sides, 1):
            for label, weight in side.items():
                row = {"treeids": tree, "nodeids": at, "ids": label, "weights": weight}
                for key, value in row.items():
                    given.setdefault(f"class_{key}", []).append(value)
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml",
        **{"classlabels_int64s": LABELS, **given, **more},
    )  # fmt: skip
    graph = helper.make_graph(
        [node], "trees", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("label", TensorProto.INT64, ["N"]),
         helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])],
    )  # fmt: skip
    ids = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=ids, ir_version=8)


def random(seed: int) -> onnx.ModelProto:
    """Three trees whose leaves have weights of some classes, most of them negative."""
    rng = np.random.default_rng(seed)
    sides = [
        {
            label: float(np.round(rng.normal() - 0.5, 2))
            for label in rng.choice(3, size=rng.integers(1, 3), replace=False).tolist()
        }
        for _ in range(6)
    ]
    return stumps(*zip(sides[::2], sides[1::2], strict=True))


CASES = {
    "one class of three": stumps(({0: -1.0}, {0: -2.0}), ({0: 0.5}, {0: 0.25})),
    "as logistic": stumps(({0: -1.0}, {0: -2.0}), post_transform="LOGISTIC"),
    "never the first": stumps(({1: -1.0}, {2: -2.0}), ({1: -0.5}, {1: -0.25})),
    "at some leaves": stumps(({1: -1.0}, {2: -2.0})),
    "all positive": stumps(({1: 1.0}, {2: 2.0}), ({0: 1.5}, {1: 0.25})),
    **{f"random {seed}": random(seed) for seed in range(20)},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_classes_that_no_reached_leaf_scores_are_no_labels(case):
    x = np.random.default_rng(1).normal(size=(64, 2)).astype(np.float32)
    label, y = open_session(case).run(None, {"x": x})
    net = import_model(case)
    got = net.activate({"x": x})
    np.testing.assert_array_equal(got["label"], label)
    np.testing.assert_allclose(got["y"], y, rtol=1e-6, atol=1e-6)
    assert verify(net, export(net), runtime="onnxruntime").passed
    evaluated = load(load_model(case)).run({"x": x})
    np.testing.assert_array_equal(evaluated["label"], label)
    np.testing.assert_allclose(evaluated["y"], y, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("low", [-1.0, 0.25])
def test_two_classes_of_one_score_have_the_labels_of_onnxruntime(low, transform):
    model = stumps(
        ({0: low}, {0: 0.2}), ({0: 0.4}, {0: 0.0}),
        classlabels_int64s=[5, 7], post_transform=transform,
    )  # fmt: skip
    model.graph.output[1].type.tensor_type.shape.dim[1].dim_value = 2
    x = np.random.default_rng(1).normal(size=(64, 2)).astype(np.float32)
    want = open_session(model).run(None, {"x": x})
    for got in (import_model(model).activate({"x": x}), load(load_model(model)).run({"x": x})):
        np.testing.assert_array_equal(got["label"], want[0])
        np.testing.assert_allclose(got["y"], want[1], rtol=1e-6, atol=1e-6)


def test_two_classes_with_a_score_each_have_scores_alone():
    """onnxruntime gives 1 where the second score is above 0, though the first one is larger."""
    model = stumps(({0: 0.75, 1: 0.25}, {0: 0.5, 1: 0.5}), classlabels_int64s=[5, 7])
    model.graph.output[1].type.tensor_type.shape.dim[1].dim_value = 2
    x = np.float32([[-1, 0], [1, 0]])
    label, want = open_session(model).run(None, {"x": x})
    assert label.tolist() == [1, 1]
    with pytest.raises(ModelError, match="runtimes choose other labels") as refused:
        import_model(model)
    assert "outputs=" in refused.value.hint
    net = import_model(model, outputs=["y"])
    np.testing.assert_allclose(net.activate({"x": x})["y"], want, rtol=1e-6)


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_of_two_classes_one_score_may_be_the_negative_of_the_other(transform):
    """As CatBoost writes a classifier of two classes."""
    leaves = [({0: -each, 1: each} for each in pair) for pair in ((0.75, -0.5), (-0.25, 0.5))]
    model = stumps(*map(tuple, leaves), classlabels_int64s=[0, 1], post_transform=transform)
    model.graph.output[1].type.tensor_type.shape.dim[1].dim_value = 2
    x = np.random.default_rng(1).normal(size=(64, 2)).astype(np.float32)
    label, want = open_session(model).run(None, {"x": x})
    assert {*label.tolist()} == {0, 1}
    got = import_model(model).activate({"x": x})
    np.testing.assert_array_equal(got["label"], label)
    np.testing.assert_allclose(got["y"], want, rtol=1e-6, atol=1e-6)


def test_a_model_of_labels_is_checked_without_onnxruntime(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    for case in (CASES["one class of three"], CASES["as logistic"]):
        assert verify(import_model(case), case).passed


def test_probabilities_looked_up_by_labels_have_the_batch_in_the_middle():
    """A forest of several outputs: scikit-learn's trees give the leaf, which has a row for each."""
    scores = ({0: 1.0, 1: 0.5}, {2: 1.0}), ({1: 0.7}, {0: 0.2})
    model = stumps(*scores, classlabels_int64s=[0, 1, 2])
    shares = np.random.default_rng(3).uniform(0.1, 1.0, size=(2, 2, 3)).astype(np.float32)
    constants = {"shares": shares, "row": [1, -1], "apart": [1, 2, -1, 2], "first": [0]}
    nodes = [
        helper.make_node("Reshape", ["label", "row"], ["leaf"]),
        helper.make_node("ArrayFeatureExtractor", ["shares", "leaf"], ["a"], domain="ai.onnx.ml"),
        helper.make_node("Transpose", ["a"], ["b"], perm=[0, 2, 1]),
        helper.make_node("Reshape", ["b", "apart"], ["c"]),
        helper.make_node("Concat", ["c", "c"], ["d"], axis=0),
        helper.make_node("ReduceMean", ["d", "first"], ["e"], keepdims=0),
        helper.make_node("Transpose", ["e"], ["z"], perm=[1, 2, 0]),
    ]
    model.graph.node.extend(nodes)
    for name, values in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(values), name))
    del model.graph.output[:]
    entry = helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 2, 2])
    model.graph.output.append(entry)
    net = import_model(model)
    x = np.random.default_rng(1).normal(size=(64, 2)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_allclose(net.activate({"x": x})["z"], want, rtol=1e-6)
    assert verify(net, export(net), runtime="onnxruntime").passed
