"""Sequences that a network and a model were run on, and the steps of them that a type can hold."""

from typing import NamedTuple

import numpy as np

from neat_onnx.network.genes import Bools, Floats
from neat_onnx.verification.judge import Errors, measure
from neat_onnx.verification.rounding import within_range

_MIN_SHARE_HELD = 1 / 32  # of the sequences: the inputs of the first one are zeros


class Part(NamedTuple):
    """One kind of sequences: inputs (T, N, I), and the outputs (T, N, O) of both sides."""

    x: Floats
    want: Floats
    got: Floats
    errors: Errors


class Cut(NamedTuple):
    """Steps that are not compared: the first one, in how many sequences, and whether enough are."""

    step: int | None
    sequences: int
    enough_held: bool


def without(part: Part, lost: Bools) -> Part:
    """The part without these of its N sequences."""
    want, got = part.want[:, ~lost], part.got[:, ~lost]
    return Part(part.x[:, ~lost], want, got, measure(want, got))


def held_steps(
    parts: list[Part], runs: list[list[Floats]]
) -> tuple[list[Part], list[list[Floats]], Cut]:
    """Leave the steps that the type cannot hold out of the parts, and of their runs.

    Where that leaves nothing, outputs that are NaN by themselves, as a root of a negative number,
    do not count.
    """
    helds, firsts = zip(*(within_range(run) for run in runs), strict=True)
    if not any(np.any(held) for held in helds):
        undefined = [np.isnan(part.want) for part in parts]
        helds, firsts = zip(*map(within_range, runs, undefined), strict=True)
    steps = [first for first in firsts if first is not None]
    cut = Cut(
        step=min(steps, default=None),
        sequences=sum(int(np.sum(~np.all(held, axis=0))) for held in helds),
        enough_held=any(
            np.any(held) and np.mean(np.any(held, axis=0)) >= _MIN_SHARE_HELD for held in helds
        ),
    )
    whole = [
        part if np.all(held) else _masked(part, held)
        for part, held in zip(parts, helds, strict=True)
    ]
    kept = [
        [np.where(held, each, 0.0) for each in run] for run, held in zip(runs, helds, strict=True)
    ]
    return whole, kept, cut


def _masked(part: Part, held: Bools) -> Part:
    """A part that agrees, at zero, where it is not held."""
    want, got = (np.where(held, values, 0.0) for values in (part.want, part.got))
    return Part(part.x, want, got, measure(want, got))
