"""Which neurons may overflow although what they read is moderate."""

import numpy as np
import pytest

from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule


def wild(neurons, connections):
    net = Network.build(
        inputs=1, outputs=[neurons[-1]["id"]], neurons=neurons, connections=connections
    )
    return net.neurons.id[overflowing(net, schedule(net))].tolist()


CHAIN = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)]


@pytest.mark.parametrize("activation", ["cube", "square", "neat_exp", "neat_inv"])
def test_what_grows_fast_is_wild_up_to_where_it_is_bounded(activation):
    names = [activation, "relu", "tanh", "identity"]
    neurons = [{"id": k + 1, "activation": name} for k, name in enumerate(names)]
    assert wild(neurons, CHAIN) == [1, 2]


def test_a_tame_network_is_not():
    assert wild([{"id": k, "activation": "softplus"} for k in range(1, 5)], CHAIN) == []


def test_a_product_of_unbounded_values_is_wild_and_of_inputs_it_is_not():
    neurons = [{"id": 1}, {"id": 2, "aggregation": "product"}, {"id": 3, "aggregation": "product"}]
    twice = [(0, 1, 1.0), (1, 2, 1.0), (1, 2, 2.0), (0, 3, 1.0), (0, 3, 1.0)]
    assert wild(neurons, twice) == [2]


def test_a_gated_connection_is_a_product():
    gated = {"source": 1, "target": 2, "weight": 1.0, "gater": 1}
    assert wild([{"id": 1}, {"id": 2}], [(0, 1, 1.0), gated]) == [2]
    bounded = [{"id": 1, "activation": "tanh"}, {"id": 2}]
    assert wild(bounded, [(0, 1, 1.0), gated]) == []


def test_a_maximum_is_no_product():
    neurons = [{"id": 1}, {"id": 2, "aggregation": "max"}]
    assert wild(neurons, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]) == []


def test_what_it_is_for():
    """An overflowing neighbour does not reach over the weight 0 of a missing connection."""
    net = Network.build(
        inputs=2,
        outputs=[4, 5],
        neurons=[{"id": 2, "activation": "cube"}, {"id": 3, "activation": "cube"}, 4, 5],
        connections=[(0, 2, 1.0), (1, 3, 1.0), (2, 4, 1.0), (3, 5, 1.0)],
    )
    np.testing.assert_array_equal(net.activate([1e200, 2.0]), [np.inf, 8.0])
