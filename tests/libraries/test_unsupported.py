"""The refusal of a network that a library cannot compute: every reason, with its neurons."""

import pytest

from neat_onnx import Network, NetworkError, libraries

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")

ODD = Network.build(
    inputs=2,
    outputs=[2, 3],
    neurons=[
        {"id": 2, "activation": "gelu", "response": 2.0, "bias": 0.5},
        {"id": 3, "activation": "cube", "aggregation": "median"},
        {"id": 4, "aggregation": "product", "initial": 1.0},
    ],
    connections=[
        *((0, 2, 1.0), (1, 3, 1.0), (0, 3, 1.0), (2, 3, 1.0), (4, 2, 1.0)),
        {"source": 4, "target": 3, "weight": 1.0, "delay": 2},
        {"source": 0, "target": 4, "weight": 1.0, "gater": 3, "gate_delay": 1},
    ],
)
COMMON = ("gelu (neuron 2", "cube (neuron 3", "aggregation median (neuron 3", "a delay (neuron 3")
GATED = (*COMMON, "a gated connection (neuron 4")
REASONS = {
    "sharpneat": (*GATED, "a response (neuron 2", "another activation than gelu"),
    "neat-python": ("gelu (neuron 2", "a delay of more than 1 (neuron 3", "a gate (neuron 4"),
    "neataptic-ts": ("cube (neuron 3", "median (neuron 3", "an initial value (neuron 4"),
    "neataptic": ("gelu (neuron 2", "median (neuron 3", "an initial value (neuron 4"),
    "carrot": ("gelu (neuron 2", "median (neuron 3", "an initial value (neuron 4"),
    "synaptic": ("gelu (neuron 2", "cube (neuron 3", "median (neuron 3"),
    "brain.js": (*GATED, "a response (neuron 2", "skips layers (neuron 2"),
}


def test_every_library_that_is_written_is_asked():
    assert {one.name for one in libraries() if one.writes} - {"neat-onnx"} == set(REASONS)


@pytest.mark.parametrize("library", REASONS)
def test_every_reason_is_in_the_one_error(library):
    with pytest.raises(NetworkError, match="cannot hold this network") as refused:
        ODD.to_library(library)
    for reason in REASONS[library]:
        assert reason in str(refused.value), reason


def test_one_reason_names_its_neuron():
    net = Network.mlp([2, 3, 1], activation="mish")
    with pytest.raises(NetworkError) as caught:
        net.to_library("neataptic")
    where = ", ".join(f"neuron {neuron}" for neuron in range(2, 6))
    assert str(caught.value) == f"neataptic cannot hold the activation mish ({where})"
    assert caught.value.where == where


def test_a_product_of_nothing_is_not_taken_for_an_empty_sum():
    neurons = [{"id": 1}, {"id": 2, "aggregation": "product"}]
    connections = [(0, 1, 1.0), (2, 1, 1.0)]
    net = Network.build(inputs=1, outputs=[1], neurons=neurons, connections=connections)
    with pytest.raises(NetworkError, match="product"):
        net.to_library("sharpneat")


@pytest.mark.parametrize("library", ["brain.js", "sharpneat"])
def test_libraries_of_one_activation_refuse_several(library):
    neurons = [{"id": 1, "activation": "tanh"}, {"id": 2, "activation": "sigmoid"}]
    edges = [(0, 1, 1.0), (1, 2, 1.0)]
    net = Network.build(inputs=1, outputs=[2], neurons=neurons, connections=edges)
    with pytest.raises(NetworkError, match=r"another activation than sigmoid.*\(neuron 1"):
        net.to_library(library)
