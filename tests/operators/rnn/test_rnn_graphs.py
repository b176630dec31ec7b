"""RNN, LSTM and GRU nodes among others, and those that are refused."""

from typing import Any

import numpy as np
import pytest
from support.examples.texts import read
from support.harness.sessions import open_session

from neat_onnx import Model, ModelError, export, import_model, validate

ROWS = {"RNN": 4, "GRU": 12, "LSTM": 16}
X = np.random.default_rng(2).normal(size=(7, 5, 3)).astype(np.float32)


def layer(op: str, attributes: str = "") -> str:
    """A node of 3 inputs and 4 units, over [T, N, 3]."""
    rows, given = ROWS[op], f"hidden_size = 4{attributes}"
    return f"Y, Yh = {op} <{given}> (x, W_1_{rows}_3, R_1_{rows}_4, B_1_{2 * rows}) "


def computed(model: Model, x: Any) -> Any:
    """The first output that onnxruntime gives."""
    return open_session(model).run(None, {"x": x})[0]


def test_the_end_of_a_sequence_is_what_the_network_gives_at_its_last_step():
    nodes = layer("LSTM") + "end = Squeeze (Yh, i_0) scores = Gemm <transB = 1> (end, V_2_4)"
    model = read(f"(float[T, N, 3] x) => (float[N, 2] scores) {{ {nodes} }}")
    net = import_model(model)
    every = net.run(X)
    assert net.outputs[0].shape == (2,)
    for steps in (1, 4, 7):
        want = computed(model, X[:steps])
        np.testing.assert_allclose(every[steps - 1], want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op", ROWS)
def test_what_was_imported_is_exported_again(op: str):
    """As single steps and as a sequence, valid, and what the node computes."""
    ends = "float[T, 1, N, 4] Y, float[1, N, 4] Yh"
    model = read(f"(float[T, N, 3] x) => ({ends}) {{ {layer(op)} }}")
    net = import_model(model)
    again = export(net, sequence=True)
    assert op in [node.op_type for node in again.graph.node]
    assert validate(again) == [] == validate(export(net))
    assert import_model(again) == import_model(export(net)) == net
    want = computed(model, X)
    got = computed(again, X).reshape(want.shape)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ('activations = ["Tanh", "Swish", "Tanh"]', "activations"),
        ('direction = "sideways"', "direction"),
        ("speed = 3", "unknown attribute 'speed'"),
        ("clip = -1.0", "clip is -1"),
    ],
)
def test_attributes_are_checked(given: str, message: str):
    nodes = layer("LSTM", f", {given}")
    with pytest.raises(ModelError, match=message):
        import_model(read(f"(float[T, N, 3] x) => (float[T, 1, N, 4] Y) {{ {nodes} }}"))
