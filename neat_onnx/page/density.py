"""A network of many neurons as its layers, and how densely each is wired to each."""

from collections import Counter
from typing import TypedDict

import numpy as np

from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule


class Layer(TypedDict):
    """The neurons of one topological level, inputs or outputs apart, by their activations."""

    neurons: int
    activations: dict[str, int]


class Bundle(TypedDict):
    """The enabled connections from one layer to another."""

    source: int
    target: int
    count: int
    mean: float


class Density(TypedDict):
    """Layers in the order in which they are computed, and the bundles between them."""

    layers: list[Layer]
    bundles: list[Bundle]


def density(net: Network) -> Density:
    """Return the layers of `net`, inputs first and outputs last, and the bundles between them."""
    column = schedule(net).level.copy()
    column[net.output_neurons] = column.max() + 1
    column[net.input_neurons] = -1
    used, column = np.unique(column, return_inverse=True)
    names = np.where(net.is_input, "input", net.activation_names)
    layers = []
    for place in range(len(used)):
        members = names[column == place].tolist()
        layers.append(Layer(neurons=len(members), activations=dict(Counter(members).most_common())))
    return Density(layers=layers, bundles=_bundles(net, column, len(used)))


def _bundles(net: Network, column: np.ndarray, width: int) -> list[Bundle]:
    live = net.live
    pairs = column[live.source] * width + column[live.target]
    found, place, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=live.weight, minlength=len(found)) / counts
    columns = zip(found.tolist(), counts.tolist(), means.tolist(), strict=True)
    return [
        Bundle(source=pair // width, target=pair % width, count=count, mean=mean)
        for pair, count, mean in columns
    ]
