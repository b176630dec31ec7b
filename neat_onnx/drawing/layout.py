"""A layered layout: columns, places for long connections, few crossings (Sugiyama et al., 1981).

A connection that passes a column has a place of its own in it, so that it goes round the neurons
there. Ports keep the order of the file; everything between is ordered by barycentres. A
connection into an earlier column turns round on the right of its source and on the left of its
target. The same network has the same layout.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neat_onnx.drawing.ordering import Nodes, ascending, ranked
from neat_onnx.network.genes import Bools, Floats, Ints, concatenated_ranges, marked
from neat_onnx.network.schedule import Edges, Schedule
from neat_onnx.network.structure import Structure

_MAX_OWN_PLACES = 700  # of all connections; among more, those of one source share their places
_SETTLING = 40_000  # nodes × rounds in which heights follow their neighbours
_NEURON, _PLACE = 1.0, 0.5  # heights, in rows
_BETWEEN_GROUPS = 0.7
_ASPECT = 1.6  # the width to aim at, to the height
CELL = 0.62  # the pitch of a grid, in rows


@dataclass(frozen=True, eq=False)
class Layout:
    """Where a network is drawn, in rows: a row is the distance of two neurons in a column.

    Attributes:
        x, y: of each neuron, shape (n,).
        column: of each neuron, from 0.
        is_cell: whether a neuron stands in a grid, whose pitch is CELL.
        columns: how many there are.
        first: the first place of each connection, and the end, shape (connections + 1,).
        place_x, place_y: the places of all connections, from each one's source to its target.
        twin: how many connections with the same ends stand before each one, 0 nearly always.
        width, height: of all of it, from the first neuron to the last.
    """

    x: Floats
    y: Floats
    column: Ints
    is_cell: Bools
    columns: int
    first: Ints
    place_x: Floats
    place_y: Floats
    twin: Ints
    width: float
    height: float


def layout(net: Structure, levels: Schedule, groups: tuple[Ints, ...] = ()) -> Layout:
    """Lay out a network.

    Args:
        levels: its schedule.
        groups: neurons that stand together in their columns. The array of one may have the shape of
            a grid, (…, rows, cells), in which it is drawn if all of it stands in one column.
    """
    column = columns_of(net, levels)
    counts, places, columns = _places(net, column)
    nodes = _nodes(net, counts, places, columns, groups)
    y = _heights(nodes, ranked(net, nodes))
    y -= y.min()
    height = float(y.max())
    middle = _middles(column, groups, _ASPECT * height)
    x = middle[column].astype(float)
    is_cell = np.zeros(len(net), np.bool_)
    for group in groups:
        if _is_grid(column, group):
            is_cell[group] = True
            x[group], y[group] = _grid(group, middle[column[group.flat[0]]], y[group])
    left = x.min()
    return Layout(
        x=x - left,
        y=y[: len(net)],
        column=column,
        is_cell=is_cell,
        columns=len(middle),
        first=np.concatenate([[0], np.cumsum(counts)]),
        place_x=middle[columns[places]] - left,
        place_y=y[places],
        twin=_twins(net),
        width=float(np.ptp(x)),
        height=height,
    )


def _middles(column: Ints, groups: tuple[Ints, ...], width: float) -> Floats:
    """Return the middle of each column, further apart where grids stand; `width` is aimed at."""
    reach = np.zeros(column.max() + 1)
    for group in groups:
        if _is_grid(column, group):
            at = column[group.flat[0]]
            reach[at] = max(reach[at], (group.shape[-1] - 1) * CELL / 2)
    gap = min(14.0, max(4.0, width / max(1, len(reach) - 1)))
    middles: Floats = np.cumsum(reach) + np.cumsum(reach) - reach + gap * np.arange(len(reach))
    return middles


def _twins(net: Structure) -> Ints:
    """Return how many connections with the same ends stand before each connection."""
    key = net.connections.target * len(net) + net.connections.source
    order = np.argsort(key, kind="stable")
    twin = np.empty(len(key), np.int64)
    twin[order] = np.arange(len(key)) - np.searchsorted(key[order], key[order])
    return twin


def _places(net: Structure, column: Ints) -> tuple[Ints, Ints, Ints]:
    """Return how many places each connection has, one in every column that it passes; the nodes
    that are these, from the first neuron's on; and the column of every node.

    Nodes are the neurons, then the places.
    """
    source, target = net.connections.source, net.connections.target
    start, end = column[source], column[target]
    forward, back = end > start, end < start
    counts = np.where(forward, end - start - 1, np.where(back, start - end + 1, 0))
    connection = np.repeat(np.arange(len(source)), counts)
    step = concatenated_ranges(np.zeros_like(counts), counts)
    forwards = forward[connection]
    passed = np.where(forwards, start[connection] + 1 + step, start[connection] - step)
    owner = connection if len(connection) <= _MAX_OWN_PLACES else source[connection]
    key = (owner * 2 + forwards) * (column.max() + 1) + passed
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return counts, len(net) + place, np.concatenate([column, passed[first]])


def _nodes(
    net: Structure, counts: Ints, places: Ints, column: Ints, groups: tuple[Ints, ...]
) -> Nodes:
    """Return the nodes, and the segments that the ways of all connections consist of."""
    n, total = len(net), len(column)
    end = np.cumsum(counts + 2) - 1
    way = np.empty(len(counts) * 2 + len(places), np.int64)
    is_place = np.ones(len(way), np.bool_)
    is_place[end - counts - 1] = is_place[end] = False
    way[end - counts - 1], way[end] = net.connections.source, net.connections.target
    way[is_place] = places
    a, b = way[:-1], way[1:]
    apart = np.abs(column[a] - column[b])
    kept = (apart == 1) | is_place[:-1] | is_place[1:]
    kept[end[:-1]] = False  # to the way of the next connection
    a, b = a[kept], b[kept]
    swap = column[a] > column[b]
    pairs = np.unique(np.where(swap, b, a) * total + np.where(swap, a, b))
    group = np.arange(total)
    height = np.repeat([_NEURON, _PLACE], [n, total - n])
    for number, members in enumerate(groups):
        group[members] = total + number
        if _is_grid(column, members):
            height[members] = CELL / members.shape[-1]
    return Nodes(column, *np.divmod(pairs, total), group, height)


def _heights(nodes: Nodes, rank: Floats) -> Floats:
    """Return the height of each node: near those that it is connected to, in the order of ranks.

    Wanted heights are projected onto the columns' order and distances, all columns at once.
    """
    order = np.lexsort((rank, nodes.column))
    column, height, group = nodes.column[order], nodes.height[order], nodes.group[order]
    apart = (height[1:] + height[:-1]) / 2 + _BETWEEN_GROUPS * (
        (group[1:] != group[:-1]) & ((group[1:] >= len(group)) | (group[:-1] >= len(group)))
    )
    offset = np.concatenate([[0], np.cumsum(apart)])
    starts = np.searchsorted(column, column)
    offset -= offset[starts]
    last = np.searchsorted(column, column, side="right") - 1
    y = np.empty(len(order))
    y[order] = offset - offset[last] / 2
    far = 4 * (np.abs(y).max() + 1)  # between the columns, laid end to end
    is_place = nodes.height == _PLACE
    weight = 1.0 + 1.5 * is_place[nodes.left] + 1.5 * is_place[nodes.right]
    ends = np.concatenate([nodes.left, nodes.right])
    others = np.concatenate([nodes.right, nodes.left])
    weights = np.concatenate([weight, weight])
    sums = np.bincount(ends, weights=weights, minlength=len(y))
    own = np.where(sums > 0, 0.0, 1.0)
    for _ in range(int(np.clip(_SETTLING // len(y), 8, 24))):
        mean = np.bincount(ends, weights=weights * y[others], minlength=len(y))
        wanted = (mean + own * y) / (sums + own)
        wanted = (0.8 * wanted + 0.2 * y)[order] - offset + far * column
        y[order] = ascending(wanted) + offset - far * column
    across = nodes.column[nodes.right] - nodes.column[nodes.left]
    slant = np.sum(y[nodes.right] - y[nodes.left]) / max(1, np.sum(across))
    level: Floats = y - slant * nodes.column
    return level


def _is_grid(column: Ints, group: Ints) -> bool:
    return group.ndim > 1 and bool(np.all(column[group] == column[group.flat[0]]))


def _grid(group: Ints, middle: float, y: Floats) -> tuple[Floats, Floats]:
    """Return the places of a grid's neurons, of its shape, around where they stood in a column."""
    cells = group.shape[-1]
    rows = group.size // cells
    row, cell = np.divmod(np.arange(group.size), cells)
    x = middle + (cell - (cells - 1) / 2) * CELL
    top = float(np.mean(y)) - (rows - 1) * CELL / 2
    return x.reshape(group.shape), (top + row * CELL).reshape(group.shape)


