"""The way of a first file, gone once while nobody waits: all that it needs is imported then."""

import warnings
from typing import Any

import neat_onnx
from neat_onnx.network.network import Network

_IDENTITY = {"name": "identity", "custom": False}
_SUM = {"name": "sum", "custom": False}

# Of the libraries whose files come most: one input, one output, one connection.
NETWORKS: tuple[dict[str, Any], ...] = (
    {
        "formatVersion": 2,
        "input": 1,
        "output": 1,
        "dropout": 0,
        "nodes": [
            {"type": kind, "bias": 0, "squash": "tanh", "index": place, "geneId": place}
            for place, kind in enumerate(("input", "output"))
        ],
        "connections": [{"from": 0, "to": 1, "weight": 1, "gater": None, "enabled": True}],
    },
    {
        "format_version": "1.0",
        "network_type": "feedforward",
        "metadata": {"neat_python_version": "2.0.0", "genome_id": 1},
        "topology": {"num_inputs": 1, "num_outputs": 1, "input_keys": [-1], "output_keys": [0]},
        "nodes": [
            {"id": key, "type": kind, "activation": _IDENTITY, "aggregation": _SUM}
            | {"bias": 0.0, "response": 1.0}
            for key, kind in ((-1, "input"), (0, "output"))
        ],
        "connections": [{"from": -1, "to": 0, "weight": 1.0, "enabled": True}],
    },
)


def warm() -> None:
    """Export a network and compare it."""
    net = Network.mlp([1, 1], activation="tanh", seed=0)
    neat_onnx.verify(net, neat_onnx.export(net), samples=4)


def warm_reading() -> None:
    """Read a network of each library whose files come most."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for document in NETWORKS:
            neat_onnx.load_network(document)
