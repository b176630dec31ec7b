"""The connections of an import in one form, whatever the order of the nodes that made them."""

from dataclasses import replace

import numpy as np

from neat_onnx.network.genes import (
    NONE,
    Bools,
    Connections,
    owned,
    stable_order,
)


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
