"""Pruning: a network without the genes that its outputs do not depend on."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.builders import with_parameters
from neat_onnx.network.genes import NONE, Bools, Ints, Neurons, distinct, marked, owned
from neat_onnx.network.port import moved_memory
from neat_onnx.network.schedule import contributing
from neat_onnx.network.spatial import moved_blocks
from neat_onnx.network.structure import Structure

Net = TypeVar("Net", bound=Structure)


def pruned(net: Net, below: float) -> Net:
    """See `Network.pruned`."""
    small = np.abs(net.connections.weight) < below
    small &= (net.aggregation_names == "sum")[net.connections.target]
    net = replace(net, connections=net.connections.take(net.connections.enabled & ~small))
    return with_neurons(net, contributing(net) | net.is_input)


def without_idle(net: Net) -> Net:
    """The network without idle neurons and connections; its ids are positions.

    A block of which some neuron is needed keeps all of them; those that are not needed take the
    activation of the others, so that one operator gives all. A connection of weight 0 into a sum
    adds nothing if its source has a bound: a first step reads a state of zeros so. Where nothing
    is idle, the result is `net`.
    """
    adding = _adding(net)
    if not np.all(adding):
        net = replace(net, connections=net.connections.take(adding))
    needed = contributing(net)
    net, kept = _alike_in_blocks(net, needed), _kept(net, needed)
    if np.all(kept):
        return net
    net = with_neurons(net, kept)
    return replace(net, neurons=replace(net.neurons, id=np.arange(len(net))))


def with_neurons(net: Net, kept: Bools) -> Net:
    """The network of some of its neurons, and of the connections between them."""
    to = np.append(np.where(kept, np.cumsum(kept) - 1, NONE), NONE)  # of NONE, the last place
    edges = net.connections
    gates = (edges.gater == NONE) | (to[edges.gater] != NONE)
    edges = edges.take(gates & kept[edges.source] & kept[edges.target])
    ends: dict[str, Any] = {
        name: to[getattr(edges, name)] for name in ("source", "target", "gater")
    }
    return replace(
        net,
        inputs=tuple(replace(port, neurons=to[port.neurons]) for port in net.inputs),
        outputs=tuple(replace(port, neurons=to[port.neurons]) for port in net.outputs),
        neurons=copied(net.neurons, np.flatnonzero(kept)),
        connections=replace(edges, **ends),
        blocks=moved_blocks(net.blocks, to),
        memory=moved_memory(net.memory, to),
    )


def copied(genes: Neurons, places: Ints) -> Neurons:
    """The neurons at these places, which may repeat."""
    columns: dict[str, Any] = {
        name: tuple(column[j] for j in places.tolist() if column)
        if isinstance(column, tuple)
        else column[places]
        for name, column in vars(genes).items()
    }
    return Neurons(**columns)


def _adding(net: Net) -> Bools:
    """Which connections are not of weight 0, from a source with a bound into a sum."""
    genes = net.connections
    adding: Bools = genes.weight != 0.0
    if np.all(adding):
        return adding
    bounded = np.array([activation_named(name).bounded for name in net.activations], np.bool_)
    idle = (bounded[net.neurons.activation] | net.is_input)[genes.source] & ~genes.reads_state
    idle &= (net.aggregation_names == "sum")[genes.target] & (genes.gater == NONE)
    in_block = marked(len(net), *(block.neurons for block in net.blocks))
    return adding | ~idle | in_block[genes.target]


def _kept(net: Net, needed: Bools) -> Bools:
    """The inputs, the neurons that contribute, and their blocks whole."""
    kept = needed | net.is_input
    while not np.all(kept):
        blocks = [block for block in net.blocks if np.any(kept[block.neurons])]
        more = contributing(net, blocks) | net.is_input
        if np.array_equal(more, kept):
            break
        kept = more
    return kept


def _alike_in_blocks(net: Net, needed: Bools) -> Net:
    """The network with one activation for each channel of a block whose needed neurons have one.

    A channel of which no neuron is needed takes that of the channel before it.
    """
    codes = net.neurons.activation.copy()
    for block in net.blocks:
        latest: Ints | None = None
        for channel in block.neurons.reshape(len(block.neurons), -1):
            wanted = distinct(codes[channel[needed[channel]]])
            latest = wanted if len(wanted) else latest
            if latest is not None and len(latest) == 1:
                codes[channel] = latest[0]
    if np.array_equal(codes, net.neurons.activation):
        return net
    return replace(net, neurons=replace(net.neurons, activation=owned(codes)))


def with_weights_for_responses(net: Net) -> Net:
    """The network with the responses of neurons of one input as the weights of their connections.

    That is done where no digit is lost, for weights of 1 and -1, and outside of blocks, which share
    their weights. The result is `net` where there is no such neuron.
    """
    genes, links = net.neurons, net.connections
    inputs = np.bincount(links.target, minlength=len(net))
    candidates = (genes.response != 1.0) & (inputs == 1) & (net.aggregation_names == "sum")
    for block in net.blocks:
        candidates[block.neurons] = False
    if not np.any(candidates):
        return net
    found = candidates[links.target] & (np.abs(links.weight) == 1.0) & links.enabled
    if not np.any(found):
        return net
    target = links.target[found]
    weight, response = links.weight.copy(), genes.response.copy()
    weight[found] *= response[target]
    response[target] = 1.0
    return with_parameters(net, weight, None, response)
