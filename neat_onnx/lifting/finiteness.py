"""Which signals of an import may become infinite or NaN although the inputs are finite.

A reciprocal of a signal that may be 0 may, and so may all signals that depend on it; a reciprocal
of a sum of exponentials may not. Signals are followed from the inputs on, with the sign that each
has for certain. Numbers are taken to be moderate: overflow is followed in `overflow`.
"""

import numpy as np

from neat_onnx.lifting.context import (
    INPUT,
    MATERIALIZED,
    NOT_FINITE,
    REGISTER,
    LiftingContext,
)
from neat_onnx.lifting.links import Links, one_array
from neat_onnx.network.domains import (
    ANY,
    NOT_NEGATIVE,
    POSITIVE,
    hides_infinities,
    sign_of,
    stays_finite,
)
from neat_onnx.network.genes import Bools, Floats, Ints, distinct
from neat_onnx.network.schedule import Edges

_ADDED, _MINIMUM, _MAXIMUM, _OTHER = range(4)
_AGGREGATIONS = {
    "sum": _ADDED,
    "mean": _ADDED,
    "min": _MINIMUM,
    "product": _MINIMUM,
    "max": _MAXIMUM,
}


class Finiteness:
    """Facts about each signal, as far as the import has come.

    They begin as good as can be. Whatever follows from a fact that changed is looked at again, so
    that each connection counts a few times, however deep the network is.

    Attributes:
        finite: whether it is finite for certain, (signals,).
        sign: ANY, NOT_NEGATIVE or POSITIVE, (signals,).
        formulas: of the import, by number.
    """

    def __init__(self, ctx: LiftingContext) -> None:
        """Follow all signals."""
        self.formulas = list(ctx.formulas)
        kind, self._formula_of, self._origin = ctx.kind, ctx.formula_of, ctx.origin
        given = (kind == INPUT) | (kind == REGISTER) | (kind == NOT_FINITE)
        self.finite: Bools = kind != NOT_FINITE
        self.sign: Ints = np.where(given, ANY, POSITIVE)
        self._most = np.full(len(kind), POSITIVE)
        self._most[one_array(ctx.vanishing)] = NOT_NEGATIVE
        np.minimum(self.sign, self._most, out=self.sign)
        self._sums = _Sums(ctx)
        made = np.flatnonzero(kind == MATERIALIZED)
        self._made = Edges(ctx.origin[made], made, len(kind))
        sums = np.arange(len(self._sums.signals))
        while sums.size or made.size:
            changed = np.concatenate([self._add(sums), self._apply(made)])
            sums, made = (
                distinct(each.leaving(changed)) for each in (self._sums.readers, self._made)
            )

    def read_by(self, signals: Ints, paths: Ints) -> tuple[Ints, Ints]:
        """The signals that others are computed from, once each: of neurons all that they read.

        Args:
            signals: the others.
            paths: how many paths lead to each.

        Returns:
            The signals, and how many paths lead to each of these.
        """
        origin = self._origin[signals]
        made = np.flatnonzero(origin >= 0)
        of, read = self._sums.read_by(signals)
        once, which = np.unique(np.concatenate([origin[made], read]), return_inverse=True)
        counts = np.bincount(which, paths[np.concatenate([made, of])], len(once))
        return once, counts.astype(np.int64)

    def _add(self, sums: Ints) -> Ints:
        """Follow some sums; return the signals of which other facts are known now."""
        facts = self._sums.facts(sums, self.finite, self.sign)
        return self._enter(self._sums.signals[sums], *facts)

    def _apply(self, made: Ints) -> Ints:
        """Follow some formulas; return the signals of which other facts are known now."""
        origin, number = self._origin[made], self._formula_of[made]
        of_origin, finite = self.sign[origin], self.finite[origin]
        sign = np.empty(len(made), np.int64)
        for key in distinct(3 * number + of_origin).tolist():
            formula, domain = self.formulas[key // 3], key % 3
            at = (number == key // 3) & (of_origin == domain)
            sign[at] = sign_of(formula, domain)
            finite[at] |= hides_infinities(formula)
            finite[at] &= stays_finite(formula, domain)
        return self._enter(made, finite, sign)

    def _enter(self, signals: Ints, finite: Bools, sign: Ints) -> Ints:
        sign = np.minimum(sign, self._most[signals])
        changed: Bools = (finite != self.finite[signals]) | (sign != self.sign[signals])
        self.finite[signals], self.sign[signals] = finite, sign
        found: Ints = signals[changed]
        return found


class _Sums:
    """All neurons of an import, as the aggregations of signals that they are.

    Attributes:
        signals: their pre-activations.
        readers: the positions of the sums that read each signal.
    """

    def __init__(self, ctx: LiftingContext) -> None:
        links, count = Links.of(ctx), len(ctx.kind)
        made = links.neurons
        self.signals = one_array(each.signals for each in made)
        position = np.zeros(count, np.int64)
        position[self.signals] = np.arange(len(self.signals))
        target = position[links.target]
        self._links = Edges(target, np.arange(len(target)), len(self.signals))
        self._source, self._gate, self._weight = links.source, links.gate, links.weight
        gated = self._gate >= 0
        reads = np.concatenate([self._source, self._gate[gated]])
        self.readers = Edges(reads, np.concatenate([target, target[gated]]), count)
        bias: Floats = one_array(each.bias for each in made).astype(np.float64)
        response: Floats = one_array(each.response for each in made).astype(np.float64)
        self._biased, self._plain = bias > 0.0, (bias >= 0.0) & (response > 0.0)
        kinds = [_AGGREGATIONS.get(each.aggregation, _OTHER) for each in made]
        self._aggregation = np.repeat(
            np.array(kinds, np.int64), [len(each.signals) for each in made]
        )

    def read_by(self, signals: Ints) -> tuple[Ints, Ints]:
        """(position among these pre-activations, signal) of all that their sums read or are gated
        by.
        """
        _, sums, of = np.intersect1d(self.signals, signals, return_indices=True)
        which, at = self._links.ranked_pairs(sums)
        gated = self._gate[at] >= 0
        read = np.concatenate([self._source[at], self._gate[at[gated]]])
        return of[np.concatenate([which, which[gated]])], read

    def facts(self, sums: Ints, known: Bools, signs: Ints) -> tuple[Bools, Ints]:
        """Whether sums are finite for certain, and their signs, by the signals that they read."""
        of, at = self._links.ranked_pairs(sums)
        source, gate, weight = self._source[at], self._gate[at], self._weight[at]
        gated, squared = gate >= 0, gate == source
        bad = np.bincount(of[~(known[source] & (~gated | known[gate]))], minlength=len(sums)) > 0
        terms = np.minimum(signs[source], np.where(gated, signs[gate], POSITIVE))
        terms = np.where(squared, np.maximum(signs[source], NOT_NEGATIVE), terms)
        terms = np.where(weight > 0.0, terms, np.where(weight < 0.0, ANY, NOT_NEGATIVE))
        least, most = np.full(len(sums), POSITIVE), np.full(len(sums), ANY)
        np.minimum.at(least, of, terms)
        np.maximum.at(most, of, terms)
        return ~bad, self._sign(sums, least, most)

    def _sign(self, sums: Ints, least: Ints, most: Ints) -> Ints:
        """The sign of each sum, from the least and the most that is known of its terms."""
        kind = self._aggregation[sums]
        added = np.where(least == ANY, ANY, np.where(self._biased[sums], POSITIVE, most))
        found = np.select(
            [kind == _ADDED, kind == _MINIMUM, kind == _MAXIMUM], [added, least, most], ANY
        )
        return np.where(self._plain[sums], found, ANY)
