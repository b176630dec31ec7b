"""A network of many neurons as its layers, and how densely each is wired to each."""

from collections import Counter
from typing import TypedDict

import numpy as np

from neat_onnx.drawing.families import family
from neat_onnx.drawing.layers import NamedLayer, named_layers
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule


class Layer(TypedDict):
    """The neurons of one topological level, inputs or outputs apart, by family of activation.

    `label` says which kind of layer they are, "Conv 3×3", "LSTM 4" or "dense"; it is empty if they
    are none. `shape` is that of the output of a convolution or a pool. Levels of one recurrent
    layer have the same `unit`, a number; of others it is None.
    """

    neurons: int
    families: dict[str, int]
    label: str
    shape: list[int]
    unit: int | None


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


def density(net: Network, levels: Schedule) -> Density:
    """Return the layers of `net`, inputs first and outputs last, and the bundles between them."""
    column = levels.level.copy()
    column[net.output_neurons] = column.max() + 1
    column[net.input_neurons] = -1
    used, column = np.unique(column, return_inverse=True)
    families = np.array([family(name) for name in net.activations] or [""], object)
    names = np.where(net.is_input, "input", families[net.neurons.activation])
    kinds = _kinds(net, levels, column)
    layers = []
    for number in range(len(used)):
        members = names[column == number].tolist()
        counts = dict(Counter(members).most_common())
        label, shape, unit = kinds[number]
        layers.append(
            Layer(neurons=len(members), families=counts, label=label, shape=shape, unit=unit)
        )
    return Density(layers=layers, bundles=_bundles(net, column, len(used)))


def _kinds(net: Network, levels: Schedule, column: Ints) -> list[tuple[str, list[int], int | None]]:
    """Return label, shape and unit of each column of neurons."""
    named = named_layers(net, levels)
    layer = np.full(len(net), -1)
    for number, each in enumerate(named):
        layer[each.neurons] = number
    dense = _dense(net, column)
    kinds = []
    for number in range(column.max() + 1):
        counts = Counter(layer[column == number].tolist())
        inside = [named[each] for each, _ in counts.most_common() if each >= 0]
        whole = inside[0] if len(counts) == len(inside) == 1 else None
        label = ", ".join(dict.fromkeys(each.label for each in inside))
        shape, unit = [], None
        if whole is not None and _columns(whole, column) == 1:
            shape = list(whole.neurons.shape) if whole.neurons.ndim > 1 else []
        elif whole is not None:
            unit = next(iter(counts))
        kinds.append((label or ("dense" if number in dense else ""), shape, unit))
    return kinds


def _columns(layer: NamedLayer, column: Ints) -> int:
    return len(np.unique(column[layer.neurons]))


def _dense(net: Network, column: Ints) -> set[int]:
    """Return the columns of which each neuron reads every neuron of one other column, and no more.

    A column that reads a single neuron is not called a layer.
    """
    live, sizes = net.live, np.bincount(column)
    target, source = np.divmod(np.unique(live.target * len(net) + live.source), len(net))
    between, counts = np.unique(column[target] * len(sizes) + column[source], return_counts=True)
    targets, sources = np.divmod(between, len(sizes))
    read = np.bincount(targets, minlength=len(sizes))
    full = (counts == sizes[targets] * sizes[sources]) & (read[targets] == 1)
    return set(targets[full & (sizes[sources] > 1)].tolist())


def _bundles(net: Network, column: np.ndarray, width: int) -> list[Bundle]:
    live = net.live
    pairs = column[live.source] * width + column[live.target]
    found, bundle, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    means = np.bincount(bundle, weights=live.weight, minlength=len(found)) / counts
    columns = zip(found.tolist(), counts.tolist(), means.tolist(), strict=True)
    return [
        Bundle(source=pair // width, target=pair % width, count=count, mean=mean)
        for pair, count, mean in columns
    ]
