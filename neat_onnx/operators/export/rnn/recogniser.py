"""RNN, GRU and LSTM layers of a network, found by weights and wiring, whatever made them.

Initial states are zero. Of a network that was imported, all activations of the operators are looked
for; of any other one those that they have by default.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neat_onnx.network.activations import activation_named
from neat_onnx.network.cells import COUPLED_LSTM, RECOGNISED, RNN, Cell, Link, Part
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Schedule, contributing
from neat_onnx.network.structure import IMPORTED
from neat_onnx.operators.export.rnn.cell_activations import (
    CellFunction,
    are_clipped_alike,
    cell_function,
)


@dataclass(frozen=True)
class Layer:
    """Hidden units side by side.

    Attributes:
        cell: the table of its parts.
        functions: its activations, in the operator's order.
        level: all that its units read in the same step stands on lower levels.
        parts: for each part of a unit, the neurons of all units, in one order; `hidden` is last.
    """

    cell: Cell
    functions: tuple[CellFunction, ...]
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
    """A hidden unit: its cell, the activations of that, and the neuron of each part."""

    cell: Cell
    functions: tuple[CellFunction, ...]
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
        self._any = net.library == IMPORTED  # whether a cell may have any form of its operator
        self._cells = (*RECOGNISED, COUPLED_LSTM) if self._any else RECOGNISED
        self._functions = {
            name: cell_function(activation_named(name).expression) for name in net.activations
        }
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
        groups: dict[tuple[int, int, tuple[CellFunction, ...]], list[_Unit]] = defaultdict(list)
        for unit in units:
            cell = self._cells.index(unit.cell)
            groups[self._level(unit.parts), cell, unit.functions].append(unit)
        keys = sorted(groups, key=lambda key: key[:2])
        return [
            self._layer(self._cells[cell], functions, level, groups[level, cell, functions])
            for level, cell, functions in keys
        ]

    def _layer(
        self, cell: Cell, functions: tuple[CellFunction, ...], level: int, units: list[_Unit]
    ) -> Layer:
        hidden = [unit.parts["hidden"] for unit in units]
        order = sorted(range(len(units)), key=lambda k: (self._place[hidden[k]], hidden[k]))
        parts = {
            name: np.array([units[k].parts[name] for k in order], np.int64) for name in cell.by_name
        }
        return Layer(cell, functions, level, parts)

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
            unit = self._with_functions(RNN, {"hidden": neuron})
            if unit is not None and self._plain[neuron]:
                yield unit

    def _gated(self) -> Iterator[_Unit]:
        """Units of GRUs and LSTMs: each has a neuron that keeps a part of itself."""
        for neuron in np.flatnonzero(self._plain & (self._name == "identity")).tolist():
            units = (self._unit(cell, cell.keeper, neuron) for cell in self._cells if cell.keeper)
            unit = next(filter(None, units), None)
            if unit is not None:
                yield unit

    def _unit(self, cell: Cell, keeper: str, neuron: int) -> _Unit | None:
        """The neurons of a cell by part, found from one along the links of the table."""
        found = {keeper: neuron}
        while len(found) < len(cell.parts):
            more = {
                name: end
                for part in cell.parts
                for name, end in self._beside(part, found)
                if name not in found
            }
            if not more:
                return None
            found |= more
        if len(set(found.values())) < len(found) or not all(
            self._sums(part, found) for part in cell.parts if not part.matrices
        ):
            return None
        return self._with_functions(cell, {part.name: found[part.name] for part in cell.parts})

    def _with_functions(self, cell: Cell, parts: dict[str, int]) -> _Unit | None:
        """The unit of these neurons; None if the operator has no such activations."""
        functions: dict[int, CellFunction] = {}
        for part in cell.parts:
            if not self._has_function(part, parts[part.name]):
                return None
            its = self._functions[self._name[parts[part.name]]]
            if its is not None and part.function is not None:
                functions.setdefault(part.function, its)
                if functions[part.function] != its:
                    return None
        in_order = tuple(functions[k] for k in sorted(functions))
        return _Unit(cell, in_order, parts) if are_clipped_alike(cell, in_order) else None

    def _has_function(self, part: Part, neuron: int) -> bool:
        """Whether a neuron has an activation that a part may have."""
        name = self._name[neuron]
        if part.function is None or not self._any:
            return bool(name == part.activation)
        return self._functions[name] is not None

    def _beside(self, part: Part, found: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        """Parts that this one reads, or that gate it, if it is found; else itself, as a reader."""
        if part.name not in found:
            yield from self._reader(part, found)
            return
        for link in part.links:
            edges = [edge for edge in self._into[found[part.name]] if _is_link(edge, link, found)]
            if len(edges) == 1:
                yield link.source, edges[0].source
                if link.gate:
                    yield link.gate, edges[0].gater
        if part.gate and "hidden" in found:  # a gate acts on the unit that is read, not the reader
            hidden = found["hidden"]
            read = [edge for edge in self._from[hidden] if edge.delay and edge.target != hidden]
            gaters = {edge.gater for edge in read} - {NONE}
            if len(gaters) == 1:
                yield part.gate, gaters.pop()

    def _reader(self, part: Part, found: Mapping[str, int]) -> Iterator[tuple[str, int]]:
        """A part that reads a single one that is found, and its gate."""
        if part.matrices or len(part.links) != 1 or part.links[0].source not in found:
            return
        (link,) = part.links
        readers = [
            (reader, self._links(reader))
            for reader in sorted(self._readers[found[link.source]])
            if self._has_function(part, reader)
        ]
        readers = [
            (reader, links)
            for reader, links in readers
            if [(each.source, each.delay, each.gater != NONE) for each in links]
            == [(found[link.source], link.delay, bool(link.gate))]
        ]
        if len(readers) == 1:
            ((reader, (read,)),) = readers
            yield part.name, reader
            if link.gate:
                yield link.gate, read.gater

    def _sums(self, part: Part, found: Mapping[str, int]) -> bool:
        """Whether a part without weights has its activation, and the links of the table alone."""
        neuron = found[part.name]
        wanted = sorted(
            _Link(found[link.source], link.delay, found[link.gate] if link.gate else NONE)
            for link in part.links
        )
        return self._has_function(part, neuron) and sorted(self._links(neuron)) == wanted

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
