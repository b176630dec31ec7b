"""State over a sequence of no fixed length: one step, between registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from neat_onnx.lifting.neurons import Neurons
from neat_onnx.lifting.operator import refuse
from neat_onnx.lifting.tape import Tape
from neat_onnx.network.expression import VARIABLE

Step = Callable[[list[Any]], tuple[list[Any], list[Any]]]
"""Takes the states before a step; gives those after it, and what else the step gives."""


def open_tape(length: int, *tensors: Any) -> Tape | None:
    """The tape, if these tensors stand for one step of a sequence of no fixed length."""
    tape = next((each.tape for each in tensors if isinstance(each, Neurons)), None)
    return tape if tape is not None and tape.open_time and length == 1 else None


def run_one_step(tape: Tape, step: Step, initial: Sequence[Any], argument: str) -> Any:
    """Run one step on registers that begin with the initial states.

    A state that is given by an input of the graph begins there, and goes on with what the graph
    feeds to that input: `tape.continued` keeps what that has to be.

    Args:
        tape: of the trace.
        step: the step.
        initial: states before the first step.
        argument: what they are called in messages.
    """
    held: list[Any] = []
    registers = []
    for each in initial:
        if isinstance(each, Neurons):
            if not each.is_plain or each.has_constants or each.formula is not VARIABLE:
                raise refuse(argument, "computed", "an input of the graph, or numbers")
            held.append(each)
            continue
        start = np.asarray(each)
        registers.append(tape.add_register(start.astype(np.float64)))
        signals = registers[-1].signals.reshape(start.shape)
        held.append(Neurons(tape, signals, dtype=start.dtype))
    after, others = step(list(held))
    made = iter(registers)
    for state, each in zip(after, initial, strict=True):
        following = (
            state.signals().ravel()
            if isinstance(state, Neurons)
            else tape.add_constants(np.asarray(state, np.float64).ravel())
        )
        if isinstance(each, Neurons):
            tape.continued.append((each.ids.ravel(), following))
        else:
            next(made).next = following
    return after, others
