"""Reads sums as mixtures.

Export leaves out of a choice the elements of which it is known, and lists the others. Attention
whose scores are masked by a triangle and by the steps there are has its scores under two choices,
each with a list of its own: here they are read as choices between whole tensors.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from neat_onnx.model import Node
from neat_onnx.network.genes import Bools, Ints
from neat_onnx.operators.choices.mixtures import (
    ANY,
    Added,
    Changed,
    Choice,
    Condition,
    Elements,
    Mixture,
)
from neat_onnx.operators.choices.where_finder import (
    Truth,
    condition_of,
    given_number,
    truth_of,
)
from neat_onnx.passes.draft import is_one_of
from neat_onnx.passes.elementwise import is_function_of_one
from neat_onnx.short_form.groups.linear_nodes import Terms, places_read
from neat_onnx.short_form.groups.search import Search
from neat_onnx.short_form.groups.weighted_sums import Sums, WeightedSums

_MAX_DEPTH = 8  # choices and functions, one of another
_MAX_TENSORS = 8
_SIDES = 2  # of a choice
_OUTCOMES = (True, False)
_HALF = 0.5  # above which a number is true


def mixture_of(
    search: Search, reader: WeightedSums, sums: Sums, read: Bools | None = None
) -> Mixture | None:
    """The mixture that sums are, if they are one.

    Args:
        search: the graph.
        reader: the sums of it.
        sums: the sums.
        read: those that something reads, by default all.
    """
    every = np.ones(len(sums.biases), np.bool_)
    return _Reading(search, reader, len(every)).of(sums, every if read is None else read)


@dataclass(frozen=True)
class _Reading:
    """Reads sums of so many elements as mixtures."""

    search: Search
    reader: WeightedSums
    count: int

    def of(self, sums: Sums | None, read: Bools, depth: int = 0) -> Mixture | None:
        """The mixture that sums are.

        Args:
            sums: the sums.
            read: those that something reads.
            depth: how many choices and functions it is inside of.
        """
        if sums is None or depth > _MAX_DEPTH:
            return None
        held = read[sums.rows]
        sums = Sums(sums.rows[held], sums.columns[held], sums.weights[held], sums.biases)
        terms = np.bincount(sums.rows, minlength=self.count)
        if terms.max(initial=0) > _SIDES:
            return None
        if not terms.any():
            numbers = np.unique(sums.biases[read])
            return float(numbers[0]) if len(numbers) == 1 else None
        alone = self.reader.terms(sums)
        if len(alone) > _MAX_TENSORS:
            return None
        if len(alone) == 1 and np.all(terms[read] == 1) and not sums.biases[read].any():
            found = self._elements(alone[0], read, depth)
            if found is not None:
                return found
        for way in (self._computed, self._added, self._apart):
            if (mixture := way(alone, sums, read, depth)) is not None:
                return mixture
        return None

    def _added(self, alone: list[Terms], sums: Sums, read: Bools, depth: int) -> Mixture | None:
        """The sum of a mixture and elements of one tensor that are fewer, each for several."""
        for added in alone:
            others = [each for each in alone if each is not added]
            size = prod(self.search.draft.axes(added.tensor) or ())
            factors = np.unique(added.weights)
            if not others or size >= self.count or len(factors) > 1:
                continue
            if not np.array_equal(added.rows, np.flatnonzero(read)):
                continue
            rest = self.of(self.reader.added(others, sums.biases), read, depth + 1)
            if rest is not None:
                places = np.full(self.count, ANY)
                places[added.rows] = added.places
                return Added((rest, Changed(float(factors[0]), Elements(added.tensor, places))))
        return None

    def _elements(self, terms: Terms, read: Bools, depth: int) -> Mixture | None:
        """Elements of one tensor, or functions of such; None of a tensor with others."""
        factors = np.unique(terms.weights)
        if len(factors) > 1:
            return None
        if factors[0] != 1.0:
            once = terms._replace(weights=np.ones(len(terms.rows)))
            inside = self._elements(once, read, depth)
            return None if inside is None else Changed(float(factors[0]), inside)
        places = np.full(self.count, ANY)
        places[terms.rows] = terms.places
        found = Elements(terms.tensor, places)
        size = prod(self.search.draft.axes(terms.tensor) or ())
        if size == self.count and found.are_whole:
            return found
        node = self.search.made.get(terms.tensor)
        if node is None or not is_function_of_one(node):
            return None
        sums = self.reader.added([terms._replace(tensor=node.input[0])], np.zeros(self.count))
        inside = self.of(sums, read, depth + 1)
        return None if inside is None else Changed(node, inside)

    def _computed(self, alone: list[Terms], sums: Sums, read: Bools, depth: int) -> Mixture | None:
        """The choice by a condition."""
        if sums.biases[read].any():
            return None
        sides = self._sides(alone)
        condition = self._condition(sides, read) if len(sides) == len(alone) else None
        if condition is None:
            return None
        one, other = (self._chosen(sides, read, depth, holds=holds) for holds in _OUTCOMES)
        return None if one is None or other is None else Choice(condition, (one, other))

    def _sides(self, alone: list[Terms]) -> "list[_Side]":
        """The sides of a choice, as far as they are known."""
        found = [self._side(terms) for terms in alone]
        opposites = {side.truth for side in found if side is not None and not side.truth.holds}
        if None in found and len(opposites) == 1:
            given = given_number(self.search, opposites.pop())
            found = [
                side or self._side(terms, given) for side, terms in zip(found, alone, strict=True)
            ]
        return [side for side in found if side is not None]

    def _condition(self, sides: "list[_Side]", read: Bools) -> "Condition | None":
        """The condition of all sides."""
        truths = sorted({side.truth for side in sides}, key=lambda truth: not truth.holds)
        if (both := self._conjunction(sides, read)) is not None or len(truths) != _SIDES:
            return both
        at = {holds: np.full(self.count, ANY) for holds in (True, False)}
        for side in sides:
            at[side.truth.holds][side.terms.rows] = side.at
        if not np.array_equal(at[True], at[False]):
            return None
        if given_number(self.search, truths[1]) == truths[0]:
            given, opposite = (Elements(truth.name, at[True]) for truth in truths)
            return Condition(given, opposite=opposite)
        name = condition_of(self.search, *truths)
        return None if name is None else Condition(Elements(name, at[True]))

    def _conjunction(self, sides: "list[_Side]", read: Bools) -> "Condition | None":
        """The condition that another one holds inside of a constant mask.

        Import has a number of both, which is that of the other one, or 0, and compares it again.
        """
        by = {holds: [each for each in sides if each.truth.holds is holds] for holds in _OUTCOMES}
        sums, opposite = (self._compared(by[holds]) for holds in _OUTCOMES)
        if sums is None or opposite is None or not all(map(np.array_equal, sums, opposite)):
            return None
        alone = self.reader.terms(sums)
        if len(alone) != 1 or np.any(sums.weights != 1.0) or sums.biases[read].any():
            return None
        truth = truth_of(self.search, alone[0].tensor)
        places = np.full(self.count, ANY)
        places[alone[0].rows] = alone[0].places
        mask = read & (places != ANY)
        if np.array_equal(mask, read):
            return None
        inside = (
            Elements(alone[0].tensor, places)
            if truth is None
            else Condition(Elements(truth.condition, places), truth.holds)
        )
        return Condition(inside, mask=mask, are_numbers=truth is None)

    def _compared(self, sides: "list[_Side]") -> Sums | None:
        """The numbers that are above one half where the conditions of sides hold."""
        terms = []
        for side in sides:
            node = self.search.made[side.truth.condition]
            if not is_one_of(node, "Greater") or self.search.number(node.input[1]) != _HALF:
                return None
            terms.append(side.terms._replace(
                tensor=node.input[0], places=side.at, weights=np.ones(len(side.at))
            ))  # fmt: skip
        return self.reader.added(terms, np.zeros(self.count)) if terms else None

    def _chosen(
        self, sides: "list[_Side]", read: Bools, depth: int, *, holds: bool
    ) -> Mixture | None:
        """The mixture that is chosen where a condition holds, or where it does not."""
        own = [side for side in sides if side.truth.holds is holds]
        rows = np.concatenate([side.terms.rows for side in own])
        if len(np.unique(rows)) != len(rows):
            return None
        numbers = np.zeros(self.count)
        for side in own:
            numbers[side.terms.rows] = side.terms.weights if side.value is None else 0.0
        values = [side.value for side in own if side.value is not None]
        return self.of(self.reader.added(values, numbers), read, depth + 1)

    def _side(self, terms: Terms, given: Truth | None = None) -> "_Side | None":
        """A number, or the elements of a tensor, by a condition, its opposite or a given number."""
        if (truth := self._truth(terms.tensor, given)) is not None:
            return _Side(truth, terms.places, terms, None)
        terms = self._inside(terms)
        made = self.search.draft.maker(terms.tensor, "Mul")
        if made is None or np.any(terms.weights != 1.0):
            return None
        for cast, other in (made.input, made.input[::-1]):
            factor = self._operand(made, cast, terms)
            origin = None if factor is None else self.reader.origin(factor)
            truth = None if origin is None else self._truth(origin.tensor, given)
            value = self._operand(made, other, terms)
            if origin is not None and truth is not None and value is not None:
                return _Side(truth, origin.places, terms, value)
        return None

    def _truth(self, name: str, given: Truth | None) -> Truth | None:
        """The condition of a number, which may be given itself."""
        is_given = given is not None and given.name == name
        return given if is_given else truth_of(self.search, name)

    def _inside(self, terms: Terms) -> Terms:
        """The terms by the tensor that a sum of one element each, as of a Gemm by 1, hands on."""
        sums = self.reader.added([terms], np.zeros(self.count))
        found = [] if sums is None or sums.biases.any() else self.reader.terms(sums)
        alone = len(found) == 1 and np.array_equal(found[0].rows, terms.rows)
        return found[0] if alone else terms

    def _operand(self, made: Node, name: str, terms: Terms) -> Terms | None:
        """The elements of an operand that elements of the result are computed of."""
        places = places_read(self.search, name, made.output[0])
        return None if places is None else terms._replace(tensor=name, places=places[terms.places])

    def _apart(self, alone: list[Terms], sums: Sums, read: Bools, depth: int) -> Mixture | None:
        """The choice by a constant mask, between tensors or between a tensor and a number."""
        kinds = np.zeros(self.count, np.int64)
        for number, terms in enumerate(alone):
            kinds[terms.rows] |= 1 << number
        present = np.unique(kinds[read])
        if len(present) != _SIDES:
            return None
        first = read & (kinds == min(present[present > 0]))
        sides = [self.of(sums, rows, depth + 1) for rows in (first, read & ~first)]
        one, other = sides
        return None if one is None or other is None else Choice(first, (one, other))


@dataclass(frozen=True)
class _Side:
    """A side of a choice.

    Attributes:
        truth: the number by its condition.
        at: for each term, the place of its condition.
        terms: the terms of the sums.
        value: the chosen elements; None for the weights of the terms.
    """

    truth: Truth
    at: Ints
    terms: Terms
    value: Terms | None
