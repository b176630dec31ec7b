"""Read and write brain.js's JSON, as `NeuralNetwork` of versions 0.6, 1 and 2 writes it.

Versions 0.6 and 1 name the neurons of each layer by keys of an object, version 2 has arrays of
weights and biases. Like the library, the reader goes by the order of the keys, not by their names:
JavaScript puts keys that are integers first, in ascending order.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.limits import reasons_against, tell_disabled
from neat_onnx.libraries.names import reversed_names
from neat_onnx.network.genes import Connections, Ints, Neurons, marked
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule
from neat_onnx.parsing import ForeignDocument, parse

ACTIVATION_NAMES = {"sigmoid": "sigmoid", "relu": "relu", "tanh": "tanh"}
LEAKY = "leaky-relu"
_ALPHA = 0.01
LEAKY_FORMULA = f"formula: {_ALPHA!r} * relu(z)"
"""Our name of leaky-relu as version 1 computes it: 0 for negative numbers, a slope for others."""
_KINDS = ("NeuralNetwork", "NeuralNetworkGPU", None)


class _Training(ForeignDocument):
    activation: str | None = None
    alpha: float | None = Field(None, alias="leakyReluAlpha")


class _Document(_Training):
    layers: list[dict[str, Any]]
    training: _Training = Field(_Training(), alias="trainOpts")
    options: _Training = _Training()


class _Neuron(ForeignDocument):
    bias: float
    weights: dict[str, float] | list[float]


class _Arrays(ForeignDocument):
    weights: list[list[float]]
    biases: list[float]


class _Layer(NamedTuple):
    """The names of neurons, "" for numbered ones; their weights, a row each, and biases."""

    names: list[str]
    weights: list[list[float]]
    biases: list[float]


def read(document: Mapping[str, Any], _: ReadOptions) -> Network:
    """Return the network that `new NeuralNetwork().fromJSON(document)` runs."""
    kind = document.get("type")
    if kind not in _KINDS:
        raise NetworkError(
            f"{kind} of brain.js is recurrent, and not supported",
            where="type",
            hint="Of brain.js, NeuralNetwork and NeuralNetworkGPU are read",
        )
    parsed = parse(_Document, document, NetworkError)
    if len(parsed.layers) < 2:
        raise NetworkError("a network has at least two layers", where="layers")
    inputs = _inputs(document, parsed.layers)
    layers = [_layer(layer, f"layers[{at}]") for at, layer in enumerate(parsed.layers) if at]
    before = len(inputs)
    for at, layer in enumerate(layers, 1):
        for neuron, row in enumerate(layer.weights):
            if len(row) != before:
                raise NetworkError(
                    f"neuron {neuron} has {len(row)} weights, the layer before it {before} neurons",
                    where=f"layers[{at}]",
                )
        before = len(layer.weights)
    return _network(inputs, layers, _activation(parsed))


def _inputs(document: Mapping[str, Any], layers: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the inputs, "" for numbered ones."""
    lookup = document.get("inputLookup")
    if "biases" in layers[1] and not isinstance(lookup, Mapping):
        sizes = document.get("sizes")
        if not isinstance(sizes, list) or not sizes or not isinstance(sizes[0], int):
            raise NetworkError("sizes should be a list of integers", where="sizes")
        return [""] * sizes[0]
    return _names(_keys(lookup if isinstance(lookup, Mapping) else layers[0]))


def _keys(layer: Mapping[str, Any]) -> list[str]:
    """The keys in the order in which JavaScript enumerates them."""
    numbers = sorted((key for key in layer if _is_index(key)), key=int)
    return numbers + [key for key in layer if not _is_index(key)]


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and str(int(key)) == key


def _names(keys: Sequence[str]) -> list[str]:
    return ["" if key == str(at) else key for at, key in enumerate(keys)]


def _layer(layer: dict[str, Any], where: str) -> _Layer:
    if "biases" in layer:
        arrays = parse(_Arrays, layer, NetworkError, hint=f"in {where}")
        if len(arrays.weights) != len(arrays.biases):
            raise NetworkError("weights and biases differ in number", where=where)
        return _Layer([""] * len(arrays.biases), arrays.weights, arrays.biases)
    keys = _keys(layer)
    neurons = [parse(_Neuron, layer[key], NetworkError, hint=f"in {where}.{key}") for key in keys]
    weights = [
        [neuron.weights[key] for key in _keys(neuron.weights)]
        if isinstance(neuron.weights, dict)
        else neuron.weights
        for neuron in neurons
    ]
    return _Layer(_names(keys), weights, [neuron.bias for neuron in neurons])


