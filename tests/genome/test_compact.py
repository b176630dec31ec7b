"""The genome document of version 2: written where it saves a kilobyte, read as the other one is."""

import json

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node

from neat_onnx import Model, NeatOnnxWarning, Network, export, import_model
from neat_onnx.genome import CHECKSUM, checksum
from neat_onnx.genome.compact import each_neuron, neurons_alike, others_of
from neat_onnx.model import MetadataEntry
from neat_onnx.network.genes import Connections

GENOME = "neat_onnx.genome"


def genome(hidden: int = 60, seed: int = 0, *, parallel: bool = False, unread: int = 20) -> Network:
    """Random connections, of which every seventh is disabled; and neurons that nothing reads."""
    random = np.random.default_rng(seed)
    neurons = [
        {"id": 100 + k, "activation": "tanh", "bias": k / 64, "name": "x" if k == 3 else ""}
        for k in range(hidden)
    ]
    neurons += [{"id": 900 + k, "activation": "sin", "response": 2.0} for k in range(unread)]
    links = []
    for k in range(hidden):
        before = [0, 1, 2, *range(100, 100 + k)]
        chosen = random.choice(before, min(5, len(before)), replace=False)
        for source in sorted(chosen.tolist()):
            links.append({"source": source, "target": 100 + k, "weight": k / 32 + 0.5})
    for number, link in enumerate(links):
        link["enabled"] = number % 7 != 3
    if parallel:
        links += [dict(links[0]), dict(links[10], weight=0.25)]
    if unread:
        links.append({"source": 900, "target": 901, "weight": 0.0})
    return Network.build(
        inputs=3, outputs=[100 + hidden - 1, 100], neurons=neurons, connections=links
    )


def document_of(model: Model) -> dict:
    return json.loads(model.metadata[GENOME])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_large_genome_is_the_same_again(seed: int, parallel: bool, dtype: str):
    net = genome(seed=seed, parallel=parallel)
    model = export(net, dtype=dtype)
    document = document_of(model)
    assert document["version"] == 2
    assert "connections" not in document
    assert any("ids" in entry for entry in document["neurons"])
    assert import_model(model.to_bytes()) == net
    assert import_model(model.to_json()) == net


def test_a_small_genome_is_of_the_first_version():
    document = document_of(export(genome(hidden=6, unread=2)))
    assert "version" not in document
    assert "added" not in document


def in_order(net: Network, order: np.ndarray) -> Network:
    whole = json.loads(net.to_json())
    return Network.from_document(
        whole | {"connections": [whole["connections"][k] for k in order.tolist()]}
    )


def test_connections_in_another_order_are_listed():
    net = genome()
    moved = in_order(net, np.arange(len(net.connections))[::-1])
    document = document_of(export(moved))
    assert len(document["connections"]) == len(moved.connections)
    assert import_model(export(moved, dtype="float64").to_bytes()) == moved


def test_connections_behind_their_order_are_listed_alone():
    """As evolution adds them: behind all that there were."""
    net = genome()
    order = np.arange(len(net.connections))
    moved = in_order(net, np.append(np.delete(order, [4, 7, 30]), [7, 30, 4]))
    document = document_of(export(moved))
    assert "connections" not in document and len(document["moved"]) == 2  # one is disabled
    assert import_model(export(moved, dtype="float64").to_bytes()) == moved


def convolution_with_zeros() -> onnx.ModelProto:
    kernel = np.random.default_rng(0).integers(-2, 3, (6, 2, 3, 3)) / 4  # as a quantized one
    nodes = [node("Conv", "x kernel", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "y")]
    return graph(nodes, x=("N", 2, 5, 5), kernel=kernel)


@pytest.mark.filterwarnings("error")
def test_zeros_in_kernels_are_connections_without_being_listed():
    whole = json.loads(import_model(convolution_with_zeros()).to_json())
    whole["neurons"][-1]["name"] = "last"
    net = Network.from_document(whole)
    assert np.count_nonzero(net.connections.weight == 0.0) > 100
    document = document_of(model := export(net))
    assert document["zeros"] is True
    assert document["version"] == 2
    assert not {"connections", "added", "genes"} & document.keys()
    assert import_model(model.to_bytes()) == net


@pytest.mark.filterwarnings("error")
def test_zeros_in_kernels_beside_an_added_connection():
    whole = json.loads(import_model(convolution_with_zeros()).to_json())
    last = whole["neurons"][-1]["id"]
    link = {"source": 0, "target": last, "weight": 0.5, "enabled": False}
    net = Network.from_document(whole | {"connections": [*whole["connections"], link]})
    document = document_of(model := export(net))
    assert document["zeros"] is True
    assert list(document["added"].values()) == [[0, last]]
    assert import_model(model.to_bytes()) == net


