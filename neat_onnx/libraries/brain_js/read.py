"""Read brain.js's JSON, as `NeuralNetwork` of versions 0.6, 1 and 2 writes it.

Versions 0.6 and 1 name the neurons of each layer by keys of an object, version 2 has arrays of
weights and biases. Like the library, the reader goes by the order of the keys, not by their names:
JavaScript puts keys that are integers first, in ascending order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import Connections, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
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


class _Neuron(ForeignDocument):
    bias: float
    weights: dict[str, float] | list[float]


class _Layer(ForeignDocument):
    weights: list[list[float]]
    biases: list[float]


class _Document(ForeignDocument):
    layers: list[dict[str, Any]]
    activation: str | None = None
    alpha: float | None = Field(None, alias="leakyReluAlpha")
    training: _Training | None = Field(None, alias="trainOpts")
    options: _Training | None = None


def read(document: Mapping[str, Any]) -> Network:
    """Return the network that `new NeuralNetwork().fromJSON(document)` runs.

    Raises:
        NetworkError: it is not such a network; says where.
    """
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
    layers = [_layer(layer, position) for position, layer in enumerate(parsed.layers) if position]
    return _network(inputs, layers, _activation(parsed))


def _inputs(document: Mapping[str, Any], layers: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of the inputs, "" for numbered ones."""
    lookup = document.get("inputLookup")
    if "biases" in layers[1] and not isinstance(lookup, Mapping):
        sizes = document["sizes"]
        if not isinstance(sizes, list) or not sizes or not isinstance(sizes[0], int):
            raise NetworkError("sizes should be a list of integers", where="sizes")
        return [""] * sizes[0]
    names = _keys(lookup if isinstance(lookup, Mapping) else layers[0])
    return ["" if name == str(position) else name for position, name in enumerate(names)]


def _keys(layer: Mapping[str, Any]) -> list[str]:
    """The keys in the order in which JavaScript enumerates them."""
    numbers = sorted((key for key in layer if _is_index(key)), key=int)
    return numbers + [key for key in layer if not _is_index(key)]


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and str(int(key)) == key


def _layer(
    layer: dict[str, Any], position: int
) -> tuple[list[str], list[list[float]], list[float]]:
    """Names, weights (rows) and biases of a layer."""
    if "biases" in layer:
        arrays = parse(_Layer, layer, NetworkError, hint=f"in layers[{position}]")
        if len(arrays.weights) != len(arrays.biases):
            raise NetworkError("weights and biases differ in number", where=f"layers[{position}]")
        return [""] * len(arrays.biases), arrays.weights, arrays.biases
    names = _keys(layer)
    neurons = [
        parse(_Neuron, layer[name], NetworkError, hint=f"in layers[{position}].{name}")
        for name in names
    ]
    weights = [
        [neuron.weights[key] for key in _keys(neuron.weights)]
        if isinstance(neuron.weights, dict)
        else neuron.weights
        for neuron in neurons
    ]
    shown = ["" if name == str(at) else name for at, name in enumerate(names)]
    return shown, weights, [neuron.bias for neuron in neurons]


def _activation(parsed: _Document) -> str:
    """Our name of the activation of all neurons."""
    sources = [source for source in (parsed.training, parsed.options) if source is not None]
    name = next((s.activation for s in sources if s.activation), parsed.activation) or "sigmoid"
    if name == LEAKY:
        given = [*(source.alpha for source in sources), parsed.alpha]
        slope = next((alpha for alpha in given if alpha is not None), _ALPHA)
        if "biases" in parsed.layers[1]:  # version 2 computes it as it is meant
            return f"formula: maximum(z, {slope!r} * z)"
        return f"formula: {slope!r} * relu(z)"
    if name not in ACTIVATION_NAMES:
        known = ", ".join([*ACTIVATION_NAMES, LEAKY])
        raise NetworkError(f"unknown activation '{name}'", hint=f"Known: {known}")
    return ACTIVATION_NAMES[name]


def _network(
    inputs: list[str],
    layers: list[tuple[list[str], list[list[float]], list[float]]],
    activation: str,
) -> Network:
    names, bias, width, start = list(inputs), [0.0] * len(inputs), len(inputs), 0
    parts: list[list[Any]] = [[], [], []]
    for position, (labels, rows, biases) in enumerate(layers, 1):
        for at, row in enumerate(rows):
            if len(row) != width:
                raise NetworkError(
                    f"neuron {at} has {len(row)} weights, the layer before it {width} neurons",
                    where=f"layers[{position}]",
                )
        end = start + width
        parts[0].append(np.tile(np.arange(start, end), len(rows)))
        parts[1].append(np.repeat(np.arange(end, end + len(rows)), width))
        parts[2].append(np.array(rows, np.float64).ravel())
        names, bias, width, start = names + labels, bias + biases, len(rows), end
    count = len(bias)
    kinds = ["identity"] * len(inputs) + [activation] * (count - len(inputs))
    neurons, activations, aggregations = Neurons.of(
        np.arange(count), kinds, bias=np.array(bias), name=tuple(names) if any(names) else ()
    )
    return Network(
        inputs=(Port("input", (len(inputs),), np.arange(len(inputs))),),
        outputs=(Port("output", (width,), np.arange(count - width, count)),),
        neurons=neurons,
        connections=Connections.of(*map(np.concatenate, parts)),
        activations=activations,
        aggregations=aggregations,
        library="brain.js",
    )
