"""The check of a block against the connections: its receptive fields and shared weights.

A connection of weight 0 may stand outside of a convolution's window, and one of the window may be
missing where its weight is 0; neither may touch a source that can overflow, as 0 · ∞ is no 0.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import NeatOnnxError
from neat_onnx.lowering.signals import GraphSignals
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import Fields, SpatialBlock, receptive_fields

READS_MORE = "reads more than its window"


class NotShared(NeatOnnxError):
    """The connections contradict a block; the message names the first neuron that differs."""


class Unavailable(NotShared):
    """They may be, but no runtime computes the operator, or the opset does not have it."""


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights and biases of a convolution's node.

    Attributes:
        kernel: shaped as the operator wants it.
        bias: (channels,).
    """

    kernel: Floats
    bias: Floats


@dataclass(frozen=True, eq=False)
class Found:
    """The connections that a block asks for.

    Attributes:
        fields: the block's receptive fields.
        weight: of the connection of each field.
        times: how often each is there.
        together: a number for each, the same for those that are one connection, as a window has a
            source in two places; None if there are none.
    """

    fields: Fields
    weight: Floats
    times: Ints
    together: Ints | None = None

    def of(self, wanted: Bools) -> "Found":
        """The connections into some neurons."""
        if np.all(wanted):
            return self
        kept = np.flatnonzero(wanted[self.fields.neuron])
        together = None if self.together is None else self.together[kept]
        return Found(self.fields.in_order(kept), self.weight[kept], self.times[kept], together)


def shared_weights(
    net: Network,
    signals: GraphSignals,
    block: SpatialBlock,
    response: Floats | None = None,
    apart: Bools | None = None,
) -> Weights:
    """The weights that all positions of a convolution share.

    Args:
        net: the network.
        signals: its signals.
        block: the convolution.
        response: of each channel; None for 1.
        apart: neurons that are not looked at, in the order of the block; None for none.

    Raises:
        NotShared: they do not.
    """
    channels = np.ones(len(block.neurons)) if response is None else response
    apart = np.zeros(block.neurons.size, np.bool_) if apart is None else apart
    _check_neurons(net, block, np.repeat(channels, block.neurons[0].size), apart)
    found, outside = connections_into(net, signals, block)
    _refuse(net, block, outside & ~apart, READS_MORE)
    found = found.of(~apart)
    _refuse_overflowing(net, signals, block, found)
    kernel, expected = _kernel(block, found)
    differs = np.flatnonzero(found.weight != expected)
    if len(differs):
        k = differs[0]
        source = net.label(int(block.sources.flat[found.fields.source[k]]))
        raise NotShared(
            f"{_named(net, block, found.fields.neuron[k])} weighs {source} with "
            f"{found.weight[k]:.6g}, where the first neuron of its channel has {expected[k]:.6g}"
        )
    bias = net.neurons.bias[block.neurons].reshape(len(block.neurons), -1)
    there = ~apart.reshape(bias.shape)
    usual = bias[np.arange(len(bias)), np.argmax(there, axis=1)]
    differs_there = there & (bias != usual[:, None])
    _refuse(net, block, differs_there, "has a bias of its own, unlike its channel")
    return Weights(kernel.reshape(block.weight_shape), usual)


def _kernel(block: SpatialBlock, found: Found) -> tuple[Floats, Floats]:
    """The weights of a convolution, flat, by the first connection that has each alone; and the
    weight that each connection has by them.

    Raises:
        NotShared: no connection has one of them alone.
    """
    tap = found.fields.weight
    alone = np.ones(len(tap), np.bool_)
    if found.together is not None:
        alone = np.bincount(found.together)[found.together] == 1
    kernel = np.zeros(int(np.prod(block.weight_shape)))
    kernel[tap[alone][::-1]] = found.weight[alone][::-1]  # the first of each is the last here
    expected: Floats = kernel[tap]
    if found.together is not None:
        if np.any(np.bincount(tap[alone], minlength=len(kernel)) == 0):
            raise NotShared("each of its windows has a source in two places")
        expected = np.bincount(found.together, expected).astype(np.float64)[found.together]
    return kernel, expected


def check_pool(
    net: Network, signals: GraphSignals, block: SpatialBlock, apart: Bools | None
) -> None:
    """Raise NotShared if the neurons do not take the largest, or the mean, of their windows.

    Args:
        net, signals, block, apart: as of `shared_weights`.
    """
    apart = np.zeros(block.neurons.size, np.bool_) if apart is None else apart
    _check_neurons(net, block, responses_of_pool(block), apart)
    bias = net.neurons.bias[block.neurons.ravel()]
    _refuse(net, block, (bias != 0.0) & ~apart, "has a bias")
    found, outside = connections_into(net, signals, block)
    _refuse(net, block, outside & ~apart, READS_MORE)
    wrong = (found.times != 1) | (found.weight != 1.0)
    at = np.zeros(block.neurons.size, np.bool_)
    at[found.fields.neuron[wrong]] = True
    what = "does not read every neuron of its window once, with the weight 1"
    _refuse(net, block, at & ~apart, what)


