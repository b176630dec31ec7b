"""Weighted sums: the elements of a tensor as sums of elements of tensors on the way to it.

Export writes sums in many ways: as a Gemm, as a Conv, or as gathered elements that are multiplied
and added. Here they are all read alike, by the elements that are added and their weights.
"""

from collections.abc import Callable, Hashable, Iterable
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np

from neat_onnx.model import Node
from neat_onnx.short_form.columns import Sizes, unrepeated_places
from neat_onnx.short_form.groups.graph_reader import Floats, GraphReader, Ints
from neat_onnx.short_form.groups.linear_nodes import Kind, Terms, linear

Key = TypeVar("Key", bound=Hashable)
_MAX_DEPTH = 64  # nodes
_MAX_TERMS = 1 << 21
_MAX_TERMS_KNOWN = 1 << 22  # of all the sums that are known
_ANY, _SCALED, _MOVED = range(3)  # nodes below: any, factors and moves, moves
_BELOW = {
    Kind.MOVES: {_ANY: _ANY, _SCALED: _SCALED, _MOVED: _MOVED},
    Kind.SCALES: {_ANY: _ANY, _SCALED: _MOVED},
    Kind.ADDS: {_ANY: _ANY},
    Kind.SUMS: {_ANY: _SCALED},
    Kind.WEIGHS: {_ANY: _MOVED},
}
"""The nodes below one, by its kind and what it may be itself: a sum of sums is two neurons."""


class Sums(NamedTuple):
    """Weighted sums, a term in each position of the first three arrays.

    Attributes:
        rows: the sum that each term is part of, in ascending order.
        columns: its element, by its number among all sources, ascending in each sum.
        weights: its weight.
        biases: the number that is added to each sum.
    """

    rows: Ints
    columns: Ints
    weights: Floats
    biases: Floats

    @property
    def are_elements(self) -> bool:
        """Whether each of them is one element as it is."""
        return len(self.rows) == len(self.biases) and self.are_even

    @property
    def are_even(self) -> bool:
        """Whether each of them adds as many elements as they are."""
        count = len(self.rows) // max(len(self.biases), 1)
        even = np.array_equal(self.rows, np.repeat(np.arange(len(self.biases)), count))
        return even and count > 0 and not self.biases.any() and bool(np.all(self.weights == 1.0))


