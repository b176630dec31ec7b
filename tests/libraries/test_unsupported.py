"""The refusal of a network that a library cannot compute."""

from pathlib import Path

import pytest

from neat_onnx import Network, NetworkError, load_network

SAMPLE = Path(__file__).parents[2] / "web" / "samples" / "neat-python.json"


def test_every_reason_is_in_the_one_error():
    net = load_network(SAMPLE)
    with pytest.raises(NetworkError, match="neataptic cannot hold this network") as caught:
        net.to_library("neataptic")
    activations, aggregations = set(net.activations), set(net.aggregations)
    unknown = {name for name in activations if name.startswith("neat_")} | {"elu", "cube"}
    for name in sorted(unknown & activations - {"neat_sigmoid", "neat_tanh"}):
        assert f"the activation {name} (neuron" in str(caught.value)
    for name in sorted(aggregations - {"sum", "mean"}):
        assert f"the aggregation {name} (neuron" in str(caught.value)
    assert len(caught.value.obstacles) > 10


def test_one_reason_names_its_neuron():
    net = Network.mlp([2, 3, 1], activation="mish")
    with pytest.raises(NetworkError) as caught:
        net.to_library("neataptic")
    where = ", ".join(f"neuron {neuron}" for neuron in range(2, 6))
    assert str(caught.value) == f"neataptic cannot hold the activation mish ({where})"
    assert caught.value.where == where
