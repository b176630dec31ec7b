"""Nodes in the order in which tensors are needed."""

from support.examples.graphs import graph, node

from neat_onnx.model import load_model
from neat_onnx.short_form.order import in_order_of


def order(model, *tensors):
    return [each.op_type for each in in_order_of(load_model(model), tensors).graph.node]


def test_nodes_stand_behind_the_nodes_that_they_read():
    branches = [node("Abs", "x", "a"), node("Neg", "x", "b"), node("Add", "a b", "y")]
    assert order(graph(branches)) == ["Abs", "Neg", "Add"]
    assert order(graph(branches), "b") == ["Neg", "Abs", "Add"]


def test_inputs_and_outputs_that_are_left_out_are_no_tensor():
    """Both have the name of nothing: a node does not read itself by it."""
    layer = node("LSTM", "x w r _ _ _", "all y", hidden_size=1)
    layer.output[0] = ""
    weights = {"w": [[[0.0]] * 4], "r": [[[0.0]] * 4]}
    assert order(graph([layer], x=("T", "N", 1), **weights)) == ["LSTM"]
