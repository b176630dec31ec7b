"""Neurons that could be computed before their neighbours, on one level with them.

A recurrent layer with few weights, unrolled, has neurons that read nothing of the step before: they
would be computed at the beginning, and the matrix of each step would have other gaps.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.schedule import OneLevel, Schedule, immediate_edges
from neat_onnx.network.structure import Structure

_MIN_NEURONS = 16  # of a layer that stand on one level
_MIN_GATED_INPUTS = 4
_MIN_STAYING_PER_MOVED = 4  # neurons of a level


def with_even_levels(before: Schedule, net: Structure, blocks: Sequence[OneLevel] = ()) -> Schedule:
    """The schedule with few neurons of a layer moved to the level of the others.

    A layer is neurons of one kind, one after the other in the genome. Nothing on
    the new level or below reads those that are moved, and no block has them.
    """
    genes, written = net.neurons, np.concatenate(before.levels)
    kind = np.stack([genes.activation, genes.aggregation])
    starts = np.flatnonzero(np.any(np.diff(kind, axis=1, prepend=-1), axis=0))
    stops = np.append(starts[1:], len(net))
    level = before.level.copy()
    movable = np.zeros(len(net), np.bool_)
    movable[written] = True
    movable[net.is_input] = False
    for block in blocks:
        movable[block.neurons] = movable[block.sources] = False
    source, target = immediate_edges(net)
    layers = [
        np.arange(start, stop)[movable[start:stop]]
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
        if stop - start > _MIN_NEURONS
    ]
    for most, layer in sorted(_levels_of(level, layers), key=lambda each: -each[0]):
        early = _early(level, layer, most)  # of the last level first: readers move before
        among = np.zeros(len(net), np.bool_)
        among[early] = True
        if early.size and np.all(level[target[among[source]]] > most):
            level[early] = most
    for product in _products(net, movable):
        latest = int(level[product].max())
        if np.all(level[product] == latest):
            continue
        if np.all(level[target[np.isin(source, product)]] > latest):
            level[product] = latest
    return before if np.array_equal(level, before.level) else before.moved(level)


def _products(net: Structure, movable: Bools) -> Iterator[Ints]:
    """Yield neurons, one after the other, that are sums of values of their own by the same gates.

    So are the values at several places of an order, which are found one after the other.
    """
    live = net.live
    gated = np.bincount(live.target[live.gater != NONE], minlength=len(net))
    candidates = np.flatnonzero(movable & (gated >= _MIN_GATED_INPUTS) & (gated == net.fan_in))
    read = {each: live.gater[net.edges_into(np.array([each]))[1]] for each in candidates.tolist()}
    run: list[int] = []
    for each in [*read, NONE]:
        if run and (each != run[-1] + 1 or not np.array_equal(read[each], read[run[-1]])):
            if len(run) > 1:
                yield np.array(run)
            run = []
        run.append(each)


def _levels_of(level: Ints, layers: list[Ints]) -> Iterator[tuple[int, Ints]]:
    """Yield each level with many neurons of a layer, and the layer from the first to the last."""
    for layer in layers:
        for many in np.flatnonzero(np.bincount(level[layer]) >= _MIN_NEURONS).tolist():
            there = np.flatnonzero(level[layer] == many)
            yield many, layer[there[0] : there[-1] + 1]


def _early(level: Ints, layer: Ints, most: int) -> Ints:
    """The neurons of a layer on earlier levels than most of it, if they are few."""
    late, early = np.count_nonzero(level[layer] == most), layer[level[layer] < most]
    return early if late >= _MIN_STAYING_PER_MOVED * len(early) else early[:0]
