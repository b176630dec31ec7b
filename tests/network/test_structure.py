"""The arrays of a network: read-only, copied from the caller's, and the same in copies."""

import copy
import pickle

import numpy as np
import pytest

from neat_onnx import Network, NetworkError
from neat_onnx.network.genes import Connections, Neurons
from neat_onnx.network.port import Port
from neat_onnx.network.structure import Structure


def parts(source=(0, 1, 0), target=(2, 2, 3), weight=(0.5, -1.0, 2.0), bias=0.0):
    neurons, activations, aggregations = Neurons.of(
        np.arange(4), ["identity", "identity", "tanh", "relu"], bias=bias
    )
    return {
        "inputs": (Port("x", (2,), np.array([0, 1])),),
        "outputs": (Port("y", (2,), np.array([2, 3])),),
        "neurons": neurons,
        "connections": Connections.of(source, target, weight),
        "activations": activations,
        "aggregations": aggregations,
    }


def arrays_of(net):
    """Every array that a network holds or computes, by name."""
    found = {}
    for part in (net.neurons, net.connections, net.live, *net.inputs, *net.outputs):
        found |= {(id(part), name): value for name, value in vars(part).items()}
    for name in ("is_input", "input_neurons", "output_neurons"):
        found[name] = getattr(net, name)
    found |= {name: getattr(net, name) for name in ("activation_names", "aggregation_names")}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize(
    "again",
    [
        lambda net: net,
        copy.copy,
        copy.deepcopy,
        lambda net: pickle.loads(pickle.dumps(net)),
        Network.of,
    ],
    ids=["itself", "copy", "deepcopy", "pickle", "of"],
)
def test_nobody_can_write_to_a_network(again):
    made = Network(**parts())
    before = made.activate([0.3, -0.4])
    net = again(made)
    assert type(net) is Network
    assert net == made
    for name, array in arrays_of(net).items():
        assert not array.flags.writeable, name
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array
    np.testing.assert_array_equal(net.activate([0.3, -0.4]), before)


def test_the_callers_arrays_stay_the_callers():
    mine = {
        "source": np.array([0, 1, 0]),
        "target": np.array([2, 2, 3]),
        "weight": np.array([0.5, -1.0, 2.0]),
        "bias": np.array([0.0, 0.0, 0.25, 0.5]),
    }
    net = Network(**parts(**mine))
    wanted = net.activate([1.0, 2.0])
    kept = net.to_json()
    for array in mine.values():
        array[...] = 1
    assert net.to_json() == kept
    np.testing.assert_array_equal(net.activate([1.0, 2.0]), wanted)


def test_a_read_only_view_of_the_callers_array_is_copied():
    weight = np.array([0.5, -1.0, 2.0])
    view = weight[:]
    view.setflags(write=False)
    net = Network(**parts(weight=view))
    weight[:] = 7.0
    assert net.connections.weight.tolist() == [0.5, -1.0, 2.0]


def test_a_network_is_a_structure_with_verbs():
    structure = Structure(**parts())
    net = Network.of(structure)
    assert isinstance(net, Structure)
    assert net.connections is structure.connections
    assert net == structure
    assert repr(net).startswith("<Network of 4 neurons and 3 connections, 2 inputs, 2 outputs")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": [0.5, 1, 0]}, "source is an array of float64, expected int64"),
        ({"source": ["a", "b", "c"]}, "source is an array"),
        ({"weight": [1.0, 2.0]}, r"weight has the shape \[2\], expected \[3\] \(connections\)"),
        ({"weight": [1j, 2.0, 3.0]}, "weight is an array of complex128"),
        ({"target": [2, 2, 1]}, r"it ends in neuron 1, an input \(connections"),
    ],
)
def test_arrays_that_are_no_genes_are_refused(change, message):
    with pytest.raises(NetworkError, match=message) as caught:
        Network(**parts(**change))
    assert "\n" not in str(caught.value)
