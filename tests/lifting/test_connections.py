"""Products: a neuron that is one stands for it wherever it is read, whatever the order of nodes."""

import json

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx import Network, export, import_model
from neat_onnx.lifting.connections import reading_products
from neat_onnx.lifting.values import each_once
from neat_onnx.network.genes import NONE, Connections

READERS = {
    "sum": node("MatMul", "p w", "s"),
    "neurons": node("Tanh", "p", "t"),
}


def lifted(*order: str) -> Network:
    nodes = [
        node("MatMul", "x a", "one"),
        node("Exp", "one", "gate"),
        node("MatMul", "x b", "other"),
        node("Mul", "other gate", "p"),
        node("Identity", "p", "end"),
        *(READERS[name] for name in order),
        node("Add", "s t", "r"),
        node("Add", "r end", "y"),
    ]
    random = np.random.default_rng(0)
    weights = {name: random.normal(size=(3, 3)) for name in "abw"}
    return import_model(graph(nodes, **weights))


def gated(net: Network) -> int:
    return int(np.count_nonzero(net.connections.gater >= 0))


@pytest.mark.parametrize("order", [("sum", "neurons"), ("neurons", "sum")])
def test_sums_read_the_neurons_that_are_the_products(order):
    assert gated(lifted(*order)) == 3


def test_a_sum_keeps_its_factors_if_a_product_is_no_neuron():
    genes = Connections.of([0, 0, 1], [3, 4, 4], [1.0, 2.0, 3.0], gater=np.array([2, 2, 2]))
    plain = np.array([False, False, False, True, True])
    np.testing.assert_array_equal(reading_products(genes, plain).source, genes.source)
    alone = reading_products(genes.take(np.array([0, 1])), plain)
    np.testing.assert_array_equal(alone.source, [0, 3])
    np.testing.assert_array_equal(alone.gater, [2, NONE])


@pytest.mark.parametrize("formula", ["sign(z) * floor(abs(z))", "abs(z) * tanh(z)"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elements_that_are_taken_several_times_are_one_neuron_each(formula, dtype):
    neurons = [{"id": 3 + k, "activation": f"formula: {formula}"} for k in range(2)]
    net = Network.build(
        inputs=2, outputs=[4, 3, 3, 4], neurons=neurons, connections=[(0, 3, 1.0), (1, 4, 1.0)]
    )
    assert import_model(export(net, dtype=dtype)) == net


@pytest.mark.parametrize("formula", ["sign(z) * floor(abs(z))", "erf(z)"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_neuron_of_two_ports_is_one(formula, dtype):
    neurons = [{"id": 3 + k, "activation": f"formula: {formula}"} for k in range(2)]
    connections = [(0, 3, 1.0), (1, 4, 1.0)]
    net = Network.build(inputs=2, outputs=[3, 4], neurons=neurons, connections=connections)
    document = json.loads(net.to_json())
    document["outputs"].append({"name": "more", "shape": [2], "neurons": [0, 3]})
    net = Network.from_document(document)
    assert import_model(export(net, dtype=dtype)) == net


def test_a_product_of_several_readers_is_one_neuron():
    nodes = [
        node("Split", "x parts", "a b", axis=1),
        node("Mul", "a b", "p"),
        node("Concat", "p a", "y", axis=1),
        node("Reshape", "p shape", "z"),
    ]
    constants = {"parts": np.array([2, 2]), "shape": np.array([0, 2, 1])}
    net = import_model(graph(nodes, x=("N", 4), outputs=("y", "z"), **constants))
    assert gated(net) == 2
    assert [*net.outputs[0].neurons[:2]] == [*net.outputs[1].neurons]


def test_products_are_one_neuron_for_all_elements_that_are_alike():
    nodes = [
        node("MatMul", "x a", "one"),
        node("Exp", "one", "gate"),
        node("Mul", "x gate", "p"),
        node("Gather", "p at", "twice", axis=1),
        node("Tanh", "twice", "y"),
    ]
    at = np.array([2, 0, 2, 1, 0])
    net = import_model(graph(nodes, a=np.eye(3)[::-1], at=at))
    assert gated(net) == 3
    assert [*net.outputs[0].neurons] == [*net.outputs[0].neurons[[0, 1, 0, 3, 1]]]


def test_rows_once_stand_in_the_order_of_the_first_of_each():
    first, which = each_once(np.array([5, 1, 5, 5, 1]), np.array([0.5, 2.0, 0.5, 0.25, 2.0]))
    np.testing.assert_array_equal(first, [0, 1, 3])
    np.testing.assert_array_equal(which, [0, 1, 0, 2, 1])
    assert all(each.size == 0 for each in each_once(np.empty(0, np.int64)))
