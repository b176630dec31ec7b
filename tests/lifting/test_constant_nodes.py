"""Nodes of constants alone are computed while they are imported, whichever operator they are of."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import ModelError, export, import_model

C = np.random.default_rng(0).normal(size=(1, 2, 3, 3))
W = np.random.default_rng(1).normal(size=(2, 2, 2, 2))
NODES = {
    "Conv": node("Conv", "c w b", "f", pads=[1, 0, 0, 1]),
    "ConvTranspose": node("ConvTranspose", "c w b", "f", strides=[2, 1]),
    "MaxPool": node("MaxPool", "c", "f", kernel_shape=[2, 3]),
    "AveragePool": node("AveragePool", "c", "f", kernel_shape=[2, 2], pads=[1, 1, 0, 0]),
    "GlobalAveragePool": node("GlobalAveragePool", "c", "f"),
    "GlobalMaxPool": node("GlobalMaxPool", "c", "f"),
    "Clip": node("Clip", "c b0 b1", "f"),
    "Tanh and Conv": node("Conv", "t w b", "f"),
}


def model(name):
    """What a node gives for a constant as large as the batch, and for the input."""
    given = NODES[name]
    computed = type(given)()
    computed.CopyFrom(given)
    computed.input[0], computed.output[0], computed.name = "x", "g", "make_g"
    nodes = [
        node("Shape", "x", "shape"),
        node("Slice", "shape zero one", "batch"),
        node("Concat", "batch rest", "sizes", axis=0),
        node("Expand", "start sizes", "c"),
        node("Tanh", "c", "t"),
        given,
        computed,
        node("Sub", "g f", "y"),
    ]
    return graph(
        nodes, x=("N", 2, 3, 3), start=C, w=W, b=np.array([0.5, -1.0]), b0=-0.5, b1=0.25,
        zero=np.array([0]), one=np.array([1]), rest=np.array([2, 3, 3]),
    )  # fmt: skip


@pytest.mark.parametrize("name", NODES)
def test_a_constant_as_large_as_the_batch_is_computed(name):
    net = assert_lifts(model(name))
    inputs = np.concatenate([net.input_neurons, net.connections.target])
    assert len(np.unique(inputs)) == len(net)  # no neuron gives a constant
    assert import_model(export(net).to_json()) == net


def test_its_mistakes_are_named():
    wrong = model("Conv")
    wrong.graph.node[5].input[0] = "batch"
    with pytest.raises(ModelError, match=r"make_f \(Conv\)"):
        import_model(wrong)
