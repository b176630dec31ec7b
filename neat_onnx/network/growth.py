"""Which values may overflow although inputs are moderate, at once or after any number of steps.

A dense matrix product multiplies the weight 0 of a missing connection with the value at its other
end, and 0 · ∞ is NaN. So values that may overflow must not be padded over: whoever builds a matrix
asks here which they are.

Some overflow at once: a cube, an exponential, 1/z, a product of two values without a bound, where
the values that they read have no bound (`magnitudes.py`). Others grow from step to step: x(t) = 1.5
· x(t−1) + … doubles every other step. How fast values grow is estimated by the neurons without a
bound alone. Each is at most a sum of coefficients times others, |x_i(t)| ≤ Σ a_ij · |x_j(t − d_ij)|
+ c with a_ij ≥ 0, and for every strongly connected component of these the spectral radius ρ of
(a_ij) decides, whatever the delays are: below 1 its values stay as bounded as their inputs; at 1
they grow by one power of t more; above 1 exponentially. Powers of t up to the fourth do not
overflow in any number of steps that somebody computes.

Once values overflow, others may be NaN: ∞ − ∞, 0 · ∞, sin(∞). That passes through every bound, so
whatever reads such a value, directly or not, must not be padded over either. An input may be NaN
where a neuron asks whether it is, and may be infinite likewise.
"""

from dataclasses import dataclass

import numpy as np

from neat_onnx.network.activations import Activation, activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.bounds import ANY, NOT_NEGATIVE, POSITIVE, interval_of, sign_of, stays_finite
from neat_onnx.network.expression import parts_of
from neat_onnx.network.genes import NONE, Bools, Floats, Ints
from neat_onnx.network.magnitudes import moderate_values
from neat_onnx.network.schedule import Edges, components
from neat_onnx.network.structure import Structure

_SELECTING = frozenset({"max", "min", "maxabs", "median"})
_ONE_OF_ITS_INPUTS = ("max", "min", "maxabs")
_MAX_POWER = 4
_ABOVE_ONE = 1e-9  # a spectral radius up to 1 + this overflows after 10^11 steps at the earliest
_FAR = np.logspace(12, 30, 37)
_MAX_ROUNDS = 300
_STEPS_ALONG_ALL_EDGES = 12


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


@np.errstate(over="ignore", invalid="ignore")  # a factor beyond every number is ∞
def overflowing(net: Structure, *, over_time: bool = True) -> Overflowing:
    """Return which values of `net` may overflow on moderate inputs.

    Args:
        over_time: count values that grow from step to step as well.
    """
    count = len(net)
    kinds = _Kinds(net)
    if not net.has_memory and kinds.never_overflow():
        return Overflowing(np.zeros(count, np.bool_), np.zeros(count, np.bool_), kinds.bounded)
    kinds.know_moderate_values()
    overflows = np.zeros(2 * count, np.bool_)
    overflows[kinds.seeds()] = True
    source, target = kinds.influences()
    if net.has_memory:
        power = np.where(overflows, np.inf, 0.0)  # of t that values grow by
        factor = kinds.factors() if over_time else np.zeros(len(source))
        overflows = _spread(power, source, target, factor) > _MAX_POWER
    else:
        overflows = _reached(overflows, source, target)
    if np.any(overflows):
        overflows |= kinds.undefined(overflows)
    return Overflowing(overflows[:count], overflows[count:], kinds.bounded)


