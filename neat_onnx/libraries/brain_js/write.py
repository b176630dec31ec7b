"""Write networks as brain.js's JSON, version 1, which `new NeuralNetwork().fromJSON` loads."""

from typing import Any

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.libraries.brain_js.read import ACTIVATION_NAMES, LEAKY, LEAKY_FORMULA
from neat_onnx.libraries.limits import Reasons, repeats_ends
from neat_onnx.libraries.names import reversed_names
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network

_TITLE = "brain.js"
_ACTIVATIONS = {**reversed_names(ACTIVATION_NAMES), LEAKY_FORMULA: LEAKY}


def write(net: Network) -> dict[str, Any]:
    """Return the document of a layered network whose neurons have one activation.

    Raises:
        NetworkError: brain.js cannot express something; lists every reason with neurons.
    """
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
        layers.append(_layer(net, before, here, names))
        sizes.append(len(here))
        before = here
    warn(f"written for {_TITLE}: it keeps weights and activations in float32")
    if not np.all(net.connections.enabled):
        warn(f"written for {_TITLE}: disabled connections are left out")
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


def _levels(net: Network) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The layer of each neuron by its longest path from the inputs; outputs are in the last."""
    level = np.where(net.is_input, 0, 1)
    live = net.live
    for _ in range(len(net)):
        deeper = level.copy()
        now = live.delay == 0
        np.maximum.at(deeper, live.target[now], level[live.source[now]] + 1)
        if np.array_equal(deeper, level):
            break
        level = deeper
    level[net.output_neurons] = level.max()
    return level


def _refuse(net: Network, level: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    """Refuse every property that dense layers do not have."""
    live, computes, reasons = net.live, ~net.is_input, Reasons(net, _TITLE)
    names = net.activation_names
    common = str(names[net.output_neurons[0]])
    is_output = np.isin(np.arange(len(net)), net.output_neurons)
    repeated = len(set(net.output_neurons.tolist())) != len(net.output_neurons)
    known = np.array([str(name) in _ACTIVATIONS for name in names])
    reasons.neurons(
        "an activation but sigmoid, tanh, relu and version 1's leaky-relu", computes & ~known
    )
    reasons.neurons(
        f"another activation than {common}, which its outputs have,", computes & (names != common)
    )
    reasons.neurons(
        "an aggregation other than the sum",
        (net.aggregation_names != "sum") & (net.fan_in > 0) & computes,
    )
    reasons.neurons("a response", (net.neurons.response != 1.0) & computes)
    for what, which in (
        ("a delay", live.delay > 0),
        ("a gated connection", live.gater != NONE),
        ("a connection that reads the state", live.reads_state & ~net.is_input[live.source]),
        ("two connections with the same ends", repeats_ends(net)),
        ("a connection that skips layers", level[live.source] != level[live.target] - 1),
    ):
        reasons.connections(what, which)
    last = level == level.max()
    reasons.neurons("a neuron without readers beside the outputs", computes & last & ~is_output)
    reasons.neurons(
        "an output that is an input, or several outputs", is_output & (net.is_input | repeated)
    )
    reasons.refuse()


def _layer(net: Network, before: Any, here: Any, names: list[str]) -> dict[str, Any]:
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
