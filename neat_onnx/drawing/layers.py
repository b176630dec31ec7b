"""Layers that a picture shows as one thing: convolutions, pools, and layers of recurrent cells."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule
from neat_onnx.network.spatial import SpatialBlock


class NamedLayer(NamedTuple):
    """Neurons that belong together, and a name for them: "Conv 3×3" or "LSTM 4".

    The neurons of a convolution or a pool have the shape of its output, (channels, *positions).
    """

    label: str
    neurons: Ints


def named_layers(net: Network, levels: Schedule) -> list[NamedLayer]:
    """Return the layers of `net` by name; no neuron is in two.

    Convolutions and pools are those that the network was read with (`net.blocks`).
    """
    from neat_onnx.operators.export.recogniser import layers_of  # noqa: PLC0415 - imports all operators

    spatial = [(_name(block), block.neurons) for block in net.blocks]
    recurrent = [
        (f"{layer.cell.operator} {len(layer.hidden)}", layer.neurons)
        for layer in (layers_of(net, levels) if net.has_memory else ())
    ]
    layers: list[NamedLayer] = []
    taken = np.zeros(len(net), bool)
    for label, neurons in [*spatial, *recurrent, *_gated(net, levels)]:
        if not np.any(taken[neurons]):
            layers.append(NamedLayer(label, neurons))
            taken[neurons] = True
    return layers


def _name(block: SpatialBlock) -> str:
    kernel = "×".join(map(str, block.window.kernel))
    return block.kind if block.kind.startswith("Global") else f"{block.kind} {kernel}"


def _gated(net: Network, levels: Schedule) -> Iterator[tuple[str, Ints]]:
    """Yield LSTM layers whose gates multiply connections, as NeatapticTS and neataptic build them.

    A cell keeps itself by a gate, and other gates multiply what it reads and what reads it: a unit
    is four neurons.
    """
    live = net.live.take(net.live.gater != NONE)
    cells = np.unique(live.source[(live.source == live.target) & (live.delay > 0)])
    for level in np.unique(levels.level[cells]):
        layer = cells[levels.level[cells] == level]
        touching = np.isin(live.source, layer) | np.isin(live.target, layer)
        neurons = np.unique(np.concatenate([layer, live.gater[touching]]))
        if len(neurons) == 4 * len(layer):
            yield f"LSTM {len(layer)}", neurons
