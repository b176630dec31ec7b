"""RNN, LSTM and GRU nodes among others, and those that are refused."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from support.examples.rnn_cases import (
    GATES,
    Case,
    assert_close,
    in_onnxruntime,
    one_graph,
)

from neat_onnx import ModelError, export, import_model, validate

Array = np.ndarray[Any, Any]


def _classifier(last: str, *more: onnx.NodeProto, **attributes: Any) -> onnx.ModelProto:
    """An LSTM from [T, N, 3], whose end goes through a Gemm; the output is `last`."""
    random = np.random.default_rng(5)
    shapes = {"W": (1, 16, 3), "R": (1, 16, 4), "B": (1, 32), "V": (2, 4)}
    tensors: dict[str, Array] = {
        name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()
    }
    tensors["first"] = np.array([0], np.int64)
    nodes = [
        helper.make_node("LSTM", ["X", "W", "R", "B"], ["Y", "Y_h"], hidden_size=4, **attributes),
        helper.make_node("Squeeze", ["Y_h", "first"], ["end"]),
        helper.make_node("Gemm", ["end", "V"], ["scores"], transB=1),
        *more,
    ]
    dims = {"scores": ["N", 2]}.get(last)
    return one_graph(nodes, {"X": ["T", "N", 3]}, {last: dims or ["T", 1, "N", 4]}, tensors)


def test_the_end_of_a_sequence_is_what_the_network_gives_at_its_last_step():
    model = _classifier("scores")
    x = np.random.default_rng(1).normal(size=(7, 5, 3)).astype(np.float32)
    net = import_model(model)
    every = net.run(x)
    assert net.outputs[0].shape == (2,)
    for steps in (1, 4, 7):
        want = in_onnxruntime(model, x[:steps])["scores"]
        assert_close(every[steps - 1], want, 1e-5)


def _case(op: str) -> Case:
    """A node of 3 inputs and 4 units."""
    random, rows = np.random.default_rng(3), GATES[op] * 4
    shapes = {"W": (1, rows, 3), "R": (1, rows, 4), "B": (1, 2 * rows)}
    tensors = {
        name: random.normal(0.0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()
    }
    return Case(op, 3, 4, tensors=tensors)


@pytest.mark.parametrize("op", GATES)
def test_what_was_imported_is_exported_again(op: str):
    """As single steps and as a sequence, valid, and what the node computes."""
    case, x = _case(op), np.random.default_rng(2).normal(size=(6, 5, 3)).astype(np.float32)
    model = case.model(x, ["T", "N", 3])
    del model.graph.output[2:]  # Y_c: a node that gave the memory at every step does not exist
    net = import_model(model)
    again = export(net, sequence=True)
    assert op in [node.op_type for node in again.graph.node]
    assert validate(again) == [] == validate(export(net))
    assert import_model(again) == import_model(export(net)) == net
    want = in_onnxruntime(model, x)["Y"]
    assert_close(in_onnxruntime(again.to_proto(), x)["Y"].reshape(want.shape), want, 1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"activations": ["Tanh", "Swish", "Tanh"]}, "activations"),
        ({"direction": "sideways"}, "direction"),
        ({"speed": 3}, "unknown attribute 'speed'"),
        ({"clip": -1.0}, "clip is -1"),
    ],
)
def test_attributes_are_checked(given: dict[str, Any], message: str):
    case = _case("LSTM")
    case.attributes |= given
    with pytest.raises(ModelError, match=message):
        import_model(case.model(np.zeros((2, 1, 3)), ["T", "N", 3]))
