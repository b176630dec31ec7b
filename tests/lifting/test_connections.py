"""Products: a neuron that is one stands for it wherever it is read, whatever the order of nodes."""

import numpy as np
import pytest
from graphs import graph, node

from neat_onnx import Network, import_model
from neat_onnx.lifting.connections import reading_products
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