def responses_of_pool(block: SpatialBlock) -> Floats:
    """The response that each of a pool's neurons should have."""
    if block.count_padding:
        return np.tile(padding_responses(block), len(block.neurons))
    return np.ones(block.neurons.size)


def padding_responses(block: SpatialBlock) -> Floats:
    """The response of a pool's neurons that turns a mean without padding into one with it."""
    space = block.sources.shape[1:]
    present = np.count_nonzero(block.window.taps(space) != NONE, axis=1)
    responses: Floats = present / block.window.divisors(space)
    return responses


def _check_neurons(net: Network, block: SpatialBlock, response: Floats, apart: Bools) -> None:
    neurons = block.neurons.ravel()
    if len(np.unique(neurons)) != len(neurons):
        raise NotShared("one of its neurons stands in two places")
    if block.repeats_sources and not block.is_product:
        raise NotShared("one of its sources stands in two places")
    names = net.activation_names[neurons]
    usual = names[np.argmin(apart)]
    for wrong, what in (
        (net.is_input[neurons], "is an input"),
        (
            net.aggregation_names[neurons] != block.aggregation,
            f"does not take the {block.aggregation} of its inputs",
        ),
        (net.neurons.response[neurons] != response, "has a response of its own"),
        (names != usual, f"has another activation than {usual}"),
    ):
        _refuse(net, block, wrong & ~apart, what)


def connections_into(
    net: Network, signals: GraphSignals, block: SpatialBlock
) -> tuple[Found, Bools]:
    """The connections into a block's neurons, in the order of its receptive fields; and which of
    the neurons read more than their windows.
    """
    fields, size, together = receptive_fields(block), block.sources.size, None
    position = np.full(signals.count, NONE, np.int64)
    if block.repeats_sources:
        sources, number = np.unique(block.sources, return_inverse=True)
        number = number.ravel()
        fields = fields.in_order(np.lexsort((number[fields.source], fields.neuron)))
        position[sources] = np.arange(len(sources))
        wanted = fields.neuron * size + number[fields.source]
        if np.any(again := wanted[1:] == wanted[:-1]):
            together = np.append(0, np.cumsum(~again))
            wanted = wanted[np.append(True, ~again)]
    else:
        position[block.sources.ravel()] = np.arange(size)
        wanted = fields.neuron * size + fields.source
    row, edge = net.edges_into(block.neurons.ravel())
    read, weight = signals.read[edge], signals.weight[edge]
    key = row * size + position[read]
    if np.array_equal(key, wanted) and np.all(position[read] != NONE):  # all of them, and no other
        once = np.ones(len(wanted), np.int64)
        return _found(fields, weight, once, together), np.zeros(block.neurons.size, np.bool_)
    at = np.minimum(np.searchsorted(wanted, key), max(len(wanted) - 1, 0))
    inside = (position[read] != NONE) & (wanted[at] == key) if len(wanted) else read < 0
    idle = (weight == 0.0) & ~signals.overflows[read] if not block.is_pool else read < 0
    outside = np.zeros(block.neurons.size, np.bool_)
    outside[row[~inside & ~idle]] = True
    at, weight, count = at[inside], weight[inside], len(wanted)
    total = np.bincount(at, weight, count).astype(np.float64)
    times = np.bincount(at, minlength=count)
    below = np.signbit(weight) & (weight == 0.0) & (times[at] == 1)
    total[at[below]] = -0.0  # added to nothing it would lose its sign, which pruned kernels have
    return _found(fields, total, times, together), outside


def _found(fields: Fields, weight: Floats, times: Ints, together: Ints | None) -> Found:
    """The connections of fields, of which `together` says which one each is, by their numbers."""
    if together is None:
        return Found(fields, weight, times)
    return Found(fields, weight[together], times[together], together)


def _refuse_overflowing(
    net: Network, signals: GraphSignals, block: SpatialBlock, found: Found
) -> None:
    """Refuse a window that would put a weight of 0 on a value that may overflow."""
    overflows = signals.overflows[block.sources.ravel()][found.fields.source] & (found.times == 0)
    at = np.zeros(block.neurons.size, np.bool_)
    at[found.fields.neuron[overflows]] = True
    _refuse(net, block, at, "does not read a neuron of its window that may overflow")


def _refuse(net: Network, block: SpatialBlock, wrong: Bools, what: str) -> None:
    """Raise NotShared about the first neuron of a block for which something is wrong."""
    if np.any(wrong):
        raise NotShared(f"{_named(net, block, int(np.argmax(wrong.ravel())))} {what}")


def _named(net: Network, block: SpatialBlock, at: int) -> str:
    channel, *position = (int(k) for k in np.unravel_index(at, block.neurons.shape))
    where = ", ".join(map(str, position))
    return f"{net.label(int(block.neurons.flat[at]))} (channel {channel}, at {where})"
