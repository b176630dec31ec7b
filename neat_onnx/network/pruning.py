"""Pruning: a network without the genes that its outputs do not depend on."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from neat_onnx.network.genes import NONE, Bools, Neurons
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
    kept = contributing(net) | net.is_input
    genes = net.connections.take(kept[net.connections.target])
    to = np.where(kept, np.cumsum(kept) - 1, NONE)
    return replace(
        net,
        inputs=tuple(replace(port, neurons=to[port.neurons]) for port in net.inputs),
        outputs=tuple(replace(port, neurons=to[port.neurons]) for port in net.outputs),
        neurons=_taken(net.neurons, kept),
        connections=replace(
            genes,
            source=to[genes.source],
            target=to[genes.target],
            gater=np.where(genes.gater == NONE, NONE, to[genes.gater]),
        ),
        blocks=moved_blocks(net.blocks, to),
        memory=moved_memory(net.memory, to),
    )


def _taken(genes: Neurons, kept: Bools) -> Neurons:
    """The neurons that are kept, with their ids and names."""
    numbers = ("id", "activation", "aggregation", "bias", "response", "initial")
    columns: dict[str, Any] = {name: getattr(genes, name)[kept] for name in numbers}
    texts: dict[str, Any] = {
        name: tuple(np.array(getattr(genes, name), object)[kept]) if getattr(genes, name) else ()
        for name in ("name", "spelling")
    }
    return Neurons(**columns, **texts)
