"""Hints at operators that neurons may be written as, each by the neurons that it reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from neat_onnx.network.genes import NONE, Ints, ReadOnly


@dataclass(frozen=True, eq=False)
class OperatorHint(ReadOnly):
    """An operator that neurons may be written as.

    It is a hint: an export makes the neurons of the operator again, and uses it only where the
    network has them, gene for gene.

    Attributes:
        model: the text of a JSON ONNX model of the operator alone.
        neurons: positions in the network of the inputs of this model, each in C order.
    """

    model: str
    neurons: Ints


def moved_operators(operators: Iterable[OperatorHint], to: Ints) -> tuple[OperatorHint, ...]:
    """The hints with neuron j called to[j], without hints of a neuron that is called NONE."""
    moved = (replace(each, neurons=to[each.neurons]) for each in operators)
    return tuple(each for each in moved if not np.any(each.neurons == NONE))
