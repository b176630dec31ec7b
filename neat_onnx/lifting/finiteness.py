"""Which signals of an import may become infinite or NaN although the inputs are finite.

A reciprocal of a signal that may be 0 may, and so may all signals that depend on it; a reciprocal
of a sum of exponentials may not. Signals are followed from the inputs on, with the sign that each
has for certain. Overflow does not count: numbers are taken to be moderate.
"""

from itertools import chain
from typing import Any

import numpy as np

from neat_onnx.lifting.context import (
    INPUT,
    MATERIALIZED,
    NOT_FINITE,
    REGISTER,
    LiftingContext,
)
from neat_onnx.network.domains import ANY, NOT_NEGATIVE, POSITIVE, sign_of, stays_finite
from neat_onnx.network.genes import Bools, Floats, Ints

_SUMS = ("sum", "mean")


class Finiteness:
    """Facts about each signal, as far as the import has come.

    Attributes:
        finite: whether it is finite for certain, (signals,).
        sign: ANY, NOT_NEGATIVE or POSITIVE, (signals,).
        formulas: of the import, by number.
    """

    def __init__(self, ctx: LiftingContext) -> None:
        self._ctx = ctx
        self.formulas = list(ctx.formulas)
        kind = ctx.kind
        given = (kind == INPUT) | (kind == REGISTER) | (kind == NOT_FINITE)
        self.finite: Bools = kind != NOT_FINITE
        self.sign: Ints = np.where(given, ANY, POSITIVE)
        self._sums = _Sums(ctx)
        while self._follow():
            pass

    @staticmethod
    def matters(ctx: LiftingContext) -> bool:
        """Whether any formula may give a number that is not finite."""
        return not all(stays_finite(formula, ANY) for formula in ctx.formulas)

    def _follow(self) -> bool:
        """Follow every signal one step further; whether anything changed."""
        finite, sign = self.finite.copy(), self.sign.copy()
        self._sums.follow(self.finite, self.sign, finite, sign)
        self._follow_formulas(finite, sign)
        changed = not (np.array_equal(finite, self.finite) and np.array_equal(sign, self.sign))
        self.finite, self.sign = finite, sign
        return changed

    def _follow_formulas(self, finite: Bools, sign: Ints) -> None:
        made = np.flatnonzero(self._ctx.kind == MATERIALIZED)
        origin, number = self._ctx.origin[made], self._ctx.formula_of[made]
        of_origin = self.sign[origin]
        finite[made] = self.finite[origin]
        for key in np.unique(3 * number + of_origin).tolist():
            formula, domain = self.formulas[key // 3], key % 3
            at = made[(number == key // 3) & (of_origin == domain)]
            sign[at] = sign_of(formula, domain)
            finite[at] &= stays_finite(formula, domain)
        for signals in self._ctx.vanishing:
            sign[signals] = np.minimum(sign[signals], NOT_NEGATIVE)


class _Sums:
    """The connections of all neurons of an import, as arrays."""

    def __init__(self, ctx: LiftingContext) -> None:
        made = [each for each in ctx.neurons if not each.merged]
        links = [(each.states, link) for each in made for link in each.connections]
        self._source = _joined([link.source for _, link in links])
        self._gate = _joined([link.gate for _, link in links])
        self._target = _joined([states[link.position] for states, link in links])
        self._weight: Floats = _joined([link.weight for _, link in links]).astype(np.float64)
        self._states = _joined([each.states for each in made])
        self._bias: Floats = _joined([each.bias for each in made]).astype(np.float64)
        self._response: Floats = _joined([each.response for each in made]).astype(np.float64)
        names = chain.from_iterable([each.aggregation] * len(each.states) for each in made)
        self._aggregation = np.array(list(names), object)

    def follow(self, known: Bools, signs: Ints, finite: Bools, sign: Ints) -> None:
        """Enter the facts about states that follow from those about the signals that they read."""
        gated, count = self._gate >= 0, len(known)
        term = known[self._source] & (~gated | known[self._gate])
        bad = np.bincount(self._target[~term], minlength=count) > 0
        finite[self._states] = ~bad[self._states]
        gates = np.where(gated, signs[self._gate], POSITIVE)
        gates = np.where(self._gate == self._source, signs[self._source], gates)
        terms = np.minimum(signs[self._source], gates)
        terms = np.where(self._gate == self._source, np.maximum(terms, NOT_NEGATIVE), terms)
        terms = np.where(self._weight > 0.0, terms, np.where(self._weight < 0.0, ANY, NOT_NEGATIVE))
        least, most = np.full(count, POSITIVE), np.full(count, ANY)
        np.minimum.at(least, self._target, terms)
        np.maximum.at(most, self._target, terms)
        sign[self._states] = self._sign(least[self._states], most[self._states])

    def _sign(self, least: Ints, most: Ints) -> Ints:
        """The sign of each state, from the least and the most that is known of its terms."""
        name, bias = self._aggregation, self._bias
        plain = (bias >= 0.0) & (self._response > 0.0)
        added = np.where(least == ANY, ANY, np.where(bias > 0.0, POSITIVE, most))
        found = np.where(np.isin(name, _SUMS), added, ANY)
        found = np.where(np.isin(name, ("min", "product")), least, found)
        found = np.where(name == "max", most, found)
        return np.where(plain, found, ANY)


def _joined(parts: list[Any]) -> Any:
    return np.concatenate([np.empty(0, np.int64), *parts])
