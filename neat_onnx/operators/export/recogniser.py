"""RNN, GRU and LSTM layers of a network, found by weights and wiring, whatever made them.

Initial states are zero, and activations those that the operators have by default.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neat_onnx.network.cells import RECOGNISED, RNN, Cell, Link, Part
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


class _Unit(NamedTuple):
    """A hidden unit: its cell, and the neuron of each part."""

    cell: Cell
    parts: dict[str, int]


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


class _Link(NamedTuple):
    """A connection of weight 1 whose gate, if it has one, is of the same step."""

    source: int
    delay: int
    gater: int = NONE


def _is_link(edge: _Edge, link: Link, found: Mapping[str, int]) -> bool:
    """Whether an edge may be a link of the table, as far as its ends are found."""
    return (
        edge.known
        and (edge.weight, edge.delay) == (1.0, link.delay)
        and (edge.gater != NONE) == bool(link.gate)
        and found.get(link.source, edge.source) == edge.source
        and found.get(link.gate, edge.gater) == edge.gater
    )


def layers_of(net: Network, plan: Schedule) -> list[Layer]:
    """Layers that hold all of a network's memory; none if some of it is elsewhere."""
    finder = _Finder(net, plan)
    layers = finder.layers()
    if not layers or not all(finder.holds(layer) for layer in layers):
        return []
    inside = np.concatenate([layer.neurons for layer in layers])
    live = net.live
    delayed = (live.delay > 0) | ((live.gater != NONE) & (live.gate_delay > 0))
    elsewhere = delayed & contributing(net)[live.target] & ~np.isin(live.target, inside)
    return [] if np.any(elsewhere) else layers


