"""Strongly connected components of a directed graph given by the ends of its edges."""

import numpy as np

from neat_onnx.network.genes import Bools, Ints, counted
from neat_onnx.network.schedule import Edges


def components(source: Ints, target: Ints, count: int) -> Ints:
    """Return the number of the component of each of `count` nodes, from 0 without a gap.

    Nodes are in one component if edges lead from each to the other. Nodes that no cycle leads to,
    or that lead to no cycle, are taken away first: usually nothing is left.
    """
    other = source != target
    source, target = source[other], target[other]
    inside = _left_over(source, target, count) & _left_over(target, source, count)
    kept = inside[source] & inside[target]
    nodes = np.flatnonzero(inside)
    place = np.zeros(count, np.int64)
    place[nodes] = np.arange(len(nodes))
    found = np.arange(count)
    if nodes.size:
        found[nodes] = nodes[_roots(place[source[kept]], place[target[kept]], len(nodes))]
    return np.unique(found, return_inverse=True)[1].reshape(-1)


def _left_over(source: Ints, target: Ints, count: int) -> Bools:
    """Whether each node is on a cycle, or reached from one."""
    edges, waiting = Edges(source, target, count), np.bincount(target, minlength=count)
    frontier = np.flatnonzero(waiting == 0)
    left = np.ones(count, np.bool_)
    while frontier.size:
        left[frontier] = False
        reached, times = counted(edges.leaving(frontier), count)
        waiting[reached] -= times
        frontier = reached[waiting[reached] == 0]
    return left


def _roots(source: Ints, target: Ints, count: int) -> Ints:
    """For each node, one node that stands for its component: Tarjan's algorithm."""
    order = np.argsort(source, kind="stable")
    ends = target[order].tolist()
    first = np.searchsorted(source[order], np.arange(count + 1)).tolist()
    number, low, root = [-1] * count, [0] * count, [-1] * count
    open_nodes: list[int] = []
    made = 0
    for begin in range(count):
        path = [begin] if number[begin] < 0 else []
        at = {begin: first[begin]}
        while path:
            node = path[-1]
            if number[node] < 0:
                number[node] = low[node] = made
                made += 1
                open_nodes.append(node)
            if at[node] < first[node + 1]:
                end = ends[at[node]]
                at[node] += 1
                if number[end] < 0:
                    at[end] = first[end]
                    path.append(end)
                elif root[end] < 0:
                    low[node] = min(low[node], number[end])
                continue
            path.pop()
            if path:
                low[path[-1]] = min(low[path[-1]], low[node])
            if low[node] == number[node]:
                while root[node] < 0:
                    root[open_nodes.pop()] = node
    return np.array(root, np.int64)
