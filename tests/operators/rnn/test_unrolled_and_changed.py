"""A layer of several steps whose neurons evolved apart: nodes as far as the steps are alike."""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph
from support.harness.sweep import each, every
from unrolled_layers import BACK, GATES, INPUTS, STEPS, UNITS, layer, weights

from neat_onnx import export, import_model, validate, verify
from neat_onnx.network.genes import owned


def changed(net, column, at, value):
    """The network with one gene changed."""
    kind = "neurons" if hasattr(net.neurons, column) else "connections"
    genes = getattr(net, kind)
    values = getattr(genes, column).copy()
    values[at] = value
    return replace(net, **{kind: replace(genes, **{column: owned(values)})})


def test_an_rnn_is_one_node_as_far_as_its_weights_are_the_same():
    net, hidden = of_seven_steps("RNN")
    assert_steps(changed(net, "bias", int(hidden[2, 0]), 1.25), [2, 4])


LONG = 7


def of_seven_steps(operator, linear=True):
    """A layer of seven steps, and its hidden neurons, step by step."""
    nodes = [STEPS, layer(operator, linear=linear), BACK]
    net = assert_lifts(graph(nodes, x=("N", LONG, INPUTS), **weights(operator)))
    return net, net.outputs[0].neurons.reshape(LONG, UNITS)


def steps_of(model):
    """How many steps each recurrent node takes, in their order."""
    names = [each.output[0] for each in model.graph.node if each.op_type in GATES]
    proto = onnx.shape_inference.infer_shapes(onnx.load_from_string(model.to_bytes()))
    infos = {info.name: info.type.tensor_type.shape for info in proto.graph.value_info}
    return [infos[name].dim[0].dim_value for name in names]


def gate_of(net, hidden):
    """The gater of the first connection into a neuron, and its own first connection."""
    gate = int(net.live.gater[net.edges_into(np.array([hidden]))[1][0]])
    return gate, int(net.edges_into(np.array([gate]))[1][0])


WHOLE = {"LSTM": ("LSTM", True), "GRU": ("GRU", True), "a GRU that resets first": ("GRU", False)}


RUNS = {0: [6], 3: [3, 3], 5: [5]}


@pytest.mark.parametrize(
    ("kind", "column", "at"),
    each(2, every(WHOLE, ["weight", "bias", "response", "enabled", "activation"], [0, 3, 5, 3, 5])),
)
def test_other_genes_in_one_step_and_the_others_are_nodes(kind, column, at):
    net, hidden = of_seven_steps(*WHOLE[kind])
    gate, edge = gate_of(net, hidden[at, 1])
    value = {"enabled": False, "activation": net.activations.index("identity")}.get(column, 1.25)
    other = changed(net, column, edge if column in ("weight", "enabled") else gate, value)
    assert_steps(other, RUNS[at])


def assert_steps(net, runs):
    """Check that recurrent nodes take so many steps, and the rest is equal beside them."""
    model = export(net)
    assert steps_of(model) == runs
    assert validate(model) == []
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


def with_connection(net, source, target, **more):
    """The network with one more connection."""
    document = net.to_document().model_dump()
    ids = [neuron["id"] for neuron in document["neurons"]]
    gene = {"source": ids[source], "target": ids[target], "weight": 0.5, **more}
    document["connections"].append(document["connections"][-1] | {"gater": None} | gene)
    return type(net).from_document(document)


def test_a_connection_into_one_step_leaves_the_others_nodes():
    net, hidden = of_seven_steps("LSTM")
    gate, _ = gate_of(net, hidden[3, 1])
    assert_steps(with_connection(net, net.inputs[0].neurons[0], gate), [3, 3])


def test_nothing_is_read_out_of_a_node_but_states_at_its_end():
    net, hidden = of_seven_steps("LSTM")
    gate, _ = gate_of(net, hidden[3, 1])
    shown = int(net.live.source[net.edges_into(hidden[3, 1:2])[1][0]])
    memory = int(net.live.source[net.edges_into(np.array([shown]))[1][0]])
    assert_steps(with_connection(net, memory, hidden[6, 0]), [4, 2])
    assert_steps(with_connection(net, gate, hidden[6, 0]), [3, 2])


def test_units_that_change_in_different_steps_are_a_layer_between_them():
    net, hidden = of_seven_steps("GRU")
    for at, unit in ((2, 0), (5, 2)):
        net = with_connection(net, net.inputs[0].neurons[0], hidden[at, unit])
    assert_steps(net, [2, 2])
