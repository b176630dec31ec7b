"""The connections of an import in one form, whatever the order of the nodes that made them."""

from dataclasses import replace

import numpy as np

from neat_onnx.network.genes import NONE, Bools, Connections, owned, stable_order


def in_one_form(genes: Connections, sums: Bools, by_place: Bools) -> Connections:
    """The connections by target, then by source: the order in which a genome needs no words. Those
    into a sum that nothing else tells apart are one, of the sum of their weights.

    Args:
        genes: the connections, in any order.
        sums: whether each neuron adds its inputs, as others may not have one input for two, (n,).
        by_place: neurons whose inputs stay in the order in which the graph has them, (n,).
    """
    key = genes.target * len(by_place)
    key += genes.source
    if by_place.any():
        key -= np.where(by_place[genes.target], genes.source, 0)
    if (key[1:] > key[:-1]).all():
        return genes
    genes = genes.take(stable_order(key))
    source, target = genes.source, genes.target
    again = (source[1:] == source[:-1]) & (target[1:] == target[:-1]) & sums[target[1:]]
    again &= (genes.gater[1:] == NONE) & (genes.gater[:-1] == NONE)
    again &= genes.delay[1:] == genes.delay[:-1]
    again &= genes.reads_state[1:] == genes.reads_state[:-1]
    if not again.any():
        return genes
    first = np.flatnonzero(np.append(True, ~again))
    weight = owned(np.add.reduceat(genes.weight, first))
    return replace(genes.take(first), weight=weight)
