"""Cells of functions with parameters, with clipped sums and peepholes, come back as nodes."""

from dataclasses import replace

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import export, import_model, verify
from neat_onnx.network.genes import owned

T, INPUTS, UNITS = 4, 2, 3
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS = node("Transpose", "x", "s", perm=[1, 0, 2])
BACK = node("Transpose", "h", "y", perm=[2, 0, 1, 3])
START = [
    node("Flatten", "x", "f"),
    node("Gemm", "f k", "p"),
    node("Gemm", "f l", "q"),
    node("Unsqueeze", "p first", "i"),
    node("Unsqueeze", "q first", "j"),
]
CELLS = {
    "clipped": ("LSTM", {"clip": 0.75}),
    "clipped with a reset before the product": ("GRU", {"clip": 0.75}),
    "of functions with parameters, clipped": (
        "LSTM",
        {
            "activations": ["HardSigmoid", "ScaledTanh", "Elu"],
            "activation_alpha": [0.3, 1.5, 0.7],
            "activation_beta": [0.4, 0.6],
            "clip": 2.0,
        },
    ),
    "both ways": (
        "GRU",
        {
            "activations": ["Sigmoid", "LeakyRelu"] * 2,
            "activation_alpha": [0.125] * 2,
            "clip": 1.5,
            "linear_before_reset": 1,
            "direction": "bidirectional",
        },
    ),
    "affine": (
        "RNN",
        {"activations": ["Affine"], "activation_alpha": [0.5], "activation_beta": [0.1]},
    ),
    "of a threshold": (
        "RNN",
        {"activations": ["ThresholdedRelu"], "activation_alpha": [0.25], "direction": "reverse"},
    ),
    "with peepholes": ("LSTM", {}),
    "with peepholes from computed states": ("LSTM", {}),
    "that forgets as much as enters": ("LSTM", {"input_forget": 1}),
    "of both, with peepholes, clipped": ("LSTM", {"input_forget": 1, "clip": 1.5}),
}


def imported(kind):
    """The network of a cell over a sequence of fixed length, and its node's operator."""
    operator, given = CELLS[kind]
    random = np.random.default_rng(1)
    directions = 2 if given.get("direction") == "bidirectional" else 1
    rows = GATES[operator] * UNITS
    shapes = {"w": (rows, INPUTS), "r": (rows, UNITS), "b": (2 * rows,), "v": (3 * UNITS,)}
    constants = {name: random.normal(size=(directions, *each)) for name, each in shapes.items()}
    constants |= {name: random.normal(size=(T * INPUTS, UNITS)) for name in "kl"}
    start = "i j" if "states" in kind else "_ _"
    names = "s w r b" + (f" _ {start} v" if "peepholes" in kind else "")
    nodes = [*START, STEPS, node(operator, names, "h", hidden_size=UNITS, **given), BACK]
    read = {name for each in nodes for name in each.input}
    used = {name: each for name, each in constants.items() if name in read}
    model = graph(nodes if "states" in kind else nodes[5:], x=("N", T, INPUTS), first=[0], **used)
    return assert_lifts(model), [operator] * directions


def kinds(model):
    return [each.op_type for each in model.graph.node if each.op_type in GATES]


@pytest.mark.parametrize("kind", CELLS)
def test_it_comes_back_as_a_node(kind):
    net, wanted = imported(kind)
    model = export(net)
    assert kinds(model) == wanted
    assert len(model.graph.node) <= 12
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model) == net


def test_sums_with_another_bound_are_no_part_of_the_node():
    net, _ = imported("clipped")
    names = [net.activations[k] for k in net.neurons.activation]
    other = [name.replace("0.75", "0.5") if "tanh(clip" in name else name for name in names]
    assert other != names
    activations = (*dict.fromkeys(other),)
    codes = owned(np.array([activations.index(name) for name in other]))
    changed = replace(net, activations=activations, neurons=replace(net.neurons, activation=codes))
    model = export(changed)
    assert kinds(model) == []
    assert verify(changed, model, samples=16, runtime="onnxruntime").passed
