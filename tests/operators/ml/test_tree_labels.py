"""The label of an ensemble of trees, where leaves score some classes alone."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify

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
