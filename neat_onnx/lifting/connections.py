"""The connections of an import in one form, whatever the order of the nodes that made them.

A sum may read the factors of a product, or a neuron that the product is. Which it was depends on
the order of nodes, unless the neuron always stands for them where there is one.
"""

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from neat_onnx.network.genes import (
    NONE,
    Bools,
    Connections,
    owned,
    stable_order,
)


def reading_products(genes: Connections, plain: Bools) -> Connections:
    """The connections, from a neuron that is a product where all gated ones of a target have one.

    Args:
        genes: of all neurons, in any order.
        plain: sums without bias, response and function, (n,).
    """
    if not np.any(genes.gater != NONE):
        return genes
    gated = genes.gater != NONE
    fan_in = np.bincount(genes.target, minlength=len(plain))
    alone = gated & plain[genes.target] & (fan_in[genes.target] == 1) & (genes.weight == 1.0)
    others = gated & ~alone
    if not np.any(alone) or not np.any(others):
        return genes
    known: dict[tuple[float, ...], int] = {}
    for key, neuron in zip(_keys(genes, alone), genes.target[alone].tolist(), strict=True):
        known.setdefault(key, neuron)
    found = np.full(len(genes.target), NONE, np.int64)
    found[others] = [known.get(key, NONE) for key in _keys(genes, others)]
    lacking = np.bincount(genes.target[others & (found == NONE)], minlength=len(plain)) > 0
    moved = others & ~lacking[genes.target]
    through = Connections.of(found, genes.target, genes.weight)
    columns = (
        np.where(moved, getattr(through, each.name), getattr(genes, each.name))
        for each in fields(genes)
    )
    return Connections(*map(owned, columns))


def _keys(genes: Connections, which: Bools) -> Iterator[tuple[float, ...]]:
    """Both factors of products."""
    columns = ("source", "gater", "delay", "gate_delay", "reads_state", "initial_gain")
    return zip(*(getattr(genes, name)[which].tolist() for name in columns), strict=True)


def in_order(genes: Connections, by_place: Bools) -> Connections:
    """The connections by target, then by source: the order in which a genome needs no words.

    Args:
        by_place: neurons whose inputs stay in the order in which the graph has them, (n,).
    """
    key = genes.target * len(by_place)
    key += genes.source
    if np.any(by_place):
        key -= np.where(by_place[genes.target], genes.source, 0)
    return genes if np.all(key[1:] >= key[:-1]) else genes.take(stable_order(key))


def without_parallel(genes: Connections, sums: Bools) -> Connections:
    """One connection, with the sum of the weights, for those that nothing else tells apart.

    Args:
        genes: by target, then by source.
        sums: whether each neuron adds its inputs, as others may not have one input for two.
    """
    source, target = genes.source, genes.target
    again = (source[1:] == source[:-1]) & (target[1:] == target[:-1]) & sums[target[1:]]
    again &= (genes.gater[1:] == NONE) & (genes.gater[:-1] == NONE)
    again &= genes.delay[1:] == genes.delay[:-1]
    again &= genes.reads_state[1:] == genes.reads_state[:-1]
    if not np.any(again):
        return genes
    first = np.flatnonzero(np.append(True, ~again))
    weight = owned(np.add.reduceat(genes.weight, first))
    return replace(genes.take(first), weight=weight)
