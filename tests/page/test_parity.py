"""The outputs that the page plots: both sides, and the histogram of their differences."""

import numpy as np
from support.examples.cases import case

import neat_onnx
from neat_onnx.page.parity import parity


def test_every_output_is_counted_and_both_sides_are_given():
    net = case("np-ff-19").network()
    found = parity(net, neat_onnx.export(net))
    assert found["total"] == sum(found["counts"]) == 256 * 3
    want, got = np.array(found["network"]), np.array(found["model"])
    assert 0 < np.abs(got - want).max() < 1e-5
    assert found["edges"][0] <= (got - want).min() and (got - want).max() <= found["edges"][-1]
    assert len(found["edges"]) == len(found["counts"]) + 1


def test_a_model_of_another_network_is_off_the_diagonal():
    net, other = (neat_onnx.Network.mlp([2, 3, 1], activation="tanh", seed=s) for s in (0, 1))
    found = parity(net, neat_onnx.export(other))
    assert np.abs(np.array(found["network"]) - np.array(found["model"])).max() > 0.1


def test_a_network_with_memory_is_plotted_too():
    net = case("np-rec-10").network()
    found = parity(net, neat_onnx.export(net, dtype="float64"))
    assert len(found["network"]) == min(2000, found["total"])
    assert found["band"] < 1e-12
