"""RNN, GRU and LSTM layers of a network, found by weights and wiring, whatever made them.

Initial states are zero, and activations those that the operators have by default.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neat_onnx.network.cells import RECOGNISED, RNN, Cell, Part
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, contributing


@dataclass(frozen=True)
class Layer:
    """Hidden units side by side.

    Attributes:
        cell: the table of its parts.
        level: all that its units read in the same step stands on lower levels.
        parts: for each part of a unit, the neurons of all units, in one order; `hidden` is last.
    """

    cell: Cell
    level: int
    parts: dict[str, Ints]

    @property
    def hidden(self) -> Ints:
        """The neurons whose activations are the hidden state, shape (units,)."""
        return self.parts["hidden"]

    @property
    def neurons(self) -> Ints:
        """All neurons of the layer, part by part."""
        return np.concatenate(list(self.parts.values()))


def layers_of(net: Network, plan: Schedule) -> list[Layer]:
    """Layers that hold all of a network's memory; none if some of it is elsewhere."""
    finder = _Finder(net, plan)
    layers = finder.layers()
    if not layers or not all(map(finder.holds, layers)):
        return []
    inside = np.concatenate([layer.neurons for layer in layers])
    live = net.live
    delayed = (live.delay > 0) | ((live.gater != NONE) & (live.gate_delay > 0))
    elsewhere = delayed & contributing(net)[live.target] & ~np.isin(live.target, inside)
    return [] if np.any(elsewhere) else layers


class _Edge(NamedTuple):
    """A live connection."""

    source: int
    target: int
    weight: float
    delay: int
    reads_state: bool
    gater: int
    gate_delay: int

    @property
    def known(self) -> bool:
        """It is of a kind that the operators have."""
        return not self.reads_state and (self.gater == NONE or self.gate_delay == 0)

    @property
    def link(self) -> tuple[int, int, int]:
        """(source, delay, gater): what it is if its weight is 1."""
        return self.source, self.delay, self.gater


_Unit = tuple[Cell, dict[str, int]]
"""A hidden unit: its cell, and the neuron of each part."""


