"""A layered layout: columns, places for long connections, few crossings (Sugiyama et al., 1981).

A connection that passes a column has a place of its own in it, so that it goes round the neurons
there. Ports keep the order of the file; everything between is ordered by barycentres. A
connection into an earlier column turns round on the right of its source and on the left of its
target. The same network has the same layout.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neat_onnx.drawing.ordering import Nodes, ascending, ranked
from neat_onnx.network.genes import Bools, Floats, Ints, concatenated_ranges
from neat_onnx.network.schedule import Schedule
from neat_onnx.network.structure import Structure

_MAX_OWN_PLACES = 700  # of all connections; among more, those of one source share their places
_SETTLING = 40_000  # nodes × rounds in which heights follow their neighbours
_NEURON, _PLACE = 1.0, 0.5  # heights, in rows
_BETWEEN_GROUPS = 0.7
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


class _Chains(NamedTuple):
    """The places of connections: which connection has which, in which column, in order."""

    connection: Ints
    place: Ints
    column: Ints


def layout(
    net: Structure, levels: Schedule, groups: tuple[Ints, ...] = (), aspect: float = 1.6
) -> Layout:
    """Lay out a network.

    Args:
        levels: its schedule.
        groups: neurons that stand together in their columns. The array of one may have the shape of
            a grid, (…, rows, cells), in which it is drawn if all of it stands in one column.
        aspect: the width to aim at, to the height.
    """
    column = columns_of(net, levels)
    chains = _chains(net, column)
    nodes = _nodes(net, column, chains, groups)
    rank = ranked(net, nodes)
    y = _heights(nodes, rank)
    y -= y.min()
    height = float(y.max())
    middle = _middles(column, groups, aspect * height)
    x = middle[column].astype(float)
    is_cell = np.zeros(len(net), np.bool_)
    for group in groups:
        if _is_grid(column, group):
            is_cell[group] = True
            x[group], y[group] = _grid(group, middle[column[group.flat[0]]], y[group])
    n = len(net)
    counts = np.bincount(chains.connection, minlength=len(net.connections))
    left = x.min()
    return Layout(
        x=x - left,
        y=y[:n],
        column=column,
        is_cell=is_cell,
        columns=len(middle),
        first=np.concatenate([[0], np.cumsum(counts)]),
        place_x=middle[chains.column] - left,
        place_y=y[n:][chains.place],
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


def _chains(net: Structure, column: Ints) -> _Chains:
    """The places of every connection: the columns that it passes on its way."""
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
    return _Chains(connection, np.unique(key, return_inverse=True)[1], passed)


def _nodes(net: Structure, column: Ints, chains: _Chains, groups: tuple[Ints, ...]) -> Nodes:
    n = len(net)
    source, target = net.connections.source, net.connections.target
    places = int(chains.place.max(initial=-1)) + 1
    of_place = np.zeros(places, np.int64)
    of_place[chains.place] = chains.column
    node, connection = n + chains.place, chains.connection
    is_direct = np.ones(len(source), np.bool_)
    is_direct[connection] = False
    is_direct &= np.abs(column[source] - column[target]) == 1
    begins = np.append(True, connection[1:] != connection[:-1])[: len(node)]
    ends = np.append(connection[1:] != connection[:-1], True)[: len(node)]
    left = [source[is_direct], node[:-1][~begins[1:]], source[connection[begins]], node[ends]]
    right = [target[is_direct], node[1:][~begins[1:]], node[begins], target[connection[ends]]]
    a, b = np.concatenate(left), np.concatenate(right)
    columns = np.concatenate([column, of_place])
    swap = columns[a] > columns[b]
    pairs = np.unique(np.where(swap, b, a) * (n + places) + np.where(swap, a, b))
    group = np.arange(n + places)
    height = np.repeat([_NEURON, _PLACE], [n, places])
    for number, members in enumerate(groups):
        group[members] = n + places + number
        if _is_grid(column, members):
            height[members] = CELL / members.shape[-1]
    return Nodes(columns, *np.divmod(pairs, n + places), group, height)


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
    source, target = live.source[now], live.target[now]
    order = np.argsort(levels.level[target], kind="stable")
    source, target = source[order], target[order]
    starts = np.searchsorted(levels.level[target], np.arange(len(levels.levels) + 1))
    column[np.unique(target)] = 0
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        np.maximum.at(column, target[start:end], column[source[start:end]] + 1)
    _tighten(net, column)
    is_output = np.zeros(len(net), np.bool_)
    is_output[net.output_neurons] = True
    is_output &= ~is_input
    column[is_output] = column[~is_output].max(initial=0) + 1
    return np.unique(column, return_inverse=True)[1]


def _tighten(net: Structure, column: Ints) -> None:
    """Move neurons with more connections out than in to the column before their first target."""
    source, target = net.connections.source, net.connections.target
    forward = column[source] < column[target]
    source, target = source[forward], target[forward]
    leaving = np.bincount(source, minlength=len(net)) - np.bincount(target, minlength=len(net))
    late = np.full(len(net), np.iinfo(np.int64).max)
    is_late = (leaving > 0) & ~net.is_input
    order = np.argsort(-column[source], kind="stable")
    source, target = source[order], target[order]
    starts = np.searchsorted(-column[source], np.arange(-column.max(), 1))
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        some = source[start:end]
        np.minimum.at(late, some, column[target[start:end]] - 1)
        some = some[is_late[some]]
        column[some] = late[some]


def _distances(net: Structure) -> Ints:
    """Return the connections, of any delay, from an input to each neuron; -1: none lead there."""
    source, target = net.connections.source, net.connections.target
    away = np.where(net.is_input, 0, -1)
    distance = 0
    front = net.is_input
    while np.any(front):
        distance += 1
        reached = np.zeros(len(net), np.bool_)
        reached[target[front[source]]] = True
        front = reached & (away < 0)
        away[front] = distance
    return away