def pairs(*ends: tuple[int, int]) -> Connections:
    source, target = np.array(ends, np.int64).reshape(-1, 2).T
    return Connections.of(source, target, np.ones(len(ends)))


IN_ORDER = [(source, 9) for source in range(8)]


@pytest.mark.parametrize(
    ("known", "genes", "added", "moved"),
    [
        ([(0, 2), (1, 2)], [(0, 2), (1, 2)], [], []),
        ([(0, 2), (1, 2)], [(0, 2), (3, 2), (1, 2)], [1], []),
        ([], [(0, 2), (1, 2)], [0, 1], []),
        ([(0, 2), (1, 2)], [(0, 2), (0, 2), (1, 2)], [1], []),
        ([(0, 2), (0, 2)], [(0, 2), (0, 2)], [], []),
        ([(0, 2), (0, 2)], [(0, 2), (1, 2), (0, 2), (0, 2)], [1, 3], []),
        (IN_ORDER, [*IN_ORDER[:3], *IN_ORDER[4:], IN_ORDER[3]], [], [7]),
        (IN_ORDER, [*IN_ORDER[:3], (9, 9), *IN_ORDER[5:], (8, 2), *IN_ORDER[3:5]], [3, 7], [8, 9]),
    ],
)
def test_connections_beside_those_of_the_graph(known, genes, added, moved):
    found = others_of(pairs(*known), pairs(*genes), 10)
    assert found is not None
    assert (found.added.tolist(), found.moved.tolist()) == (added, moved)


@pytest.mark.parametrize(
    ("known", "genes"),
    [
        ([(0, 2), (1, 2)], [(1, 2), (0, 2)]),  # half of them are moved
        ([(0, 2), (1, 2)], [(0, 2)]),
        ([(0, 2), (0, 2)], [(0, 2), (1, 2)]),
        ([(0, 1), (0, 1), *IN_ORDER], [(0, 1), *IN_ORDER, (0, 1)]),  # which one is not known
        (IN_ORDER, IN_ORDER[::-1]),
    ],
)
def test_genomes_that_list_all_connections(known, genes):
    assert others_of(pairs(*known), pairs(*genes), 10) is None


def test_neurons_alike_are_one_entry():
    changed = [{"id": k, "bias": 0.5 if k % 2 else -0.0} for k in range(6)]
    entries = neurons_alike(changed)
    assert entries == [{"ids": [0, 2, 4], "bias": -0.0}, {"ids": [1, 3, 5], "bias": 0.5}]
    assert each_neuron(entries) == {gene["id"]: gene for gene in changed}


def resealed(model: Model, **changes) -> Model:
    """The model with another document, and a checksum that fits it."""
    document = {**document_of(model), **changes}
    entries = {**model.metadata, GENOME: json.dumps(document)}
    entries[CHECKSUM] = checksum(model, entries)
    listed = [MetadataEntry(key=key, value=value) for key, value in entries.items()]
    return model.model_copy(update={"metadata_props": listed})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"added": {"9999": [0, 100]}}, "beyond the connections"),
        ({"added": {"-1": [0, 100]}}, "beyond the connections"),
        ({"added": {"1": [0, 100], "01": [0, 100]}}, "stands twice"),
        ({"added": {"1": [0, 12345]}}, "no id"),
        ({"added": {"1": [0]}}, "no id"),
        ({"connections": []}, "beside"),
        ({"added": {}}, "no connection|fewer connections|left out"),
        ({"neurons": [{"ids": ["5-4"], "bias": 0.5}]}, "range"),
        ({"neurons": [{"ids": [True], "bias": 0.5}]}, "integers"),
        ({"neurons": [{"ids": 7, "bias": 0.5}]}, "integers"),
        ({"neurons": [{"id": [5], "bias": 0.5}]}, "integers"),
        ({"neurons": [{"id": {}, "bias": 0.5}]}, "integers"),
        ({"neurons": [{"bias": 0.5}]}, "integers"),
        ({"ids": {"input": ["\ud800"]}}, "'.*ud800' is no range of ids"),
        ({"version": 3}, "version"),
    ],
)
def test_a_document_that_does_not_fit_is_left_out_of_account(changes, message):
    model = resealed(export(genome()), **changes)
    with pytest.warns(NeatOnnxWarning, match=message):
        net = import_model(model)
    assert net.library == "ONNX"
