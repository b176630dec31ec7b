"""The order of nodes in the columns of a drawing: barycentres, then single nodes sifted."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.structure import Structure

_SWEEPS = 8  # the last one backwards
_MAX_SIFTED = 1_500  # segments: among more, single nodes stay
_ROUNDS = 12  # of sifting


class Nodes(NamedTuple):
    """Neurons, then places, in their columns.

    Attributes:
        column: of each.
        left, right: the segments between nodes, of neighbouring columns or of one.
        group: of each, or one of its own.
        height: of each.
    """

    column: Ints
    left: Ints
    right: Ints
    group: Ints
    height: Floats


class _Column(NamedTuple):
    """One column while it is ordered: its nodes, and the segments to either side and inside."""

    nodes: Ints
    fixed: Bools  # those that keep the order they have
    group: Ints  # the number of the group of each node
    before: tuple[Ints, Ints]  # of each segment: the position in `nodes`, the node at the other end
    after: tuple[Ints, Ints]

    def put(self, rank: Floats, order: Ints) -> None:
        """Give the nodes ranks around 0, in an order of their positions."""
        rank[self.nodes[order]] = np.arange(len(order)) - (len(order) - 1) / 2


def ranked(net: Structure, nodes: Nodes) -> Floats:
    """Return the rank of each node in its column, such that few segments cross."""
    columns, rank = _columns(net, nodes), np.zeros(len(nodes.column))
    for each in columns:
        each.put(rank, np.arange(len(each.nodes)))
    for sweep in range(_SWEEPS):
        for each in columns if sweep % 2 == 0 else columns[::-1]:
            _sort(each, rank, forwards=sweep % 2 == 0)
    sweep, moved = 0, len(nodes.left) <= _MAX_SIFTED
    while moved and sweep < _ROUNDS:
        some = columns if sweep % 2 == 0 else columns[::-1]
        moved, sweep = sum(_sift(each, rank) for each in some) > 0, sweep + 1
    return rank


def _columns(net: Structure, nodes: Nodes) -> list[_Column]:
    """The columns from the first on, ports in their order, the rest in groups."""
    total = len(nodes.column)
    port = np.full(total, -1)
    for ports in (net.output_neurons, net.input_neurons):
        port[ports] = np.arange(len(ports))
    order = np.lexsort(
        (np.arange(total), nodes.group, np.where(port < 0, total, port), nodes.column)
    )
    numbers = np.arange(nodes.column.max() + 2)
    starts = np.searchsorted(nodes.column[order], numbers)
    position = np.empty(total, np.int64)
    position[order] = np.arange(total) - starts[nodes.column[order]]
    same = nodes.column[nodes.left] == nodes.column[nodes.right]

    def segments(node: Ints, other: Ints) -> list[tuple[Ints, Ints]]:
        """Those of each column: to one side, and inside, in both directions."""
        node = np.concatenate([node[~same], nodes.left[same], nodes.right[same]])
        other = np.concatenate([other[~same], nodes.right[same], nodes.left[same]])
        by_column = np.argsort(nodes.column[node], kind="stable")
        ends = np.searchsorted(nodes.column[node[by_column]], numbers)
        parts = (by_column[a:b] for a, b in pairwise(ends))
        return [(position[node[part]], other[part]) for part in parts]

    sides = zip(segments(nodes.right, nodes.left), segments(nodes.left, nodes.right), strict=True)
    found = []
    for number, (before, after) in enumerate(sides):
        members = order[starts[number] : starts[number + 1]]
        group = np.unique(nodes.group[members], return_inverse=True)[1]
        found.append(_Column(members, port[members] >= 0, group, before, after))
    return found


def _sort(each: _Column, rank: Floats, *, forwards: bool) -> None:
    """Order a column by the mean rank of each node's neighbours on one side."""
    size = len(each.nodes)
    node, other = each.before if forwards else each.after
    counts = np.bincount(node, minlength=size)
    sums = np.bincount(node, weights=rank[other], minlength=size)
    own = rank[each.nodes]
    key = np.where(counts > 0, sums / np.maximum(counts, 1), own)
    inside = np.flatnonzero(each.fixed)
    inside = inside[np.argsort(own[inside], kind="stable")]
    key[inside] = own[inside] if len(inside) == size else ascending(key[inside])
    sizes = np.bincount(each.group)[each.group]
    means, before = (
        np.bincount(each.group, weights=values)[each.group] / sizes for values in (key, own)
    )
    each.put(rank, np.lexsort((own, key, each.group, before, means)))


def ascending(wanted: Floats) -> Floats:
    """Return ascending numbers near the wanted ones: the mean of the bounds above and below."""
    above = np.maximum.accumulate(wanted)
    below = np.minimum.accumulate(wanted[::-1])[::-1]
    return (above + below) / 2


def _sift(each: _Column, rank: Floats) -> bool:
    """Move single nodes to where they cross least (Matuszewski et al., 1999); whether one moved."""
    size, group = len(each.nodes), each.group
    gain = np.zeros((size, size), np.int64)  # [u, v]: crossings of u above v, less those below it
    for node, other in (each.before, each.after):
        ends, position = np.unique(rank[other], return_inverse=True)
        counts = np.zeros((size, len(ends)), np.int64)
        np.add.at(counts, (node, position), 1)
        gain += counts @ (np.cumsum(counts, axis=1) - counts).T
    gain -= gain.T
    order = np.argsort(rank[each.nodes], kind="stable")
    moved = False
    for single in np.flatnonzero((np.bincount(group)[group] == 1) & ~each.fixed).tolist():
        rest = order[order != single]
        cost = np.concatenate([[0], np.cumsum(gain[rest, single])])  # at each place among the rest
        inside = group[rest]
        cost[1:-1][inside[1:] == inside[:-1]] = np.iinfo(np.int64).max
        place = int(np.argmin(cost))
        if cost[place] < cost[np.flatnonzero(order == single)[0]]:
            order = np.insert(rest, place, single)
            moved = True
    each.put(rank, order)
    return moved
