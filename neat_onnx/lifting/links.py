"""The connections of all neurons of an import, as arrays of signals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neat_onnx.lifting.context import LiftingContext
from neat_onnx.lifting.values import NewConnections, NewNeurons
from neat_onnx.network.genes import Floats, Ints


@dataclass(frozen=True, eq=False)
class Links:
    """The connections, as far as the import has come.

    Attributes:
        neurons: those that are in no others.
        source: the signal that each connection reads.
        target: the state that it leads to.
        gate: the signal that it is multiplied by, below 0 for none.
        weight: its weight.
    """

    neurons: list[NewNeurons]
    source: Ints
    target: Ints
    gate: Ints
    weight: Floats

    @classmethod
    def of(cls, ctx: LiftingContext) -> Links:
        """The connections of an import."""
        neurons = [each for each in ctx.neurons if not each.merged]
        links = [(made, link) for made in neurons for link in made.connections]

        def each_one(part: Callable[[NewNeurons, NewConnections], Any]) -> Any:
            return joined(part(*both) for both in links)

        return cls(
            neurons,
            each_one(lambda _, link: link.source),
            each_one(lambda made, link: made.states[link.position]),
            each_one(lambda _, link: link.gate),
            each_one(lambda _, link: link.weight).astype(np.float64),
        )


def joined(parts: Iterable[Any]) -> Any:
    """One array of all parts, of integers if there are none."""
    return np.concatenate([np.empty(0, np.int64), *parts])
