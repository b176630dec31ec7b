"""Layers that are an RNN, a GRU or an LSTM become one node, and nothing else does."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.examples.graphs import operators
from support.examples.rnn_cells import BUILDERS, INPUTS, NODES, UNITS, sequences
from support.harness.sessions import open_session
from support.harness.sweep import count

from neat_onnx import Model, export, import_model, validate
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network


def in_onnxruntime(model: Model, x: Floats) -> Floats:
    session = open_session(model)
    (output,) = session.run(["output"], {"input": x.astype(np.float32)})
    return np.asarray(output, np.float64)


def assert_computes(model: Model, net: Network) -> None:
    x = sequences(inputs=len(net.input_neurons))
    assert validate(model) == []
    np.testing.assert_allclose(in_onnxruntime(model, x), net.run(x), rtol=0.0, atol=2e-6)


# --- as one node ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_cell_is_one_node(kind: str):
    net = BUILDERS[kind](INPUTS, UNITS)
    model = export(net, sequence=True)
    assert operators(model) == [NODES[kind], "Squeeze"]
    assert len(model.graph.initializer) == 4  # W, R, B and an axis
    assert_computes(model, net)


@pytest.mark.parametrize("outputs", [None, 1, 2])
@pytest.mark.parametrize("kind", BUILDERS)
def test_there_and_back_again_is_byte_identical(kind: str, outputs: int | None):
    net = BUILDERS[kind](INPUTS, UNITS, outputs)
    first = export(net, sequence=True, fused_recurrent=True)
    back = import_model(first)
    assert back == net
    assert export(back, sequence=True, fused_recurrent=True).to_json() == first.to_json()
    rounded = import_model(first.to_bytes())
    assert export(rounded, sequence=True, fused_recurrent=True).to_bytes() == first.to_bytes()
    stripped = import_model(first.model_copy(update={"metadata_props": []}), check=False)
    np.testing.assert_array_equal(stripped.run(sequences()), net.run(sequences()))


@pytest.mark.parametrize("opset", [13, 14, 18, 22, 26])
@pytest.mark.parametrize("kind", BUILDERS)
def test_a_readout_computes_all_steps_at_once_in_every_opset(kind: str, opset: int):
    net = BUILDERS[kind](INPUTS, UNITS, 2)
    model = export(net, sequence=True, opset=opset)
    assert {NODES[kind], "Scan"} & {*operators(model)} == {NODES[kind]}
    assert operators(model).count("Gemm") == 1
    assert_computes(model, net)


@pytest.mark.parametrize("options", [{"fused_recurrent": False}, {"dtype": "float64"}])
@pytest.mark.parametrize("kind", BUILDERS)
def test_it_can_be_a_scan(kind: str, options: dict[str, Any]):
    net = BUILDERS[kind](INPUTS, UNITS, 2)
    model = export(net, sequence=True, **options)
    assert "Scan" in operators(model)
    assert import_model(model) == net


Document = dict[str, Any]


def changed(net: Network, change: Callable[[Document], None]) -> Network:
    document = net.to_document().model_dump()
    change(document)
    return Network.from_document(document)


@pytest.mark.parametrize("kind", BUILDERS)
def test_whatever_made_it(kind: str):
    """Ids, names, the order of genes, disabled genes and a pruned weight do not matter."""
    random = np.random.default_rng(4)

    def shuffle(document: Document) -> None:
        new = random.permutation(99).tolist()
        for gene in document["neurons"]:
            gene |= {"id": new[gene["id"]], "name": f"n{gene['id']}"}
        for port in document["inputs"] + document["outputs"]:
            port["neurons"] = [new[neuron] for neuron in port["neurons"]]
        edges = document["connections"]
        for edge in edges:
            gater = None if edge["gater"] is None else new[edge["gater"]]
            edge |= {"source": new[edge["source"]], "target": new[edge["target"]], "gater": gater}
        del edges[0]
        edges[4]["enabled"] = False
        for genes in (document["neurons"], edges, document["outputs"][0]["neurons"]):
            random.shuffle(genes)

    net = changed(BUILDERS[kind](INPUTS, UNITS), shuffle)
    model = export(net, sequence=True)
    assert operators(model) == [NODES[kind], "Squeeze"]
    assert_computes(model, net)
    back = import_model(model)
    assert back == net
    assert export(back, sequence=True).to_json() == model.to_json()


def _last_gated(document: Document) -> Document:
    return [edge for edge in document["connections"] if edge["gater"] is not None][-1]


def _gene(document: Document, key: str, value: Any) -> Document:
    return next(gene for gene in document["neurons"] if gene[key] == value)


CHANGES: dict[str, Callable[[Document], None]] = {
    "weight": lambda net: _last_gated(net).update(weight=0.9),
    "gate delay": lambda net: _last_gated(net).update(gate_delay=1),
    "late input": lambda net: net["connections"][0].update(delay=1),
    "longer memory": lambda net: next(
        edge for edge in net["connections"] if edge["delay"] == 1
    ).update(delay=2),
    "initial value": lambda net: _gene(net, "id", net["outputs"][0]["neurons"][0]).update(
        initial=0.5
    ),
    "activation": lambda net: _gene(net, "activation", "tanh").update(activation="softsign"),
    "response": lambda net: _gene(net, "activation", "tanh").update(response=0.5),
    "inner output": lambda net: net["outputs"][0]["neurons"].__setitem__(0, INPUTS),
}


@pytest.mark.parametrize("kind", BUILDERS)
def test_a_cell_without_biases_comes_back(kind: str):
    whole = BUILDERS[kind](INPUTS, UNITS)
    net = whole.with_parameters(bias=np.zeros(len(whole)))
    assert import_model(export(net, sequence=True)) == net


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", BUILDERS)
def test_what_is_nearly_a_cell_stays_what_it_is(kind: str, change: str):
    if kind == "rnn" and change in ("weight", "gate delay", "inner output"):
        pytest.skip("an RNN has no gates and hides nothing")
    net = changed(BUILDERS[kind](INPUTS, UNITS), CHANGES[change])
    model = export(net, sequence=True)
    assert "Scan" in operators(model)
    assert import_model(model) == net
    assert_computes(model, net)


GENE_CHANGES: list[Document] = [
    {"bias": 0.3}, {"initial": 0.25}, {"aggregation": "mean"},
    *({"activation": name} for name in ("tanh", "sigmoid", "identity")),
]  # fmt: skip
EDGE_CHANGES: list[Document] = [
    {"weight": 1.0}, {"delay": 1}, {"delay": 2}, {"enabled": False}, {"gater": None},
    {"gater": 3, "gate_delay": 1}, {"delay": 1, "reads_state": True},
]  # fmt: skip


def mutate(document: Document, random: np.random.Generator) -> None:
    """Change a neuron or a connection, add a connection, or let another neuron be an output."""
    gene = random.choice(document["neurons"][2:])
    edges = document["connections"]
    edge = random.choice(edges)
    match int(random.integers(5)):
        case 0:
            gene |= random.choice(GENE_CHANGES)
        case 1 | 2:
            edge |= random.choice(EDGE_CHANGES)
        case 3:
            edges.append({**edge, "source": gene["id"], "delay": 1})
        case _:
            document["outputs"][0]["neurons"][0] = gene["id"]


@pytest.mark.parametrize("seed", range(count(20, 100)))
def test_a_mutated_cell_is_exported_as_what_it_is(seed: int):
    """Whatever a mutation makes of a cell: as nodes or as a Scan, it is the same function."""
    random = np.random.default_rng(seed)
    net = BUILDERS[sorted(BUILDERS)[seed % 4]](2, 3, (None, 2)[seed // 4 % 2], seed=seed)
    mutant = changed(net, lambda document: mutate(document, random))
    model = export(mutant, sequence=True)
    assert import_model(model) == mutant
    assert_computes(model, mutant)


# --- among other neurons --------------------------------------------------------------------------


def stacked(first: Network, second: Network) -> Network:
    """The second cell reads the outputs of the first, and an output reads all of it."""
    assert len(first.output_neurons) == len(second.input_neurons)
    document, other = first.to_document(), second.to_document()
    shift = len(first)
    ends = dict(zip(second.input_neurons.tolist(), first.output_neurons.tolist(), strict=True))

    def moved(neuron: int | None) -> int | None:
        return None if neuron is None else ends.get(neuron, neuron + shift)

    neurons = [gene for gene in other.neurons if gene.id not in ends]
    genes = [gene.model_copy(update={"id": moved(gene.id)}) for gene in neurons]
    edges = [
        edge.model_copy(
            update={name: moved(getattr(edge, name)) for name in ("source", "target", "gater")}
        )
        for edge in other.connections
    ]
    last = shift + len(second)
    readers = [*range(len(first.input_neurons)), *first.output_neurons.tolist()]
    readers += [moved(neuron) for neuron in second.output_neurons.tolist()]
    whole = document.model_dump()
    whole["neurons"] += [gene.model_dump() for gene in genes] + [{"id": last}]
    whole["connections"] += [edge.model_dump() for edge in edges]
    whole["connections"] += [
        {"source": source, "target": last, "weight": 0.25 - 0.01 * k}
        for k, source in enumerate(readers)
    ]
    whole["outputs"] = [{"name": "output", "shape": [1], "neurons": [last]}]
    return Network.from_document(whole)


@pytest.mark.parametrize(
    ("first", "second"), [("lstm", "lstm"), ("gru", "lstm"), ("rnn", "gru_linear"), ("rnn", "rnn")]
)
@pytest.mark.parametrize("between", [None, 2])
def test_cells_one_after_the_other(first: str, second: str, between: int | None):
    """With a dense layer between them or not, and connections that skip them."""
    size = UNITS if between is None else between
    net = stacked(BUILDERS[first](INPUTS, UNITS, between), BUILDERS[second](size, 4, seed=9))
    model = export(net, sequence=True)
    assert [op for op in operators(model) if op in NODES.values()] == [NODES[first], NODES[second]]
    assert "Scan" not in operators(model)
    assert_computes(model, net)
    back = import_model(model)
    assert back == net
    assert export(back, sequence=True).to_json() == model.to_json()


def test_memory_elsewhere_keeps_the_scan():
    """A second cell that the first one reads a step later: two nodes cannot wait for each other."""
    net = stacked(Network.lstm(INPUTS, UNITS), Network.lstm(UNITS, 4))
    document = net.to_document().model_dump()
    first_gate, last_hidden = INPUTS, len(net) - 2
    document["connections"].append(
        {
            "source": int(net.neurons.id[last_hidden]),
            "target": int(net.neurons.id[first_gate]),
            "weight": 0.5,
            "delay": 1,
        }
    )
    feedback = Network.from_document(document)
    model = export(feedback, sequence=True)
    assert "Scan" in operators(model)
    assert_computes(model, feedback)


@pytest.mark.parametrize("pruned", [False, True])
def test_no_zero_weight_meets_an_infinity(pruned: bool):
    """A cube overflows; the cell reads it with all of its gates, or one of them does not."""
    document = Network.lstm(INPUTS, UNITS).to_document().model_dump()
    document["neurons"].append({"id": 99, "activation": "cube"})
    edges = document["connections"]
    for edge in edges:
        edge["source"] = 99 if edge["source"] == 0 else edge["source"]
    if pruned:
        edges.remove(next(edge for edge in edges if edge["source"] == 99))
    edges.append({"source": 0, "target": 99, "weight": 1.0})
    net = Network.from_document(document)
    model = export(net, sequence=True)
    assert ("Scan" in operators(model)) == pruned
    assert_computes(model, net)
