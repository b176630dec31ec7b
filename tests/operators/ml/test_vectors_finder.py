"""Support vectors with probabilities come back as the operator that they were imported from."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.harness.sweep import every

from neat_onnx import export, import_model, verify

_FEATURES, _PER_LABEL, _ML = 5, 6, "ai.onnx.ml"


def _numbers(rng: np.random.Generator, *shape: int) -> list[float]:
    """Numbers of float32, a few of them 0."""
    values = rng.normal(size=shape).astype(np.float32) * (rng.random(shape) > 0.2)
    return [float(each) for each in values.ravel()]


def _vectors(rng: np.random.Generator, labels: int, kernel: str, names: str) -> onnx.NodeProto:
    pairs, count = labels * (labels - 1) // 2, labels * _PER_LABEL
    lists = {
        "support_vectors": (count, _FEATURES), "coefficients": (labels - 1, count),
        "rho": (pairs,), "prob_a": (pairs,), "prob_b": (pairs,),
    }  # fmt: skip
    return helper.make_node(
        "SVMClassifier", ["s"], names.split(), domain=_ML, kernel_type=kernel,
        kernel_params=[0.137, 0.5, 3.0], classlabels_ints=range(3, 3 + labels),
        vectors_per_class=[_PER_LABEL] * labels,
        **{name: _numbers(rng, *shape) for name, shape in lists.items()},
    )  # fmt: skip


def _model(nodes: list[onnx.NodeProto], **outputs: int) -> onnx.ModelProto:
    rng, value = np.random.default_rng(0), helper.make_tensor_value_info
    scaler = helper.make_node(
        "Scaler", ["x"], ["s"], domain=_ML,
        offset=_numbers(rng, _FEATURES), scale=[0.3, 0.5, 0.7, 1.1, 1.3],
    )  # fmt: skip
    graph = helper.make_graph(
        [scaler, *nodes], "graph", [value("x", TensorProto.FLOAT, ["N", _FEATURES])],
        [value(name, kind, None) for name, kind in outputs.items()],
    )  # fmt: skip
    ids = [helper.make_opsetid("", 18), helper.make_opsetid(_ML, 3)]
    return helper.make_model(graph, opset_imports=ids, ir_version=8)


def _assert_comes_back(model: onnx.ModelProto, times: int = 1) -> None:
    net = import_model(model)
    written = export(net)
    assert [node.op_type for node in written.graph.node].count("SVMClassifier") == times
    assert len(written.to_bytes()) < 1.2 * model.ByteSize()
    again = import_model(written.to_bytes())
    assert len(again) == len(net)
    assert import_model(export(again).to_bytes()) == again
    assert verify(net, written, runtime="onnxruntime").passed


@pytest.mark.parametrize(
    ("kernel", "labels"), every(["LINEAR", "POLY", "RBF", "SIGMOID"], [2, 3, 4])
)
def test_the_label_and_the_probabilities(kernel: str, labels: int):
    rng = np.random.default_rng(labels)
    kinds: dict[str, Any] = {"label": TensorProto.INT64, "y": TensorProto.FLOAT}
    _assert_comes_back(_model([_vectors(rng, labels, kernel, "label y")], **kinds))


def test_probabilities_alone_that_others_read():
    nodes = [
        _vectors(np.random.default_rng(1), 3, "RBF", "label p"),
        helper.make_node("Normalizer", ["p"], ["y"], norm="L1", domain=_ML),
    ]
    _assert_comes_back(_model(nodes, y=TensorProto.FLOAT))


def test_probabilities_that_sums_read():
    """A stack of classifiers, the last of which reads the probabilities of the others."""
    rng = np.random.default_rng(2)
    nodes = [
        _vectors(rng, 3, "RBF", "label p"),
        helper.make_node("Concat", ["p", "x"], ["c"], axis=1),
        helper.make_node(
            "LinearRegressor", ["c"], ["y"], domain=_ML, targets=3,
            coefficients=_numbers(rng, 3, 3 + _FEATURES), intercepts=_numbers(rng, 3),
        ),
    ]  # fmt: skip
    _assert_comes_back(_model(nodes, y=TensorProto.FLOAT))


def test_one_operator_for_each_label_against_the_others():
    rng, names = np.random.default_rng(3), ("a", "b", "c")
    nodes = [_vectors(rng, 2, "RBF", f"label_{name} {name}") for name in names]
    nodes.append(helper.make_node("Concat", names, ["y"], axis=1))
    _assert_comes_back(_model(nodes, y=TensorProto.FLOAT), times=3)


def test_a_weight_that_was_changed_leaves_neurons():
    """A bias of one kernel, which is no longer that of its vector."""
    kinds: dict[str, Any] = {"label": TensorProto.INT64, "y": TensorProto.FLOAT}
    net = import_model(_model([_vectors(np.random.default_rng(4), 3, "RBF", "label y")], **kinds))
    document = net.to_document().model_dump()
    kernel = next(each for each in document["neurons"] if "exp" in str(each["activation"]))
    kernel["bias"] += 0.25
    changed = type(net).from_document(document)
    written = export(changed)
    assert "SVMClassifier" not in {node.op_type for node in written.graph.node}
    assert verify(changed, written, runtime="onnxruntime").passed
