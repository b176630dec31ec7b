"""Layers of an RNN that were unrolled, found by weights: each step reads all of the one before it.

Such a unit is one neuron, with no wiring of its own. The neurons of one step read the same signals.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neat_onnx.network.cells import RNN
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.operators.rnn.cell_activations import CellFunction
from neat_onnx.operators.rnn.reads import MIN_STEPS, Reads, Steps

_MIN_UNITS = 2  # of one unit there are many in a genome that evolved, and a node is no smaller
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class _Group:
    """Neurons of one activation that read the same signals, both in ascending order."""

    function: CellFunction
    neurons: Ints
    signals: Ints


def elman_layers(reads: Reads) -> list[Steps]:
    """Chains of groups with the same weights, the longest first; of some the first is the start."""
    groups = _groups(reads)
    following: dict[bytes, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for later, earlier in _pairs(reads, groups):
        key = _weights(reads, groups[later], groups[earlier].neurons)
        following[key][earlier].append(later)
    found = [layer for links in following.values() for layer in _layers(groups, links)]
    return sorted(found, key=lambda layer: -len(layer.steps))


def _groups(reads: Reads) -> list[_Group]:
    net = reads.net
    gated = np.bincount(net.live.target[net.live.gater != NONE], minlength=len(net))
    members: dict[tuple[CellFunction, bytes], list[int]] = defaultdict(list)
    units = np.flatnonzero(reads.sums & (gated == 0) & (net.fan_in > 0))
    for neuron in _with_peers(reads, units).tolist():
        function = reads.function(neuron)
        if function is not None:
            start, stop = net.first_edge[neuron : neuron + 2].tolist()
            members[function, reads.signal[start:stop].tobytes()].append(neuron)
    return [
        _Group(function, np.array(neurons), np.unique(np.frombuffer(signals, np.int64)))
        for (function, signals), neurons in members.items()
    ]


def _with_peers(reads: Reads, neurons: Ints) -> Ints:
    """The neurons that may read the same signals as another one, by a sum over their numbers."""
    if not neurons.size:
        return neurons
    mixed = reads.signal.astype(np.uint64) * _ODD
    total = np.append(np.uint64(0), np.cumsum(mixed ^ (mixed >> np.uint64(29))))
    first = reads.net.first_edge
    keys = total[first[neurons + 1]] - total[first[neurons]]
    _, again, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return neurons[counts[again] >= _MIN_UNITS]


def _pairs(reads: Reads, groups: list[_Group]) -> Iterator[tuple[int, int]]:
    """(group, another one of its size that it reads all of, and more besides)."""
    group_of = np.full(len(reads.net), NONE, np.int64)
    for k, group in enumerate(groups):
        group_of[group.neurons] = k
    for k, group in enumerate(groups):
        size = len(group.neurons)
        if size < _MIN_UNITS or len(group.signals) <= size:
            continue
        read = group_of[group.signals[group.signals < len(reads.net)]]
        for other, count in zip(*np.unique(read[read != NONE], return_counts=True), strict=True):
            earlier = groups[other]
            if count == size == len(earlier.neurons) and earlier.function == group.function:
                yield k, int(other)


def _weights(reads: Reads, group: _Group, before: Ints) -> bytes:
    """All that has to be the same in every step."""
    live, sources = reads.net.live, np.setdiff1d(group.signals, before)
    row, edge = reads.net.edges_into(group.neurons)
    columns = np.concatenate([sources, before])
    order = np.argsort(columns)
    place = order[np.searchsorted(columns, reads.signal[edge], sorter=order)]
    matrix = np.zeros((len(group.neurons), len(columns)))
    np.add.at(matrix, (row, place), live.weight[edge])
    name = f"{group.function} {len(before)} ".encode()
    return name + matrix.tobytes() + reads.net.neurons.bias[group.neurons].tobytes()


def _layers(groups: list[_Group], links: dict[int, list[int]]) -> Iterator[Steps]:
    """The chains of links: with the group that they begin at as first step, or as start."""
    later = {group for following in links.values() for group in following}
    for first in sorted(links.keys() - later):
        chain = [first]
        while len(following := links.get(chain[-1], [])) == 1:
            chain += following
        steps = [{"hidden": groups[k].neurons} for k in chain]
        functions = (groups[first].function,)
        if not following:
            if len(chain) >= MIN_STEPS:
                yield Steps(RNN, functions, steps, {})
            if len(chain) > MIN_STEPS:
                yield Steps(RNN, functions, steps[1:], steps[0])