class _Finder:
    def __init__(self, net: Network, plan: Schedule) -> None:
        self._net, self._plan = net, plan
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
        self._name = net.activation_names
        plain = (net.aggregation_names == "sum") & (net.neurons.response == 1.0) & ~net.is_input
        self._plain = plain & (net.neurons.initial == 0.0)
        self._place = np.full(len(net), len(net), np.int64)  # outputs in their order, then others
        self._place[net.output_neurons[::-1]] = np.arange(len(net.output_neurons))[::-1]

    # --- finding ---------------------------------------------------------------------------------

    def layers(self) -> list[Layer]:
        """Units of the same cell on one level together; the weights are not checked yet."""
        units = list(self._gated())
        taken = {neuron for unit in units for neuron in unit.parts.values()}
        units += [unit for unit in self._recurrent() if taken.isdisjoint(unit.parts.values())]
        groups: dict[tuple[int, int], list[_Unit]] = defaultdict(list)
        for unit in units:
            groups[self._level(unit.parts), RECOGNISED.index(unit.cell)].append(unit)
        return [self._layer(level, groups[level, cell]) for level, cell in sorted(groups)]

    def _layer(self, level: int, units: list[_Unit]) -> Layer:
        cell = units[0].cell
        hidden = [unit.parts["hidden"] for unit in units]
        order = sorted(range(len(units)), key=lambda k: (self._place[hidden[k]], hidden[k]))
        parts = {
            name: np.array([units[k].parts[name] for k in order], np.int64) for name in cell.by_name
        }
        return Layer(cell, level, parts)

    def _level(self, unit: dict[str, int]) -> int:
        """One above all that the unit reads of others in the same step."""
        own = set(unit.values())
        edges = [edge for neuron in own for edge in self._into[neuron] if edge.delay == 0]
        sources = {edge.source for edge in edges} - own
        return 1 + max((int(self._plan.level[source]) for source in sources), default=0)

    def _recurrent(self) -> Iterator[_Unit]:
        """Units of RNNs: neurons that read, or give, a value of the step before."""
        edges = [edge for into in self._into.values() for edge in into if edge.delay]
        for neuron in sorted({end for edge in edges for end in (edge.source, edge.target)}):
            if self._plain[neuron] and self._has_activation(RNN.parts[0], neuron):
                yield _Unit(RNN, {"hidden": neuron})

    def _gated(self) -> Iterator[_Unit]:
        """Units of GRUs and LSTMs, by their hidden neurons."""
        for neuron in np.flatnonzero(self._plain & (self._name == "identity")).tolist():
            units = (self._unit(cell, neuron) for cell in RECOGNISED if len(cell.parts) > 1)
            unit = next(filter(None, units), None)
            if unit is not None:
                yield unit

    def _unit(self, cell: Cell, hidden: int) -> _Unit | None:
        """The neurons of a cell by part, found from the hidden one along the links of the table."""
        found = {"hidden": hidden}
        for part in reversed(cell.parts):
            if part.name not in found:
                return None
            for name, end in self._beside(part, found):
                found.setdefault(name, end)
        if found.keys() != cell.by_name.keys():
            return None
        parts = {part.name: found[part.name] for part in cell.parts}
        fits = len(set(parts.values())) == len(parts) and all(
            self._has_activation(part, parts[part.name])
            if part.matrices
            else self._sums(part, found)
            for part in cell.parts
        )
        return _Unit(cell, parts) if fits else None

    def _has_activation(self, part: Part, neuron: int) -> bool:
        return bool(self._name[neuron] == part.activation)

    def _beside(self, part: Part, found: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        """The parts that a part which is found reads, and those that gate it."""
        for link in part.links:
            edges = [edge for edge in self._into[found[part.name]] if _is_link(edge, link, found)]
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

    def _sums(self, part: Part, found: Mapping[str, int]) -> bool:
        """Whether a part without weights has its activation, and the links of the table alone."""
        neuron = found[part.name]
        wanted = sorted(
            _Link(found[link.source], link.delay, found[link.gate] if link.gate else NONE)
            for link in part.links
        )
        return self._has_activation(part, neuron) and sorted(self._links(neuron)) == wanted

    def _links(self, neuron: int) -> list[_Link]:
        """The sources of a neuron that sums and does nothing else."""
        edges = self._into[neuron]
        if not self._plain[neuron] or self._net.neurons.bias[neuron] != 0.0:
            return []
        if not all(edge.known and edge.weight == 1.0 for edge in edges):
            return []
        return [_Link(edge.source, edge.delay, edge.gater) for edge in edges]

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
            and all(self._fits(layer, part, inside) for part in layer.cell.parts if part.matrices)
        )

    def _fits(self, layer: Layer, part: Part, inside: set[int]) -> bool:
        """Whether a part sums, and all its edges stand in the table."""
        neurons = layer.parts[part.name]
        place = {neuron: k for k, neuron in enumerate(layer.hidden.tolist())}
        return bool(np.all(self._plain[neurons])) and all(
            edge.known and self._has_a_place(layer, inside, place, part, unit, edge)
            for unit, neuron in enumerate(neurons.tolist())
            for edge in self._into[neuron]
        )

    def _has_a_place(
        self,
        layer: Layer,
        inside: set[int],
        place: dict[int, int],
        part: Part,
        unit: int,
        edge: _Edge,
    ) -> bool:
        """Whether an edge into this part of a unit stands in one of the operator's matrices."""
        parts = layer.parts
        if edge.delay == 0 and edge.source not in inside:
            return edge.gater == NONE and "W" in part.matrices
        if edge.delay == 1 and edge.source in place:
            gate = int(parts[part.gate][place[edge.source]]) if part.gate else NONE
            return edge.gater == gate and "R" in part.matrices
        if "memory" in parts and edge.source == parts["memory"][unit]:
            return (
                edge.gater == NONE and part.peephole is not None and part.peephole[1] == edge.delay
            )
        return edge.weight == 1.0 and _Link(edge.source, edge.delay, edge.gater) in (
            _Link(
                int(parts[link.source][unit]),
                link.delay,
                int(parts[link.gate][unit]) if link.gate else NONE,
            )
            for link in part.links
        )
