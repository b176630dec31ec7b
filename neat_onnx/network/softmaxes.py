"""Softmax in the genes: values with a bound that no formula shows by itself.

The exponential of x − max(…, x, …) is at most 1, the sum of these over all that the maximum reads
is at least 1, and so its reciprocal is at most 1. NaN is no matter here: where an x is infinite the
difference is ∞ − ∞, which `growth` follows by itself.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import VARIABLE, Expression, call
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.structure import Structure

_EXP, _RECIPROCAL = call("exp", VARIABLE), call("reciprocal", VARIABLE)


@dataclass(frozen=True)
class Softmaxes:
    """The neurons of softmaxes that have a bound.

    Attributes:
        neurons: their positions.
        bound: of the activation of each.
    """

    neurons: Ints
    bound: Floats


def softmaxes_of(net: Structure) -> Softmaxes:
    """Find them: exponentials, reciprocals of their sums, and the products of both."""
    formulas = [activation_named(name).expression for name in net.activations]
    if "max" not in net.aggregations or not {_EXP, _RECIPROCAL} <= {*formulas}:
        return Softmaxes(np.empty(0, np.int64), np.empty(0))
    rows = _Rows(net, formulas)
    spread, scale = np.flatnonzero(rows.spread), np.flatnonzero(rows.scale)
    results, bound = rows.results()
    ones = np.ones(len(spread) + len(scale))
    return Softmaxes(np.concatenate([spread, scale, results]), np.concatenate([ones, bound]))


class _Rows:
    """The parts of softmaxes, found one after the other.

    Attributes:
        spread: whether each neuron is exp(x − the largest).
        scale: whether it is the reciprocal of a whole sum of these.
    """

    def __init__(self, net: Structure, formulas: list[Expression]) -> None:
        self._net, self._live = net, net.live
        live, count = self._live, len(net)
        now = (live.delay == 0) & ~live.reads_state
        self._plain = now & (live.gater == NONE)
        self._gated = now & (live.gater != NONE) & (live.gate_delay == 0)
        self._bare = (net.neurons.bias == 0.0) & (net.neurons.response == 1.0) & ~net.is_input
        self._code = net.neurons.activation
        self._formulas = formulas
        is_one = self._plain & (live.weight == 1.0)
        self._copies = self._bare & self._every(is_one)
        self._top = np.full(count, NONE, np.int64)  # the largest that an exponential is less by
        self._x = np.full(count, NONE, np.int64)
        self.spread = self._find_spread()
        self.scale = self._find_scale()

    def _has(self, formula: Expression) -> Bools:
        found: Bools = np.array([each == formula for each in self._formulas], np.bool_)[self._code]
        return found & ~self._net.is_input

    def _is(self, aggregation: str) -> Bools:
        named: Bools = self._net.aggregation_names == aggregation
        return named

    def _every(self, edges: Bools) -> Bools:
        """Whether all connections into each neuron, one at least, are among these."""
        fits = np.bincount(self._live.target[edges], minlength=len(self._net))
        found: Bools = (fits == self._net.fan_in) & (fits > 0)
        return found

    def _find_spread(self) -> Bools:
        net, live = self._net, self._live
        largest = self._copies & self._is("max") & self._has(VARIABLE)
        found = self._bare & self._is("sum") & self._has(_EXP) & (net.fan_in == 2)
        found &= self._every(self._plain & (np.abs(live.weight) == 1.0))
        plus, minus = found[live.target] & (live.weight > 0), found[live.target] & (live.weight < 0)
        self._x[live.target[plus]] = live.source[plus]
        self._top[live.target[minus]] = live.source[minus]
        found &= (self._x != NONE) & (self._top != NONE)
        found &= largest[self._top]
        read = live.source * len(net) + live.target
        known = np.isin(self._x * len(net) + self._top, read[largest[live.target]])
        spread: Bools = found & known
        return spread

    def _find_scale(self) -> Bools:
        net, live = self._net, self._live
        among = self.spread[live.source] & self._copies[live.target]
        whole = self._copies & self._is("sum") & self._has(VARIABLE) & self._every(among)
        edges = np.flatnonzero(whole[live.target])
        target, top = live.target[edges], self._top[live.source[edges]]
        x = self._x[live.source[edges]]
        lowest, highest = np.full(len(net), len(net)), np.full(len(net), NONE)
        np.minimum.at(lowest, target, top)
        np.maximum.at(highest, target, top)
        whole &= lowest == highest
        different = np.unique(target * len(net) + x) // len(net)
        elements = np.bincount(different, minlength=len(net))
        whole &= elements == np.where(whole, net.fan_in[highest], 0)
        reads_whole = self._plain & (live.weight == 1.0) & whole[live.source]
        one = self._bare & (net.fan_in == 1) & self._has(_RECIPROCAL)
        scale: Bools = one & self._every(reads_whole)
        return scale

    def results(self) -> tuple[Ints, Floats]:
        """The sums of products of the two, and a bound of each."""
        net, live = self._net, self._live
        both = self._gated & self.spread[live.source] & self.scale[live.gater]
        found = self._is("sum") & self._has(VARIABLE) & self._every(both)
        size = np.bincount(live.target, np.abs(live.weight), len(net))
        bound: Floats = np.abs(net.neurons.bias) + np.abs(net.neurons.response) * size
        results: Ints = np.flatnonzero(found)
        return results, bound[results]
