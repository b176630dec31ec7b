"""Genomes whose neurons import would make several of, or none: in ports, and by tiny numbers."""

import warnings

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


@pytest.mark.parametrize("sequence", [False, True])
@pytest.mark.parametrize("memory", [0, 1, 3])
@pytest.mark.parametrize("name", PORTS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_genome_comes_back_whatever_its_ports_list(formula, name, memory, sequence):
    net = network(formula, PORTS[name], memory)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = export(net, dtype="float64", sequence=sequence)
        assert import_model(model.to_json()) == net


@pytest.mark.parametrize("aggregation", ["mean", "sum"])
def test_a_weight_that_float32_has_no_number_for_stays_a_gene(aggregation):
    neurons = [{"id": 2, "aggregation": aggregation}]
    connections = [(0, 2, 1e-46), (1, 2, 1.0)]
    net = Network.build(inputs=2, outputs=[2], neurons=neurons, connections=connections)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_model(load_model(export(net).to_bytes())) == net
