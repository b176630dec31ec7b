"""Nodes of recurrent networks that neat-python leaves at 0 although they have genes.

A node without enabled connections into it is not computed there, whatever its bias. In a Network it
is the constant 0, and its genes stand on a neuron beside it, its *holder*:

    node 7     identity, bias 0; reads the holder with the weight 0
    holder     the activation, aggregation, bias and response of node 7

So nothing is lost on the way through ONNX, and a genome that is written again evolves on.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Bools, Connections, Ints, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port

_GENES = ("activation", "aggregation", "bias", "response")


def is_plain(activation: str, aggregation: str, bias: float, response: float) -> bool:
    """Return whether a node without inputs is the constant 0 of the plainest genes."""
    return (activation, aggregation, bias, response) == ("identity", "sum", 0.0, 1.0)


def is_held(activation: str, aggregation: str, bias: float, response: float) -> bool:
    """Return whether a holder with these genes is finite, so that 0 times its value is 0."""
    z = bias + response * aggregation_named(aggregation).empty
    with np.errstate(all="ignore"):
        return bool(np.isfinite(activation_named(activation)(np.array([z]))[0]))


def released(net: Network) -> tuple[Network, Ints]:
    """Return the network with the genes of holders on their nodes, and the ids of these nodes.

    Args:
        net: any network; one without holders is returned as it is.
    """
    genes, live = net.connections, net.live
    links = np.flatnonzero(_is_link(net, genes))
    if not len(links):
        return net, np.zeros(0, np.int64)
    fan_in = np.bincount(live.target, minlength=len(net))
    links = links[fan_in[genes.target[links]] == 1]
    holders, nodes = genes.source[links], genes.target[links]
    own = np.arange(len(net))
    own[nodes] = holders
    named = {name: getattr(net.neurons, name)[own] for name in _GENES}
    moved = replace(net.neurons, **named)
    ids = net.neurons.id[nodes]
    kept = genes.take(~np.isin(np.arange(len(genes)), links))
    plain = replace(net, neurons=moved, connections=kept, blocks=(), memory=())
    return _without(plain, holders), ids


def _is_link(net: Network, genes: Connections) -> Bools:
    """Whether each connection is the only one out of a holder, and leads to a plain node."""
    count = len(net)
    readers = np.bincount(genes.source, minlength=count)
    sources = np.bincount(genes.target, minlength=count)
    used = np.concatenate([genes.gater[genes.gater != NONE], net.output_neurons])
    holds = (readers == 1) & (sources == 0) & ~net.is_input & ~np.isin(np.arange(count), used)
    plain = np.array(
        [
            is_plain(*values)
            for values in zip(
                net.activation_names,
                net.aggregation_names,
                net.neurons.bias,
                net.neurons.response,
                strict=True,
            )
        ]
    )
    acts = genes.enabled & (genes.gater == NONE) & (genes.weight == 0.0) & (genes.delay == 1)
    is_link: Bools = acts & holds[genes.source] & plain[genes.target] & ~net.is_input[genes.target]
    return is_link


def _without(net: Network, dropped: Ints) -> Network:
    """The network without neurons that nothing refers to."""
    kept = np.setdiff1d(np.arange(len(net)), dropped)
    place = np.full(len(net) + 1, NONE)
    place[kept] = np.arange(len(kept))
    ends = {name: place[getattr(net.connections, name)] for name in ("source", "target", "gater")}
    return replace(
        net,
        inputs=_moved(net.inputs, place),
        outputs=_moved(net.outputs, place),
        neurons=Neurons(**{field.name: _taken(net, field.name, kept) for field in fields(Neurons)}),
        connections=replace(net.connections, **ends),
    )


def _taken(net: Network, name: str, kept: Ints) -> Any:
    values = getattr(net.neurons, name)
    if isinstance(values, np.ndarray):
        return values[kept]
    return tuple(values[at] for at in kept) if values else ()


def _moved(ports: Sequence[Port], place: Ints) -> tuple[Port, ...]:
    return tuple(replace(port, neurons=place[port.neurons]) for port in ports)
