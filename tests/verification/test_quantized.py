"""A quantized model has the weights of the network that import makes of it, and of no other."""

import numpy as np
import pytest
from onnx import numpy_helper
from support.examples.graphs import graph, node

from neat_onnx import Network, export, import_model, load_model
from neat_onnx.verification.compare import has_its_weights


def quantized(*behind):
    """Four sums of quantized weights, and other nodes behind them."""
    rng = np.random.default_rng(1)
    nodes = [
        node("DequantizeLinear", "q scale", "w"),
        node("MatMul", "x w", "sums"),
        *behind,
    ]
    model = graph(nodes, scale=0.05, columns=[0, 2])
    weights = rng.integers(-127, 128, (3, 4)).astype(np.int8)
    model.graph.initializer.append(numpy_helper.from_array(weights, "q"))
    return load_model(model.SerializeToString())


@pytest.mark.parametrize(
    "behind",
    [
        [node("Tanh", "sums", "y")],
        [node("Tanh", "sums", "t"), node("Gather", "t columns", "y", axis=1)],
    ],
    ids=["all read", "some read"],
)
def test_an_import_has_the_weights(behind):
    model = quantized(*behind)
    net = import_model(model)
    assert has_its_weights(net, model)
    genes = net.to_document().model_dump()
    genes["connections"][0]["weight"] *= 1.0 + 1e-4
    assert not has_its_weights(Network.from_document(genes), model)


def test_a_network_that_was_quantized_has_others():
    net = Network.mlp([3, 40, 40, 4], activation="tanh", seed=1)
    assert not has_its_weights(net, export(net, quantize="weights"))
