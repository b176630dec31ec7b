"""The network of a graph whose numbers are rounded, as a file holds them."""

import numpy as np
from support.examples.graphs import graph, node

from neat_onnx import load_model
from neat_onnx.genome.of_file import lifted_of_file
from neat_onnx.lifting.core import lift
from neat_onnx.model import Model
from neat_onnx.model.draft import copied, with_graph


def _with_factors() -> Model:
    """A layer whose weights are computed of two numbers each."""
    nodes = [node("Mul", "w v", "u"), node("MatMul", "x u", "y")]
    w, v = (np.array([[low, 0.7], [0.3, 0.9]], np.float32) for low in (0.1, 0.2))
    return load_model(graph(nodes, x=("N", 2), w=w, v=v))


def test_numbers_that_rounding_leaves_are_not_lifted_again():
    model = _with_factors()
    lifted = lift(model)
    assert lifted_of_file(model, lifted) is lifted


def test_weights_of_rounded_numbers_are_those_of_the_file():
    model = _with_factors()
    longer = [copied(each, values=each.values + 1e-12) for each in model.graph.initializer]
    changed = with_graph(model, initializer=longer)
    weights = lift(model).network.connections.weight
    lifted = lift(changed)
    assert not np.array_equal(lifted.network.connections.weight, weights)
    assert np.array_equal(lifted_of_file(changed, lifted).network.connections.weight, weights)
