"""Neurons that give whole numbers or truth values, against what networks compute."""

from dataclasses import replace

import numpy as np
import pytest

from neat_onnx import Network
from neat_onnx.network.port import Port
from neat_onnx.network.whole_numbers import truth_neurons, whole_neurons

CASES = [
    # dtype of the inputs, activation, weight, bias, delay, whole, truth
    ("int64", "identity", 2.0, 1.0, 0, True, False),
    ("int64", "identity", 0.5, 0.0, 0, False, False),
    ("int64", "relu", -3.0, 0.25, 0, False, False),
    ("int64", "abs", -3.0, 4.0, 1, True, False),
    ("int64", "tanh", 1.0, 0.0, 0, False, False),
    ("", "identity", 1.0, 0.0, 0, False, False),
    ("", "step", 0.3, 0.1, 0, True, True),
    ("bool", "identity", 1.0, 0.0, 0, True, True),
    ("bool", "identity", 1.0, 0.0, 1, True, True),
    ("bool", "identity", 2.0, 0.0, 0, True, False),
]


@pytest.mark.parametrize(
    ("dtype", "activation", "weight", "bias", "delay", "whole", "truth"), CASES
)
def test_what_a_neuron_gives(dtype, activation, weight, bias, delay, whole, truth):
    neurons = [{"id": 1, "activation": activation, "bias": bias}]
    connections = [{"source": 0, "target": 1, "weight": weight, "delay": delay}]
    net = Network.build(inputs=[0], outputs=[1], neurons=neurons, connections=connections)
    net = replace(net, inputs=(Port("x", (1,), net.inputs[0].neurons, dtype),))
    assert bool(whole_neurons(net)[-1]) == whole
    assert bool(truth_neurons(net)[-1]) == truth
    draw = np.random.default_rng(0)
    x = {"bool": draw.integers(0, 2, (64, 1)), "int64": draw.integers(-99, 99, (64, 1))}.get(
        dtype, draw.normal(size=(64, 1))
    )
    y = net.run(x.astype(np.float64))
    assert not whole or np.array_equal(y, np.rint(y))
    assert not truth or set(np.unique(y)) <= {0.0, 1.0}
