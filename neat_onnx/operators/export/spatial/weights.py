"""The check of a block against the connections: its receptive fields and shared weights.

A connection of weight 0 may stand outside of a convolution's window, and one of the window may be
missing where its weight is 0; neither may touch a source that can overflow, as 0 · ∞ is no 0.

Neurons may stand apart, as evolution changes a layer neuron by neuron. The others stay a
convolution or a pool, which computes something in the places of these too; nothing reads it.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.errors import NeatOnnxError
from neat_onnx.lowering.signals import GraphSignals
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.spatial import Fields, SpatialBlock, receptive_fields

READS_MORE = "reads more than its window"
_MIN_ALIKE_PER_DIFFERENT = 4  # neurons


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
        response: of all neurons.
    """

    kernel: Floats
    bias: Floats
    response: float


@dataclass(frozen=True, eq=False)
class Found:
    """The connections that a block asks for.

    Attributes:
        fields: the block's receptive fields.
        weight: of the connection of each field.
        times: how often each is there.
    """

    fields: Fields
    weight: Floats
    times: Ints

    def of(self, wanted: Bools) -> "Found":
        """The connections into some neurons."""
        if np.all(wanted):
            return self
        kept = np.flatnonzero(wanted[self.fields.neuron])
        return Found(self.fields.in_order(kept), self.weight[kept], self.times[kept])


def shared_weights(
    net: Network, signals: GraphSignals, block: SpatialBlock, apart: Bools | None = None
) -> Weights:
    """The weights that all positions of a convolution share.

    Args:
        net: the network.
        signals: its signals.
        block: the convolution.
        apart: neurons that are not looked at, in the order of the block; None for none.

    Raises:
        NotShared: they do not.
    """
    apart = np.zeros(block.neurons.size, np.bool_) if apart is None else apart
    response = float(net.neurons.response[block.neurons.flat[np.argmin(apart)]])
    _check_neurons(net, block, np.full(block.neurons.size, response), apart)
    found, outside = connections_into(net, signals, block)
    _refuse(net, block, outside & ~apart, READS_MORE)
    found = found.of(~apart)
    _refuse_overflowing(net, signals, block, found)
    tap, kernel = found.fields.weight, np.zeros(int(np.prod(block.weight_shape)))
    kernel[tap[::-1]] = found.weight[::-1]  # the first of each is the last here
    expected = kernel[tap]
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
    return Weights(kernel.reshape(block.weight_shape), usual, response)


def check_pool(
    net: Network, signals: GraphSignals, block: SpatialBlock, apart: Bools | None
) -> None:
    """Raise NotShared if the neurons do not take the largest, or the mean, of their windows."""
    apart = np.zeros(block.neurons.size, np.bool_) if apart is None else apart
    _check_neurons(net, block, responses_of_pool(block), apart)
    bias = net.neurons.bias[block.neurons.ravel()]
    _refuse(net, block, (bias != 0.0) & ~apart, "has a bias")
    found, outside = connections_into(net, signals, block)
    _refuse(net, block, outside & ~apart, READS_MORE)
    at = _neurons_of(block, found, (found.times != 1) | (found.weight != 1.0))
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
    if block.repeats_sources:
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
    fields, size = receptive_fields(block), block.sources.size
    position = np.full(signals.count, NONE, np.int64)
    position[block.sources.ravel()] = np.arange(size)
    wanted = fields.neuron * size + fields.source
    row, edge = net.edges_into(block.neurons.ravel())
    read, weight = signals.read[edge], signals.weight[edge]
    key = row * size + position[read]
    if np.array_equal(key, wanted) and np.all(position[read] != NONE):  # all of them, and no other
        once = np.ones(len(wanted), np.int64)
        return Found(fields, weight, once), np.zeros(block.neurons.size, np.bool_)
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
    return Found(fields, total, times), outside


def _refuse_overflowing(
    net: Network, signals: GraphSignals, block: SpatialBlock, found: Found
) -> None:
    """Refuse a window that would put a weight of 0 on a value that may overflow."""
    overflows = signals.overflows[block.sources.ravel()][found.fields.source] & (found.times == 0)
    at = _neurons_of(block, found, overflows)
    _refuse(net, block, at, "does not read a neuron of its window that may overflow")


def _neurons_of(block: SpatialBlock, found: Found, which: Bools) -> Bools:
    """Whether each neuron has one of these connections."""
    at = np.zeros(block.neurons.size, np.bool_)
    at[found.fields.neuron[which]] = True
    return at


def _refuse(net: Network, block: SpatialBlock, wrong: Bools, what: str) -> None:
    """Raise NotShared about the first neuron of a block for which something is wrong."""
    if np.any(wrong):
        raise NotShared(f"{_named(net, block, int(np.argmax(wrong.ravel())))} {what}")


def _named(net: Network, block: SpatialBlock, at: int) -> str:
    channel, *position = (int(k) for k in np.unravel_index(at, block.neurons.shape))
    where = ", ".join(map(str, position))
    return f"{net.label(int(block.neurons.flat[at]))} (channel {channel}, at {where})"


# --- neurons apart -------------------------------------------------------------------------------


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
    apart |= _neurons_of(block, found, wrong)
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
            shared_weights(net, signals, block, apart)
    except NotShared:
        return False
    return True


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
