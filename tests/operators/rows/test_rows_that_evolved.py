"""Rows of neurons that are no softmax and no normalization any more."""

from dataclasses import replace

import numpy as np
import pytest
from row_forms import COMPOSED, FORMS, INSTANCE, TWO, kinds
from support.examples.graphs import graph, node
from support.harness.routes import run_onnxruntime
from support.harness.sweep import each
from support.harness.usual_form import usual_form

from neat_onnx import Network, export, import_model, verify
from neat_onnx.network.genes import owned
from neat_onnx.network.port import Port


def test_a_changed_gene_of_a_masked_row_changes_the_model():
    nodes = [
        node("Cast", "there", "t", to=9),
        node("Where", "t x none", "m"),
        node("Softmax", "m", "y"),
    ]
    constants = {"there": np.tri(3), "none": np.array(-np.inf)}
    net = import_model(graph(nodes, x=("N", 3, 3), **constants))
    x = np.random.default_rng(0).normal(size=(5, 9))
    for edge in each(7, range(len(net.connections))):
        other = changed(net, edge, 0.125)
        model = export(other)
        np.testing.assert_allclose(
            run_onnxruntime(model, other, x), other.activate(x), rtol=1e-4, atol=1e-5
        )
        assert import_model(model.to_json()) == other


def changed(net: Network, edge: int, by: float) -> Network:
    weight = net.connections.weight.copy()
    weight[edge] += by
    return replace(net, connections=replace(net.connections, weight=owned(weight)))


SAID = {  # forms, and how many of their weights the operator holds
    "softmax": (*FORMS["softmax"], 0),
    "log softmax": (*FORMS["log softmax"], 0),
    "layer norm": (*FORMS["layer norm"], 3),
    "rms": (*FORMS["rms"], 3),
    "instance norm": ([INSTANCE], ("N", 1, 2), {"s": np.ones(1), "b": np.ones(1)}, 18, 1),
    "group norm": (
        [node("GroupNormalization", "x s b", "y", num_groups=1)],
        ("N", 2),
        TWO,
        21,
        2,
    ),
    "unit vector": ([node("LpNormalization", "x", "y")], ("N", 3), {}, 18, 0),
    "a quotient": (*COMPOSED["a quotient"], 3),
}


@pytest.mark.parametrize("form", SAID)
def test_any_gene_that_the_operator_cannot_hold_is_written_neuron_by_neuron(form):
    nodes, shape, constants, opset, weights = SAID[form]
    net = import_model(graph(nodes, x=shape, opset=opset, **constants))
    x = np.random.default_rng(0).normal(size=(5, len(net.input_neurons)))
    usual = usual_form(net, opset=opset)
    written = [each.op_type for each in usual.graph.node]
    kept = 0
    for edge in range(len(net.connections)):
        other = changed(net, edge, 0.125)
        model = usual_form(other, opset=opset)
        kept += [each.op_type for each in model.graph.node] == written
        np.testing.assert_allclose(
            run_onnxruntime(model, other, x), other.activate(x), rtol=1e-4, atol=1e-5
        )
    assert kept == weights


def test_a_shift_of_one_element_is_no_shift_of_a_channel():
    nodes, shape, constants, opset = FORMS["instance norm"]
    net = import_model(graph(nodes, x=shape, opset=opset, **constants))
    assert kinds(export(net)) == ["InstanceNormalization"]
    bias = net.neurons.bias.copy()
    bias[net.output_neurons[5]] += 0.5
    other = replace(net, neurons=replace(net.neurons, bias=owned(bias)))
    model = export(other)
    assert kinds(model) == ["InstanceNormalization"]  # of the other channels
    assert verify(other, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == other


def test_a_row_whose_inside_is_read_from_outside_is_no_row():
    nodes = [node("Softmax", "x", "y"), node("Neg", "x", "m")]
    net = import_model(graph(nodes, outputs=("y", "m")))
    assert kinds(export(net)) == ["Softmax"]
    genes = net.connections
    largest = int(np.flatnonzero(net.aggregation_names == "max")[0])
    source = np.where(genes.target == net.outputs[1].neurons[0], largest, genes.source)
    reader = replace(net, connections=replace(genes, source=owned(source)))
    assert kinds(export(reader)) == []
    shown = replace(net, outputs=(*net.outputs, Port("largest", (1,), np.array([largest]))))
    assert kinds(export(shown)) == []
