"""The network document: nothing gets lost, and a person can read it."""

import copy
import json

import pytest
from hypothesis import given
from support.examples.strategies import BOUNDED, GROWING, networks

from neat_onnx.errors import NeatOnnxError, NetworkError
from neat_onnx.libraries import load_network
from neat_onnx.network.network import Network

DOCUMENT = {
    "inputs": [{"name": "x", "shape": [2], "neurons": [10, 11]}],
    "outputs": [{"name": "y", "shape": [1], "neurons": [12]}],
    "neurons": [
        {"id": 10},
        {"id": 11},
        {"id": 12, "activation": "tanh", "bias": 0.1, "name": "out"},
        {"id": 13, "aggregation": "median", "response": 2.0, "initial": 0.5},
    ],
    "connections": [
        {"source": 10, "target": 12, "weight": 0.1},
        {"source": 12, "target": 12, "weight": 0.25, "delay": 1, "reads_state": True},
        {"source": 11, "target": 12, "weight": 1e-300, "gater": 13, "initial_gain": 1.0},
        {"source": 13, "target": 13, "weight": -0.0, "enabled": False},
    ],
}


def read(document):
    return Network.from_document(document)


@given(networks(activations=[*BOUNDED, *GROWING]))
def test_round_trip(net):
    again = load_network(net.to_json())
    assert again == net
    assert net.to_json() == net.to_document().to_json()
    assert again.to_json() == net.to_json()


def test_a_gene_a_line_and_no_defaults():
    text = read(DOCUMENT).to_json()
    assert '    {"id": 10},\n' in text
    assert '    {"source": 10, "target": 12, "weight": 0.1},\n' in text
    assert json.loads(text)["connections"] == DOCUMENT["connections"]
    assert json.loads(text)["format"] == "neat-onnx"


def test_links_keep_their_order_and_others_are_sorted_by_target():
    document = copy.deepcopy(DOCUMENT)
    document["connections"].reverse()
    genes = json.loads(read(document).to_json())["connections"]
    assert [gene["source"] for gene in genes] == [11, 12, 10, 13]


def test_save(tmp_path):
    net = read(DOCUMENT)
    net.save(tmp_path / "net.json")
    assert load_network(tmp_path / "net.json") == net
    with pytest.raises(NeatOnnxError):
        net.save(tmp_path / "absent" / "net.json")


WRONG = {
    "neurons[2].activation|unknown activation": (("neurons", 2, "activation"), "foo"),
    "neurons[1].id|": (("neurons", 1, "id"), 10**30),
    "neurons[1]|occurs twice": (("neurons", 1, "id"), 10),
    "neurons[2].bias|not a finite": (("neurons", 2, "bias"), float("inf")),
    "neurons[2].bais|bais is not a known key": (("neurons", 2, "bais"), 1.0),
    "connections[0].weight|null": (("connections", 0, "weight"), None),
    "connections[0].weight|string": (("connections", 0, "weight"), "1"),
    "connections[0]|no neuron has the id 99": (("connections", 0, "source"), 99),
    "connections[2]|no neuron has the id 99": (("connections", 2, "gater"), 99),
    "connections[1].delay|": (("connections", 1, "delay"), -1),
    "connections[1].delay |": (("connections", 1, "delay"), 10**9),
    "inputs[0]|no neuron has the id 99": (("inputs", 0, "neurons"), [10, 99]),
    "inputs[0]|shape": (("inputs", 0, "shape"), [3]),
    "inputs[0].shape[0]|": (("inputs", 0, "shape"), [-1, -2]),
    "inputs|twice": (("inputs", 0, "neurons"), [10, 10]),
    "inputs, outputs|same name": (("outputs", 0, "name"), "x"),
    "outputs|outputs is empty": (("outputs",), []),
    "inputs[0].name|name is empty": (("inputs", 0, "name"), ""),
    "version|": (("version",), 2),
}


@pytest.mark.parametrize("expected", WRONG)
def test_what_is_wrong_and_where(expected):
    path, value = WRONG[expected]
    where, _, message = expected.partition("|")
    document = owner = copy.deepcopy(DOCUMENT)
    for step in path[:-1]:
        owner = owner[step]
    owner[path[-1]] = value
    with pytest.raises(NetworkError) as caught:
        read(document)
    assert message in caught.value.message
    if "unknown activation" not in message:
        assert caught.value.where == where.strip()


@pytest.mark.parametrize("key", ["inputs", "outputs", "neurons", "connections"])
def test_a_missing_list(key):
    document = {name: value for name, value in DOCUMENT.items() if name != key}
    with pytest.raises(NetworkError, match=f"{key} is missing"):
        read(document)


def test_a_connection_into_an_input_is_a_gene_at_most():
    document = copy.deepcopy(DOCUMENT)
    document["connections"].append({"source": 12, "target": 10, "weight": 1.0})
    with pytest.raises(NetworkError, match="ends in neuron 10, an input"):
        read(document)
    document["connections"][-1]["enabled"] = False
    assert len(read(document).connections) == 5
