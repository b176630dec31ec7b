"""Layers that a picture shows as one thing: convolutions, pools, and layers of recurrent cells."""

from collections import defaultdict
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
    """Return the layers of `net` by name, if its connections agree; no neuron is in two."""
    from neat_onnx.operators.export.recogniser import layers_of  # noqa: PLC0415 - imports all operators

    spatial = [(_name(block), block.neurons) for block in _spatial(net)]
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


def _gated(net: Network, levels: Schedule) -> Iterator[tuple[str, Ints]]:
    """Layers of cells whose gates multiply connections, as NeatapticTS and neataptic build them."""
    into: dict[int, list[_Gated]] = defaultdict(list)
    behind: dict[int, list[_Gated]] = defaultdict(list)
    live = net.live.take(net.live.gater != NONE)
    columns = (live.source.tolist(), live.target.tolist(), live.gater.tolist())
    for source, target, gater, delay in zip(*columns, live.delay.tolist(), strict=True):
        edge = _Gated(source, target, gater, delay)
        into[target].append(edge)
        behind[source].append(edge)

    def lstm(cell: int) -> set[int]:
        """A neuron that keeps itself by a gate, and has gates before and behind it."""
        kept = {edge.gater for edge in into[cell] if edge.source == cell and edge.delay}
        entered = {edge.gater for edge in into[cell] if edge.source != cell}
        left = {edge.gater for edge in behind[cell] if edge.target != cell}
        return {cell, *kept, *entered, *left} if kept and entered and left else set()

    def gru(hidden: int) -> set[int]:
        """A neuron that mixes an earlier state, by one gate, with a candidate, by another."""
        was = {edge for edge in into[hidden] if edge.delay and edge.source != hidden}
        new = {edge for edge in into[hidden] if not edge.delay}
        reset = {edge for each in new for edge in into[each.source] if edge.delay}
        found = {end for edge in was | new for end in (edge.gater, edge.source)}
        return {hidden, *found, *(edge.gater for edge in reset)} if was and new and reset else set()

    for operator, find in (("LSTM", lstm), ("GRU", gru)):
        layers: dict[int, list[set[int]]] = defaultdict(list)
        for neuron in np.unique(live.target).tolist():
            if unit := find(neuron):
                layers[int(levels.level[neuron])].append(unit)
        for found in layers.values():
            yield f"{operator} {len(found)}", np.array(sorted(set().union(*found)), np.int64)


class _Gated(NamedTuple):
    """An enabled connection with a gate."""

    source: int
    target: int
    gater: int
    delay: int


def _name(block: SpatialBlock) -> str:
    kernel = "×".join(map(str, block.window.kernel))
    return block.kind if block.kind.startswith("Global") else f"{block.kind} {kernel}"


def _spatial(net: Network) -> list[SpatialBlock]:
    """The blocks that the connections bear out, as an export checks them."""
    if not net.blocks:
        return []
    from neat_onnx.lowering.signals import GraphSignals  # noqa: PLC0415 - the same
    from neat_onnx.operators.export.spatial.weights import is_borne_out  # noqa: PLC0415

    signals = GraphSignals.of(net)
    return [block for block in net.blocks if is_borne_out(net, signals, block)]
