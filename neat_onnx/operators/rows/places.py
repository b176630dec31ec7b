"""Places in a row, found in the genes: the largest or smallest elements, and the first of them.

Import makes of ArgMax, ArgMin and Hardmax the extreme of a row, a hit for each element, which is 1
where the element equals the extreme, and first hits, which have no hit before them. Whoever reads
first hits weighs them: by the number of the place, by a label, or not at all.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import VARIABLE, Expression, call, equal, greater
from neat_onnx.network.genes import NONE, Bools, Ints, distinct
from neat_onnx.operators.rows.edges import Edge, LiveEdges

HIT = call("number", equal(VARIABLE, 0.0))
FIRST = call("number", greater(VARIABLE, 0.5))


@dataclass(frozen=True, eq=False)
class Places:
    """The hits of a row.

    Attributes:
        aggregation: "max" or "min".
        extreme: the neuron that takes the largest or smallest of all elements.
        sources, hits: the neurons of each element, and its hit.
        first: by position in `hits`, the first hits that there are, where nothing else reads hits.
        number: the neuron that makes the number of the place of them, where nothing else reads
            them; else NONE.
        is_last: the elements stand from the last one to the first, and the number is that of the
            last of equal ones.
    """

    aggregation: str
    extreme: int
    sources: list[int]
    hits: list[int]
    first: dict[int, int] = field(default_factory=dict)
    number: int = NONE
    is_last: bool = False


class PlaceFinder:
    """Finds the hits of one network, among free neurons of which no pre-activation is read."""

    def __init__(self, ctx: LoweringContext, free: Bools) -> None:
        self._net, self._edges = ctx.net, LiveEdges(ctx.net)
        self._free = free & ~ctx.signals.pre_activation_is_read
        self._formulas = [activation_named(name).expression for name in self._net.activations]
        self._outputs = {*self._net.output_neurons.tolist()}
        self._matters = np.zeros(len(ctx.net), np.bool_)
        self._matters[np.concatenate(ctx.schedule.levels)] = True

    def places(self) -> Iterator[Places]:
        """Yield the rows of hits, each neuron in one at most."""
        codes = [code for code, each in enumerate(self._formulas) if each == HIT]
        if not codes:
            return
        of_hits = self._free & np.isin(self._net.neurons.activation, codes)
        taken: set[int] = set()
        seen: set[int] = set()
        for hit in np.flatnonzero(of_hits).tolist():
            for edge in self._edges.into(hit):
                if edge.weight != -1.0 or edge.source in seen:
                    continue
                seen.add(edge.source)
                found = self._around(edge.source)
                if found is not None and taken.isdisjoint(found.hits):
                    taken.update(found.hits)
                    yield found

    def _around(self, extreme: int) -> Places | None:
        """The hits of an extreme, if nothing but they reads it."""
        aggregation = str(self._net.aggregation_names[extreme])
        if aggregation not in ("max", "min") or not self._is_plain(extreme, VARIABLE, aggregation):
            return None
        read, readers = self._edges.into(extreme), self._edges.leaving(extreme)
        if not self._is_hidden(extreme) or any(edge[2:] != (1.0, NONE) for edge in read):
            return None
        pairs = sorted((self._element(edge), edge.target) for edge in readers)
        sources = [element for element, _ in pairs]
        if len(sources) < 2 or sources != sorted(edge.source for edge in read):
            return None
        found = Places(aggregation, extreme, sources, [hit for _, hit in pairs])
        return self._with_first(found) or found

    def _element(self, edge: Edge) -> int:
        """The element that a reader of the extreme compares with it; NONE where it does not."""
        pair = self._edges.into(edge.target)
        one = next((each.source for each in pair if each.weight == 1.0), NONE)
        is_hit = (edge.weight, edge.gater, len(pair)) == (-1.0, NONE, 2)
        plain = is_hit and all(each.gater == NONE for each in pair)
        return one if plain and self._is_plain(edge.target, HIT, "sum") else NONE

    def _with_first(self, found: Places) -> Places | None:
        """The same with the first hits, if they alone read hits, in the order that they show."""
        live, hits = self._net.live, np.array(found.hits)
        leaving = self._edges.leaving_all(hits)
        leaving = leaving[self._matters[live.target[leaving]]]
        firsts = distinct(live.target[leaving])
        if not firsts.size or not all(self._is_hidden(hit) for hit in found.hits):
            return None
        if not all(self._is_plain(neuron, FIRST, "sum") for neuron in firsts.tolist()):
            return None
        later = np.bincount(live.source[leaving[live.weight[leaving] == -1.0]],
                            minlength=len(self._net))[hits]  # fmt: skip
        order = np.lexsort((np.arange(len(hits)), -later))
        places = self._places_of(firsts, hits[order])
        if places is None:
            return None
        first = dict(sorted(zip(places.tolist(), firsts.tolist(), strict=True)))
        sources = [found.sources[k] for k in order]
        its = replace(found, sources=sources, hits=hits[order].tolist(), first=first)
        return its if self._is_later(sources[0]) else self._numbered(its)

    def _is_later(self, element: int) -> bool:
        """Whether an element is one of a later round, which first hits were taken from: its place
        is read together with theirs.
        """
        read = [edge.source for edge in self._edges.into(element)]
        firsts = [each for each in read if self._computes(each, FIRST)]
        hits = (edge.source for each in firsts for edge in self._edges.into(each))
        return any(self._computes(each, HIT) for each in hits)

    def _computes(self, neuron: int, formula: Expression) -> bool:
        return self._formulas[int(self._net.neurons.activation[neuron])] == formula

    def _numbered(self, row: Places) -> Places:
        """The row with the neuron that reads the first hits, all but that of place 0, each times
        its place, or takes that from the last number; the same row if there is none.
        """
        first, end = row.first, len(row.hits) - 1
        readers = {edge.target for each in first.values() for edge in self._edges.leaving(each)}
        if [*first] != [*range(1, end + 1)] or len(readers) != 1:
            return row
        (number,) = readers
        edges, last = self._edges.into(number), self._net.neurons.bias[number] == end
        step = -1.0 if last else 1.0
        wanted = {Edge(each, number, step * place, NONE) for place, each in first.items()}
        fits = len(edges) == len(wanted) and {*edges} == wanted
        fits &= self._is_unscaled(number, "sum", end if last else 0.0)
        if not (fits and all(map(self._is_hidden, first.values()))):
            return row
        return replace(row, number=number, is_last=bool(last))

    def _places_of(self, firsts: Ints, hits: Ints) -> Ints | None:
        """The place of the hit that each first hit is, if all hits before are taken away, once."""
        row, edge = self._net.edges_into(firsts)
        live = self._net.live
        place = np.full(len(self._net), NONE, np.int64)
        place[hits] = np.arange(len(hits))
        read, wins = place[live.source[edge]], live.weight[edge] == 1.0
        plain = (live.gater[edge] == NONE) & (read != NONE) & (wins | (live.weight[edge] == -1.0))
        if not np.all(plain) or np.any(np.bincount(row[wins], minlength=len(firsts)) != 1):
            return None
        found = np.empty(len(firsts), np.int64)
        found[row[wins]] = read[wins]
        before = np.bincount(row[~wins], minlength=len(firsts))
        once = len(distinct(row * len(hits) + read)) == len(row)
        once &= len(distinct(found)) == np.count_nonzero(wins)
        alike = once and np.array_equal(before, found) and np.all(read[~wins] < found[row[~wins]])
        return found if alike else None

    def _is_plain(self, neuron: int, formula: Expression, aggregation: str) -> bool:
        """Whether a free neuron is this function of this aggregate, of the same step."""
        code = int(self._net.neurons.activation[neuron])
        return self._formulas[code] == formula and self._is_unscaled(neuron, aggregation)

    def _is_unscaled(self, neuron: int, aggregation: str, bias: float = 0.0) -> bool:
        """Whether a free neuron is some function of this aggregate and bias, of the same step."""
        genes = self._net.neurons
        return bool(
            self._free[neuron]
            and self._net.aggregation_names[neuron] == aggregation
            and genes.response[neuron] == 1.0
            and genes.bias[neuron] == bias
            and self._edges.of_this_step[neuron]
        )

    def _is_hidden(self, neuron: int) -> bool:
        """Whether a neuron is no output, and gates nothing."""
        return neuron not in self._outputs and not self._edges.gated_by(neuron)
