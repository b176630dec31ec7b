"""Idle neurons: hidden ones on which no output depends, at this step or a later one."""

from dataclasses import replace

import numpy as np

from neat_onnx.network.genes import NONE, Bools, Ints, Neurons, Port
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import contributing
from neat_onnx.network.spatial import moved_blocks


def without_idle(net: Network) -> Network:
    """The network without idle neurons and the connections into them; its ids are positions.

    A block of which some neuron is needed keeps all of them. Where none is idle, it is `net`.
    """
    if not (net.has_memory or _has_unread(net)):
        return net
    kept = _kept(net)
    if np.all(kept):
        return net
    back = np.where(kept, np.cumsum(kept) - 1, NONE)
    genes = net.connections.take(kept[net.connections.target])
    gater = np.where(genes.gater == NONE, NONE, back[genes.gater])
    return Network(
        inputs=tuple(_moved(port, back) for port in net.inputs),
        outputs=tuple(_moved(port, back) for port in net.outputs),
        connections=replace(
            genes, source=back[genes.source], target=back[genes.target], gater=gater
        ),
        **_neurons(net, kept),
        library=net.library,
        blocks=moved_blocks(net.blocks, back),
    )


def _has_unread(net: Network) -> bool:
    """Whether nothing reads some hidden neuron: without memory, none is idle where there is none."""
    live = net.live
    read = net.is_input.copy()
    read[net.output_neurons] = True
    read[live.source] = True
    read[live.gater[live.gater != NONE]] = True
    return not bool(np.all(read))


def _kept(net: Network) -> Bools:
    """The inputs, the neurons that contribute, and their blocks whole."""
    kept = contributing(net) | net.is_input
    while True:
        blocks = [block for block in net.blocks if np.any(kept[block.neurons])]
        more = contributing(net, blocks) | net.is_input
        if np.array_equal(more, kept):
            return kept
        kept = more


def _moved(port: Port, back: Ints) -> Port:
    return Port(port.name, port.shape, back[port.neurons])


def _neurons(net: Network, kept: Bools) -> dict[str, object]:
    genes = net.neurons
    neurons, activations, aggregations = Neurons.of(
        np.arange(np.count_nonzero(kept)),
        net.activation_names[kept].tolist(),
        net.aggregation_names[kept].tolist(),
        bias=genes.bias[kept],
        response=genes.response[kept],
        initial=genes.initial[kept],
    )
    return {"neurons": neurons, "activations": activations, "aggregations": aggregations}
