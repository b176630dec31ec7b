"""Layers that a picture shows as one, and the levels of a large network with their names."""

from typing import Any

import pytest
from support.examples.cases import case

import neat_onnx
from neat_onnx.drawing.levels import density
from neat_onnx.drawing.scene import named_layers
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def shown(net: Network) -> list[tuple[str, int]]:
    return [(each.label, each.neurons.size) for each in named_layers(net, schedule(net))]


def imported(name: str) -> Network:
    return neat_onnx.import_model(neat_onnx.convert(case(name).source))


def test_convolutions_and_pools_have_their_kernels():
    assert shown(imported("nts-onnx-convstride-3")) == [("Conv 3×2", 24)]
    net = imported("nts-onnx-poolmax-2")
    assert shown(net) == [("Conv 2×2", 16), ("MaxPool 3×3", 16)]
    assert [level.label for level in density(net)[0]] == ["", "Conv 2×2", "MaxPool 3×3", ""]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("nts-net-lstm-2", [("LSTM 2", 8), ("LSTM 2", 8)]), ("np-rec-10", []), ("nts-net-dag-24", [])],
)
def test_cells_with_gates_are_found_where_they_are(name: str, wanted: list[Any]):
    assert shown(case(name).network()) == wanted


@pytest.mark.parametrize("operator", ["RNN", "GRU", "LSTM"])
def test_cells_without_gates_of_connections_are_found_too(operator: str):
    net = getattr(Network, operator.lower())(2, 4, 1, seed=0)
    ((label, size),) = shown(net)
    assert label == f"{operator} 4"
    assert size % 4 == 0


def test_a_perceptron_has_levels_and_their_connections_between_them():
    levels, bundles = density(Network.mlp([4, 6, 5, 2], activation="tanh", seed=0))
    assert [(level.families.total(), level.label) for level in levels] == [
        (4, ""), (6, ""), (5, ""), (2, "")
    ]  # fmt: skip
    assert [each[:3] for each in bundles] == [(0, 1, 24), (1, 2, 30), (2, 3, 10)]
