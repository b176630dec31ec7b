"""The spatial blocks of a genome, some neurons of which are written apart from the others."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from neat_onnx.genome.document import backwards
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import SpatialBlock, in_order_of_neurons


def ids_apart(
    net: Network, blocks: Sequence[SpatialBlock], lifted: Network, lifted_of: Ints
) -> list[list[int]]:
    """The ids in the places of elements that are no neurons, for each block of the graph with some.

    Args:
        net: the network.
        blocks: its blocks of which some neurons are written apart.
        lifted: the network of the graph.
        lifted_of: the lifted neuron of each neuron, NONE where it has none.
    """
    if not blocks:
        return []
    back, found = backwards(lifted_of, len(lifted)), []
    for block in lifted.blocks:
        neurons = back[block.neurons]
        if np.any(missing := neurons == NONE):
            alike = (each.neurons for each in blocks if _has(each.neurons, neurons))
            whole = next(alike, None)
            found.append([] if whole is None else net.neurons.id[whole[missing]].tolist())
    return found


def restored_blocks(
    lifted: Network, lifted_of: Ints, apart: Sequence[Sequence[int]], position: dict[int, int]
) -> tuple[SpatialBlock, ...]:
    """The blocks of a graph, of the neurons of a genome.

    Args:
        lifted: the network of the graph.
        lifted_of: the lifted neuron of each neuron, NONE where it has none.
        apart: as `ids_apart` gives them.
        position: the position of each id.
    """
    back, given, found = backwards(lifted_of, len(lifted)), iter(apart), []
    for block in lifted.blocks:
        sources, neurons = back[block.sources], back[block.neurons]
        if np.any(missing := neurons == NONE):
            ids = next(given, ())
            if len(ids) == np.count_nonzero(missing):
                neurons[missing] = [position.get(each, NONE) for each in ids]
        if not np.any(neurons == NONE) and not np.any(sources == NONE):
            found.append(replace(block, sources=sources, neurons=neurons))
    return in_order_of_neurons(found)


def _has(whole: Ints, some: Ints) -> bool:
    """Whether a block has these neurons at their places, among them one at least."""
    there = some != NONE
    same = whole.shape == some.shape and np.array_equal(whole[there], some[there])
    return bool(same and np.any(there))
