"""Convolutions whose neurons have one response: Conv, then Mul, then Add, both ways."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session
from support.harness.sweep import every

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(3)
KERNELS = {
    "Conv": ({"pads": [1, 1, 1, 1]}, RANDOM.normal(size=(6, 4, 3, 3))),
    "Conv in groups": ({"group": 2}, RANDOM.normal(size=(6, 2, 3, 3))),
    "ConvTranspose": ({"strides": [2, 2]}, RANDOM.normal(size=(4, 6, 3, 3))),
}
BIASES = {
    "none": None,
    "one": RANDOM.normal(size=(1,)),
    "channels": RANDOM.normal(size=(6, 1, 1)),
}
ACTIVATIONS = ["Tanh", "Relu", "Identity"]


def model(kind, bias, activation, own=None):
    attributes, kernel = KERNELS[kind]
    given = {"w": kernel, "k": np.array(0.37)}
    reads = "x w"
    if own is not None:
        given["c"], reads = own, "x w c"
    nodes = [node(kind.split()[0], reads, "a", **attributes), node("Mul", "a k", "b")]
    if BIASES[bias] is not None:
        nodes.append(node("Add", "b d", "e"))
        given["d"] = BIASES[bias]
    nodes.append(node(activation, nodes[-1].output[0], "y"))
    return graph(nodes, x=("N", 4, 7, 7), **given)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("kind", "bias", "activation"), every(KERNELS, BIASES, ACTIVATIONS))
def test_they_come_back_small_and_equal(kind, bias, activation):
    foreign = model(kind, bias, activation)
    net = assert_lifts(foreign)
    assert len(net) == len(net.input_neurons) + len(net.output_neurons)
    again = export(net)
    for options in ({}, {"fold": True}, {"opset": 13}, {"dtype": "float64"}):
        written = export(net, **options) if options else again
        assert verify(net, written, samples=16, runtime="onnxruntime").passed
        if options.get("dtype") == "float64":
            continue  # for which runtimes have no Conv
        operators = [each.op_type for each in written.graph.node]
        assert kind.split()[0] in operators
        if "fold" in options:
            assert "Mul" not in operators
        else:
            assert written.to_proto().ByteSize() <= 2 * foreign.ByteSize() + 2048
    assert import_model(again.to_bytes()) == import_model(again.to_json())
    x = {"x": RANDOM.normal(size=(5, 4, 7, 7)).astype(np.float32)}
    (want,), (got,) = (open_session(each).run(None, x) for each in (foreign, again))
    np.testing.assert_array_equal(got, want)


def test_a_bias_of_the_convolution_is_multiplied_as_well():
    assert_lifts(model("Conv", "channels", "Tanh", own=RANDOM.normal(size=6)))


def test_a_genome_with_a_response_comes_back():
    net = import_model(model("Conv", "channels", "Tanh"))
    assert set(net.neurons.response[net.output_neurons]) == {np.float64(np.float32(0.37))}
    exact = import_model(export(net, embed_network=True).to_bytes())
    assert exact == net
    rounded = import_model(export(net).to_bytes())
    assert import_model(export(rounded).to_bytes()) == rounded


def test_addends_of_pixels_and_factors_of_channels_are_neurons_of_their_own():
    attributes, kernel = KERNELS["Conv"]
    for given in ({"k": RANDOM.normal(size=(6, 1, 1))}, {"d": RANDOM.normal(size=(6, 7, 7))}):
        constants = {"k": np.array(0.37), "d": np.array([0.5])} | given
        nodes = [node("Conv", "x w", "a", **attributes), node("Mul", "a k", "b"),
                 node("Add", "b d", "y")]  # fmt: skip
        net = assert_lifts(graph(nodes, x=("N", 4, 7, 7), w=kernel, **constants))
        written = export(net)
        assert "Conv" in [each.op_type for each in written.graph.node]
        assert verify(net, written, samples=16, runtime="onnxruntime").passed
