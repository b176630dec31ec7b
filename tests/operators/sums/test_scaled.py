"""Neurons that weigh one input each: one number for a channel whose pixels share it."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import Network, export, import_model, verify

RANDOM = np.random.default_rng(0)
PIXELS = 36


def eighths(*shape: int) -> np.ndarray:
    """Numbers that float32 holds, none of them 0, 1 or -1."""
    return RANDOM.integers(9, 40, shape) / 8 * RANDOM.choice([-1, 1], shape)


def scaled(weights, biases, activation="tanh", second=None, responses=None, order=None) -> Network:
    """A neuron for each input, with these weights and biases; and one that reads all of them."""
    count = len(weights)
    responses = np.ones(count) if responses is None else responses
    neurons = [
        {"id": count + k, "activation": activation, "bias": float(bias), "response": float(each)}
        for k, (bias, each) in enumerate(zip(biases, responses, strict=True))
    ]
    sources = range(count) if order is None else order
    links = [(sources[k], count + k, float(weight)) for k, weight in enumerate(weights)]
    if second is not None:
        links += [((k + 1) % count, count + k, float(each)) for k, each in enumerate(second)]
    links += [(count + k, 2 * count, 1 / 16) for k in range(count)]
    neurons.append({"id": 2 * count, "activation": "identity"})
    outputs = [*range(count, 2 * count), 2 * count]
    return Network.build(inputs=count, outputs=outputs, neurons=neurons, connections=links)


def channels(count: int = 4) -> np.ndarray:
    return np.repeat(eighths(count), PIXELS)


def interleaved(count: int = 4) -> np.ndarray:
    return np.tile(eighths(count), PIXELS)


ZEROS = np.zeros(4 * PIXELS)
FULL = eighths(4 * PIXELS)
NETWORKS = {
    "channels": (scaled(channels(), channels()), 4),
    "channels last": (scaled(interleaved(), interleaved()), 4),
    "weights alone": (scaled(channels(), ZEROS), 4),
    "biases alone": (scaled(ZEROS + 0.5, channels()), 4),
    "one bias": (scaled(channels(), ZEROS + 0.5), 4),
    "one bias for all": (scaled(ZEROS + 0.25, ZEROS + 0.5), 1),
    "one bias and weights": (scaled(FULL, ZEROS + 0.5), 4 * PIXELS),
    "nothing shared": (scaled(FULL, channels()), 4 * PIXELS),
    "finer biases": (scaled(channels(2), np.repeat(eighths(4), PIXELS // 2)), 4),
    "two inputs": (scaled(channels(), channels(), second=channels()), 4),
    "identity": (scaled(channels(), channels(), "identity"), 4),
    "formula": (scaled(channels(), channels(), "formula: floor(z) + 1.5"), 4),
    "few": (scaled(eighths(3), eighths(3)), 9),
}
RESPONSES = {
    "channels": (scaled(channels(), channels(), responses=channels()), 4),
    "channels last": (scaled(interleaved(), interleaved(), responses=interleaved()), 4),
    "one weight": (scaled(ZEROS + 0.25, channels(), responses=channels()), 4),
    "one weight alone": (scaled(ZEROS + 0.25, ZEROS, responses=channels()), 4),
    "one response": (scaled(channels(), channels(), responses=ZEROS + 0.75), 4),
    "one of each": (scaled(ZEROS + 0.25, ZEROS + 0.5, responses=ZEROS + 0.75), 1),
    "weights of 1": (scaled(ZEROS + 1.0, channels(), responses=channels()), 4),
    "biases of their own": (scaled(ZEROS + 0.25, FULL, responses=channels()), 4 * PIXELS),
    "all of their own": (scaled(FULL, FULL[::-1], responses=FULL + 9.0), 4 * PIXELS),
    "identity": (scaled(ZEROS + 0.25, channels(), "identity", responses=channels()), 4),
    "formula": (scaled(channels(), channels(), "formula: exp(z)", responses=channels()), 4),
}
NETWORKS |= {f"responses, {name}": each for name, each in RESPONSES.items()}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"dtype": "float64"}, {"fold": True}], ids=str)
@pytest.mark.parametrize("name", NETWORKS)
def test_they_are_the_same_network_again(name: str, options):
    net, largest = NETWORKS[name]
    model = export(net, **options)
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model.to_bytes()) == net
    bare = import_model(export(net, **options, include_metadata=False).to_bytes())
    x = RANDOM.normal(size=(5, len(net.input_neurons)))
    np.testing.assert_allclose(bare.activate(x), net.activate(x), rtol=1e-9)
    names = ("W0", "S0", "B0")
    of_scaled = (each for each in model.graph.initializer if each.name.startswith(names))
    assert max((each.values.size for each in of_scaled), default=0) <= largest


def test_a_normalized_image_has_weights_and_no_responses():
    nodes = [node("Sub", "x mean", "c"), node("Div", "c deviation", "y")]
    parameters = {"mean": eighths(3, 1, 1), "deviation": eighths(3, 1, 1)}
    model = graph(nodes, x=("N", 3, 16, 16), **parameters)
    net = import_model(model)
    assert set(net.neurons.response.tolist()) == {1.0}
    written = export(net)
    assert written.to_proto().ByteSize() <= 1200
    assert verify(net, written, samples=8, runtime="onnxruntime").passed


@pytest.mark.parametrize("steps", [("Div", "Sub", "Div"), ("Mul", "Sub", "Mul")], ids="-".join)
@pytest.mark.parametrize("sizes", [(3, 1, 1), (3, 24, 24), (24,), (1,)], ids=str)
def test_an_image_that_is_scaled_twice_needs_no_matrix(steps, sizes):
    """Numbers of a byte become 0 to 1 before the mean and the deviation of a channel."""
    nodes = [node(steps[0], "x k", "p"), node(steps[1], "p m", "q"), node(steps[2], "q d", "y")]
    numbers = {"k": 255.0, "m": eighths(*sizes), "d": eighths(*sizes)}
    model = graph(nodes, x=("N", 3, 24, 24), **numbers)
    net = assert_lifts(model, rows=2)
    written = export(net)
    assert len(written.to_bytes()) <= 1.1 * len(model.SerializeToString()) + 100
    assert verify(net, written, samples=8, runtime="onnxruntime").passed
    assert len(import_model(written)) == len(net)


def test_inputs_in_no_order_are_scaled_twice_without_a_matrix():
    order = RANDOM.permutation(len(FULL)).tolist()
    net = scaled(FULL, FULL[::-1], responses=FULL + 9.0, order=order)
    model = export(net)
    assert import_model(model.to_bytes()) == net
    assert max(each.values.size for each in model.graph.initializer) <= 4 * PIXELS
    assert verify(net, model, samples=8, runtime="onnxruntime").passed


def test_a_choice_of_two_constants_is_a_weight_and_a_bias_again():
    """Import takes one factor for a part of a function without a name, but not a Gemm."""
    nodes = [node("Less", "x o", "c"), node("Where", "c p q", "h"), node("Mul", "h x", "y")]
    numbers = {"o": np.arange(12.0), "p": np.arange(12.0) + 32.0, "q": np.arange(12.0)}
    net = assert_lifts(graph(nodes, x=("N", 12), **numbers))
    model = export(net)
    assert not model.metadata
    assert len(model.to_bytes()) < 600
    assert import_model(model) == net
    assert verify(net, model, runtime="onnxruntime").passed