def _activation(parsed: _Document) -> str:
    """Our name of the activation of all neurons."""
    sources = (parsed.training, parsed.options, parsed)
    name = next((each.activation for each in sources if each.activation), "sigmoid")
    if name == LEAKY:
        slope = next((each.alpha for each in sources if each.alpha is not None), _ALPHA)
        if "biases" in parsed.layers[1]:  # version 2 computes it as it is meant
            return f"formula: maximum(z, {slope!r} * z)"
        return f"formula: {slope!r} * relu(z)"
    if name not in ACTIVATION_NAMES:
        known = ", ".join([*ACTIVATION_NAMES, LEAKY])
        raise NetworkError(f"unknown activation '{name}'", hint=f"Known: {known}")
    return ACTIVATION_NAMES[name]


def _network(inputs: list[str], layers: Sequence[_Layer], activation: str) -> Network:
    """The network of layers, each neuron of which reads all of the layer before it."""
    sizes = [len(inputs), *(len(layer.biases) for layer in layers)]
    ends = np.cumsum([0, *sizes])
    places = [np.arange(*pair) for pair in pairwise(ends.tolist())]
    parts = [
        (np.tile(source, len(target)), np.repeat(target, len(source)), np.ravel(layer.weights))
        for (source, target), layer in zip(pairwise(places), layers, strict=True)
    ]
    names = [*inputs, *(name for layer in layers for name in layer.names)]
    bias = [0.0] * len(inputs) + [value for layer in layers for value in layer.biases]
    kinds = ["identity"] * len(inputs) + [activation] * (len(bias) - len(inputs))
    neurons = Neurons.of(np.arange(len(bias)), kinds, bias=np.array(bias), name=names)
    edges = Connections.of(*map(np.concatenate, zip(*parts, strict=True)))
    return Network.of_genes(places[0], places[-1], neurons, edges, "brain.js")


_TITLE = "brain.js"
_ACTIVATIONS = {**reversed_names(ACTIVATION_NAMES), LEAKY_FORMULA: LEAKY}


def write(net: Network) -> dict[str, Any]:
    """Return the document of a layered network whose neurons have one activation."""
    live, computes = net.live, ~net.is_input
    level = np.where(net.is_input, 0, np.maximum(schedule(net).level, 1))
    last = level.max()
    level[net.output_neurons] = last
    common = str(net.activation_names[net.output_neurons[0]])
    unread = computes & (level == last) & ~marked(len(net), net.output_neurons)
    reasons = reasons_against(net, _TITLE, _ACTIVATIONS, repeated=False)
    skips = level[live.source] != level[live.target] - 1
    reasons.connections("a connection that skips layers", skips)
    reasons.neurons("a neuron without readers beside the outputs", unread)
    reasons.refuse()
    warn(f"written for {_TITLE}: it keeps weights and activations in float32")
    tell_disabled(net, _TITLE)
    hidden = [np.flatnonzero(level == depth) for depth in range(1, last)]
    groups = [net.input_neurons, *hidden, net.output_neurons]
    position = np.empty(len(net), np.int64)
    for group in groups:
        position[group] = np.arange(len(group))
    names = [_numbers(group) for group in groups]
    names[0], names[-1] = (_end_names(net, groups[end]) for end in (0, -1))
    layers: list[dict[str, Any]] = [{name: {} for name in names[0]}]
    for before, here, called in zip(groups, groups[1:], names[1:], strict=False):
        weights = np.zeros((len(here), len(before)))
        into = np.isin(live.target, here)
        ends = position[live.target[into]], position[live.source[into]]
        weights[ends] = live.weight[into]
        rows = zip(called, net.neurons.bias[here].tolist(), weights.tolist(), strict=True)
        layers.append(
            {
                name: {"bias": bias, "weights": {str(k): weight for k, weight in enumerate(row)}}
                for name, bias, row in rows
            }
        )
    return {
        "sizes": list(map(len, groups)),
        "layers": layers,
        "outputLookup": names[-1] != _numbers(groups[-1]),
        "inputLookup": names[0] != _numbers(groups[0]),
        "activation": _ACTIVATIONS[common],
        "trainOpts": {"activation": _ACTIVATIONS[common]},
    }


def _numbers(neurons: Ints) -> list[str]:
    return list(map(str, range(len(neurons))))


def _end_names(net: Network, neurons: Ints) -> list[str]:
    """The names of inputs or outputs, or their numbers where not all have names that keep order.

    JavaScript puts keys that are numbers before others.
    """
    names = [net.neuron_names[neuron] for neuron in neurons.tolist()]
    ordered = all(name and not name.isdigit() for name in names) and len(set(names)) == len(names)
    return names if ordered else _numbers(neurons)
