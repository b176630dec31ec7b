"""Networks that the graph alone gives: their files have no genome in the metadata."""

import json
from typing import Any

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import Network, export, import_model, load_network
from neat_onnx.genome import GENOME


def imported(**weights: float) -> Network:
    w = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    for place, value in weights.items():
        w[0, int(place[1])] = value
    nodes = [node("Gemm", "x w b", "h"), node("Tanh", "h", "t"), node("Gemm", "t v", "y")]
    return import_model(graph(nodes, w=w, b=np.ones(4), v=np.eye(4) + 0.5), check=False)


def edited(net: Network, **fields: Any) -> Network:
    """The network with other fields of its last neuron."""
    document = json.loads(net.to_json())
    document["neurons"][-1].update(fields)
    return load_network(document)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_comes_back_without_a_genome(dtype: str):
    net = imported()
    model = export(net, dtype=dtype)
    assert GENOME not in model.metadata
    for each in (model, model.to_bytes(), model.to_json()):
        again = import_model(each)
        assert again == net
        assert again.library == net.library


@pytest.mark.parametrize("field", [{"bias": 0.25}, {"name": "last"}, {"activation": "sin"}])
def test_a_network_that_evolved_on_comes_back(field: dict[str, Any]):
    net = edited(imported(), **field)
    assert import_model(export(net).to_bytes()) == net


def test_what_the_graph_does_not_say_is_in_the_metadata():
    net = imported()
    assert GENOME in export(edited(net, name="last")).metadata
    assert GENOME in export(net, embed_network=True).metadata
    assert GENOME in export(Network.mlp([2, 3, 1])).metadata
    document = json.loads(net.to_json())
    document["connections"][0]["enabled"] = False
    disabled = load_network(document)
    assert GENOME in export(disabled).metadata
    assert import_model(export(disabled).to_bytes()) == disabled


def test_a_weight_that_float32_has_no_room_for_keeps_its_connection():
    net = imported()
    document = json.loads(net.to_json())
    document["connections"][0]["weight"] = 1e-60
    net = load_network(document)
    model = export(net)
    assert GENOME in model.metadata
    assert len(import_model(model.to_bytes()).connections) == len(net.connections)


def test_an_edited_file_is_what_it_says():
    """Nothing in the metadata could contradict the graph."""
    model = export(imported()).to_proto()
    bias = next(each for each in model.graph.initializer if each.name == "B0")
    bias.raw_data = np.full(4, 2.0, np.float32).tobytes()
    found = import_model(model)
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    np.testing.assert_allclose(found.activate(x), want, rtol=1e-5, atol=1e-5)
