"""Genomes whose neurons import would make several of, or none: in ports, and by tiny numbers."""

import warnings

import numpy as np
import pytest

from neat_onnx import Network, export, import_model, load_model

FORMULAS = ["tanh(z) * 1.5", "z + 3.0", "0.5 / z", "tanh(z) * -1.5", "sin(z * 2 + 1)"]
PORTS = {
    "twice in one": [[1, 1]],
    "of one layer": [[1], [2]],
    "in two": [[1, 2], [2]],
    "one of all": [[2, 1]],
}


def network(formula, ports, memory):
    loops = [{"source": each, "target": each, "weight": 0.5, "delay": memory} for each in (1, 2)]
    edges = [{"source": 0, "target": each, "weight": 0.5 + each} for each in (1, 2)]
    return Network.from_document({
        "inputs": [{"name": "x", "shape": [1], "neurons": [0]}],
        "outputs": [
            {"name": f"o{at}", "shape": [len(ids)], "neurons": ids} for at, ids in enumerate(ports)
        ],
        "neurons": [
            {"id": 0},
            *({"id": at, "activation": f"formula: {formula}", "bias": at / 8} for at in (1, 2)),
        ],
        "connections": edges + (loops if memory else []),
    })  # fmt: skip


STEPS = ("tanh", "0.5 / z")  # formulas that are several nodes


@pytest.mark.parametrize("sequence", [False, True])
@pytest.mark.parametrize("memory", [0, 1, 3])
@pytest.mark.parametrize("name", PORTS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_genome_comes_back_whatever_its_ports_list(formula, name, memory, sequence):
    net = network(formula, PORTS[name], memory)
    model = export(net, dtype="float64", sequence=sequence)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        back = import_model(model.to_json())
    if caught:  # one of the steps is read by several neurons
        assert formula.startswith(STEPS) and (memory or name == "in two")
        assert "changed after the export" in str(caught[0].message)
        x = np.linspace(-2.0, 2.0, 12).reshape(6, 2, 1)
        ours, theirs = net.run({"x": x}), back.run({"x": x})
        for port in ours:
            np.testing.assert_allclose(theirs[port], ours[port], rtol=1e-12)
    else:
        assert back == net


@pytest.mark.parametrize("aggregation", ["mean", "sum"])
def test_a_weight_that_float32_has_no_number_for_stays_a_gene(aggregation):
    neurons = [{"id": 2, "aggregation": aggregation}]
    connections = [(0, 2, 1e-46), (1, 2, 1.0)]
    net = Network.build(inputs=2, outputs=[2], neurons=neurons, connections=connections)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_model(load_model(export(net).to_bytes())) == net


@pytest.mark.parametrize("aggregation", ["max", "product"])
def test_a_weight_that_float32_has_no_number_for_is_zero_in_an_aggregation(aggregation):
    neurons = [{"id": 7, "aggregation": aggregation}]
    connections = [(0, 7, 1e-46), (1, 7, 1.0)]
    net = Network.build(inputs=2, outputs=[7], neurons=neurons, connections=connections)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = import_model(load_model(export(net).to_bytes()))
    assert back.neurons.id.tolist() == net.neurons.id.tolist()
    assert back.connections.weight.tolist() == [0.0, 1.0]
