"""Activations and arithmetic that other tools wrote, as neurons."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import ModelError, import_model

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


@pytest.mark.parametrize(
    ("operator", "reads", "constants"),
    [
        ("Mul", "z c", {"c": np.array([2.0, -0.5])}),
        ("Mul", "c z", {"c": np.array([[2.0, -0.5]])}),
        ("Mul", "z c", {"c": np.array(3.0)}),
        ("Add", "z c", {"c": np.array([2.0, -0.5])}),
        ("Add", "z c", {"c": np.array(3.0)}),
        ("Sub", "z c", {"c": np.array([2.0, -0.5])}),
        ("Sub", "c z", {"c": np.array([2.0, -0.5])}),
        ("Div", "z c", {"c": np.array([2.0, -0.5])}),
        ("Add", "z z", {}),
    ],
)
@pytest.mark.parametrize("after", ["Identity", "Tanh"])
def test_arithmetic_with_constants(operator, reads, constants, after):
    nodes = [GEMM, node(operator, reads, "c1"), node(after, "c1", "y")]
    assert_lifts(graph(nodes, W=W, B=B, **constants))


@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul"])
def test_arithmetic_of_two_tensors_is_neurons(operator):
    two = f"{GEMM} v = Gemm<transB=1>(x, V) t = Tanh(v)"
    assert_lifts(graph([two, node(operator, "z t", "y")], W=W, B=B, V=W[::-1]))
    column = np.array([[0.5, 0.25, 0.125]])
    one = [GEMM, node("Gemm", "x V", "v", transB=1), node(operator, "z v", "y")]
    assert_lifts(graph(one, W=W, B=B, V=column))  # [N, 2] and [N, 1]


def test_a_constant_of_constants_is_a_constant():
    nodes = "c = Add(B, B) d = Tanh(c) y = Gemm<transB=1>(x, W, d)"
    assert_lifts(graph(nodes, W=W, B=B))


def test_an_unknown_operator_is_refused_by_name():
    with pytest.raises(ModelError, match="MaxRoiPool"):
        import_model(graph("y = MaxRoiPool(x, x)", x=("N", 2, 2)))
