"""Which signals may be infinite or NaN for moderate inputs, as quotients and logarithms are.

A choice of such a signal has to keep it out where it is not taken: 0 · infinity is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from neat_onnx.lifting.tape import FormulaGroup, NeuronGroup, Tape
from neat_onnx.network.bounds import (
    ANY,
    NOT_NEGATIVE,
    POSITIVE,
    may_overflow,
    sign_of,
    stays_finite,
)
from neat_onnx.network.genes import Ints


def may_be_infinite(tape: Tape, signals: Ints) -> bool:
    """Whether one of these signals may be infinite or NaN."""
    tape.finiteness = tape.finiteness or Finiteness()
    tape.finiteness.follow(tape)
    return bool(np.any(tape.finiteness.infinite[signals[signals >= 0]]))


@dataclass(eq=False)
class Finiteness:
    """What is known of the signals of a tape, as far as it has been read.

    Attributes:
        infinite: whether each signal may be.
        sign: of each, as `domains` has it.
        largest: whether each is the largest of others.
        below: whether the largest of others is taken off it, as in a softmax.
    """

    infinite: Ints = field(default_factory=lambda: np.empty(0, bool))
    sign: Ints = field(default_factory=lambda: np.empty(0, np.int8))
    largest: Ints = field(default_factory=lambda: np.empty(0, bool))
    below: Ints = field(default_factory=lambda: np.empty(0, bool))
    _read: int = 0

    def follow(self, tape: Tape) -> None:
        """Read what the tape has made since."""
        more = tape.count - len(self.infinite)
        for name in ("infinite", "largest", "below"):
            setattr(self, name, np.concatenate([getattr(self, name), np.zeros(more, bool)]))
        self.sign = np.concatenate([self.sign, np.full(more, ANY, np.int8)])
        for group in tape.groups[self._read :]:
            made = slice(group.first, group.first + group.count)
            if isinstance(group, FormulaGroup):
                for sign in (ANY, NOT_NEGATIVE, POSITIVE):
                    at = np.flatnonzero(self.sign[group.origin] == sign)
                    if at.size:
                        self.sign[group.first + at] = sign_of(group.formula, sign)
                        self.infinite[group.first + at] = not stays_finite(group.formula, sign)
                        if may_overflow(group.formula, sign):
                            self.infinite[group.first + at] |= ~self.below[group.origin[at]]
                self.infinite[made] |= self.infinite[group.origin]
            else:
                self._sums(group, made)
        self._read = len(tape.groups)

    def _sums(self, group: NeuronGroup, made: slice) -> None:
        if group.source is None or not group.source.shape[1]:
            self.sign[made] = np.where(np.broadcast_to(group.bias, group.count) > 0, POSITIVE, ANY)
            return
        source, live = group.source, group.source >= 0
        self.largest[made] = group.aggregation == "max"
        if group.weight is not None and group.gate is None:
            self.below[made] = (live & (group.weight < 0) & self.largest[source]).any(axis=1)
        infinite, signs = self.infinite[source] & live, self.sign[source]
        if group.gate is not None:
            gated = group.gate >= 0
            infinite |= self.infinite[group.gate] & gated
            signs = np.minimum(signs, np.where(gated, self.sign[group.gate], POSITIVE))
            squares = gated & (group.gate == source)
            signs = np.where(squares, np.maximum(signs, NOT_NEGATIVE), signs)
        weight = 1.0 if group.weight is None else group.weight
        signs = np.where(live & (np.asarray(weight) > 0), signs, np.where(live, ANY, NOT_NEGATIVE))
        self.infinite[made] = infinite.any(axis=1)
        least, most = signs.min(axis=1), signs.max(axis=1)
        bias = np.broadcast_to(group.bias, group.count)
        positive = (
            (most == POSITIVE) | (bias > 0) if group.aggregation == "sum" else least == POSITIVE
        )
        known = (least >= NOT_NEGATIVE) & (bias >= 0)
        self.sign[made] = np.where(known, np.where(positive, POSITIVE, NOT_NEGATIVE), ANY)
