"""Layers that read [T, N, F] of fixed sizes, as PyTorch's do whose batch is not first."""

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model, load_model, verify
from neat_onnx.passes.fixed_batches import fixed_batches

RANDOM = np.random.default_rng(5)
T, N, F, H = 7, 5, 3, 4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def classifier(op: str, start: str = "", sizes: tuple[int | str, ...] = (T, N, F)):
    """The last state of a layer through a matrix; its first state is left out, or constant."""
    rows = GATES[op] * H
    given = {
        "W": RANDOM.normal(size=(1, rows, F)) * 0.5,
        "R": RANDOM.normal(size=(1, rows, H)) * 0.5,
        "M": RANDOM.normal(size=(H, 2)),
        "zero": np.array([0]),
    }
    if start == "constant":
        given["first"] = np.zeros((1, N, H))
    state = {"": "", "constant": " _ _ first"}[start]
    nodes = [
        node(op, f"x W R{state}", "_ last", hidden_size=H),
        node("Squeeze", "last zero", "h"),
        node("MatMul", "h M", "y"),
    ]
    return graph(nodes, x=sizes, **given)


@pytest.mark.parametrize("op", GATES)
def test_the_second_axis_is_the_batch(op):
    model = classifier(op)
    net = import_model(model)
    assert net.inputs[0].shape == (T, F)
    x = RANDOM.normal(size=(T, N, F)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_allclose(net.activate({"x": x.swapaxes(0, 1)})["y"], want, 1e-5, 1e-6)
    assert verify(net, model, runtime="onnxruntime").passed
    short = export(net)
    assert op in [each.op_type for each in short.graph.node]
    assert verify(net, short, runtime="onnxruntime").passed


LEFT_ALONE = {
    "as many steps as samples": classifier("GRU", sizes=(N, N, F)),
    "one sample": classifier("GRU", sizes=(T, 1, F)),
    "an open batch": classifier("GRU", sizes=(T, "batch", F)),
}


@pytest.mark.parametrize("case", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_other_sizes_are_left_alone(case):
    model = load_model(case)
    assert fixed_batches(model) is model
    once = fixed_batches(load_model(classifier("RNN")))
    assert fixed_batches(once) is once


def test_a_state_of_the_size_of_the_batch():
    model = classifier("GRU", "constant")
    try:
        net = import_model(model)
    except ModelError as error:
        pytest.fail(str(error))
    assert verify(net, model, runtime="onnxruntime").passed
