"""Which values may overflow although inputs are moderate, at once or after any number of steps.

A dense matrix product multiplies the weight 0 of a missing connection with the value at its other
end, and 0 · ∞ is NaN. So values that may overflow must not be padded over: whoever writes a matrix
asks here which they are.

Some overflow at once: a cube, an exponential, 1/z, a product of two values without a bound. Others
grow from step to step: x(t) = 1.5 · x(t−1) + … doubles every other step. Only neurons without a
bound, on cycles, grow so. Each is at most a sum of coefficients times others, |x_i(t)| ≤ Σ a_ij ·
|x_j(t − d_ij)| + c with a_ij ≥ 0, and they stay below some power of t if the spectral radius of
(a_ij) is at most 1, whatever the delays are.

Once values overflow, others may be NaN: ∞ − ∞, 0 · ∞, sin(∞). That passes through every bound, so
whatever reads such a value, directly or not, must not be padded over either. An input may be NaN
where a neuron asks whether it is, and may be infinite likewise.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.bounds import interval_of
from neat_onnx.network.expression import parts_of
from neat_onnx.network.genes import NONE, Bools, Floats, Ints, distinct, marked
from neat_onnx.network.schedule import Edges, components
from neat_onnx.network.structure import Structure

_ONE_OF_ITS_INPUTS = ("max", "min", "maxabs")
_NO_PRODUCTS = (*_ONE_OF_ITS_INPUTS, "median", "sum", "mean")
_ABOVE_ONE = 1.0 + 1e-9  # a spectral radius up to this overflows after 10^11 steps at the earliest
_HUGE = 1e150
_FAR = np.logspace(12, 30, 37)
_MAX_ROUNDS = 300
_MODERATE = np.linspace(-50.0, 50.0, 401)
_NUMBERS = {
    "partial": _MODERATE,
    "not_negative": _MODERATE[_MODERATE >= 0.0],
    "positive": np.logspace(-12.0, 1.5, 201),
}


@dataclass(frozen=True)
class Overflowing:
    """Values that may overflow, or be NaN because others do.

    Attributes:
        activation, pre_activation: whether each neuron's activation, or pre-activation, may, (n,).
        bounded: whether its activation has a bound, whatever it reads, (n,); no input has.
    """

    activation: Bools
    pre_activation: Bools
    bounded: Bools


@lru_cache(maxsize=1024)
@np.errstate(all="ignore")
def _traits(function: Activation) -> dict[str, float]:
    """Return what an activation makes of large numbers.

    bound: of |f|; ∞ for none.
    slope: lim sup |f(z)| / |z|, probed; 0 with a bound, ∞ if it grows faster than linearly.
    decides: it gives 1 or 0 even of NaN.
    breaks: it is NaN at ∞ or −∞, as a sine is.
    asks: it asks whether its argument is NaN, or infinite.
    partial, not_negative, positive: it is NaN, or infinite, for some moderate numbers; for some
        that are not negative; for some that are positive.
    signed: it is negative for some moderate numbers.
    """
    formula = function.expression
    slope = 0.0 if function.bounded else np.inf
    if function.linear_growth and not function.bounded:
        slope = max(float(np.max(np.abs(function(sign * _FAR)) / _FAR)) for sign in (-1.0, 1.0))
    return {
        "bound": max(map(abs, interval_of(formula))) if function.bounded else np.inf,
        "slope": slope,
        "decides": formula.op == "number",
        "breaks": bool(np.any(np.isnan(function(np.array([-np.inf, np.inf]))))),
        "asks": any(part.op in ("is_nan", "is_infinite") for part in parts_of(formula)),
        "signed": not np.all(function(_MODERATE) >= 0.0),
        **{name: not np.all(np.isfinite(function(some))) for name, some in _NUMBERS.items()},
    }


@np.errstate(over="ignore", invalid="ignore")  # a factor beyond every number is ∞
def overflowing(net: Structure) -> Overflowing:
    """Return which values of `net` may overflow on moderate inputs."""
    count, values = len(net), _Values(net)
    found = marked(2 * count, values.seeds())
    if net.has_memory or np.any(found):
        source, target, factor = values.influences()
        if net.has_memory:
            found |= _growing(source, target, factor, 2 * count)
        found = Edges(source, target, 2 * count).reached(found)
        if np.any(found):
            found |= values.undefined(found)
    return Overflowing(found[:count], found[count:], values.bounded & ~net.is_input)


class _Values:
    """The effect of neurons on the size of the values that they read.

    Values are numbered: j is the activation of neuron j, n + j its pre-activation.
    """

    def __init__(self, net: Structure) -> None:
        self._net, live = net, net.live
        table = [_traits(activation_named(name)) for name in net.activations]
        self._is = {
            name: np.array([each[name] for each in table])[net.neurons.activation]
            for name in table[0]
        }
        self._bound, self._slope = self._is["bound"], self._is["slope"]
        self.bounded = np.isfinite(self._bound) | net.is_input
        self._bound[net.is_input], self._slope[net.is_input] = np.inf, 1.0
        self._multiplies = ~np.isin(net.aggregation_names, _NO_PRODUCTS) & (net.fan_in > 1)
        asked = distinct(live.source[self._is["asks"][live.target]])
        self._missing = asked[net.is_input[asked]]
        state = live.reads_state & ~net.is_input[live.source]
        self._read = np.where(state, len(net) + live.source, live.source)
        self._unbounded_read = state | ~self.bounded[live.source]
        self._gated = live.gater != NONE
        self._unbounded_gain = self._gated & ~self.bounded[live.gater]

    def seeds(self) -> Ints:
        """The values that may overflow at once, whatever they read."""
        target, count = self._net.live.target, len(self._net)
        both = (self._unbounded_read & self._unbounded_gain) | (
            self._multiplies[target] & self._unbounded_read
        )
        return np.concatenate(
            [self._missing, np.flatnonzero(self._slope == np.inf), count + target[both]]
        )

    def influences(self) -> tuple[Ints, Ints, Floats]:
        """(value, value that it goes into, a) wherever the first has no bound, for the a_ij above:
        the slope of an activation; the weight of a connection, times the bound of its gate; or of
        what it reads, where the gate has none.
        """
        net, live, count = self._net, self._net.live, len(self._net)
        own, value, gate = ~self.bounded, self._unbounded_read, self._unbounded_gain
        size = np.abs(live.weight * net.neurons.response[live.target])
        bound = np.where(self._read < count, self._bound[live.source], np.inf)
        gain = np.where(self._gated, self._bound[live.gater], 1.0)
        by_value, by_gate = (np.where(size == 0.0, 0.0, size * each) for each in (gain, bound))
        own_activation, target = np.flatnonzero(own), count + live.target
        return (
            np.concatenate([count + own_activation, self._read[value], live.gater[gate]]),
            np.concatenate([own_activation, target[value], target[gate]]),
            np.concatenate([self._slope[own], by_value[value], by_gate[gate]]),
        )

    def undefined(self, infinite: Bools) -> Bools:
        """Return which values may be NaN where `infinite` ones are ±∞.

        A truth value is 1 or 0 even where the numbers that it compares are NaN.
        """
        net, live, count = self._net, self._net.live, len(self._net)
        target, reads = live.target, infinite[self._read]
        chooses = np.isin(net.aggregation_names, _ONE_OF_ITS_INPUTS)
        wrong = reads & (live.weight * net.neurons.response[target] == 0.0)
        wrong |= self._gated & (reads | infinite[live.gater])
        wrong |= reads & self._multiplies[target]
        found = marked(2 * count, self._missing, count + target[wrong])
        found[:count] |= (self._is["breaks"] & infinite[count:]) | self._without_value()
        found[count:] |= (np.bincount(target[reads], minlength=count) > 1) & ~chooses
        own = np.flatnonzero(~net.is_input & ~self._is["decides"])
        sources = np.concatenate([count + own, self._read, live.gater[self._gated]])
        targets = np.concatenate([own, count + target, count + target[self._gated]])
        return Edges(sources, targets, 2 * count).reached(found)

    def _without_value(self) -> Bools:
        """Whether each neuron's function is NaN for some numbers, and these may come.

        A root may come of sums of squares, which are not negative.
        """
        net, live = self._net, self._net.live
        never_negative = ~self._is["signed"] & ~net.is_input
        gain = ~self._gated | never_negative[live.gater]
        terms = (never_negative[live.source] & gain) | (live.gater == live.source)
        terms &= (live.weight >= 0.0) & ~live.reads_state
        least = ~marked(len(net), live.target[~terms])
        least &= (net.neurons.bias >= 0.0) & (net.neurons.response > 0.0)
        fine = ~self._is["not_negative"] | (~self._is["positive"] & (net.neurons.bias > 0.0))
        found: Bools = self._is["partial"] & ~net.is_input & ~(least & fine)
        return found


def _growing(source: Ints, target: Ints, factor: Floats, count: int) -> Bools:
    """Which values are on cycles on which they may grow by more than a power of t.

    For an irreducible matrix A ≥ 0 and every v > 0, the spectral radius is between the least and
    the largest (A·v)/v. Here v is improved by powers of A + 1, for all components at once.
    """
    component = components(source, target, count)
    within = component[source] == component[target]
    source, target, factor = source[within], target[within], np.minimum(factor[within], _HUGE)
    v = np.ones(count)
    for _ in range(_MAX_ROUNDS):
        image = np.bincount(target, factor * v[source], count)
        least, most, peak = np.full(count, np.inf), np.zeros(count), np.zeros(count)
        np.minimum.at(least, component, image / v)
        np.maximum.at(most, component, image / v)
        if np.all((most <= _ABOVE_ONE) | (least > _ABOVE_ONE)):
            break
        v = image + v
        np.maximum.at(peak, component, v)
        v = np.maximum(v / peak[component], 1e-200)
    grows: Bools = (most > _ABOVE_ONE)[component]
    return grows
