"""RNN, GRU and LSTM layers of a network, found by weights and wiring, whatever made them.

Only the activations that the operators have by default are looked for, and initial states of zero.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neat_onnx.network.cells import RECOGNISED, Cell, Part
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
        return self.parts["hidden"]

    @property
    def neurons(self) -> Ints:
        return np.concatenate(list(self.parts.values()))


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
        """Units with the same parts on one level together; the weights are not checked yet."""
        units = list(self._gated())
        taken = {neuron for unit in units for neuron in unit.values()}
        units += [{"hidden": neuron} for neuron in self._recurrent() if neuron not in taken]
        groups: dict[tuple[int, tuple[str, ...]], list[dict[str, int]]] = defaultdict(list)
        for unit in units:
            groups[self._level(unit), tuple(unit)].append(unit)
        return [self._layer(level, names, groups[level, names]) for level, names in sorted(groups)]

    def _layer(self, level: int, names: tuple[str, ...], units: list[dict[str, int]]) -> Layer:
        units = sorted(units, key=lambda unit: (self._place[unit["hidden"]], unit["hidden"]))
        cell = next(cell for cell in RECOGNISED if tuple(cell.by_name) == names)
        parts = {name: np.array([unit[name] for unit in units], np.int64) for name in names}
        return Layer(cell, level, parts)

    def _level(self, unit: dict[str, int]) -> int:
        """One above all that the unit reads of others in the same step."""
        own = set(unit.values())
        edges = [edge for neuron in own for edge in self._into[neuron] if edge.delay == 0]
        sources = {edge.source for edge in edges} - own
        return 1 + max((int(self._plan.level[source]) for source in sources), default=0)

    def _recurrent(self) -> list[int]:
        """Neurons of tanh that read, or give, a value of the step before."""
        edges = [edge for into in self._into.values() for edge in into if edge.delay]
        ends = sorted({end for edge in edges for end in (edge.source, edge.target)})
        return [end for end in ends if self._plain[end] and self._name[end] == "tanh"]

    def _gated(self) -> Iterator[dict[str, int]]:
        """Units of GRUs and LSTMs: each has a neuron that keeps a part of itself."""
        for neuron in np.flatnonzero(self._plain & (self._name == "identity")).tolist():
            kept = self._kept(neuron)
            if kept is None:
                continue
            keep, candidate, enter = kept
            if self._name[enter] == "complement" and self._links(enter) == [_Link(keep, 0)]:
                unit = self._gru(neuron, keep, candidate, enter)
            else:
                unit = self._lstm(neuron, keep, candidate, enter)
            if unit is not None and len(set(unit.values())) == len(unit):
                yield unit

    def _links(self, neuron: int) -> list[_Link]:
        """The sources of a neuron that sums and does nothing else."""
        edges = self._into[neuron]
        if not self._plain[neuron] or self._net.neurons.bias[neuron] != 0.0:
            return []
        if not all(edge.known and edge.weight == 1.0 for edge in edges):
            return []
        return [_Link(edge.source, edge.delay, edge.gater) for edge in edges]

    def _kept(self, neuron: int) -> tuple[int, int, int] | None:
        """(a, s, b) if the neuron is a ⊙ itself one step ago + b ⊙ s."""
        links = sorted(self._links(neuron), key=lambda link: link.delay)
        if len(links) != 2 or NONE in (links[0].gater, links[1].gater):
            return None
        (source, now, enter), (own, before, keep) = links
        return (keep, source, enter) if (now, own, before) == (0, neuron, 1) else None

    def _gru(self, hidden: int, update: int, candidate: int, fresh: int) -> dict[str, int] | None:
        found = {"update": update}
        linear = [edge for edge in self._into[candidate] if edge.gater != NONE and not edge.delay]
        if len(linear) == 1:
            found |= {"reset": linear[0].gater, "linear": linear[0].source}
        else:
            edges = [edge for edge in self._from[hidden] if edge.delay and edge.target != hidden]
            resets = {edge.gater for edge in edges} - {NONE}
            if linear or len(resets) != 1:
                return None
            found["reset"] = resets.pop()
        return found | {"candidate": candidate, "fresh": fresh, "hidden": hidden}

    def _lstm(self, memory: int, forget: int, candidate: int, entry: int) -> dict[str, int] | None:
        readers = [j for j in self._readers[memory] if self._links(j) == [_Link(memory, 0)]]
        shown = [reader for reader in readers if self._name[reader] == "tanh"]
        if len(shown) != 1 or len(self._readers[shown[0]]) != 1:
            return None
        (hidden,) = self._readers[shown[0]]
        links = self._links(hidden)
        if len(links) != 1 or self._name[hidden] != "identity":
            return None
        ((source, delay, out),) = links
        if (source, delay) != (shown[0], 0) or out == NONE:
            return None
        return {
            "entry": entry,
            "forget": forget,
            "candidate": candidate,
            "memory": memory,
            "out": out,
            "shown": shown[0],
            "hidden": hidden,
        }

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
        """Whether a part has the operator's activation, and all its edges stand in the table."""
        neurons = layer.parts[part.name]
        place = {neuron: k for k, neuron in enumerate(layer.hidden.tolist())}
        return bool(
            np.all(self._plain[neurons] & (self._name[neurons] == part.activation))
        ) and all(
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
