"""Rows in the genes: the neurons of a Softmax or a normalization, every gene of them checked.

From a neuron that only such a row has, its scale, the other parts are found along the links of the
table. A row holds if its neurons have the genes that the table says, and nothing else reads those
inside.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.activations import activation_named
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.operators.rows.edges import Edge, LiveEdges
from neat_onnx.operators.rows.tables import RESULT, ROWS, SOFTMAX, Link, Part, Row, X

Members = dict[str, list[int]]


def _is_sized(part: Part, size: int, width: int) -> bool:
    """Whether a part may have so many neurons in a row of a width."""
    if part.runs:
        return size > 0 and width % size == 0
    return size == (1 if part.whole else width)


@dataclass(frozen=True, eq=False)
class FoundRow:
    """A row of neurons that are an operator.

    Attributes:
        row: its table.
        members: the neurons of each part, in the order of the elements; "x" are the sources.
        weights: of the links of any weight, by part.
        places: of the results among the elements: nothing may read the result of one.
    """

    row: Row
    members: Members
    weights: dict[str, tuple[float, ...]]
    places: tuple[int, ...]

    @property
    def width(self) -> int:
        """The number of elements."""
        return len(self.members[X])

    @property
    def is_whole(self) -> bool:
        """Whether all elements have results, or the row has one."""
        return self.row.parts[-1].whole or len(self.places) == self.width

    @property
    def runs(self) -> int:
        """The number of runs of elements."""
        return max(
            [len(self.members[part.name]) for part in self.row.parts if part.runs], default=1
        )

    @property
    def neurons(self) -> list[int]:
        """All neurons that compute."""
        return [each for part in self.row.parts for each in self.members[part.name]]


class RowFinder:
    """Finds the rows of one network, among neurons that are free."""

    def __init__(self, ctx: LoweringContext, free: Bools) -> None:
        self._ctx, self._net, self._free = ctx, ctx.net, free
        self._edges = LiveEdges(ctx.net)
        self._formulas = [str(activation_named(name).expression) for name in self._net.activations]

    def rows(self) -> Iterator[FoundRow]:
        """Yield the rows, each neuron in one at most."""
        taken: set[int] = set()
        for row in ROWS:
            for anchor in self._computing(row.anchor.activation):
                found = None if anchor in taken else self._row(row, anchor)
                if found is not None and taken.isdisjoint(found.neurons):
                    taken.update(found.neurons)
                    yield found

    def _computing(self, formula: str) -> list[int]:
        """The free neurons whose activation has this formula; most tables of names have none."""
        codes = [code for code, each in enumerate(self._formulas) if each == formula]
        if not codes:
            return []
        has_it = np.isin(self._net.neurons.activation, codes)
        found: list[int] = np.flatnonzero(self._free & has_it).tolist()
        return found

    def _row(self, row: Row, anchor: int) -> FoundRow | None:
        members = self._members(row, anchor)
        if members is None:
            return None
        results = members[RESULT]
        places = tuple(place for place, each in enumerate(results) if each != NONE)
        members[RESULT] = [results[place] for place in places]
        weights = self._checked(row, members, places)
        if weights is None or not self._is_closed(row, members):
            return None
        return FoundRow(row, members, weights, places)

    # --- finding ---------------------------------------------------------------------------------

    def _members(self, row: Row, anchor: int) -> Members | None:
        """A neuron for each place of the row, as far as links lead; not checked yet."""
        found: Members = {row.anchor.name: [anchor]}
        while len(found) <= len(row.parts):
            more = self._beside(row, found)
            if more is None:
                return None
            there = [each for each in more[1] if each != NONE]
            if not there or (more[0] != X and len(set(there)) < len(there)):
                return None
            found[more[0]] = more[1]
        width = len(found[X])
        fit = all(_is_sized(part, len(found[part.name]), width) for part in row.parts)
        return found if fit and width > 0 else None

    def _beside(self, row: Row, found: Members) -> tuple[str, list[int]] | None:
        """One more part, with its neurons: one that a known part reads, or that reads a known."""
        for part in row.parts:
            for link in part.links if part.name in found else ():
                if link.source not in found:
                    whole = any(each.whole and each.name == link.source for each in row.parts)
                    sources = self._sources(part, link, found)
                    return link.source, sources[:1] if whole else sources
        for part in row.parts:
            if part.name not in found and part.links[0].source in found:
                readers = self._readers(part, found, partly=row is SOFTMAX and part.name == RESULT)
                return None if readers is None else (part.name, readers)
        return None

    def _sources(self, part: Part, link: Link, found: Members) -> list[int]:
        live = self._net.live
        _, edge = self._net.edges_into(np.array(found[part.name], np.int64))
        fits = (live.gater[edge] != NONE) == bool(link.gate)
        if link.weight is not None:
            fits &= live.weight[edge] == link.weight
        sources: list[int] = live.source[edge[fits]].tolist()
        return sources

    def _readers(self, part: Part, found: Members, *, partly: bool) -> list[int] | None:
        """For each element of the part that it reads first, the one reader that may be it.

        NONE where there is no reader, if that may be.
        """
        link = part.links[0]
        known = {neuron for members in found.values() for neuron in members}
        gates = {*found.get(link.gate, ())} if link.gate else {NONE}
        if part.runs:
            edges = self._edges.leaving(found[link.source][0])
            return [edge.target for edge in edges if edge.gater in gates]
        beside = [each.source for each in part.links[1:] if len(found.get(each.source, ())) == 1]
        if link.source == X and beside and len(found[X]) > 1:
            return self._readers_beside(found[beside[0]][0], found[X], known)
        readers = []
        for source in found[link.source]:
            edges = [
                edge
                for edge in self._edges.leaving(source)
                if edge.gater in gates and edge.target not in known
            ]
            if len(edges) > 1 or not (edges or partly):
                return None
            readers.append(edges[0].target if edges else NONE)
        return readers

    def _readers_beside(self, other: int, elements: list[int], known: set[int]) -> list[int] | None:
        """For each element, a reader of it that reads another neuron too: the same element may be
        there repeatedly, and in other rows, as the constant of a mask is.
        """
        by_element: dict[int, list[int]] = {}
        for edge in reversed(self._edges.leaving(other)):
            if edge.gater == NONE and edge.target not in known:
                for each in self._edges.into(edge.target):
                    if each.source != other:
                        by_element.setdefault(each.source, []).append(edge.target)
        readers = [by_element[each].pop() for each in elements if by_element.get(each)]
        return readers if len(readers) == len(elements) else None

    # --- checking --------------------------------------------------------------------------------

    def _checked(
        self, row: Row, members: Members, places: tuple[int, ...]
    ) -> dict[str, tuple[float, ...]] | None:
        """The weights of the links of any weight; None if a gene contradicts the table."""
        weights: dict[str, tuple[float, ...]] = {}
        for part in row.parts:
            neurons = np.array(members[part.name], np.int64)
            if not self._are_plain(part, neurons):
                return None
            elements = places if part.name == RESULT else range(len(neurons))
            for element, neuron in zip(elements, neurons.tolist(), strict=True):
                given = self._fits(part, element, neuron, members)
                if given is None:
                    return None
                if part.links[0].weight is None:
                    weights[part.name] = (*weights.get(part.name, ()), *given)
        return weights

    def _are_plain(self, part: Part, neurons: Ints) -> bool:
        net, genes = self._net, self._net.neurons
        formulas = [self._formulas[k] for k in {*genes.activation[neurons].tolist()}]
        aggregations = {net.aggregations[k] for k in genes.aggregation[neurons].tolist()}
        return bool(
            np.all(self._free[neurons])
            and len(formulas) == 1
            and part.activation in ("", formulas[0])
            and aggregations == {part.aggregation}
            and np.all(genes.response[neurons] == 1.0)
            and (part.any_bias or np.all(genes.bias[neurons] == 0.0))
        )

    def _fits(self, part: Part, element: int, neuron: int, members: Members) -> list[float] | None:
        """The weights into a neuron if its connections are the table's, in any order."""
        if not self._edges.of_this_step[neuron]:
            return None
        edges = self._edges.into(neuron)
        wanted = []
        for link in part.links:
            sources = members[link.source]
            gate = NONE
            if link.gate:
                gates = members[link.gate]
                gate = gates[element * len(gates) // len(members[X])]
            read = sources if part.whole or len(sources) == 1 else sources[element : element + 1]
            wanted += [Edge(source, neuron, link.weight or 0.0, gate) for source in read]
        loose = part.links[0].weight is None
        given = [edge._replace(weight=0.0) for edge in edges] if loose else edges
        return [edge.weight for edge in edges] if sorted(given) == sorted(wanted) else None

    def _is_closed(self, row: Row, members: Members) -> bool:
        """Whether nothing outside of the row reads a neuron inside of it, or is gated by one."""
        everyone = [each for part in row.parts for each in members[part.name]]
        inner = {each for part in row.parts if part.name != RESULT for each in members[part.name]}
        if len(set(everyone)) < len(everyone) or not inner.isdisjoint(self._outputs):
            return False
        inside = [edge for neuron in everyone for edge in self._edges.into(neuron)]
        reads = sum(edge.source in inner for edge in inside)
        gates = sum(edge.gater in inner for edge in inside)
        return reads == sum(len(self._edges.leaving(each)) for each in inner) and gates == sum(
            self._edges.gated_by(each) for each in inner
        )

    @cached_property
    def _outputs(self) -> set[int]:
        return set(self._net.output_neurons.tolist())
