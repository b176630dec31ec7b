"""Activations and arithmetic that other tools wrote, as neurons."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import import_model

W = np.array([[0.5, -1.25, 2.0], [0.4, 0.75, -0.5]])
B = np.array([0.25, -1.0])
GEMM = "z = Gemm<transB=1>(x, W, B)"


@pytest.mark.parametrize(
    ("operator", "attributes", "activation"),
    [
        ("Sigmoid", {}, "sigmoid"),
        ("Tanh", {}, "tanh"),
        ("Relu", {}, "relu"),
        ("Abs", {}, "abs"),
        ("Sin", {}, "sin"),
        ("Softplus", {}, "softplus"),
        ("Softsign", {}, "softsign"),
        ("Elu", {}, "elu"),
        ("Elu", {"alpha": 1.0}, "elu"),
        ("Selu", {}, "selu"),
        ("LeakyRelu", {"alpha": 0.005}, "neat_lelu"),
        ("Identity", {}, "identity"),
        ("Dropout", {}, "identity"),
    ],
)
def test_an_operator_is_an_activation(operator, attributes, activation):
    net = assert_lifts(graph([GEMM, node(operator, "z", "y", **attributes)], W=W, B=B))
    assert net.activation_names[3:].tolist() == [activation] * 2
    assert len(net) == 5


def test_a_subgraph_is_an_activation():
    swish = f"{GEMM} s = Sigmoid(z) y = Mul(s, z)"
    swapped = f"{GEMM} s = Sigmoid(z) y = Mul(z, s)"
    assert import_model(graph(swapped, W=W, B=B)).activation_names[3] == "swish"
    assert_lifts(graph(swish, W=W, B=B))
    step = f"{GEMM} g = Greater(z, zero) y = Cast<to=1>(g)"
    net = assert_lifts(graph(step, W=W, B=B, zero=np.array(0.0)))
    assert net.activation_names[3] == "step"
    square = assert_lifts(graph(f"{GEMM} y = Mul(z, z)", W=W, B=B))
    assert square.activation_names[3] == "square"
