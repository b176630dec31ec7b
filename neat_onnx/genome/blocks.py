"""The spatial blocks of a genome, of which other nodes may compute some neurons."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import SpatialBlock, in_order_of_neurons


def restored_blocks(
    lifted: Network, place: Ints, apart: Sequence[Sequence[int]]
) -> tuple[SpatialBlock, ...]:
    """The blocks of a graph, of the neurons of a genome.

    Args:
        lifted: the network of the graph.
        place: the place in the genome of each of its neurons, NONE for others.
        apart: the places of all neurons of the blocks that are not whole in the graph.
    """
    found = []
    for block in lifted.blocks:
        sources, neurons = place[block.sources], place[block.neurons]
        if np.any(missing := neurons == NONE):
            whole = (np.array(each, np.int64) for each in apart if len(each) == neurons.size)
            alike = (each.reshape(neurons.shape) for each in whole)
            has = (each for each in alike if np.array_equal(each[~missing], neurons[~missing]))
            neurons = next(has, neurons)
        if not np.any(neurons == NONE) and not np.any(sources == NONE):
            found.append(replace(block, sources=sources, neurons=neurons))
    return in_order_of_neurons(found)
