"""Write networks as the nodes and connections that `network_dict` of a TensorNEAT genome gives.

An output has no activation there, so one that has is copied by an added node. A node that nothing
enters has no value there; it reads an input with the weight 0. The slope of an activation that has
none there goes into bias and response.
"""

from typing import Any

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.libraries.limits import Limits, outputs_to_copy, reasons_against, tell_disabled
from neat_onnx.libraries.names import reversed_names
from neat_onnx.libraries.tensorneat.names import ACTIVATION_NAMES, AGGREGATION_NAMES
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network

_TITLE = "TensorNEAT"
_NAMES = reversed_names(ACTIVATION_NAMES)
_SLOPES = {
    "neat_sigmoid": ("sigmoid", 5.0, 0.0),
    "neat_tanh": ("tanh", 2.5, 0.0),
    "bipolar_sigmoid": ("tanh", 0.5, 0.0),
    "complement": ("identity", -1.0, 1.0),
}
"""Functions of slope · z + shift: TensorNEAT's name, slope and shift."""
_LIMITS = Limits(
    _TITLE,
    dict.fromkeys((*_NAMES, *_SLOPES), ""),
    tuple(AGGREGATION_NAMES),
    responses=True,
    copies_outputs=True,
)
_KEY_LIMIT = 2**23
"""Ids are float32 there, exact up to 2^24; evolution goes on with the ids above."""


def write(net: Network) -> dict[str, Any]:
    """Return the document: lists of nodes and connections.

    Raises:
        NetworkError: TensorNEAT cannot express something; lists every reason with neurons.
    """
    reasons = reasons_against(net, _LIMITS)
    silent = ~net.is_input & (net.fan_in == 0)
    reasons.neurons("a product of nothing", silent & (net.aggregation_names == "product"))
    if np.any(silent) and not len(net.input_neurons):
        reasons.neurons("a neuron that no input leads to", silent)
    reasons.refuse()
    tell_disabled(net, _TITLE)
    if np.any(silent):
        warn(f"written for {_TITLE}: a connection of weight 0 enters neurons that nothing enters")
    if np.any(np.isin(net.activation_names, list(_SLOPES))):
        warn(f"written for {_TITLE}: slopes of activations are multiplied into bias and response")
    activated = ~np.isin(net.activation_names, ("identity", "complement"))
    copied = np.array(outputs_to_copy(net, activated), np.bool_)
    if np.any(copied):
        warn(f"written for {_TITLE}: added nodes are the outputs, which have no activation there")
    return _document(net, copied, np.flatnonzero(silent))


def _document(net: Network, copied: Any, silent: Ints) -> dict[str, Any]:
    outputs, first = net.output_neurons.tolist(), len(net.input_neurons)
    ids = _ids(net, {j: first + k for k, j in enumerate(outputs) if not copied[k]})
    copies = {first + k: j for k, j in enumerate(outputs) if copied[k]}
    nodes = {ids[j]: _node(net, j, ids[j]) for j in range(len(net))}
    nodes.update((key, _plain(key)) for key in copies)
    live = net.live
    edges = list(zip(live.source.tolist(), live.target.tolist(), live.weight.tolist(), strict=True))
    edges += [(int(net.input_neurons[0]), j, 0.0) for j in silent.tolist()]
    lines = [(ids[i], ids[j], weight) for i, j, weight in edges]
    lines += [(ids[j], key, 1.0) for key, j in copies.items()]
    conns = [{"in": i, "out": j, "weight": weight} for i, j, weight in lines]
    return {"nodes": [nodes[key] for key in sorted(nodes)], "conns": conns}


def _ids(net: Network, outputs: dict[int, int]) -> list[int]:
    """The ids in the file: inputs 0, 1, …, outputs after them; the others keep theirs, if all can.

    Args:
        net: the network.
        outputs: the ids of the neurons that are outputs in the file.
    """
    places = {j: k for k, j in enumerate(net.input_neurons.tolist())} | outputs
    least = len(net.input_neurons) + len(net.output_neurons)
    others = [j for j in range(len(net)) if j not in places]
    own = net.neurons.id[others]
    if not np.all((own >= least) & (own < _KEY_LIMIT)):
        own = np.arange(least, least + len(others))
    places.update(zip(others, own.tolist(), strict=True))
    return [places[j] for j in range(len(net))]


def _node(net: Network, neuron: int, key: int) -> dict[str, Any]:
    if net.is_input[neuron]:
        return _plain(key)
    genes = net.neurons
    aggregation = str(net.aggregation_names[neuron])
    known = aggregation in AGGREGATION_NAMES  # an aggregation of nothing may be another
    activation = str(net.activation_names[neuron])
    name, slope, shift = _SLOPES.get(activation) or (_NAMES[activation], 1.0, 0.0)
    return _plain(key) | {
        "bias": float(genes.bias[neuron]) * slope + shift,
        "res": float(genes.response[neuron]) * slope,
        "agg": aggregation if known else "sum",
        "act": name,
    }


def _plain(key: int) -> dict[str, Any]:
    return {"idx": key, "bias": 0.0, "res": 1.0, "agg": "sum", "act": "identity"}
