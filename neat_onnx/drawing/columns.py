"""Which column of a drawing each neuron stands in: inputs first, outputs last."""

import numpy as np

from neat_onnx.network.genes import Ints
from neat_onnx.network.schedule import Schedule
from neat_onnx.network.structure import Structure


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