class _Kinds:
    """The effect of neurons on the size of the values that they read.

    Values are numbered: j is the activation of neuron j, n + j its pre-activation.
    """

    def __init__(self, net: Structure) -> None:
        self._net = net
        functions = [activation_named(name) for name in net.activations]
        code = net.neurons.activation
        self._bounded = np.array([f.bounded for f in functions], np.bool_)[code] | net.is_input
        self._linear = np.array([f.linear_growth for f in functions], np.bool_)[code] | net.is_input
        self._slope = np.array([_slope(f) for f in functions])[code]
        self._bound = np.array([_bound(f) for f in functions])[code]
        self._bound[net.is_input] = np.inf
        linear = [aggregation_named(name).linear for name in net.aggregations]
        selects = [name in _SELECTING for name in net.aggregations]
        plain = np.array(linear, np.bool_) | np.array(selects, np.bool_)
        fan_in = net.fan_in
        chooses = np.array([name in _ONE_OF_ITS_INPUTS for name in net.aggregations], np.bool_)
        self._chooses = chooses[net.neurons.aggregation]
        self._decides = np.array([f.expression.op == "number" for f in functions], np.bool_)[code]
        self._breaks = np.array([_breaks(f) for f in functions], np.bool_)[code]
        self._multiplies = ~plain[net.neurons.aggregation] & (fan_in > 1)
        asks = np.array([_asks(f) for f in functions], np.bool_)[code]
        self._missing = np.unique(net.live.source[asks[net.live.target]])
        self._missing = self._missing[net.is_input[self._missing]]
        self._partial = self._undefined_for_some(functions)
        self._moderate = np.zeros(len(net), np.bool_)  # pre-activations

    def _undefined_for_some(self, functions: list[Activation]) -> Bools:
        """Whether each neuron's function is NaN for some numbers, and these may come.

        A root may come of sums of squares, which are not negative.
        """
        net, live = self._net, self._net.live
        code = net.neurons.activation
        partial = np.array([not stays_finite(f.expression, ANY) for f in functions], np.bool_)
        if not np.any(partial):
            return np.zeros(len(net), np.bool_)
        signs = np.array([sign_of(f.expression, ANY) for f in functions])
        never_negative = (signs != ANY)[code] & ~net.is_input
        gain = (live.gater == NONE) | never_negative[live.gater]
        terms = (never_negative[live.source] & gain) | (live.gater == live.source)
        terms &= (live.weight >= 0.0) & ~live.reads_state
        least = np.bincount(live.target[~terms], minlength=len(net)) == 0
        least &= (net.neurons.bias >= 0.0) & (net.neurons.response > 0.0)
        safe = [
            np.array([stays_finite(f.expression, sign) for f in functions], np.bool_)[code]
            for sign in (NOT_NEGATIVE, POSITIVE)
        ]
        fine = least & (safe[0] | (safe[1] & (net.neurons.bias > 0.0)))
        found: Bools = partial[code] & ~net.is_input & ~fine
        return found

    @property
    def bounded(self) -> Bools:
        """Whether each neuron, no input, has a bound."""
        found: Bools = self._bounded & ~self._net.is_input
        return found

    def know_moderate_values(self) -> None:
        """Give neurons the bounds that follow from the values they read, if there is no memory."""
        if self._net.has_memory:
            return
        moderate, self._moderate = moderate_values(self._net, self._bound)
        self._bounded |= moderate
        self._linear |= moderate
        self._partial &= ~moderate

    def never_overflow(self) -> bool:
        """Whether nothing can within one step, by the kinds of the neurons alone."""
        gated = self._net.live.gater != NONE
        plain = bool(np.all(self._linear)) and not np.any(self._multiplies)
        return plain and not np.any(gated) and not self._missing.size

    def seeds(self) -> Ints:
        """The values that may overflow at once, whatever they read."""
        live, count = self._net.live, len(self._net)
        gated = live.gater != NONE
        read, gain = self._unbounded_read(), ~self._bounded[live.gater]
        both = (gated & read & gain) | (self._multiplies[live.target] & read)
        both &= ~self._moderate[live.target]
        return np.concatenate(
            [self._missing, np.flatnonzero(~self._linear), count + live.target[both]]
        )

    def influences(self) -> tuple[Ints, Ints]:
        """(value, value that it goes into) wherever the first has no bound."""
        live, count = self._net.live, len(self._net)
        own = np.flatnonzero(~self._bounded)
        by_value, by_gain = self._unbounded_read(), self._unbounded_gain()
        return (
            np.concatenate([count + own, self._read()[by_value], live.gater[by_gain]]),
            np.concatenate([own, count + live.target[by_value], count + live.target[by_gain]]),
        )

    def factors(self) -> Floats:
        """By how much at most each of the influences multiplies the value."""
        net, live = self._net, self._net.live
        size = np.abs(live.weight * net.neurons.response[live.target])
        bound = np.where(self._read() < len(net), self._bound[live.source], np.inf)
        gain_bound = np.where(live.gater != NONE, self._bound[live.gater], 1.0)
        by_value = _product(size, gain_bound)[self._unbounded_read()]
        by_gain = _product(size, bound)[self._unbounded_gain()]
        return np.concatenate([self._slope[~self._bounded], by_value, by_gain])

    def undefined(self, infinite: Bools) -> Bools:
        """Return which values may be NaN where `infinite` ones are ±∞.

        A truth value is 1 or 0 even where the numbers that it compares are NaN.
        """
        net, live, count = self._net, self._net.live, len(self._net)
        gated = np.flatnonzero(live.gater != NONE)
        read = self._read()
        reads = infinite[read]
        several = np.bincount(live.target[reads], minlength=count) > 1
        by_gate = gated[reads[gated] | infinite[live.gater[gated]]]
        zero = reads & (live.weight * net.neurons.response[live.target] == 0.0)
        found = np.zeros(2 * count, np.bool_)
        found[:count] = (self._breaks & infinite[count:]) | self._partial
        found[self._missing] = True
        found[count:] = several & ~self._chooses
        found[count + live.target[zero]] = True
        found[count + live.target[by_gate]] = True
        found[count + live.target[reads & self._multiplies[live.target]]] = True
        own = np.flatnonzero(~net.is_input & ~self._decides)
        sources = np.concatenate([count + own, read, live.gater[gated]])
        targets = np.concatenate([own, count + live.target, count + live.target[gated]])
        return _reached(found, sources, targets)

    def _read(self) -> Ints:
        """The value that each live connection reads."""
        live = self._net.live
        from_pre_activation = live.reads_state & ~self._net.is_input[live.source]
        return np.where(from_pre_activation, len(self._net) + live.source, live.source)

    def _unbounded_read(self) -> Bools:
        live = self._net.live
        from_pre_activation = live.reads_state & ~self._net.is_input[live.source]
        unbounded: Bools = from_pre_activation | ~self._bounded[live.source]
        return unbounded

    def _unbounded_gain(self) -> Bools:
        live = self._net.live
        unbounded: Bools = (live.gater != NONE) & ~self._bounded[live.gater]
        return unbounded


