"""Small models of others: imported, equal to onnxruntime, exported again, and equal once more."""

from typing import Any

import numpy as np
import onnx
import pytest
from small_layers import MODELS as LAYERS
from small_models import small_models
from support.examples.graphs import graph, node
from support.harness.sessions import open_session
from support.harness.sweep import each

from neat_onnx import export, import_model

MODELS = dict(small_models()) | LAYERS
LEAST = 150
CHECKED = set(each(4, list(MODELS)))
"""The models for which import runs onnx's reference evaluator besides."""


def outputs(model: onnx.ModelProto, x: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    session = open_session(model)
    return session.run(None, {"x": x})


def test_there_are_enough():
    assert len(MODELS) >= LEAST


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("name", MODELS)
def test_it_comes_in_and_goes_out_equal(name: str):
    model = MODELS[name]
    shape = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim][1:]
    x = np.random.default_rng(0).normal(size=(4, *shape)).astype(np.float32)
    net = import_model(model, check=name in CHECKED)
    got = net.activate({"x": x})
    again = outputs(export(net).to_proto(), x)
    for port, want, exported in zip(net.outputs, outputs(model, x), again, strict=True):
        np.testing.assert_allclose(got[port.name], want, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(exported, want, rtol=1e-5, atol=1e-5)


def test_a_softmax_of_one_element_keeps_its_neurons_and_their_ids():
    """Masked, a step attends to itself alone: its maximum and its sum are over one element."""
    net = import_model(MODELS["attention 1 masked"])
    assert import_model(export(net)) == net


def test_hidden_neurons_that_no_output_needs_stay_away():
    nodes = [
        node("Gemm", "x w b", "h"),
        node("Split", "h parts", "used idle", axis=1),
        node("Tanh", "used", "y"),
    ]
    w, b = np.ones((3, 4)), np.zeros(4)
    net = import_model(graph(nodes, w=w, b=b, parts=[1, 3]))
    assert len(net) == 4
    np.testing.assert_allclose(net.activate({"x": [1.0, 2.0, 3.0]})["y"], [np.tanh(6.0)])


def test_a_first_step_does_not_read_its_state_of_zeros():
    net = import_model(graph([node("Sigmoid", "x", "s"), node("Mul", "s zero", "y")], zero=[0.0]))
    assert not len(net.connections.weight[net.connections.weight == 0.0])
    np.testing.assert_array_equal(net.activate({"x": [1.0, 2.0, 3.0]})["y"], [0.0, 0.0, 0.0])
