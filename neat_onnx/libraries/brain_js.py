"""Read and write brain.js's JSON, as `NeuralNetwork` of versions 0.6, 1 and 2 writes it.

Versions 0.6 and 1 name the neurons of each layer by keys of an object, version 2 has arrays of
weights and biases. Like the library, the reader goes by the order of the keys, not by their names:
JavaScript puts keys that are integers first, in ascending order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.limits import reasons_against, tell_disabled
from neat_onnx.libraries.names import reversed_names
from neat_onnx.network.genes import Connections, Ints, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
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


_TITLE = "brain.js"
_ACTIVATIONS = {**reversed_names(ACTIVATION_NAMES), LEAKY_FORMULA: LEAKY}


def write(net: Network) -> dict[str, Any]:
    """Return the document of a layered network whose neurons have one activation."""
    level = _levels(net)
    _refuse(net, level)
    inputs, outputs = _names(net, net.input_neurons), _names(net, net.output_neurons)
    layers: list[dict[str, Any]] = [{name: {} for name in inputs}]
    sizes = [len(inputs)]
    before = net.input_neurons
    for depth in range(1, int(level.max()) + 1):
        here = np.flatnonzero(level == depth)
        if depth == level.max():
            here = net.output_neurons
        names = outputs if depth == level.max() else list(map(str, range(len(here))))
        layers.append(_layer_document(net, before, here, names))
        sizes.append(len(here))
        before = here
    warn(f"written for {_TITLE}: it keeps weights and activations in float32")
    tell_disabled(net, _TITLE)
    activation = _ACTIVATIONS[str(net.activation_names[net.output_neurons[0]])]
    return {
        "sizes": sizes,
        "layers": layers,
        "outputLookup": outputs != list(map(str, range(len(outputs)))),
        "inputLookup": inputs != list(map(str, range(len(inputs)))),
        "activation": activation,
        "trainOpts": {"activation": activation},
    }


def _names(net: Network, neurons: Any) -> list[str]:
    """The names of inputs or outputs, or their numbers where not all have names that keep order.

    JavaScript puts keys that are numbers before others.
    """
    names = [net.neuron_names[neuron] for neuron in neurons.tolist()]
    ordered = all(name and not name.isdigit() for name in names) and len(set(names)) == len(names)
    return names if ordered else list(map(str, range(len(names))))


def _levels(net: Network) -> Ints:
    """The layer of each neuron by its longest path from the inputs; outputs are in the last."""
    level = np.where(net.is_input, 0, np.maximum(schedule(net).level, 1))
    level[net.output_neurons] = level.max()
    return level


def _refuse(net: Network, level: Ints) -> None:
    """Refuse every property that dense layers of one activation do not have."""
    live, computes, names = net.live, ~net.is_input, net.activation_names
    common = str(names[net.output_neurons[0]])
    is_output = np.isin(np.arange(len(net)), net.output_neurons)
    reasons = reasons_against(net, _TITLE, _ACTIVATIONS, repeated=False)
    reasons.neurons(
        f"another activation than {common}, which its outputs have,", computes & (names != common)
    )
    skips = level[live.source] != level[live.target] - 1
    reasons.connections("a connection that skips layers", skips)
    last = level == level.max()
    reasons.neurons("a neuron without readers beside the outputs", computes & last & ~is_output)
    reasons.refuse()


def _layer_document(net: Network, before: Any, here: Any, names: list[str]) -> dict[str, Any]:
    live = net.live
    column, row = np.full(len(net), -1), np.full(len(net), -1)
    column[before], row[here] = np.arange(len(before)), np.arange(len(here))
    weights = np.zeros((len(here), len(before)))
    inside = (row[live.target] >= 0) & (column[live.source] >= 0)
    weights[row[live.target[inside]], column[live.source[inside]]] = live.weight[inside]
    return {
        names[at]: {
            "bias": float(net.neurons.bias[neuron]),
            "weights": {str(k): float(value) for k, value in enumerate(weights[at])},
        }
        for at, neuron in enumerate(here.tolist())
    }
