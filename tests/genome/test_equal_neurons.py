"""Neurons that compute the same: import makes one of each, as the genome has them."""

import json

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples.graphs import graph, node
from support.examples.strategies import dags

from neat_onnx import Network, export, import_model

GATED = [node("Add", "x x", "t"), node("Mul", "x t", "g"), node("Mul", "t g", "y")]
GRAPHS = {
    "a product is handed on twice": (
        [*GATED, node("Slice", "g zero one one", "first")],
        ("first", "g", "y"),
    ),
    "twice the same multiple": (
        [
            node("MatMul", "x w", "t"),
            node("Mul", "t t", "square"),
            node("Add", "square t", "u"),
            node("Concat", "u u", "both", axis=1),
            node("Add", "both both", "y"),
        ],
        ("y", "u", "both", "square"),
    ),
}


@st.composite
def with_twins(draw: st.DrawFn) -> Network:
    """A random network, some of whose neurons have a twin of the same inputs and genes."""
    document = json.loads(draw(dags()).to_json())
    hidden = [gene for gene in document["neurons"] if not is_input(document, gene["id"])]
    for gene in draw(st.lists(st.sampled_from(hidden), min_size=1, max_size=3)):
        twin = max(each["id"] for each in document["neurons"]) + 1
        document["neurons"].append({**gene, "id": twin})
        document["connections"] += [
            {**each, "target": twin}
            for each in document["connections"]
            if each["target"] == gene["id"]
        ]
        document["outputs"].append({"name": f"twin {twin}", "shape": [1], "neurons": [twin]})
    return Network.from_document(document)


def is_input(document: dict, neuron: int) -> bool:
    return any(neuron in port["neurons"] for port in document["inputs"])


@pytest.mark.parametrize("name", GRAPHS)
def test_of_a_graph(name):
    nodes, outputs = GRAPHS[name]
    constants = {"zero": [0], "one": [1], "w": [[1.0, 2.0], [3.0, -1.0], [0.5, 1.0]]}
    model: onnx.ModelProto = graph(nodes, outputs=outputs, **constants)
    net = import_model(model)
    assert import_model(export(net)) == net


@given(with_twins())
def test_of_a_network(net):
    assert import_model(export(net, dtype="float64")) == net
