"""Genomes whose neurons import would make several of, or none: in ports, and by tiny numbers."""

import pytest

from neat_onnx import NeatOnnxWarning, Network, export, import_model

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
    model = export(net, dtype="float64", sequence=sequence)
    if (formula, name) == ("0.5 / z", "in two") and memory and sequence:
        with pytest.warns(NeatOnnxWarning, match="changed after the export"):
            import_model(model.to_json())
    else:
        assert import_model(model.to_bytes()) == net


@pytest.mark.parametrize("aggregation", ["max", "product"])
def test_a_weight_that_float32_has_no_number_for_is_zero_in_an_aggregation(aggregation):
    neurons = [{"id": 7, "aggregation": aggregation}]
    connections = [(0, 7, 1e-46), (1, 7, 1.0)]
    net = Network.build(inputs=2, outputs=[7], neurons=neurons, connections=connections)
    back = import_model(export(net).to_bytes())
    assert back.neurons.id.tolist() == net.neurons.id.tolist()
    assert back.connections.weight.tolist() == [0.0, 1.0]


GENOMES = {
    "a slope with a response and without": (
        [{"activation": "neat_tanh", "response": each} for each in (1.0, 0.25)],
        [(0, 4, 0.5), (1, 5, 0.5), (4, 3, 1.5), (5, 3, 2.5)],
    ),
    "a gater of its own": ([], [{"source": 2, "target": 3, "weight": 0.5, "gater": 2}]),
    "a connection of no weight reads a state": (
        [{"activation": "complement", "bias": 0.5}],
        [(0, 4, 2.0), (4, 3, 0.5), {"source": 4, "target": 3, "weight": 0.0, "reads_state": True}],
    ),
    "a neuron that nothing needs reads a state": (
        [{"activation": "complement"}, {}],
        [(4, 3, 1.0), {"source": 4, "target": 5, "weight": 1.0, "reads_state": True}, (5, 3, 0.0)],
    ),
    "a response undoes a slope": (
        [{"activation": "complement", "response": -1.0}], [(0, 4, 1.0), (4, 3, 1.0)]
    ),
    "a formula is written for numbers far from zero": (
        [{"activation": "cube"}, {"activation": "formula: z * sigmoid(1.75 * z)"}],
        [(0, 4, 1.0), (4, 5, 1.0), (5, 3, 1.0)],
    ),
    "two neurons are one product": (
        [{}] * 11,
        [*((0, 4 + at, 1.0) for at in range(6)), *((10 + at, 3, 0.5) for at in range(5))]
        + [{"source": 4 + of, "target": 10 + at, "weight": 1.0, "gater": 4 + by}
           for at, (of, by) in enumerate([(4, 2), (3, 5), (0, 0), (2, 4), (4, 2)])],
    ),
    "a formula is far larger as float64 writes it": (
        [{"activation": "formula: atan(atan(z))"}], [(0, 4, 1.0), (4, 3, 1.0)]
    ),
    "a mean and a sum have a weight that float32 has no number for": (
        [{"aggregation": "mean"}], [(0, 4, 1e-46), (1, 4, 1.0), (0, 3, 1e-46), (4, 3, 1.0)]
    ),
    "few of its neurons compute": (
        [{}] * 20, [(0, 23, 0.5), (23, 4, 0.5), (4, 5, 0.5), (5, 3, 0.5)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"fold": True}])
@pytest.mark.parametrize("name", GENOMES)
def test_a_genome_comes_back_where(name, options):
    hidden, connections = GENOMES[name]
    neurons = [{"id": 2, "activation": "tanh"}, {"id": 3}]
    neurons += [{"id": 4 + at, **gene} for at, gene in enumerate(hidden)]
    net = Network.build(inputs=2, outputs=[2, 3], neurons=neurons, connections=connections)
    assert import_model(export(net, **options).to_bytes()) == net
