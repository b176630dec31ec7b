"""Branches and loops: the interpreter runs their graphs.

A loop whose count is known is run as often; one over a sequence of no fixed length once, between
registers. (Scan of opset 8, which goes through samples as well, is not supported.)
"""

from functools import partial
from typing import Any

import numpy as np

from neat_onnx.lifting.memory import open_tape, run_one_step
from neat_onnx.lifting.neurons import Neurons, Tensor, is_neurons, moved, stack, where
from neat_onnx.lifting.operator import Graph, Ints, Runner, operator, refuse

_MAX_STEPS = 1 << 20
_FIXED = "Export it with inputs of fixed sizes, or give these in shapes={…}"


@operator("If")
def choose_branch(
    cond: Tensor, *, then_branch: Graph, else_branch: Graph, run: Runner
) -> tuple[Tensor, ...]:
    """A condition that inputs decide runs both branches, and chooses."""
    if not isinstance(cond, Neurons):
        return tuple(run(then_branch if np.asarray(cond).item() else else_branch))
    pairs = zip(run(then_branch), run(else_branch), strict=True)
    return tuple(where(cond.reshape(()), one, other) for one, other in pairs)


@operator("Loop")
def loop(
    M: Tensor | None = None, cond: Tensor | None = None, *states: Tensor, body: Graph, run: Runner
) -> tuple[Tensor, ...]:  # fmt: skip
    """States, then what each round gives, stacked.

    Where inputs decide when it ends, all rounds run, and those that are too many change nothing.
    """
    if is_neurons(M):
        raise refuse("M", "computed from inputs", "a number", _FIXED)
    most = _MAX_STEPS if M is None else int(np.asarray(M).item())
    going: Any = True if cond is None else _truth(cond)
    held, rows, count = list(states), [], len(states)

    def step(number: int, before: list[Any]) -> tuple[Any, list[Any], list[Any]]:
        more, *found = run(body, np.int64(number), np.bool_(True), *before)
        return _truth(more), found[:count], found[count:]

    tape = open_tape(most, *states, *run.around)  # type: ignore[attr-defined]
    if tape is not None and going is True:
        after, others = run_one_step(tape, lambda s: step(0, s)[1:], states, "an initial state")
        return *after, *(stack([each]) for each in others)
    number = 0
    while number < most and going is not False:
        more, after, others = step(number, held)
        if is_neurons(going, more) and (M is None or others):
            wanted = "a known number of rounds, or at most M and no value of each"
            raise refuse("cond", "computed from inputs", wanted, _FIXED)
        if is_neurons(going):
            after = [where(going, new, old) for new, old in zip(after, held, strict=True)]
        going = going & more if is_neurons(going) else more
        held, number = after, number + 1
        rows.append(others)
    if number >= _MAX_STEPS:
        raise refuse("cond", f"true after {number} rounds", "a loop that ends")
    if not rows and len(body.outputs) > 1 + count:
        raise refuse("M", "0", "1 or more, as the loop gives a value of each round")
    return *held, *(stack(list(each)) for each in zip(*rows, strict=True))


def _truth(value: Tensor) -> Any:
    return value.reshape(()) if is_neurons(value) else bool(np.asarray(value).item())


@operator("Scan", since=9)
def scan(
    *inputs: Tensor, body: Graph, num_scan_inputs: int, scan_input_axes: Ints = (),
    scan_input_directions: Ints = (), scan_output_axes: Ints = (),
    scan_output_directions: Ints = (), run: Runner,
) -> tuple[Tensor, ...]:  # fmt: skip
    """States, then what each step gives, stacked along an axis of its own."""
    first = len(inputs) - num_scan_inputs
    if first < 0 or num_scan_inputs < 1:
        raise refuse("num_scan_inputs", num_scan_inputs, f"1 to {len(inputs)}")
    states, sequences = list(inputs[:first]), inputs[first:]
    axes, back = (
        each or (0,) * num_scan_inputs for each in (scan_input_axes, scan_input_directions)
    )
    rows = [
        moved(x, partial(np.moveaxis, source=k, destination=0))
        for x, k in zip(sequences, axes, strict=True)
    ]
    length = rows[0].shape[0]

    def step(t: int, before: list[Any]) -> tuple[list[Any], list[Any]]:
        read = [x[length - 1 - t if b else t] for x, b in zip(rows, back, strict=True)]
        found = run(body, *before, *read)
        return found[:first], found[first:]

    tape, given = open_tape(length, *rows), []
    if tape is not None:
        if any((*back, *scan_output_directions)):
            raise refuse("directions", "1 over a sequence of open length", "0", _FIXED)
        states, others = run_one_step(tape, lambda s: step(0, s), states, "an initial state")
        given.append(others)
    for t in range(length if tape is None else 0):
        states, others = step(t, states)
        given.append(others)
    results, none = [], (0,) * (len(body.outputs) - first)
    ways = zip(scan_output_axes or none, scan_output_directions or none, strict=True)
    for (axis, reverse), parts in zip(ways, zip(*given, strict=True), strict=True):
        joined = stack(list(parts)[::-1] if reverse else list(parts))
        results.append(moved(joined, partial(np.moveaxis, source=0, destination=axis)))
    return *states, *results
