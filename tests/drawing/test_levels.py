"""The layers of a large network: their sizes, names, and the bundles between them."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import neat_onnx
from neat_onnx.drawing.levels import density
from neat_onnx.network.network import Network

CORPORA = Path(__file__).parent.parent / "corpora"
CNN = """
<ir_version: 8, opset_import: ["": 18]>
cnn (float[N, 1, 8, 8] x) => (float[N, 5] y)
<float[3, 1, 3, 3] kernel, float[5, 27] weight>
{
    filtered = Conv <kernel_shape = [3, 3]> (x, kernel)
    active = Relu (filtered)
    pooled = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (active)
    flat = Flatten (pooled)
    y = Gemm <transB = 1> (flat, weight)
}
"""


def labels(net: Network) -> list[tuple[int, str]]:
    return [(level.families.total(), level.label) for level in density(net)[0]]


def test_a_perceptron_has_levels_and_their_connections_between_them():
    net = Network.mlp([4, 6, 5, 2], activation="tanh", seed=0)
    assert labels(net) == [(4, ""), (6, ""), (5, ""), (2, "")]
    assert [each[:3] for each in density(net)[1]] == [(0, 1, 24), (1, 2, 30), (2, 3, 10)]


def test_convolutions_and_pools_have_names():
    model = onnx.parser.parse_model(CNN)
    del model.graph.initializer[:]
    rng = np.random.default_rng(0)
    for name, shape in {"kernel": (3, 1, 3, 3), "weight": (5, 27)}.items():
        values = rng.normal(size=shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    assert labels(neat_onnx.import_model(model)) == [
        (64, ""),
        (108, "Conv 3×3"),
        (27, "MaxPool 2×2"),
        (5, ""),
    ]


@pytest.mark.parametrize("operator", ["GRU", "LSTM"])
def test_the_levels_of_a_recurrent_layer_have_its_name(operator: str):
    first, *levels, last = labels(getattr(Network, operator.lower())(2, 4, 3, seed=0))
    assert {label for _, label in levels} == {f"{operator} 4"}
    assert (first[1], last[1]) == ("", "")


def test_an_evolved_network_has_no_layers_by_name():
    source = json.loads((CORPORA / "nts-net-dag-24.json").read_text())["source"]
    assert {label for _, label in labels(neat_onnx.load_network(source))} == {""}
