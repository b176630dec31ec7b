"""The parts of rows in the genome of a file, whatever axis the rows are along."""

import json
from dataclasses import replace

import pytest
from support.examples.graphs import graph, node

from neat_onnx import export, import_model
from neat_onnx.genome.document import GENOME


@pytest.mark.parametrize("axis", [1, 2, 3])
@pytest.mark.parametrize(
    "operator", ["Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "ReduceLogSumExp", "ArgMax"]
)
def test_the_neurons_of_each_part_are_those_of_its_elements(operator: str, axis: int):
    """A file that needs a genome does not list the connections that its graph has."""
    attributes = {"axes": [axis]} if operator == "ReduceLogSumExp" else {"axis": axis}
    net = import_model(graph([node(operator, "x", "y", **attributes)], opset=17, x=("N", 3, 4, 5)))
    names = tuple(f"neuron {k}" for k in range(len(net)))
    named = replace(net, neurons=replace(net.neurons, name=names))
    model = export(named)
    assert import_model(model.to_bytes()) == named
    listed = json.loads(model.metadata[GENOME]).keys() & {"connections", "moved", "added", "genes"}
    unread = {"added", "genes"} if operator == "ArgMax" else set()  # the first hit counts 0
    assert listed <= unread
