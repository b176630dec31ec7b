"""Operators that the usual opset lacks, sums of what may be infinite, and choices behind it."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node, operators

from neat_onnx import export, import_model, verify


def _model(
    *nodes: onnx.NodeProto, opset: int = 18, x: tuple[int | str, ...] = ("N", 4), **constants: float
) -> onnx.ModelProto:
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, x)
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    tensors = [
        numpy_helper.from_array(np.array(v, np.int64 if isinstance(v, int) else np.float32), name)
        for name, v in constants.items()
    ]
    body = helper.make_graph(list(nodes), "graph", [entry], [result], tensors)
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def _chain(steps: int, op_type: str = "Div") -> onnx.ModelProto:
    """Each step divides 1 by the numbers of the one before that are above 0."""
    nodes, x = [], "x"
    for k in range(steps):
        y = "y" if k == steps - 1 else f"w{k}"
        reads = f"one {x}" if op_type == "Div" else x
        nodes += [
            node("Greater", f"{x} zero", f"g{k}"),
            node(op_type, reads, f"d{k}"),
            node("Where", f"g{k} d{k} {x}", y),
        ]
        x = y
    return _model(*nodes, zero=0.0, **({"one": 1.0} if op_type == "Div" else {}))


_POOL = {"kernel_shape": [3, 3], "dilations": [2, 2], "pads": [2, 2, 2, 2]}
MODELS = {
    "an operator of opset 20": (_model(node("Gelu", "x", "y"), opset=20), 20),
    "its other form": (_model(node("Gelu", "x", "y", approximate="tanh"), opset=21), 20),
    "an attribute of opset 19": (
        _model(node("AveragePool", "x", "y", **_POOL), opset=22, x=("N", 2, 8, 8)),
        19,
    ),
    "no new attribute": (
        _model(node("AveragePool", "x", "y", kernel_shape=[3, 3]), opset=22, x=("N", 2, 8, 8)),
        18,
    ),
    "running sums": (
        _model(node("Exp", "x", "e"), node("CumSum", "e axis", "y"), axis=1), 18
    ),
    "a choice": (_chain(1), 18),
    "choices": (_chain(2), 18),
    "many choices": (_chain(4), 18),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_an_operator_comes_back(name: str):
    model, opset = MODELS[name]
    net = import_model(model)
    written = export(net)
    assert operators(written) == operators(model)
    assert written.opset == opset
    assert len(written.to_bytes()) < 2 * model.ByteSize()
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=32, runtime="onnxruntime").passed


@pytest.mark.parametrize("name", ["an operator of opset 20", "an attribute of opset 19"])
def test_an_opset_that_is_asked_for_stays(name: str):
    model, _ = MODELS[name]
    net = import_model(model)
    written = export(net, opset=18)
    assert written.opset == 18
    assert operators(written) != operators(model)
    assert import_model(written) == net
    assert verify(net, written, samples=32, runtime="onnxruntime").passed


def test_a_function_of_what_may_be_infinite_is_no_group():
    model = _model(node("Exp", "x", "e"), node("Sqrt", "e", "s"), node("Sin", "s", "y"))
    assert len(import_model(model).operators) == 0


@pytest.mark.parametrize("places", [4, 32])
def test_a_group_has_no_more_nodes_than_many(places: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("neat_onnx.lifting.operator_hints._MAX_NODES_BEFORE", places)
    net = import_model(_chain(3))
    assert (operators(export(net)) == operators(_chain(3))) == (places == 32)
