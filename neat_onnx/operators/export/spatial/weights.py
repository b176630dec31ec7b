"""The check of a block against the connections: its receptive fields and shared weights.

A connection of weight 0 may stand outside of a convolution's window, and one of the window may be
missing where its weight is 0; neither may touch a source that can overflow, as 0 · ∞ is no 0.
"""

from typing import NamedTuple

import numpy as np

from neat_onnx.errors import NeatOnnxError
from neat_onnx.lowering.signals import GraphSignals
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, marked, place_among
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import Fields, SpatialBlock, receptive_fields


class NotShared(NeatOnnxError):
    """The connections contradict a block; the message names the first neuron that differs."""


class Unavailable(NotShared):
    """They may be, but no runtime computes the operator, or the opset does not have it."""


class Weights(NamedTuple):
    """The weights and biases of a convolution's node.

    Attributes:
        kernel: shaped as the operator wants it.
        bias: (channels,).
        response: of all neurons.
    """

    kernel: Floats
    bias: Floats
    response: float


def shared_weights(net: Network, signals: GraphSignals, block: SpatialBlock) -> Weights:
    """The weights that all positions of a convolution share.

    Raises:
        NotShared: they do not.
    """
    response = float(net.neurons.response[block.neurons.flat[0]])
    _check_neurons(net, block, np.full(block.neurons.size, response))
    fields, found, times = _connections(net, signals, block)
    overflows = signals.overflows[block.sources.ravel()][fields.source] & (times == 0)
    wrong = marked(block.neurons.size, fields.neuron[overflows])
    _refuse(net, block, wrong, "does not read a neuron of its window that may overflow")
    kernel = np.zeros(int(np.prod(block.weight_shape)))
    kernel[fields.weight[::-1]] = found[::-1]  # the first of each is the last here
    expected = kernel[fields.weight]
    if np.any(found != expected):
        k = np.argmax(found != expected)
        source = net.label(int(block.sources.flat[fields.source[k]]))
        raise NotShared(
            f"{_named(net, block, fields.neuron[k])} weighs {source} with {found[k]:.6g}, where "
            f"the first neuron of its channel has {expected[k]:.6g}"
        )
    bias = net.neurons.bias[block.neurons].reshape(len(block.neurons), -1)
    _refuse(net, block, bias != bias[:, :1], "has a bias of its own, unlike its channel")
    return Weights(kernel.reshape(block.weight_shape), bias[:, 0], response)


def check_pool(net: Network, signals: GraphSignals, block: SpatialBlock) -> None:
    """Raise NotShared if the neurons do not take the largest, or the mean, of their windows."""
    response = np.ones(block.neurons.size)
    if block.count_padding:  # which turns a mean without padding into one with it
        space = block.sources.shape[1:]
        present = np.count_nonzero(block.window.taps(space) != NONE, axis=1)
        response = np.tile(present / block.window.divisors(space), len(block.neurons))
    _check_neurons(net, block, response)
    _refuse(net, block, net.neurons.bias[block.neurons] != 0.0, "has a bias")
    fields, found, times = _connections(net, signals, block)
    wrong = marked(block.neurons.size, fields.neuron[(times != 1) | (found != 1.0)])
    what = "does not read every neuron of its window once, with the weight 1"
    _refuse(net, block, wrong, what)


def _check_neurons(net: Network, block: SpatialBlock, response: Floats) -> None:
    neurons = block.neurons.ravel()
    if len(np.unique(neurons)) != len(neurons):
        raise NotShared("one of its neurons stands in two places")
    if block.repeats_sources:
        raise NotShared("one of its sources stands in two places")
    names = net.activation_names[neurons]
    for wrong, what in (
        (net.is_input[neurons], "is an input"),
        (
            net.aggregation_names[neurons] != block.aggregation,
            f"does not take the {block.aggregation} of its inputs",
        ),
        (net.neurons.response[neurons] != response, "has a response of its own"),
        (names != names[0], f"has another activation than {names[0]}"),
    ):
        _refuse(net, block, wrong, what)


def _connections(
    net: Network, signals: GraphSignals, block: SpatialBlock
) -> tuple[Fields, Floats, Ints]:
    """The block's receptive fields, the weight of the connection of each, and how often it is
    there.

    Raises:
        NotShared: a neuron reads more.
    """
    fields, size = receptive_fields(block), block.sources.size
    position = place_among(block.sources.ravel(), signals.count)
    wanted = fields.neuron * size + fields.source
    row, edge = net.edges_into(block.neurons.ravel())
    read, weight = signals.read[edge], signals.weight[edge]
    key = row * size + position[read]
    at = np.searchsorted(wanted, key)
    inside = (position[read] != NONE) & (np.append(wanted, NONE)[at] == key)
    idle = (weight == 0.0) & ~signals.overflows[read] & (not block.is_pool)
    outside = marked(block.neurons.size, row[~inside & ~idle])
    _refuse(net, block, outside, "reads more than its window")
    at, weight = at[inside], weight[inside]
    total = np.bincount(at, weight, len(wanted)).astype(np.float64)
    times = np.bincount(at, minlength=len(wanted))
    once = times[at] == 1
    total[at[once]] = weight[once]  # -0.0 added to nothing would lose its sign
    return fields, total, times


def _refuse(net: Network, block: SpatialBlock, wrong: Bools, what: str) -> None:
    """Raise NotShared about the first neuron of a block for which something is wrong."""
    if np.any(wrong):
        raise NotShared(f"{_named(net, block, int(np.argmax(wrong.ravel())))} {what}")


def _named(net: Network, block: SpatialBlock, at: int) -> str:
    channel, *position = (int(k) for k in np.unravel_index(at, block.neurons.shape))
    where = ", ".join(map(str, position))
    return f"{net.label(int(block.neurons.flat[at]))} (channel {channel}, at {where})"
