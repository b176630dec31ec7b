"""A Network as an object: ports, shapes, equality, builders."""

import numpy as np
import pytest

from neat_onnx.errors import NetworkError
from neat_onnx.network.network import Network


def two_ports():
    """A = 2 x 2 pixels and one number h in; their products out, in two ports."""
    neurons = [{"id": j} for j in range(5)]
    outs = [{"id": 5 + k, "aggregation": "product"} for k in range(4)]
    pairs = [(source, 5 + k) for k in range(4) for source in (k, 4)]
    return Network.from_document(
        {
            "inputs": [
                {"name": "pixels", "shape": [2, 2], "neurons": [0, 1, 2, 3]},
                {"name": "h", "shape": [], "neurons": [4]},
            ],
            "outputs": [
                {"name": "all", "shape": [2, 2], "neurons": [5, 6, 7, 8]},
                {"name": "last", "shape": [1], "neurons": [8]},
            ],
            "neurons": neurons + outs,
            "connections": [{"source": a, "target": b, "weight": 1.0} for a, b in pairs],
        }
    )


def test_named_ports_in_and_out():
    net = two_ports()
    pixels = np.arange(12.0).reshape(3, 2, 2)
    outs = net.activate({"pixels": pixels, "h": np.array([1.0, 2.0, 3.0])})
    assert set(outs) == {"all", "last"}
    np.testing.assert_array_equal(outs["all"], pixels * np.array([1.0, 2.0, 3.0])[:, None, None])
    np.testing.assert_array_equal(outs["last"], [[3.0], [14.0], [33.0]])
    one = net.activate({"pixels": pixels[1], "h": 2.0})
    np.testing.assert_array_equal(one["all"], outs["all"][1])
    steps = net.run({"pixels": pixels[:, None], "h": np.ones((3, 1))})
    np.testing.assert_array_equal(steps["all"], pixels[:, None])


def test_ports_one_after_the_other():
    net = two_ports()
    got = net.activate([1.0, 2.0, 3.0, 4.0, 10.0])
    np.testing.assert_array_equal(got, [10.0, 20.0, 30.0, 40.0, 40.0])


@pytest.mark.parametrize(
    "x",
    [
        {"pixels": np.ones((2, 2))},
        {"pixels": np.ones((2, 2)), "h": 1.0, "other": 1.0},
        {"pixels": np.ones(4), "h": 1.0},
        {"pixels": np.ones((3, 2, 2)), "h": np.ones(2)},
        {"pixels": np.ones((3, 3, 2, 2)), "h": np.ones((3, 3))},
        [1.0, 2.0],
        np.ones((2, 3, 5)),
        "text",
        [[1.0, 2.0], [3.0]],
        1.0,
    ],
)
def test_what_does_not_fit_is_refused(x):
    with pytest.raises(NetworkError):
        two_ports().activate(x)


def test_shapes():
    net = Network.mlp([3, 4, 2])
    assert net.activate(np.zeros(3)).shape == (2,)
    assert net.activate(np.zeros((7, 3))).shape == (7, 2)
    assert net.activate(np.zeros((0, 3))).shape == (0, 2)
    assert net.run(np.zeros((5, 3))).shape == (5, 2)
    assert net.run(np.zeros((5, 7, 3))).shape == (5, 7, 2)
    assert net.run(np.zeros((0, 3))).shape == (0, 2)
    constant = Network.build(
        inputs=0, outputs=[0], neurons=[{"id": 0, "bias": 2.0}], connections=[]
    )
    np.testing.assert_array_equal(constant.activate(np.zeros((4, 0))), np.full((4, 1), 2.0))
    with pytest.raises(NetworkError, match=r"shape \[3\]"):
        net.run(np.zeros(3))


def test_an_mlp_is_what_its_weights_say():
    net = Network.mlp([3, 4, 2], activation="tanh", output_activation="identity", seed=5)
    x = np.random.default_rng(0).normal(size=(6, 3))
    genes, bias = net.connections, net.neurons.bias
    first = genes.weight[:12].reshape(4, 3)
    second = genes.weight[12:].reshape(2, 4)
    want = np.tanh(x @ first.T + bias[3:7]) @ second.T + bias[7:]
    np.testing.assert_allclose(net.activate(x), want, rtol=1e-12)
    assert not np.any(bias[:3])


@pytest.mark.parametrize("sizes", [[], [3], [3, 0], [0, 3], [2, -1]])
def test_layers_that_make_no_network(sizes):
    with pytest.raises(NetworkError):
        Network.mlp(sizes)


def build(**changes):
    genes = {
        "inputs": [4, 9],
        "outputs": [7],
        "neurons": [{"id": 7, "bias": 0.5}],
        "connections": [(4, 7, 2.0), {"source": 9, "target": 7, "weight": 3.0}],
    }
    return Network.build(**{**genes, **changes})


def test_build():
    np.testing.assert_array_equal(build().activate([1.0, 10.0]), [32.5])
    np.testing.assert_array_equal(
        build(inputs=2, connections=[(1, 7, 2.0)]).activate([1, 3]), [6.5]
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"outputs": []},
        {"neurons": [{"id": 7, "aggregation": "foo"}]},
        {"connections": [(4, 7)]},
        {"connections": [(7, 4, 1.0)]},
    ],
)
def test_what_is_no_network_is_refused(changes):
    with pytest.raises(NetworkError):
        build(**changes)


def test_equality_is_of_the_genome():
    assert build() == build()
    assert build() != build(connections=[(9, 7, 3.0), (4, 7, 2.0)])
    assert build() != build(neurons=[{"id": 7, "bias": 0.5, "name": "seven"}])
    assert build() != build(neurons=[{"id": 7, "bias": 0.5, "activation": "tanh"}])
    assert build() != "a network"


def test_labels_and_repr():
    net = build(neurons=[{"id": 7, "name": "seven"}])
    assert net.label(2) == "neuron 7 'seven'"
    assert "3 neurons and 2 connections, 2 inputs, 1 outputs" in repr(net)
