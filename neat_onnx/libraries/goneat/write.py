"""Write networks as goNEAT's genomes, in plain text.

A bias is a gene from an added node that is always 1. A neuron that reads nothing gets one of weight
0 as well, because goNEAT leaves a node at 0 that no input and no bias leads to.

goNEAT evolves on with the id of the last node plus 1, and its crossover sorts nodes by their ids:
so they stand in that order, and ids by which inputs or outputs would change places are not kept.
"""

from itertools import pairwise

import numpy as np

from neat_onnx.libraries.goneat.genome import BIAS, HIDDEN, INPUT, OUTPUT, TYPES
from neat_onnx.libraries.goneat.names import ACTIVATION_NAMES
from neat_onnx.libraries.limits import Limits, reasons_against
from neat_onnx.libraries.names import reversed_names
from neat_onnx.network.network import Network

_NAMES = reversed_names(ACTIVATION_NAMES)
_LIMITS = Limits("goNEAT", _NAMES, repeated=True)
_SENSOR = "NullActivation"
_ID_LIMIT = 2**30
"""Ids of new nodes are int32 there; evolution goes on with the ids above."""


def write(net: Network) -> str:
    """Return the genome as plain text; its numbers read back to the same doubles.

    Raises:
        NetworkError: goNEAT cannot express something; lists every reason with neurons.
    """
    reasons_against(net, _LIMITS).refuse()
    ids = _ids(net)
    bias = max(ids, default=0) + 1
    lines = ["genomestart 1", "trait 1 0.1 0 0 0 0 0 0 0"]
    outputs = set(net.output_neurons.tolist())
    for j in np.argsort(ids).tolist():
        if net.is_input[j]:
            lines.append(_node(ids[j], INPUT, _SENSOR))
        else:
            lines.append(_node(ids[j], OUTPUT if j in outputs else HIDDEN, _activation(net, j)))
    lines += [_node(bias, BIAS, _SENSOR), *_genes(net, ids, bias)]
    return "\n".join([*lines, "genomeend 1"]) + "\n"


def _ids(net: Network) -> list[int]:
    """The neurons' own ids, or 1, 2, … where goNEAT does not count so: inputs, outputs, others."""
    ids: list[int] = net.neurons.id.tolist()
    ends = [net.input_neurons.tolist(), net.output_neurons.tolist()]
    ascend = all(ids[a] < ids[b] for end in ends for a, b in pairwise(end))
    if ascend and all(0 < key < _ID_LIMIT for key in ids):
        return ids
    order = dict.fromkeys([*ends[0], *ends[1], *range(len(net))])
    place = {neuron: key for key, neuron in enumerate(order, 1)}
    return [place[neuron] for neuron in range(len(net))]


def _node(key: int, kind: str, activation: str) -> str:
    sensor = int(kind in (INPUT, BIAS))
    return f"node {key} 0 {sensor} {TYPES.index(kind)} {activation}"


def _activation(net: Network, neuron: int) -> str:
    return _NAMES[str(net.activation_names[neuron])]


def _genes(net: Network, ids: list[int], bias: int) -> list[str]:
    """A line for each connection, disabled ones too, and for each bias."""
    genes = net.connections
    lines = [
        (ids[source], ids[target], weight, enabled)
        for source, target, weight, enabled in zip(
            genes.source.tolist(),
            genes.target.tolist(),
            genes.weight.tolist(),
            genes.enabled.tolist(),
            strict=True,
        )
    ]
    wanted = ~net.is_input & ((net.neurons.bias != 0.0) | (net.fan_in == 0))
    for j in np.flatnonzero(wanted).tolist():
        lines.append((bias, ids[j], float(net.neurons.bias[j]), True))
    return [
        f"gene 1 {source} {target} {weight!r} {str(source == target).lower()} {innovation} 0 "
        f"{str(enabled).lower()}"
        for innovation, (source, target, weight, enabled) in enumerate(lines, 1)
    ]
