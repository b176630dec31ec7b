"""RNN, GRU and LSTM nodes whose weights, biases or peepholes are inputs, or made by a layer."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.rnn_cases import GATES, assert_close, by_hand, random_case
from support.harness.sweep import count, each

from neat_onnx import ModelError, export, import_model, verify

_PARAMETERS = ("W", "R", "B", "P")


def _with_inputs(model: onnx.ModelProto, names: set[str]) -> onnx.ModelProto:
    """The model with initializers as inputs."""
    graph = model.graph
    kept = [tensor for tensor in graph.initializer if tensor.name not in names]
    for tensor in graph.initializer:
        if tensor.name in names:
            entry = helper.make_tensor_value_info(tensor.name, TensorProto.FLOAT, tensor.dims)
            graph.input.append(entry)
    del graph.initializer[:]
    graph.initializer.extend(kept)
    return model


@pytest.mark.parametrize("seed", range(count(16, 200)))
def test_parameters_among_the_inputs_compute_what_constant_ones_do(seed: int):
    case, x = random_case(seed)
    random = np.random.default_rng(seed)
    given = [name for name in _PARAMETERS if name in case.tensors]
    names = {name for name in given if random.random() < 0.6} or {"R"}
    model = _with_inputs(case.model(x), names)
    net = import_model(model, batch_axis=None, check=False)
    got = net.activate({"X": x} | {name: case.tensors[name] for name in names})
    for name, want in by_hand(case, x.astype(np.float64)).items():
        assert_close(got[name], want, 1e-12)


@pytest.mark.parametrize("seed", each(2, [0, 1, 2, 7, 8]))
def test_samples_share_such_parameters(seed: int):
    case, x = random_case(seed)
    for name in ("initial_h", "initial_c"):
        case.tensors.pop(name, None)
    model = _with_inputs(case.model(x, [2, "N", case.inputs]), {*_PARAMETERS})
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, export(net), runtime="onnxruntime").passed


@pytest.mark.parametrize("op", GATES)
def test_a_layer_makes_the_weights_of_another(op: str):
    net = import_model(model := _hypernetwork(op, {"x": [2, "N", 2], "code": [4]}))
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_weights_that_each_sample_has_for_itself_are_refused():
    with pytest.raises(ModelError, match="parameter W is computed of samples"):
        import_model(_hypernetwork("RNN", {"x": [3, "N", 2], "code": ["N", 4]}))


@pytest.mark.parametrize("op", ["RNN", "GRU", "LSTM"])
def test_beside_a_sequence_of_any_length_they_are_the_same_at_every_step(op):
    model = _hypernetwork(op, {"x": ["T", "N", 2], "code": [4]})
    net = import_model(model)
    assert net.has_memory
    for written in (model, export(net)):
        assert verify(net, written, runtime="onnxruntime", samples=16).passed


def _hypernetwork(op: str, inputs: dict[str, list[Any]]) -> onnx.ModelProto:
    """A recurrent layer whose W a layer makes of `code`."""
    random = np.random.default_rng(0)
    rows = 3 * GATES[op]
    tensors = {
        "M": random.normal(size=(4, rows * 2)),
        "R": random.normal(size=(1, rows, 3)),
    }
    nodes = [
        helper.make_node("MatMul", ["code", "M"], ["flat"]),
        helper.make_node("Reshape", ["flat", "sizes"], ["W"]),
        helper.make_node(op, ["x", "W", "R"], ["y"], hidden_size=3),
    ]
    entries = [helper.make_tensor_value_info(name, 1, dims) for name, dims in inputs.items()]
    output = helper.make_tensor_value_info("y", 1, [inputs["x"][0], 1, "N", 3])
    initializer = [
        *(numpy_helper.from_array(each.astype(np.float32), name) for name, each in tensors.items()),
        numpy_helper.from_array(np.array([1, rows, 2]), "sizes"),
    ]
    graph = helper.make_graph(nodes, "graph", entries, [output], initializer)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
