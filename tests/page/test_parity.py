"""The outputs that the page plots, of both sides."""

import numpy as np
from support.examples.cases import case

import neat_onnx
from neat_onnx.page.parity import parity


def test_every_output_is_counted_and_both_sides_are_given():
    net = case("np-ff-19").network()
    found = parity(net, neat_onnx.export(net))
    assert found["total"] == 256 * 3
    want, got = np.array(found["network"]), np.array(found["model"])
    assert 0 < np.abs(got - want).max() == found["most"] < 1e-5


def test_a_model_of_another_network_is_off_the_diagonal():
    net, other = (neat_onnx.Network.mlp([2, 3, 1], activation="tanh", seed=s) for s in (0, 1))
    found = parity(net, neat_onnx.export(other))
    assert np.abs(np.array(found["network"]) - np.array(found["model"])).max() > 0.1


def test_a_network_with_memory_is_plotted_too():
    net = case("np-rec-10").network()
    found = parity(net, neat_onnx.export(net, dtype="float64"))
    assert len(found["network"]) == min(2000, found["total"])
    assert found["band"] < 1e-12
