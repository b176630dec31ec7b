"""Inputs without elements are left out where nothing reads them."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node

from neat_onnx import ModelError, export, import_model, load_model, verify
from neat_onnx.model.empty_inputs import empty_inputs


def policy(*nodes: onnx.NodeProto) -> onnx.ModelProto:
    """A model with the inputs x, `masks` of no discrete actions and `memory` of no states."""
    empty = {"masks": (1, 0), "memory": (1, 1, 0)}
    return graph([*nodes, node("Gemm", "x w", "y")], x=(1, 3), beside=empty, w=np.eye(3))


def test_they_are_left_out():
    before = load_model(policy())
    after = empty_inputs(before)
    assert [entry.name for entry in after.graph.inputs] == ["x"]
    assert empty_inputs(after) is after


@pytest.mark.parametrize("runtime", ["onnxruntime", "reference"])
def test_a_model_with_some_is_imported_and_verified(runtime):
    model = policy()
    net = import_model(model)
    assert [port.name for port in net.inputs] == ["x"]
    assert verify(net, model, runtime=runtime).passed
    assert verify(net, export(net), runtime=runtime).passed


def test_one_that_is_read_stays():
    model = load_model(policy(node("Tanh", "masks", "t")))
    assert [entry.name for entry in empty_inputs(model).graph.inputs] == ["x", "masks"]


def test_one_that_an_output_depends_on_is_refused():
    model = policy(node("Concat", "x masks", "z", axis=1))
    model.graph.output.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, None))
    with pytest.raises(ModelError, match="'masks' has the shape"):
        import_model(model)
