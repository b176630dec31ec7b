"""Intervals of the values of a network within a step, for any finite inputs.

Interval arithmetic, level by level: a bounded activation, such as a clip, bounds the sums that read
it, and so the squares and exponentials of those. Neurons of a level that have one activation share
the hull of their intervals, but for the sign.
"""

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.bounds import interval_of, intervals_of_parts
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, distinct
from neat_onnx.network.schedule import schedule
from neat_onnx.network.structure import Structure

_MAX_SIZE = 2.0**30  # times an input, it is far from the largest number of float32
_MAX_LEVELS = 1024  # a level takes as long as many neurons
_CHOOSING = ("max", "min", "median")  # a value between the least and the largest


def moderate_values(net: Structure, bound: Floats) -> tuple[Bools, Bools]:
    """Return which activations, and which pre-activations, have a bound that is far from overflow.

    Args:
        net: a network without memory.
        bound: of the size of each activation, as far as it is known besides, (n,).
    """
    intervals, order = _Intervals(net, bound), schedule(net)
    begin = intervals.known
    if np.any(begin) and order.depth <= _MAX_LEVELS:
        for neurons in order.levels[int(np.min(order.level[begin])) :]:
            intervals.follow(neurons)
    return intervals.activation_is_moderate, intervals.pre_activation_is_moderate


class _Intervals:
    """The intervals of the activations so far.

    Attributes:
        activation_is_moderate, pre_activation_is_moderate: whether each is known to be, (n,).
    """

    def __init__(self, net: Structure, bound: Floats) -> None:
        self._net = net
        self._formulas = [activation_named(name).expression for name in net.activations]
        own = np.array([interval_of(each) for each in self._formulas]).T[:, net.neurons.activation]
        own = np.where(np.isnan(own) | net.is_input, [[-np.inf], [np.inf]], own)
        self._low, self._high = np.maximum(own[0], -bound), np.minimum(own[1], bound)
        self.activation_is_moderate = np.zeros(len(net), np.bool_)
        self.pre_activation_is_moderate = np.zeros(len(net), np.bool_)
        names = net.aggregation_names
        self._is_mean, self._chooses = names == "mean", np.isin(names, _CHOOSING)
        self._sums = self._is_mean | (names == "sum")

    @property
    def known(self) -> Bools:
        """Which neurons have a bound before any is followed, or read nothing, (n,)."""
        net = self._net
        bounded = np.isfinite(self._low) & np.isfinite(self._high)
        found: Bools = (bounded | (net.fan_in == 0)) & ~net.is_input
        return found

    def follow(self, neurons: Ints) -> None:
        """Find the intervals of the neurons of a level."""
        low, high, size = self._pre_activations(neurons)
        moderate = size <= _MAX_SIZE
        self.pre_activation_is_moderate[neurons] = moderate
        neurons, low, high = neurons[moderate], low[moderate], high[moderate]
        sign = np.sign(np.maximum(low, -1.0))  # a root, or a quotient, may ask for it
        key = self._net.neurons.activation[neurons] * 3 + sign.astype(np.int64)
        for each in distinct(key).tolist():
            same = key == each
            self._take(neurons[same], low[same], high[same])

    def _take(self, neurons: Ints, low: Floats, high: Floats) -> None:
        """Give neurons of one activation its interval, if all parts of its formula are moderate."""
        formula = self._formulas[self._net.neurons.activation[neurons[0]]]
        if formula != VARIABLE:
            parts = intervals_of_parts(formula, (float(np.min(low)), float(np.max(high))))
            if not all(abs(bound) <= _MAX_SIZE for each in parts.values() for bound in each):
                return
            low, high = map(np.asarray, parts[formula])
        self._low[neurons] = np.maximum(self._low[neurons], low)
        self._high[neurons] = np.minimum(self._high[neurons], high)
        self.activation_is_moderate[neurons] = True

    def _pre_activations(self, neurons: Ints) -> tuple[Floats, Floats, Floats]:
        """The interval of each pre-activation, and a size that its partial sums stay below."""
        net, count = self._net, len(neurons)
        row, edge = net.edges_into(neurons)
        low, high = self._weighted(edge)
        size = np.bincount(row, np.maximum(np.abs(low), np.abs(high)), count)
        sums = [np.bincount(row, low, count), np.bincount(row, high, count)]
        divisor = np.where(self._is_mean[neurons], np.maximum(net.fan_in[neurons], 1), 1)
        chosen = self._chooses[neurons]
        lowest, highest = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(lowest, row, low)
        np.maximum.at(highest, row, high)
        low = np.where(chosen, lowest, sums[0] / divisor)
        high = np.where(chosen, highest, sums[1] / divisor)
        bias, response = net.neurons.bias[neurons], net.neurons.response[neurons]
        low, high = _times(low, high, response)
        size = np.abs(bias) + np.maximum(np.abs(response), 1.0) * size
        known = self._sums[neurons] | (chosen & (net.fan_in[neurons] > 0))
        return bias + low, bias + high, np.where(known, size, np.inf)

    def _weighted(self, edge: Ints) -> tuple[Floats, Floats]:
        """The intervals of the weighted inputs of connections; gains multiply them."""
        live = self._net.live
        low, high = _times(
            self._low[live.source[edge]], self._high[live.source[edge]], live.weight[edge]
        )
        gater = live.gater[edge]
        gated = gater != NONE
        by_low = _times(low, high, np.where(gated, self._low[gater], 1.0))
        by_high = _times(low, high, np.where(gated, self._high[gater], 1.0))
        low, high = np.minimum(by_low[0], by_high[0]), np.maximum(by_low[1], by_high[1])
        is_read = ~live.reads_state[edge]
        return np.where(is_read, low, -np.inf), np.where(is_read, high, np.inf)


def _times(low: Floats, high: Floats, factor: Floats) -> tuple[Floats, Floats]:
    """Intervals times numbers; 0 times anything is 0."""
    with np.errstate(invalid="ignore"):
        one, other = (np.where(factor == 0.0, 0.0, each * factor) for each in (low, high))
    return np.minimum(one, other), np.maximum(one, other)