class WeightedSums:
    """The sums of a graph, and numbers for the elements of their sources."""

    def __init__(self, graph: GraphReader) -> None:
        self._graph = graph
        self._starts: dict[str, int] = {}  # the number of the first element of each source
        self._count = 0
        self._known: dict[tuple[str, int], Sums | None] = {}
        self._terms = 0

    @property
    def is_full(self) -> bool:
        """Whether so many sums are known that others should be read anew."""
        return self._terms > _MAX_TERMS_KNOWN

    def of(self, name: str) -> Sums | None:
        """The sums that the elements of a tensor are; None if its axes are not known."""
        return self._of(name, _ANY, 0)

    def added(self, terms: Iterable[Terms], biases: Floats) -> Sums | None:
        """The sums of terms that are sums; None if an axis is not known, or of too many."""
        return self._added(terms, biases, _ANY, 0)

    def terms(self, sums: Sums) -> list[Terms]:
        """The terms of sums by the tensor that they come from."""
        names, starts = [*self._starts], [*self._starts.values()]
        which = np.searchsorted(starts, sums.columns, side="right") - 1
        found = []
        for source in np.unique(which):
            rows, columns, weights = (each[which == source] for each in sums[:3])
            found.append(Terms(names[source], rows, columns - starts[source], weights))
        return found

    def inside(
        self, sums: Sums, operand: Callable[[Node], tuple[str, Key] | None]
    ) -> tuple[Sums, Key] | None:
        """The sums with the operands of a function in the place of its results, and the function.

        Args:
            sums: sums of results of one function, in any number of nodes.
            operand: the operand of a node and the function that it is, if it is one.
        """
        terms, functions = list[Terms](), set[Key]()
        for each in self.terms(sums):
            node = self._graph.made.get(each.tensor)
            found = None if node is None else operand(node)
            if found is None:
                return None
            terms.append(each._replace(tensor=found[0]))
            functions.add(found[1])
        within = self.added(terms, sums.biases) if len(functions) == 1 else None
        return None if within is None else (within, functions.pop())

    def origin(self, *terms: Terms) -> Terms | None:
        """The terms by the one tensor that their elements were moved from."""
        biases = np.zeros(1 + max(int(each.rows.max(initial=0)) for each in terms))
        sums = self._added(terms, biases, _MOVED, 0)
        found = [] if sums is None else self.terms(sums)
        return found[0] if len(found) == 1 else None

    def broadcast(self, columns: Ints, sizes: Sizes) -> tuple[str, Sizes] | None:
        """The source that has these elements when it is broadcast to axes, and its own axes then.

        Args:
            columns: the elements; negative where any will do.
            sizes: of the axes.
        """
        table = unrepeated_places(columns.reshape(sizes))
        source = self.source(table.ravel())
        return None if source is None else (source, table.shape)

    def source(self, columns: Ints) -> str | None:
        """The source that has these elements and no other, in this order."""
        for name, start in self._starts.items():
            size = prod(self._graph.draft.axes(name) or ())
            if np.array_equal(columns, np.arange(start, start + size)):
                return name
        return None

    def _of(self, name: str, below: int, depth: int) -> Sums | None:
        if (name, below) not in self._known:
            found = self._known[name, below] = self._sums(name, below, depth)
            self._terms += 0 if found is None else len(found.rows) + len(found.biases)
        return self._known[name, below]

    def _sums(self, name: str, below: int, depth: int) -> Sums | None:
        node, sizes = self._graph.made.get(name), self._graph.draft.axes(name)
        if sizes is None:
            return None
        found = None if node is None or depth > _MAX_DEPTH else linear(self._graph, node, name)
        then = None if found is None else _BELOW[found.kind].get(below)
        if found is not None and then is not None:
            biases = np.zeros(prod(sizes)) + found.biases
            sums = self._added(found.terms, biases, then, depth + 1)
            if sums is not None:
                return sums
        return self._own(name, prod(sizes))

    def _own(self, name: str, size: int) -> Sums:
        """The elements of a source themselves."""
        if name not in self._starts:
            self._starts[name] = self._count
            self._count += size
        every = np.arange(size)
        return Sums(every, every + self._starts[name], np.ones(size), np.zeros(size))

    def _added(self, terms: Iterable[Terms], biases: Floats, below: int, depth: int) -> Sums | None:
        nothing = np.zeros(0, np.int64)
        parts = [(nothing, nothing, np.zeros(0))]
        for each in terms:
            inner = self._of(each.tensor, below, depth)
            expanded = None if inner is None else _expanded(each, inner)
            if inner is None or expanded is None:
                return None
            with np.errstate(invalid="ignore"):  # 0 · ∞
                shifts = each.weights * inner.biases[each.places]
            biases = biases + np.bincount(each.rows, shifts, len(biases))
            parts.append(expanded)
        rows, columns, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        return _ordered(rows, columns, weights, biases)


def _expanded(terms: Terms, inner: Sums) -> tuple[Ints, Ints, Floats] | None:
    """The rows, columns and weights of terms that are sums themselves; None of too many."""
    counts = np.bincount(inner.rows, minlength=len(inner.biases))
    lengths = counts[terms.places]
    if lengths.sum() > _MAX_TERMS:
        return None
    term = np.repeat(np.arange(len(lengths)), lengths)
    before = np.cumsum(lengths) - lengths
    at = np.arange(len(term)) + ((np.cumsum(counts) - counts)[terms.places] - before)[term]
    return terms.rows[term], inner.columns[at], terms.weights[term] * inner.weights[at]


def _ordered(rows: Ints, columns: Ints, weights: Floats, biases: Floats) -> Sums:
    """Sums of terms in any order; terms of one element become one."""
    order = np.lexsort((columns, rows))
    rows, columns, weights = rows[order], columns[order], weights[order]
    first = np.append(True, (np.diff(rows) != 0) | (np.diff(columns) != 0))[: len(rows)]
    starts = np.flatnonzero(first)
    total = np.add.reduceat(weights, starts) if len(starts) else weights
    return Sums(rows[starts], columns[starts], total, biases)
