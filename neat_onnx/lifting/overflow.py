"""Which signals of an import may overflow although the inputs are moderate.

Exponentials of signals without a bound may; in a softmax, exponentials of x − max(…, x, …) may not.
These vanish instead, as all do far below 0, and the logarithm of a vanished one is infinite.
Signals computed from these may be infinite or NaN as well. They are followed through neurons of few
inputs, which elementwise operators make.
"""

from collections.abc import Callable

import numpy as np

from neat_onnx.lifting.context import (
    INPUT,
    MATERIALIZED,
    REGISTER,
    LiftingContext,
)
from neat_onnx.lifting.finiteness import Finiteness
from neat_onnx.lifting.links import Links, one_array
from neat_onnx.network.domains import (
    has_small_values,
    hides_infinities,
    is_zero_at_zero,
    may_overflow,
    stays_finite_at_zero,
    vanishes,
)
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.network.schedule import Edges

_FEW_INPUTS = 4
_PAIR = 2


class Overflow:
    """Facts about each signal, as far as the import has come.

    Attributes:
        unbounded: whether an exponential of it may overflow, (signals,).
        vanishing: whether it is above 0 and may underflow to 0, (signals,).
        reached: whether it may overflow, or be infinite or NaN because others do, (signals,).
    """

    def __init__(self, ctx: LiftingContext, known: Finiteness) -> None:
        kind = ctx.kind
        made = np.flatnonzero(kind == MATERIALIZED)
        origin = ctx.origin[made]
        keys = 3 * ctx.formula_of[made] + known.sign[origin]

        def of_each(has: Callable[[Expression, int], bool]) -> Bools:
            once, which = np.unique(keys, return_inverse=True)
            found = [has(known.formulas[key // 3], key % 3) for key in once.tolist()]
            return np.array(found, np.bool_)[which]

        paths = _Paths(ctx)
        rest = ~np.isin(paths.target, paths.below_the_largest())
        hands_on = ~of_each(has_small_values)
        given = (kind == INPUT) | (kind == REGISTER)
        self.unbounded = paths.reached(given, rest, origin[hands_on], made[hands_on])
        every = np.ones_like(rest)  # x − max(…, x, …) has no bound below
        wide = paths.reached(given, every, origin[hands_on], made[hands_on])
        tiny, seeds = np.zeros((2, len(kind)), np.bool_)
        tiny[made], keeps = of_each(vanishes) & wide[origin], of_each(is_zero_at_zero)
        self.vanishing = paths.reached(tiny, paths.alone(), origin[keeps], made[keeps])
        seeds[made] = of_each(may_overflow) & self.unbounded[origin]
        seeds[made] |= ~of_each(stays_finite_at_zero) & self.vanishing[origin]
        few = np.bincount(paths.target, minlength=len(kind))[paths.target] <= _FEW_INPUTS
        shows = ~of_each(hides_infinities)
        self.reached = paths.reached(seeds, few, origin[shows], made[shows])


class _Paths:
    """The connections of all neurons of an import, as paths that numbers take.

    Attributes:
        target: the pre-activation that each leads to.
    """

    def __init__(self, ctx: LiftingContext) -> None:
        self._ctx, self._links = ctx, Links.of(ctx)
        self.target = self._links.target

    def reached(self, found: Bools, followed: Bools, source: Ints, target: Ints) -> Bools:
        """Signals that were found, and all that some connections and other edges lead to."""
        gated = followed & (self._links.gate >= 0)
        sources = np.concatenate([source, self._links.source[followed], self._links.gate[gated]])
        targets = np.concatenate([target, self.target[followed], self.target[gated]])
        return Edges(sources, targets, len(found)).reached(found)

    def alone(self) -> Bools:
        """Whether each connection is the only one into a neuron without bias."""
        count = np.bincount(self.target, minlength=len(self._ctx.kind))
        biased = np.zeros(len(count), np.bool_)
        for made in self._links.neurons:
            biased[made.signals] = made.bias != 0.0
        found: Bools = (count[self.target] == 1) & ~biased[self.target]
        return found

    def below_the_largest(self) -> Ints:
        """The sums x − max(…, x, …), and the arguments of a masked softmax's exponentials."""
        ctx, count = self._ctx, len(self._ctx.kind)
        is_copy = ctx.formula_of == ctx.formulas.get(VARIABLE, -2)
        source = np.where(is_copy, ctx.origin, np.arange(count))[self._links.source]
        weight = self._links.weight
        x, top = np.full((2, count), -1)
        for found, factor in ((x, 1.0), (top, -1.0)):
            found[self.target[weight == factor]] = source[weight == factor]
        of_largest = np.isin(self.target, self._largest())
        read = self.target[of_largest] * count + source[of_largest]
        two = np.bincount(self.target, minlength=count) == _PAIR
        below = np.flatnonzero(two & (x >= 0) & (top >= 0) & np.isin(top * count + x, read))
        return np.concatenate([below, *(ctx.origin[each] for each in ctx.vanishing)])

    def _largest(self) -> Ints:
        largest = (made for made in self._links.neurons if made.aggregation == "max")
        found: Ints = one_array(made.signals for made in largest)
        return found
