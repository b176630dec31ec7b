"""Gates of mixtures of experts come back as the few operators that they were imported from."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from support.examples.graphs import graph, node

from neat_onnx import export, import_model, verify

_RNG = np.random.default_rng(0)
_NEW = {"ScatterElements", "Softmax", "TopK"}


def _normal(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape).astype(np.float32)


def _gate(logits: str, gives: str, fill: float = -np.inf) -> list[onnx.NodeProto]:
    value = numpy_helper.from_array(np.array([fill], np.float32))
    return [
        node("TopK", f"{logits} k", "values places", axis=-1),
        node("Shape", logits, "shape"),
        node("ConstantOfShape", "shape", "nothing", value=value),
        node("ScatterElements", "nothing places values", "row", axis=-1),
        node("Softmax", "row", gives, axis=-1),
    ]


def _assert_comes_back(model: onnx.ModelProto) -> None:
    net = import_model(model)
    written = export(net)
    assert {each.op_type for each in written.graph.node} >= _NEW
    assert len(written.to_bytes()) < 1.2 * model.ByteSize()
    assert import_model(written.to_bytes()) == net
    assert export(net).to_bytes() == written.to_bytes()
    assert verify(net, written, runtime="onnxruntime").passed


@pytest.mark.parametrize(("experts", "chosen"), [(3, 2), (8, 2), (8, 5), (32, 2)])
def test_a_gate_of_one_row(experts: int, chosen: int):
    constants = {"w": _normal(6, experts), "b": _normal(experts), "k": np.array([chosen])}
    nodes = [node("Gemm", "x w b", "g"), *_gate("g", "y")]
    _assert_comes_back(graph(nodes, x=("N", 6), **constants))


@pytest.mark.parametrize("steps", [2, 5])
def test_a_gate_for_each_step(steps: int):
    nodes = [node("MatMul", "x w", "g"), *_gate("g", "y")]
    constants = {"w": _normal(6, 4), "k": np.array([2])}
    _assert_comes_back(graph(nodes, x=("N", steps, 6), **constants))


def test_a_gate_that_weighs_experts():
    nodes = [
        node("Gemm", "x w b", "g"),
        *_gate("g", "p"),
        node("Unsqueeze", "p last", "weights"),
        node("Gemm", "x e", "flat"),
        node("Reshape", "flat shape_of_experts", "experts"),
        node("Mul", "experts weights", "weighed"),
        node("ReduceSum", "weighed axes", "y", keepdims=0),
    ]
    constants = {
        "w": _normal(6, 4), "b": _normal(4), "k": np.array([2]), "e": _normal(6, 12),
        "last": np.array([2]), "shape_of_experts": np.array([-1, 4, 3]), "axes": np.array([1]),
    }  # fmt: skip
    _assert_comes_back(graph(nodes, x=("N", 6), **constants))


def test_a_changed_comparison_leaves_neurons():
    constants = {"w": _normal(6, 4), "b": _normal(4), "k": np.array([2])}
    net = import_model(
        graph([node("Gemm", "x w b", "g"), *_gate("g", "y")], x=("N", 6), **constants)
    )
    document = net.to_document().model_dump()
    compared = next(each for each in document["neurons"] if "equal" in str(each["activation"]))
    compared["bias"] = 0.5
    changed = type(net).from_document(document)
    written = export(changed)
    assert "ScatterElements" not in {each.op_type for each in written.graph.node}
    assert verify(changed, written, runtime="onnxruntime").passed
