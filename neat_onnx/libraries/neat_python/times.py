"""The times of a ctrnn or an iznn, which its files do not hold.

When `advance` of neat-python 2.0.0 adds up the time of a ctrnn in floating point, and the sum is a
last bit short, it takes one more sub-step, of 1e-16 or so. That moves no state, but it swaps the
buffer that is read and the one that is written, until the next such sub-step. When this happens
depends on the number of the step alone: between two powers of two of the time it always does or
never does. So it is a matter of a few steps at which it begins or ends, which a neuron that counts
the steps can tell.
"""

import math
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

from neat_onnx.arguments import is_number
from neat_onnx.errors import OptionError
from neat_onnx.libraries.genome_graph import NetworkBuilder

MAX_SUB_STEPS = 1000  # each one is a copy of every neuron
_ROUNDING = 1e-15
_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Times:
    """The caller's times: of a step of the integration, and of one step of the network."""

    time_step: object = None
    advance_time: object = None

    def refuse(self) -> None:
        """Raise OptionError if any was given: the network's own steps are no amount of time."""
        for name, value in vars(self).items():
            if value is not None:
                raise OptionError(f"{name} is for ctrnn and iznn networks", where=name)

    def of(self, kind: str) -> tuple[float, float]:
        """Both times, for a network of this kind."""
        if self.time_step is None:
            raise OptionError(
                f"JSON of {kind} networks does not say their time step",
                where="time_step",
                hint="Give time_step, and advance_time if one step of the network is to be longer "
                "(command line: --time-step, --advance-time)",
            )
        step = _positive("time_step", self.time_step)
        if self.advance_time is None:
            return step, step
        return step, _positive("advance_time", self.advance_time)


def sub_steps(time_step: float, advance_time: float) -> list[float]:
    """The lengths of the sub-steps in `advance_time`; the last is shorter if they do not fit.

    0.3 is three times 0.1, although their doubles are not.
    """
    ratio = advance_time / time_step
    if ratio > MAX_SUB_STEPS:
        raise OptionError(
            f"advance_time {advance_time:g} is more than {MAX_SUB_STEPS} times time_step "
            f"{time_step:g}",
            where="advance_time",
            hint="Run the network for several steps instead",
        )
    count = max(1, round(ratio))
    if not math.isclose(ratio, count, rel_tol=_ROUNDING):
        count = max(1, math.ceil(ratio))
    return [time_step] * (count - 1) + [advance_time - (count - 1) * time_step]


def _positive(name: str, value: Any) -> float:
    if is_number(value) and 0.0 < value <= _LARGEST:
        return float(value)
    raise OptionError(f"{name} should be a positive number, got {value!r}", where=name)


_MAX_SUB_STEPS_FOLLOWED = 300_000
_MAX_CHANGES = 100


@dataclass(frozen=True)
class Swaps:
    """The steps with one more sub-step than the times ask for.

    Attributes:
        changes: where such steps begin, end, begin again, …, counted from 0.
        followed: how many steps were followed; the steps after them are like the last of them.
    """

    changes: tuple[int, ...]
    followed: int

    def neurons(self, genes: NetworkBuilder) -> tuple[int, int]:
        """Add neurons that are 1 at these steps and 0 at the others, and the other way round."""
        counter = genes.fresh_id()
        genes.neuron(counter, "number of the step", [((counter, 1), 1.0)], bias=1.0)
        since = [
            genes.helper(
                f"from step {step + 1} on",
                [((counter, 0), 1.0)],
                activation="step",
                bias=-step - 0.5,
            )
            for step in self.changes
        ]
        signs = [(-1.0) ** k for k in range(len(since))]
        swaps = genes.helper(
            "buffers swap", [((key, 0), sign) for key, sign in zip(since, signs, strict=True)]
        )
        return swaps, genes.helper("buffers stay", [((swaps, 0), -1.0)], bias=1.0)


@cache
def swaps_of(time_step: float, advance_time: float) -> Swaps | None:
    """The swaps of a network that is advanced again and again; None if there are none."""
    planned = len(sub_steps(time_step, advance_time))
    followed = _MAX_SUB_STEPS_FOLLOWED // planned
    time, swapped, changes = 0.0, False, []
    for step in range(followed):
        count, end = 0, time + advance_time
        while time < end:
            left = end - time
            time += left if left < time_step else time_step  # `min` takes twice as long
            count += 1
        if ((count - planned) % 2 == 1) != swapped:
            swapped = not swapped
            changes.append(step)
    if len(changes) > _MAX_CHANGES:
        raise OptionError(
            f"with time_step {time_step!r} and advance_time {advance_time!r}, neat-python 2.0.0 "
            f"rounds the time differently {len(changes)} times in {followed} steps",
            where="time_step",
            hint="Choose rounder ones, such as 0.125",
        )
    return Swaps(tuple(changes), followed) if changes else None
