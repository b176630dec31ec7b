"""The live connections of a network, neuron by neuron, in both directions."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.structure import Structure


class Edge(NamedTuple):
    """A live connection."""

    source: int
    target: int
    weight: float
    gater: int


class LiveEdges:
    """The live connections into each neuron, out of it, and gated by it."""

    def __init__(self, net: Structure) -> None:
        self._net = net

    def into(self, neuron: int) -> list[Edge]:
        """Return the connections into a neuron, by source."""
        start, stop = self._net.first_edge[neuron : neuron + 2].tolist()
        return self._of(slice(start, stop))

    def leaving(self, neuron: int) -> list[Edge]:
        """Return the connections out of a neuron, by target."""
        start, stop = self._leaving[1][neuron : neuron + 2].tolist()
        return self._of(self._leaving[0][start:stop])

    def leaving_all(self, neurons: Ints) -> Ints:
        """Return the positions in `live` of all connections out of some neurons."""
        order, first = self._leaving
        spans = [order[first[neuron] : first[neuron + 1]] for neuron in neurons.tolist()]
        return np.concatenate([np.empty(0, np.int64), *spans])

    def gated_by(self, neuron: int) -> int:
        """Return how many connections a neuron gates."""
        return int(self._gated[neuron])

    def _of(self, places: slice | Ints) -> list[Edge]:
        live = self._net.live
        columns = (live.source, live.target, live.weight, live.gater)
        return list(map(Edge._make, zip(*(c[places].tolist() for c in columns), strict=True)))

    @cached_property
    def _leaving(self) -> tuple[Ints, Ints]:
        """The live connections by source, and where each neuron's begin."""
        source = self._net.live.source
        order = np.argsort(source, kind="stable")
        return order, np.searchsorted(source[order], np.arange(len(self._net) + 1))

    @cached_property
    def of_this_step(self) -> Bools:
        """Whether each neuron reads activations of the same step alone, gated in the same step."""
        live = self._net.live
        late = (live.delay > 0) | live.reads_state | ((live.gater != NONE) & (live.gate_delay > 0))
        found = np.ones(len(self._net), np.bool_)
        found[live.target[late]] = False
        return found

    @cached_property
    def _gated(self) -> Ints:
        """How many live connections each neuron gates."""
        gater = self._net.live.gater
        return np.bincount(gater[gater != NONE], minlength=len(self._net))
