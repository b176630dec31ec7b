"""Two genomes compared: every gene that was added, has gone or was changed is named."""

import warnings

import numpy as np
import pytest
from support.examples.cases import cases

import neat_onnx
from neat_onnx.network.summary import difference

NEURONS = [
    {"id": 3, "activation": "tanh", "bias": 0.5},
    {"id": 7, "activation": "sigmoid", "bias": -1.0},
]
CONNECTIONS = [(0, 3, 0.1), (1, 3, 0.2), (3, 7, 0.3), (0, 7, 0.4)]


def built(neurons=NEURONS, connections=CONNECTIONS):
    return neat_onnx.Network.build(inputs=2, outputs=[7], neurons=neurons, connections=connections)


def test_a_network_does_not_differ_from_itself():
    assert difference(built(), built()).is_empty
    for case in cases("np-rec", "nts-net-gate", "nts-net-edge"):
        assert difference(case.network(), case.network()).is_empty, case.name


def test_every_kind_of_change_is_named():
    neurons = [NEURONS[0] | {"bias": 0.75}, NEURONS[1], {"id": 9, "activation": "relu"}]
    connections = [(0, 3, 0.1), (1, 3, 0.25), (3, 9, 1.0), (9, 7, 1.0), (0, 7, 0.4)]
    found = difference(built(), built(neurons, connections))
    assert found.neurons_added == [9]
    assert sorted(found.connections_added) == ["3 → 9", "9 → 7"]
    assert found.connections_gone == ["3 → 7"]
    (weight,) = found.weights
    assert (weight.gene, weight.before, weight.after) == ("1 → 3", 0.2, 0.25)
    (bias,) = found.others
    assert (bias.gene, bias.field, bias.before, bias.after) == ("neuron 3", "bias", 0.5, 0.75)
    back = difference(built(neurons, connections), built())
    assert (back.neurons_gone, sorted(back.connections_gone)) == ([9], ["3 → 9", "9 → 7"])
    assert not back.is_empty


def test_genes_that_only_stopped_computing_are_disabled():
    document = built().to_document().model_dump()
    document["connections"][2]["enabled"] = False
    found = difference(built(), neat_onnx.Network.from_document(document))
    assert found.disabled == ["3 → 7"]
    assert difference(neat_onnx.Network.from_document(document), built()).enabled == ["3 → 7"]
    assert not found.weights and not found.connections_gone


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_binary_model_differs_by_rounding_at_most(dtype):
    net = neat_onnx.Network.mlp([3, 5, 2], activation="tanh", seed=0)
    back = neat_onnx.import_model(
        neat_onnx.load_model(neat_onnx.export(net, dtype=dtype).to_bytes())
    )
    found = difference(net, back)
    assert found.rounded == len(found.weights) == (25 if dtype == "float32" else 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert all(np.float32(each.before) == each.after for each in found.others)
