"""Layers that a picture shows as one: convolutions, pools, cells."""

import json
from pathlib import Path
from typing import Any

import pytest

import neat_onnx
from neat_onnx.drawing.scene import named_layers
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

CORPORA = Path(__file__).parent.parent / "corpora"
pytestmark = pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")


def source(name: str) -> Any:
    return json.loads((CORPORA / f"{name}.json").read_text())["source"]


def shown(net: Network) -> list[tuple[str, int]]:
    return [(each.label, each.neurons.size) for each in named_layers(net, schedule(net))]


def imported(name: str) -> Network:
    return neat_onnx.import_model(neat_onnx.convert(source(name)))


def test_convolutions_and_pools_have_their_kernels():
    assert shown(imported("nts-onnx-convstride-3")) == [("Conv 3×2", 24)]
    assert shown(imported("nts-onnx-poolmax-2")) == [("Conv 2×2", 16), ("MaxPool 3×3", 16)]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("nts-net-lstm-2", [("LSTM 2", 8), ("LSTM 2", 8)]),
        ("np-rec-10", []),
        ("nts-net-dag-24", []),
    ],
)
def test_cells_with_gates_are_found_where_they_are(name: str, wanted: list[Any]):
    assert shown(neat_onnx.load_network(source(name))) == wanted


@pytest.mark.parametrize("operator", ["RNN", "GRU", "LSTM"])
def test_cells_without_gates_of_connections_are_found_too(operator: str):
    net = getattr(Network, operator.lower())(2, 4, 1, seed=0)
    ((label, size),) = shown(net)
    assert label == f"{operator} 4"
    assert size % 4 == 0