def _product(size: Floats, bound: Floats) -> Floats:
    """size · bound, and 0 where size is 0."""
    return np.where(size == 0.0, 0.0, size * bound)


def _slope(function: Activation) -> float:
    """Return lim sup |f(z)| / |z|; probed, and 0 for a function with a bound."""
    if function.bounded or not function.linear_growth:
        return 0.0 if function.bounded else np.inf
    sizes = [np.abs(function(sign * _FAR)) / _FAR for sign in (-1.0, 1.0)]
    return float(np.max(sizes))


def _breaks(function: Activation) -> bool:
    """Whether a function is undefined at ∞ or −∞, as a sine is."""
    with np.errstate(all="ignore"):
        return bool(np.any(np.isnan(function(np.array([-np.inf, np.inf])))))


def _asks(function: Activation) -> bool:
    """Whether a function asks whether its argument is NaN, or infinite."""
    return any(part.op in ("is_nan", "is_infinite") for part in parts_of(function.expression))


def _reached(found: Bools, source: Ints, target: Ints) -> Bools:
    """The nodes that were found, and all that edges lead to from them."""
    reached = found.copy()
    for _ in range(_STEPS_ALONG_ALL_EDGES):  # each is faster than to sort the edges
        targets = target[reached[source]]
        targets = targets[~reached[targets]]
        if not targets.size:
            return reached
        reached[targets] = True
    return Edges(source, target, len(found)).reached(reached)


def _bound(function: Activation) -> float:
    """Return a bound of |f|, ∞ for none."""
    return max(map(abs, interval_of(function.expression))) if function.bounded else np.inf


def _spread(power: Floats, source: Ints, target: Ints, factor: Floats) -> Floats:
    """Carry powers of t along influences, and add the growth of each component."""
    component = components(source, target, len(power))
    count = int(component.max(initial=-1)) + 1
    inside = component[source] == component[target]
    found = np.zeros(count)
    np.maximum.at(found, component, power)
    growth = _growth(component, source[inside], target[inside], factor[inside], count)
    source, target = component[source[~inside]], component[target[~inside]]
    edges, waiting = Edges(source, target, count), np.bincount(target, minlength=count)
    frontier = np.flatnonzero(waiting == 0)
    while frontier.size:
        found[frontier] += growth[frontier]
        sources, targets = edges.pairs(frontier)
        np.maximum.at(found, targets, found[sources])
        np.subtract.at(waiting, targets, 1)
        targets = np.unique(targets)
        frontier = targets[waiting[targets] == 0]
    return found[component]


def _growth(component: Ints, source: Ints, target: Ints, factor: Floats, count: int) -> Floats:
    """The powers of t that each component adds to its inputs: 0, 1, or ∞."""
    growth = np.zeros(count)
    if not len(source):
        return growth
    order = np.argsort(component[source], kind="stable")
    numbers, first = np.unique(component[source][order], return_index=True)
    for number, edges in zip(numbers.tolist(), np.split(order, first[1:]), strict=True):
        _, number_of = np.unique(np.stack([source[edges], target[edges]]), return_inverse=True)
        starts, ends = number_of.reshape(2, -1)
        growth[number] = _added_power(starts, ends, factor[edges])
    return growth


def _added_power(source: Ints, target: Ints, factor: Floats) -> float:
    """0, 1 or ∞ for a spectral radius below, at, or above 1.

    For a matrix A ≥ 0 and every v > 0, the radius is between the least and the largest (A·v)/v; v
    is improved by powers of A + 1.
    """
    if not np.all(np.isfinite(factor)):
        return np.inf
    size = int(source.max()) + 1
    v = np.ones(size)
    for _ in range(_MAX_ROUNDS):
        image = np.bincount(target, factor * v[source], size)
        ratio = image / v
        if np.max(ratio) < 1.0 - _ABOVE_ONE:
            return 0.0
        if np.max(ratio) <= 1.0 + _ABOVE_ONE:
            return 1.0
        if np.min(ratio) > 1.0 + _ABOVE_ONE:
            return np.inf
        v = image + v
        v = np.maximum(v / v.max(), 1e-200)
    return np.inf