class _Finder:
    def __init__(self, net: Network, plan: Schedule) -> None:
        self._net, self._level, self._name = net, plan.level, net.activation_names
        self._into: dict[int, list[_Edge]] = defaultdict(list)
        self._from: dict[int, list[_Edge]] = defaultdict(list)
        self._readers: dict[int, set[int]] = defaultdict(set)
        live = net.live.take(contributing(net)[net.live.target])
        columns = (getattr(live, name).tolist() for name in _Edge._fields)
        for edge in (_Edge(*values) for values in zip(*columns, strict=True)):
            self._into[edge.target].append(edge)
            self._from[edge.source].append(edge)
            for end in (edge.source, edge.gater):
                self._readers[end].add(edge.target)
        plain = (net.aggregation_names == "sum") & (net.neurons.response == 1.0) & ~net.is_input
        self._plain = plain & (net.neurons.initial == 0.0)
        self._place = np.full(len(net), len(net), np.int64)  # outputs in their order, then others
        self._place[net.output_neurons[::-1]] = np.arange(len(net.output_neurons))[::-1]

    # --- finding ---------------------------------------------------------------------------------

    def layers(self) -> list[Layer]:
        """Units of the same cell on one level together; the weights are not checked yet."""
        units = list(self._gated())
        taken = {neuron for _, parts in units for neuron in parts.values()}
        units += [(RNN, {"hidden": each}) for each in self._recurrent() if each not in taken]
        groups: dict[tuple[int, int], list[dict[str, int]]] = defaultdict(list)
        for cell, parts in units:
            own = set(parts.values())
            edges = [edge for neuron in own for edge in self._into[neuron] if edge.delay == 0]
            sources = {edge.source for edge in edges} - own
            level = 1 + max((int(self._level[source]) for source in sources), default=0)
            groups[level, RECOGNISED.index(cell)].append(parts)
        return [
            self._layer(level, RECOGNISED[number], units)
            for (level, number), units in sorted(groups.items(), key=lambda each: each[0])
        ]

    def _layer(self, level: int, cell: Cell, units: list[dict[str, int]]) -> Layer:
        units.sort(key=lambda parts: (self._place[parts["hidden"]], parts["hidden"]))
        parts = {name: np.array([each[name] for each in units]) for name in cell.by_name}
        return Layer(cell, level, parts)

    def _recurrent(self) -> Iterator[int]:
        """Units of RNNs: neurons that read, or give, a value of the step before."""
        edges = [edge for into in self._into.values() for edge in into if edge.delay]
        for neuron in sorted({end for edge in edges for end in (edge.source, edge.target)}):
            if self._plain[neuron] and self._name[neuron] == RNN.parts[0].activation:
                yield neuron

    def _gated(self) -> Iterator[_Unit]:
        """Units of GRUs and LSTMs, by their hidden neurons."""
        for neuron in np.flatnonzero(self._plain & (self._name == "identity")).tolist():
            units = ((cell, self._unit(cell, neuron)) for cell in RECOGNISED if cell is not RNN)
            yield from [(cell, parts) for cell, parts in units if parts][:1]

    def _unit(self, cell: Cell, hidden: int) -> dict[str, int]:
        """The neurons of a cell by part, found from the hidden one along the links of the table."""
        found = {"hidden": hidden}
        for part in reversed(cell.parts):
            if part.name not in found:
                return {}
            for name, end in self._beside(part, found):
                found.setdefault(name, end)
        if found.keys() != cell.by_name.keys() or len(set(found.values())) < len(found):
            return {}
        named = all(self._name[found[part.name]] == part.activation for part in cell.parts)
        return {name: found[name] for name in cell.by_name} if named else {}

    def _beside(self, part: Part, found: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        """The parts that a part which is found reads, and those that gate it."""
        for link in part.links:
            edges = [
                edge
                for edge in self._into[found[part.name]]
                if edge.known
                and (edge.weight, edge.delay) == (1.0, link.delay)
                and (edge.gater != NONE) == bool(link.gate)
                and found.get(link.source, edge.source) == edge.source
                and found.get(link.gate, edge.gater) == edge.gater
            ]
            if len(edges) == 1:
                yield link.source, edges[0].source
                if link.gate:
                    yield link.gate, edges[0].gater
        if part.gate:  # a gate acts on the unit that is read, not the reader
            hidden = found["hidden"]
            read = [edge for edge in self._from[hidden] if edge.delay and edge.target != hidden]
            gaters = {edge.gater for edge in read} - {NONE}
            if len(gaters) == 1:
                yield part.gate, gaters.pop()

    # --- checking --------------------------------------------------------------------------------

    def holds(self, layer: Layer) -> bool:
        """Whether the layer's neurons compute the operator, and nothing else reads its inner
        neurons.
        """
        inside = set(layer.neurons.tolist())
        hides = inside - set(layer.hidden.tolist())
        return (
            len(inside) == layer.neurons.size
            and hides.isdisjoint(self._net.output_neurons.tolist())
            and all(self._readers[neuron] <= inside for neuron in hides)
            and all(self._fits(layer, part, inside) for part in layer.cell.parts)
        )

    def _fits(self, layer: Layer, part: Part, inside: set[int]) -> bool:
        """Whether a part sums, and each edge into it stands in one of the operator's matrices; one
        without matrices is its links alone.
        """
        neurons = layer.parts[part.name].tolist()
        units = [
            {name: int(at[k]) for name, at in layer.parts.items()} for k in range(len(neurons))
        ]
        gates = {unit["hidden"]: unit[part.gate] if part.gate else NONE for unit in units}

        def stands(edge: _Edge, unit: dict[str, int]) -> bool:
            links = [
                (unit[link.source], link.delay, unit.get(link.gate, NONE)) for link in part.links
            ]
            if edge.weight == 1.0 and edge.link in links:
                return True
            if edge.delay == 0 and edge.source not in inside:
                return edge.gater == NONE and "W" in part.matrices
            if edge.delay == 1 and edge.source in gates:
                return edge.gater == gates[edge.source] and "R" in part.matrices
            seen = part.peephole is not None and part.peephole[1] == edge.delay
            return seen and edge.gater == NONE and edge.source == unit["memory"]

        def is_part(neuron: int, unit: dict[str, int]) -> bool:
            edges = self._into[neuron]
            links_alone = self._net.neurons.bias[neuron] == 0.0 and len(edges) == len(part.links)
            known = bool(part.matrices or links_alone)
            return known and all(edge.known and stands(edge, unit) for edge in edges)

        return bool(np.all(self._plain[neurons])) and all(map(is_part, neurons, units))
