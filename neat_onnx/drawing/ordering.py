"""The order of nodes in the columns of a drawing: barycentres, then single nodes sifted."""

from typing import NamedTuple

import numpy as np

from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.structure import Structure

_WORK = 24_000  # segments × sweeps: small networks are swept more often
_MAX_SIFTED = 1_500  # segments: among more, the last sweep counts, and single nodes stay
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


def ranked(net: Structure, nodes: Nodes) -> Floats:
    """Return the rank of each node in its column, such that few segments cross."""
    total = len(nodes.column)
    port = np.full(total, -1)
    port[net.output_neurons] = np.arange(len(net.output_neurons))
    port[net.input_neurons] = np.arange(len(net.input_neurons))
    columns = _columns(nodes, port)
    rank = np.zeros(total)
    for each in columns:
        rank[each.nodes] = np.arange(len(each.nodes)) - (len(each.nodes) - 1) / 2
    best, least = rank.copy(), np.inf
    segments = max(1, len(nodes.left))
    sweeps = int(np.clip(_WORK // segments, 3, 40))
    for sweep in range(sweeps):
        forwards = sweep % 2 == 0
        for each in columns if forwards else columns[::-1]:
            _sort(each, rank, forwards)
        if segments <= _MAX_SIFTED:
            crossings = _crossings(nodes, rank)
            if crossings < least:
                best, least = rank.copy(), crossings
    if segments > _MAX_SIFTED:
        return rank
    _sift(columns, best)
    return best


def _columns(nodes: Nodes, port: Ints) -> list[_Column]:
    """The columns from the first on, ports in their order, the rest in groups."""
    total = len(nodes.column)
    order = np.lexsort(
        (np.arange(total), nodes.group, np.where(port < 0, total, port), nodes.column)
    )
    starts = np.searchsorted(nodes.column[order], np.arange(nodes.column.max() + 2))
    position = np.empty(total, np.int64)
    position[order] = np.arange(total) - starts[nodes.column[order]]
    same = nodes.column[nodes.left] == nodes.column[nodes.right]
    inside = np.concatenate([nodes.left[same], nodes.right[same]])
    beside = np.concatenate([nodes.right[same], nodes.left[same]])
    into = _by_column(nodes, position, nodes.right[~same], nodes.left[~same], inside, beside)
    out = _by_column(nodes, position, nodes.left[~same], nodes.right[~same], inside, beside)
    found = []
    for number in range(len(starts) - 1):
        members = order[starts[number] : starts[number + 1]]
        group = np.unique(nodes.group[members], return_inverse=True)[1]
        found.append(_Column(members, port[members] >= 0, group, into[number], out[number]))
    return found


def _by_column(
    nodes: Nodes, position: Ints, node: Ints, other: Ints, inside: Ints, beside: Ints
) -> list[tuple[Ints, Ints]]:
    node, other = np.concatenate([node, inside]), np.concatenate([other, beside])
    order = np.argsort(nodes.column[node], kind="stable")
    node, other = node[order], other[order]
    starts = np.searchsorted(nodes.column[node], np.arange(nodes.column.max() + 2))
    pairs = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    return [(position[node[start:end]], other[start:end]) for start, end in pairs]


def _sort(each: _Column, rank: Floats, forwards: bool) -> None:
    """Order a column by the mean rank of each node's neighbours on one side."""
    size = len(each.nodes)
    if size < 2:
        return
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
    order = np.lexsort((own, key, each.group, before, means))
    rank[each.nodes[order]] = np.arange(size) - (size - 1) / 2


def ascending(wanted: Floats) -> Floats:
    """Return ascending numbers near the wanted ones: the mean of the bounds above and below."""
    above = np.maximum.accumulate(wanted)
    below = np.minimum.accumulate(wanted[::-1])[::-1]
    return (above + below) / 2


def _crossings(nodes: Nodes, rank: Floats) -> int:
    """Return how many pairs of segments between two columns cross.

    Inversions are counted bit by bit: of two segments whose ends on the right agree above a bit,
    the one with the bit set comes first.
    """
    between = nodes.column[nodes.left] != nodes.column[nodes.right]
    left, right = nodes.left[between], nodes.right[between]
    column = nodes.column[left]
    a, b = (2 * (rank - rank.min())).astype(np.int64)[[left, right]]
    a, b = a + column * (a.max(initial=0) + 1), b + column * (b.max(initial=0) + 1)
    b = np.unique(b, return_inverse=True)[1]
    order = np.lexsort((b, a))
    b = b[order]
    total = 0
    for bit in range(int(b.max(initial=0)).bit_length()):
        family = b >> (bit + 1)
        order = np.argsort(family, kind="stable")
        family, is_set = family[order], (b[order] >> bit) & 1
        before = np.cumsum(is_set) - is_set
        starts = np.searchsorted(family, family)
        total += int(np.sum((before - before[starts]) * (1 - is_set)))
    return total


def _sift(columns: list[_Column], rank: Floats) -> None:
    """Move single nodes to where they cross least (Matuszewski et al., 1999), until none moves."""
    for sweep in range(_ROUNDS):
        some = columns if sweep % 2 == 0 else columns[::-1]
        moved = [_sift_column(each, rank) for each in some]
        if not any(moved):
            return


def _sift_column(each: _Column, rank: Floats) -> bool:
    size = len(each.nodes)
    if size < 2:
        return False
    gain = np.zeros((size, size), np.int64)  # [u, v]: crossings of u above v, less those below it
    for node, other in (each.before, each.after):
        if len(node):
            gain += _crossing_pairs(node, rank[other], size)
    gain -= gain.T
    order = np.argsort(rank[each.nodes], kind="stable")
    group = each.group
    is_free = (np.bincount(group)[group] == 1) & ~each.fixed
    moved = False
    for single in np.flatnonzero(is_free).tolist():
        rest = order[order != single]
        cost = np.concatenate([[0], np.cumsum(gain[rest, single])])  # at each place among the rest
        inside = group[rest]
        cost[1:-1][inside[1:] == inside[:-1]] = np.iinfo(np.int64).max
        now = int(np.flatnonzero(order == single)[0])
        place = int(np.argmin(cost))
        if cost[place] < cost[now]:
            order = np.insert(rest, place, single)
            moved = True
    rank[each.nodes[order]] = np.arange(size) - (size - 1) / 2
    return moved


def _crossing_pairs(node: Ints, other: Floats, size: int) -> Ints:
    """Return how many segments of u and v cross where u stands above v, shape (size, size)."""
    ends, position = np.unique(other, return_inverse=True)
    counts = np.zeros((size, len(ends)), np.int64)
    np.add.at(counts, (node, position), 1)
    above = np.cumsum(counts, axis=1) - counts
    return counts @ above.T
