"""The connections of all neurons of an import, as arrays of signals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neat_onnx.lifting.connections import joined
from neat_onnx.lifting.context import LiftingContext
from neat_onnx.lifting.values import NewConnections, NewNeurons
from neat_onnx.network.genes import NONE, Floats, Ints, repeated

_NO_COPIES: Ints = np.empty((0, 2), np.int64)


@dataclass(frozen=True, eq=False)
class Links:
    """The connections, as far as the import has come.

    Attributes:
        neurons: groups of neurons, without the ones that were merged into others.
        source: the signal that each connection reads.
        target: the pre-activation that it leads to.
        gate: the signal that it is multiplied by, below 0 for none.
        weight: its weight.
    """

    neurons: list[NewNeurons]
    source: Ints
    target: Ints
    gate: Ints
    weight: Floats

    @classmethod
    def of(
        cls, ctx: LiftingContext, target_of: Ints | None = None, copies: Ints = _NO_COPIES
    ) -> Links:
        """The connections of an import.

        Args:
            ctx: the import.
            target_of: by signal, the number that stands for it as a target; by default its own.
            copies: source and target of others, of weight 1, which come first, (k, 2).
        """
        neurons = [each for each in ctx.neurons if not each.merged]
        links: list[NewConnections] = []
        targets = [copies[:, 1]]
        for made in neurons:
            targeted = made.signals if target_of is None else target_of[made.signals]
            links += made.connections
            targets += [targeted[link.position] for link in made.connections]
        return cls(
            neurons,
            np.concatenate([copies[:, 0], *(link.source for link in links)]),
            np.concatenate(targets),
            joined([repeated(NONE, len(copies), np.int64), *(link.gate for link in links)]),
            np.concatenate([np.ones(len(copies)), *(link.weight for link in links)]),
        )


def one_array(parts: Iterable[Any]) -> Any:
    """One array of all parts, of integers if there are none."""
    return np.concatenate([np.empty(0, np.int64), *parts])
