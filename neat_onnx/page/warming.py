"""The way of a first file, gone once while nobody waits: all that it needs is imported then."""

import warnings

import neat_onnx
from neat_onnx.network.network import Network

COMMON = ("neataptic-ts", "neat-python")  # libraries whose files come most


def warm() -> None:
    """Export a network and compare it."""
    net = Network.mlp([1, 1], activation="tanh", seed=0)
    neat_onnx.verify(net, neat_onnx.export(net), samples=4)


def warm_reading() -> None:
    """Read a network of each library whose files come most."""
    net = Network.mlp([1, 1], activation="tanh", seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for library in COMMON:
            neat_onnx.load_network(net.to_library(library))
