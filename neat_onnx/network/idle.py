"""Idle genes: hidden neurons on which no output depends, and connections that add nothing."""

from dataclasses import replace

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.genes import NONE, Bools, Connections, Ints, Neurons, distinct, owned
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port, moved_memory
from neat_onnx.network.schedule import contributing
from neat_onnx.network.spatial import moved_blocks


def without_idle(net: Network) -> Network:
    """The network without idle neurons and connections; its ids are positions.

    A block of which some neuron is needed keeps all of them; those that are not needed take the
    activation of the others, so that one operator gives all. A connection of weight 0 into a sum
    adds nothing if its source has a bound: a first step reads a state of zeros so. Where nothing
    is idle, the result is `net`.
    """
    adding = _adding(net)
    if not np.all(adding):
        net = replace(net, connections=net.connections.take(adding))
    if not (net.has_memory or _has_unread(net)):
        return net
    needed = contributing(net)
    net, kept = _alike_in_blocks(net, needed), _kept(net, needed)
    if np.all(kept):
        return net
    back = np.where(kept, np.cumsum(kept) - 1, NONE)
    genes = net.connections.take(_between(net.connections, kept))
    gater = np.where(genes.gater == NONE, NONE, back[genes.gater])
    neurons, activations, aggregations = _neurons(net, kept)
    return replace(
        net,
        inputs=tuple(_moved(port, back) for port in net.inputs),
        outputs=tuple(_moved(port, back) for port in net.outputs),
        neurons=neurons,
        connections=replace(
            genes, source=back[genes.source], target=back[genes.target], gater=gater
        ),
        activations=activations,
        aggregations=aggregations,
        blocks=moved_blocks(net.blocks, back),
        memory=moved_memory(net.memory, back),
    )


def _between(genes: Connections, kept: Bools) -> Bools:
    """Which connections, disabled ones as well, have all of their ends among neurons."""
    gates: Bools = (genes.gater == NONE) | kept[genes.gater]
    return gates & kept[genes.source] & kept[genes.target]


def _adding(net: Network) -> Bools:
    """Which connections are not of weight 0, from a source with a bound into a sum."""
    genes = net.connections
    adding: Bools = genes.weight != 0.0
    if np.all(adding):
        return adding
    bounded = np.array([activation_named(name).bounded for name in net.activations], np.bool_)
    idle = (bounded[net.neurons.activation] | net.is_input)[genes.source] & ~genes.reads_state
    idle &= (net.aggregation_names == "sum")[genes.target] & (genes.gater == NONE)
    in_block = np.zeros(len(net), np.bool_)
    for block in net.blocks:
        in_block[block.neurons] = True
    return adding | ~idle | in_block[genes.target]


def _has_unread(net: Network) -> bool:
    """Whether nothing reads some hidden neuron; if not, and without memory, none is idle."""
    live = net.live
    read = net.is_input.copy()
    read[net.output_neurons] = True
    read[live.source] = True
    read[live.gater[live.gater != NONE]] = True
    return not bool(np.all(read))


def _kept(net: Network, needed: Bools) -> Bools:
    """The inputs, the neurons that contribute, and their blocks whole."""
    kept = needed | net.is_input
    while True:
        blocks = [block for block in net.blocks if np.any(kept[block.neurons])]
        more = contributing(net, blocks) | net.is_input
        if np.array_equal(more, kept):
            return kept
        kept = more


def _alike_in_blocks(net: Network, needed: Bools) -> Network:
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


def _moved(port: Port, back: Ints) -> Port:
    return replace(port, neurons=back[port.neurons])


def _neurons(net: Network, kept: Bools) -> tuple[Neurons, tuple[str, ...], tuple[str, ...]]:
    genes = net.neurons
    return Neurons.of(
        np.arange(np.count_nonzero(kept)),
        net.activation_names[kept].tolist(),
        net.aggregation_names[kept].tolist(),
        bias=genes.bias[kept],
        response=genes.response[kept],
        initial=genes.initial[kept],
    )
