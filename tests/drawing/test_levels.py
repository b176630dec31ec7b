"""The layers of a large network: their sizes, names, and the bundles between them."""

import json
from pathlib import Path

import pytest

import neat_onnx
from neat_onnx.drawing.levels import density
from neat_onnx.network.network import Network

CORPORA = Path(__file__).parent.parent / "corpora"


def labels(net: Network) -> list[tuple[int, str]]:
    return [(level.families.total(), level.label) for level in density(net)[0]]


def test_a_perceptron_has_levels_and_their_connections_between_them():
    net = Network.mlp([4, 6, 5, 2], activation="tanh", seed=0)
    assert labels(net) == [(4, ""), (6, ""), (5, ""), (2, "")]
    assert [each[:3] for each in density(net)[1]] == [(0, 1, 24), (1, 2, 30), (2, 3, 10)]


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_convolutions_and_pools_have_names():
    source = json.loads((CORPORA / "nts-onnx-poolmax-2.json").read_text())["source"]
    found = labels(neat_onnx.import_model(neat_onnx.convert(source)))
    assert [label for _, label in found] == ["", "Conv 2×2", "MaxPool 3×3", ""]
