"""Blocks that a network carries, in company: what stands beside them, and what they are made of."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from chains import Building
from support.examples.graphs import graph, node, operators
from support.harness.routes import ROUTES, Trip

from neat_onnx import NeatOnnxWarning, Network, export, import_model
from neat_onnx.network.genes import Ints
from neat_onnx.network.port import Port
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.window import Window


def built(building: Building, inputs: Ints, outputs: Ints, sparse: bool = False) -> Network:
    return building.network(
        Port("input", inputs.shape, inputs.ravel()),
        Port("output", (outputs.size,), outputs.ravel()),
        blocks=True,
        order=np.arange(len(building.activation)),
        sparse=sparse,
    )


def take_all_routes(net: Network, **options: Any) -> None:
    trip = Trip(net, options)
    for route in ROUTES:
        route(trip)


def test_a_port_that_nothing_reads_stands_beside_a_convolution():
    building = Building(np.random.default_rng(0))
    inputs, spare = building.neurons((1, 3, 3)), building.neurons((2,))
    net = built(building, inputs, building.slide("Conv", inputs, (1, 2, 2), Window((2, 2)), "tanh"))
    net = replace(net, inputs=(*net.inputs, Port("spare", (2,), spare)))
    assert "Conv" in operators(export(net))
    take_all_routes(net)


def test_without_a_batch_all_samples_have_one_convolution():
    weights = np.random.default_rng(0).normal(size=(2, 1, 2, 2))
    nodes = [
        node("Conv", "x w", "conv"),
        node("Relu", "conv", "relu"),
        node("MaxPool", "relu", "y", kernel_shape=[2, 2]),
    ]
    net = import_model(graph(nodes, x=(2, 1, 4, 4), w=weights), batch_axis=None)
    assert net.inputs[0].shape == (2, 1, 4, 4)
    model = export(net)
    assert operators(model).count("Conv") == operators(model).count("MaxPool") == 1
    take_all_routes(net, batch_dimension="N")
    assert export(import_model(model.to_json())).to_json() == model.to_json()


def test_blocks_that_wait_for_each_other_are_not_both_used():
    """Neuron by neuron there is an order: 2 and 4, then 3 and 5."""
    neurons = [2, 3, 4, 5]
    connections = [(0, 2, 1.5), (4, 3, 1.5), (1, 4, 0.5), (2, 5, 0.5)]
    net = Network.build(inputs=2, outputs=[3, 5], neurons=neurons, connections=connections)
    blocks = [
        SpatialBlock("Conv", np.array([sources]), np.array([neurons]), Window((1,)))
        for sources, neurons in (([0, 4], [2, 3]), ([1, 2], [4, 5]))
    ]
    net = replace(net, blocks=tuple(blocks))
    with pytest.warns(NeatOnnxWarning, match="one of its neurons depends on another"):
        assert operators(export(net)).count("Conv") == 1
        take_all_routes(net)


@pytest.mark.parametrize("missing", [False, True])
def test_no_weight_of_zero_is_put_on_what_may_overflow(missing: bool):
    """A kernel of zeros is right if the connections are there, not if they are missing."""
    building = Building(np.random.default_rng(0))
    inputs = building.neurons((1, 3, 3))
    cubes = building.slide("Conv", inputs, (1, 3, 3), Window((1, 1)), "cube")
    last = building.slide("Conv", cubes, (1, 2, 2), Window((2, 2)), "identity")
    source, target, weight = building.links[-1]
    building.links[-1] = (source, target, np.where(weight == weight[0], 0.0, weight))
    net = built(building, inputs, last, sparse=missing)
    if not missing:
        assert operators(export(net)).count("Conv") == 2
        return
    with pytest.warns(NeatOnnxWarning, match="does not read a neuron of its window that may over"):
        assert operators(export(net)).count("Conv") == 1
