"""Cells that were unrolled, found by wiring: a unit for each step, each reading the one before it.

A network that takes a sequence of fixed length has neurons of its own for every step. The table of
a cell says how they are wired; the links that it delays by one step lead to the step before.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.activations import activation_named
from neat_onnx.network.cells import LINEAR_GRU, LSTM, Cell, Link, Part
from neat_onnx.network.genes import NONE, Bools
from neat_onnx.operators.edges import Edge, Edges

CELLS = (LSTM, LINEAR_GRU)
_LEAST_STEPS = 2


@dataclass(frozen=True, eq=False)
class Chain:
    """One unit of a cell through all steps.

    Attributes:
        cell: the table of its parts.
        steps: the neuron of each part, step by step; a part that does nothing is left out.
    """

    cell: Cell
    steps: list[dict[str, int]]


class ChainFinder:
    """Finds the units of one network, among neurons that are free."""

    def __init__(self, ctx: LoweringContext, free: Bools) -> None:
        self._net, self._free = ctx.net, free
        self.edges = Edges(ctx.net)
        self._alike: dict[tuple[str, bool], Bools] = {}  # by activation and whether it has a bias
        self._formulas = [activation_named(name).expression for name in self._net.activations]

    def layers(self) -> list[list[Chain]]:
        """The units that read each other one step ago, together; nothing is checked yet."""
        chains = list(self._chains())
        owner = {chain.steps[0]["hidden"]: k for k, chain in enumerate(chains)}
        group = list(range(len(chains)))

        def root(k: int) -> int:
            while group[k] != k:
                group[k] = k = group[group[k]]
            return k

        for k, chain in enumerate(chains):
            for name in chain.cell.rows_of("R"):
                for edge in self.edges.into(chain.steps[1][name]):
                    if edge.source in owner:
                        group[root(owner[edge.source])] = root(k)
        found: dict[int, list[Chain]] = defaultdict(list)
        for k, chain in enumerate(chains):
            found[root(k)].append(chain)
        return list(found.values())

    def _chains(self) -> Iterator[Chain]:
        """The units that begin with a step that has none before it."""
        for cell in CELLS:
            after: dict[int, list[tuple[int, dict[str, int]]]] = defaultdict(list)
            for neuron in self._candidates():
                unit = self._unit(cell, neuron)
                if unit is not None:
                    after[unit[1]].append((unit[0][cell.keeper], unit[0]))
            for keeper, first in after.pop(NONE, []):
                steps = [first]
                while len(after.get(keeper, ())) == 1:
                    ((keeper, step),) = after[keeper]  # noqa: PLW2901
                    steps.append(step)
                if len(steps) >= _LEAST_STEPS and keeper not in after:
                    yield Chain(cell, steps)

    def _candidates(self) -> list[int]:
        """Sums of one or two gated inputs: the hidden neurons of a unit are such."""
        live = self._net.live
        gated = np.bincount(live.target[live.gater != NONE], minlength=len(self._net))
        alike = (gated == self._net.fan_in) & (gated > 0) & (gated <= 2)
        found: list[int] = np.flatnonzero(alike & self._free).tolist()
        return found

    def _unit(self, cell: Cell, hidden: int) -> tuple[dict[str, int], int] | None:
        """(the neurons of a unit by part, its keeper one step ago), by the links of the table."""
        found, before = {"hidden": hidden}, NONE
        for part in reversed(cell.parts):
            neuron = found.get(part.name, NONE)
            if neuron == NONE:
                if part.name in cell.idle_at_first and before == NONE:
                    continue
                return None
            if not self._is(part, neuron):
                return None
            edges = self._link_edges(part, neuron) if part.links else []
            for link in part.links:
                fitting = [edge for edge in edges if self._fits(cell, link, edge)]
                if len(fitting) != 1:
                    if fitting or not link.delay:
                        return None
                    continue
                edges.remove(fitting[0])
                ends = {link.gate: fitting[0].gater} if link.gate else {}
                if link.delay:
                    before = fitting[0].source
                else:
                    ends[link.source] = fitting[0].source
                if any(found.setdefault(name, end) != end for name, end in ends.items()):
                    return None
            if edges:
                return None
        return {part.name: found[part.name] for part in cell.parts if part.name in found}, before

    def _link_edges(self, part: Part, neuron: int) -> list[Edge]:
        """The connections that have to be links: into a part with weights, the gated ones."""
        edges = self.edges.into(neuron)
        return [edge for edge in edges if edge.gater != NONE] if part.matrices else edges

    def _fits(self, cell: Cell, link: Link, edge: Edge) -> bool:
        activation = cell.by_name[link.source].activation
        return (edge.weight, edge.gater != NONE) == (1.0, bool(link.gate)) and self._has(
            edge.source, activation
        )

    def _has(self, neuron: int, activation: str) -> bool:
        formula = self._formulas[int(self._net.neurons.activation[neuron])]
        return formula == activation_named(activation).expression

    def _is(self, part: Part, neuron: int) -> bool:
        """Whether a free neuron is a sum with the activation of a part, within one step."""
        kind = part.activation, bool(part.matrices)
        if kind not in self._alike:
            self._alike[kind] = self._are(*kind)
        return bool(self._alike[kind][neuron])

    def _are(self, activation: str, has_bias: bool) -> Bools:
        net, formula = self._net, activation_named(activation).expression
        codes = [code for code, each in enumerate(self._formulas) if each == formula]
        found: Bools = self._free & np.isin(net.neurons.activation, codes)
        found &= (net.aggregation_names == "sum") & (net.neurons.response == 1.0)
        if not has_bias:
            found &= net.neurons.bias == 0.0
        return found & self.edges.of_this_step
