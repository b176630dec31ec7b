"""The times that networks of continuous time need and their documents do not hold."""

import math
import sys
from dataclasses import dataclass
from typing import Any

from neat_onnx.arguments import is_number
from neat_onnx.errors import OptionError

MAX_SUB_STEPS = 1000  # each one is a copy of every neuron
_ROUNDING = 1e-15
_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Times:
    """The caller's options for time, in the unit of the library that the network is from.

    Attributes:
        time_step: of the integration; None if not given.
        advance_time: time that one step of the network takes; None for one time_step.
    """

    time_step: object = None
    advance_time: object = None

    def refuse(self) -> None:
        """Raise OptionError if any was given: the network's own steps are no amount of time."""
        for name in ("time_step", "advance_time"):
            if getattr(self, name) is not None:
                raise OptionError(
                    "time_step and advance_time are for ctrnn and iznn networks", where=name
                )

    def of(self, kind: str) -> tuple[float, float]:
        """Both times, for a network of this kind.

        Raises:
            OptionError: there is no time step, or a time is not positive and finite.
        """
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

    Raises:
        OptionError: they are too many.
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
