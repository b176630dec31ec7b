"""Neurons of a block that differ from the others, as evolution changes a layer neuron by neuron.

The others stay a convolution or a pool, which computes something in the places of these too;
nothing reads it.
"""

import numpy as np

from neat_onnx.lowering.signals import GraphSignals
from neat_onnx.network.genes import Bools, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.operators.export.spatial.weights import (
    NotShared,
    check_pool,
    connections_into,
    responses_of_pool,
    shared_weights,
)

_MIN_ALIKE_PER_DIFFERENT = 4  # neurons


def neurons_apart(net: Network, signals: GraphSignals, block: SpatialBlock) -> Bools:
    """Which neurons of a block differ from most of its channel, in the order of the block.

    Raises:
        NotShared: they are too many; or the others cannot be written without them.
    """
    neurons = block.neurons.ravel()
    found, apart = connections_into(net, signals, block)
    apart |= net.is_input[neurons] | (net.aggregation_names[neurons] != block.aggregation)
    channel = np.repeat(np.arange(len(block.neurons)), block.neurons[0].size)
    apart |= _differ(np.zeros_like(channel), net.neurons.activation[neurons])
    if block.is_pool:
        apart |= net.neurons.response[neurons] != responses_of_pool(block)
        apart |= net.neurons.bias[neurons] != 0.0
        wrong = (found.times != 1) | (found.weight != 1.0)
    else:
        apart |= _differ(channel, net.neurons.response[neurons])
        apart |= _differ(channel, net.neurons.bias[neurons])
        wrong = _differ(found.fields.weight, found.weight)
    apart[found.fields.neuron[wrong]] = True
    if np.count_nonzero(apart) * _MIN_ALIKE_PER_DIFFERENT > apart.size:
        raise NotShared("too many of its neurons differ")
    if np.any(np.isin(block.sources, neurons[~apart])):
        raise NotShared("one of its neurons depends on another")
    if np.any(signals.pre_activation_is_read[neurons]):
        raise NotShared("the pre-activation of one of its neurons is read")
    return apart


def is_borne_out(net: Network, signals: GraphSignals, block: SpatialBlock) -> bool:
    """Whether the connections of most neurons bear a block out."""
    parts = [block] if block.is_pool else block.by_activation(net.neurons.activation)
    return all(
        any(_fits(net, signals, part, evolved=evolved) for evolved in (False, True))
        for part in parts
    )


def _fits(net: Network, signals: GraphSignals, block: SpatialBlock, *, evolved: bool) -> bool:
    try:
        apart = neurons_apart(net, signals, block) if evolved else None
        if block.is_pool:
            check_pool(net, signals, block, apart)
        else:
            shared_weights(net, signals, block, usual_responses(net, block, apart), apart)
    except NotShared:
        return False
    return True


def usual_responses(net: Network, block: SpatialBlock, apart: Bools | None) -> Floats:
    """The response of each channel, by its first neuron that is not apart."""
    if apart is None:
        first = np.zeros(len(block.neurons), np.int64)
    else:
        first = np.argmin(apart.reshape(len(block.neurons), -1), axis=1)
    neurons = block.neurons.reshape(len(block.neurons), -1)
    return net.neurons.response[neurons[np.arange(len(neurons)), first]]


def _differ(group: Ints, values: Floats | Ints) -> Bools:
    """Which values are not the most frequent one of their group."""
    order = np.lexsort((values, group))
    groups, ordered = group[order], values[order]
    is_first = np.append(True, (np.diff(groups) != 0) | (ordered[1:] != ordered[:-1]))
    starts = np.flatnonzero(is_first[: len(order)])
    counts = np.diff(np.append(starts, len(order)))
    by_count = np.lexsort((-counts, groups[starts]))
    usual = by_count[np.append(True, np.diff(groups[starts][by_count]) != 0)[: len(by_count)]]
    of_group = np.zeros(1 + int(group.max(initial=0)), values.dtype)
    of_group[groups[starts[usual]]] = ordered[starts[usual]]
    differs: Bools = values != of_group[group]
    return differs
