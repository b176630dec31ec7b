"""State over a sequence of no fixed length: one step, between registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from neat_onnx.tracing.neurons import Neurons, is_neurons
from neat_onnx.tracing.operator import refuse
from neat_onnx.tracing.tape import Tape

Step = Callable[[list[Any]], tuple[list[Any], list[Any]]]
"""Takes the states before a step; gives those after it, and what else the step gives."""


def open_tape(length: int, *tensors: Any) -> Tape | None:
    """The tape, if these tensors stand for one step of a sequence of no fixed length."""
    tape = next((each.tape for each in tensors if isinstance(each, Neurons)), None)
    return tape if tape is not None and tape.open_time and length == 1 else None


def run_one_step(tape: Tape, step: Step, initial: Sequence[Any], argument: str) -> Any:
    """Run one step on registers that begin with the initial states.

    Args:
        tape: of the trace.
        step: the step.
        initial: states before the first step, numbers.
        argument: what they are called in messages.
    """
    if is_neurons(*initial):
        raise refuse(argument, "computed from inputs", "numbers, over a sequence of open length")
    starts = [np.asarray(each) for each in initial]
    registers = [tape.add_register(each.astype(np.float64)) for each in starts]
    held = [
        Neurons(tape, register.signals.reshape(start.shape), dtype=_type_of(start))
        for register, start in zip(registers, starts, strict=True)
    ]
    after, others = step(list(held))
    for register, state in zip(registers, after, strict=True):
        if isinstance(state, Neurons):
            register.next = state.signals().ravel()
        else:
            register.next = tape.add_constants(np.asarray(state, np.float64).ravel())
    return after, others


def _type_of(values: Any) -> np.dtype[Any]:
    return np.dtype(np.float64) if values.dtype.kind == "f" else values.dtype