def columns_of(net: Structure, levels: Schedule) -> Ints:
    """Return the column of each neuron, shape (n,), numbered from 0 with none left out.

    It is one more than the last column that the neuron reads in the same step. A neuron that reads
    only inputs, or earlier steps, stands as many connections of any delay away from the inputs as
    the shortest way has: in a network that reads everything from the step before, levels say
    nothing. Outputs share the last column.
    """
    live, is_input = net.live, net.is_input
    away = _distances(net)
    column = np.where(away >= 0, away, np.maximum(levels.level, 1))
    column[is_input] = 0
    now = (live.delay == 0) & ~is_input[live.source]
    column[live.target[now]] = 0
    for source, target in _in_steps(
        levels.level[live.target[now]], live.source[now], live.target[now]
    ):
        np.maximum.at(column, target, column[source] + 1)
    _tighten(net, column)
    is_output = marked(len(net), net.output_neurons) & ~is_input
    column[is_output] = column[~is_output].max(initial=0) + 1
    return np.unique(column, return_inverse=True)[1]


def _in_steps(step: Ints, source: Ints, target: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield the sources and targets of each step, in the order of these."""
    order = np.argsort(step, kind="stable")
    breaks = np.flatnonzero(np.diff(step[order])) + 1
    for part in np.split(order, breaks):
        yield source[part], target[part]


def _tighten(net: Structure, column: Ints) -> None:
    """Move neurons with more connections out than in to the column before their first target."""
    source, target = net.connections.source, net.connections.target
    forward = column[source] < column[target]
    source, target = source[forward], target[forward]
    leaving = np.bincount(source, minlength=len(net)) - np.bincount(target, minlength=len(net))
    late = np.full(len(net), np.iinfo(np.int64).max)
    is_late = (leaving > 0) & ~net.is_input
    for some, ends in _in_steps(-column[source], source, target):
        np.minimum.at(late, some, column[ends] - 1)
        moved = some[is_late[some]]
        column[moved] = late[moved]


def _distances(net: Structure) -> Ints:
    """Return the connections, of any delay, from an input to each neuron; -1: none lead there."""
    edges = Edges(net.connections.source, net.connections.target, len(net))
    waiting = np.where(net.is_input, 0, 1)
    return edges.walked(net.input_neurons, np.empty(0, np.int64), waiting)[0]
