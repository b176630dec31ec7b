"""Axes that are the batch, and inputs that are memory, by the names that other tools give."""

import numpy as np
import pytest
from policies import policy
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import (
    NeatOnnxWarning,
    export,
    import_model,
    verify,
)


@pytest.mark.parametrize(
    ("previous", "following"),
    [("recurrent_in", "recurrent_out"), ("state_ins", "state_outs"), ("h_0", "h_n")],
)
@pytest.mark.parametrize("shape", [["batch", 3], [1, "batch", 3]])
def test_states_pair_by_names_that_other_tools_give(previous, following, shape):
    nodes = [
        node("MatMul", "obs W", "seen"),
        node("MatMul", f"{previous} R", "kept"),
        node("Add", "seen kept", "sum"),
        node("Tanh", "sum", following),
        node("Identity", following, "output"),
    ]
    model = policy(nodes, {"obs": shape, previous: shape}, {"output": shape, following: shape})
    with pytest.warns(NeatOnnxWarning, match=f"'{following}' is taken to feed '{previous}'"):
        net = import_model(model)
    assert [port.name for port in (*net.inputs, *net.outputs)] == ["obs", "output"]
    assert verify(net, model, runtime="onnxruntime").passed


@pytest.mark.parametrize("name", ["vec", "branch", "pitch"])
def test_a_word_that_ends_like_a_state_is_none(name):
    nodes = [node("MatMul", f"{name}_in W", "seen"), node("Tanh", "seen", f"{name}_out")]
    sizes = ["batch", 3]
    model = policy(nodes, {f"{name}_in": sizes}, {f"{name}_out": sizes})
    assert not import_model(model).has_memory


def test_a_state_that_is_handed_on_unchanged_is_an_input_and_an_output():
    """So that the export has every port that Godot RL Agents asks for."""
    nodes = [node("MatMul", "obs W", "output"), node("Identity", "state_ins", "state_outs")]
    sizes = ["batch", 3]
    model = policy(
        nodes, {"obs": sizes, "state_ins": ["batch"]}, {"output": sizes, "state_outs": ["batch"]}
    )
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    graph = export(net).graph
    assert [entry.name for entry in graph.inputs] == ["obs", "state_ins"]
    assert [entry.name for entry in graph.outputs] == ["output", "state_outs"]


@pytest.mark.parametrize(
    ("shape", "features"),
    [
        (["N", 3], (3,)),
        ([5, 3], (3,)),
        ([1, 3], (3,)),
        ([2, "N", 3], (2, 3)),
        (["batch", "seq", 3], (3,)),
        (["T", "N", 3], (3,)),
        ([3], (3,)),
    ],
    ids=str,
)
def test_the_batch_is_found_wherever_it_is(shape, features):
    nodes = [node("MatMul", "x W", "sum"), node("Tanh", "sum", "y")]
    model = policy(nodes, {"x": shape}, {"y": shape})
    net = import_model(model)
    assert net.inputs[0].shape == net.outputs[0].shape == features
    for runtime in ("reference", "onnxruntime"):
        assert verify(net, model, runtime=runtime).passed


@pytest.mark.parametrize("name", ["T", "seq", "length"])
def test_where_no_node_goes_through_a_sequence_the_first_axis_is_no_time(name):
    nodes = [node("MatMul", "x row", "sum"), node("Tanh", "sum", "y")]
    model = policy(nodes, {"x": [name, 1]}, {"y": [name, 3]}, row=[[1.0, -2.0, 0.5]])
    net = import_model(model)
    assert [port.shape for port in (*net.inputs, *net.outputs)] == [(1,), (3,)]
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_number_beside_a_batch_is_a_feature():
    nodes = [node("Mul", "x scale", "y")]
    model = policy(nodes, {"x": ["N", 3], "scale": []}, {"y": ["N", 3]})
    net = import_model(model)
    assert [port.shape for port in net.inputs] == [(3,), ()]
    got = net.activate({"x": np.array([[1.0, 2.0, 3.0]]), "scale": np.array([2.0])})
    session = open_session(model)
    want = session.run(
        None, {"x": np.array([[1, 2, 3]], np.float32), "scale": np.array(2, np.float32)}
    )
    np.testing.assert_allclose(got["y"], want[0])
    assert verify(net, model, runtime="onnxruntime").passed


def test_fixed_sizes_whose_first_axis_is_no_batch_are_features():
    model = policy([node("Softmax", "x", "y", axis=0)], {"x": [2, 3]}, {"y": [2, 3]})
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        net = import_model(model)
    assert net.inputs[0].shape == (2, 3)
    assert verify(net, model, runtime="onnxruntime").passed
