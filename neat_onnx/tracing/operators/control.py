"""Branches and loops: the interpreter runs their graphs.

A loop whose count is known is run as often; one over a sequence of no fixed length once, between
registers.
"""

from typing import Any

import numpy as np

from neat_onnx.tracing.memory import open_tape, run_one_step
from neat_onnx.tracing.neurons import Neurons, Tensor, is_neurons, moved, stack, where
from neat_onnx.tracing.operator import Graph, Ints, Runner, operator, refuse

_MAX_STEPS = 1 << 20


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
    """States, then what each step gives, stacked."""
    if is_neurons(M):
        raise refuse("M", "computed from inputs", "a number")
    if is_neurons(cond):
        raise refuse("cond", "computed from inputs", "a truth value that is known")
    most = _MAX_STEPS if M is None else int(np.asarray(M).item())
    going = True if cond is None else bool(np.asarray(cond).item())
    held, rows, count = list(states), [], len(states)

    def step(number: int, before: list[Any]) -> tuple[bool, list[Any], list[Any]]:
        more, *found = run(body, np.int64(number), np.bool_(True), *before)
        if is_neurons(more):
            raise refuse("cond", "computed from inputs in the body", "one that is known")
        return bool(np.asarray(more).item()), found[:count], found[count:]

    tape = open_tape(most, *states, *_around(run))
    if tape is not None and going:
        after, others = run_one_step(tape, lambda s: step(0, s)[1:], states, "an initial state")
        return *after, *(stack([each]) for each in others)
    number = 0
    while going and number < most:
        going, held, others = step(number, held)
        rows.append(others)
        number += 1
        if number >= _MAX_STEPS:
            raise refuse("cond", f"true after {number} steps", "a loop that ends")
    if not rows and len(body.outputs) > 1 + count:
        raise refuse("M", "0", "1 or more, as the loop gives a value of each step")
    return *held, *(stack(list(each)) for each in zip(*rows, strict=True))


def _around(run: Runner) -> list[Any]:
    """The tensors around a loop, which its body reads as well."""
    return run.around  # type: ignore[attr-defined, no-any-return]


@operator("Scan")
def scan(
    *inputs: Tensor | None, body: Graph, num_scan_inputs: int, scan_input_axes: Ints | None = None,
    scan_input_directions: Ints | None = None, scan_output_axes: Ints | None = None,
    scan_output_directions: Ints | None = None, directions: Ints | None = None, opset: int,
    run: Runner,
) -> tuple[Tensor, ...]:  # fmt: skip
    """States, then what each step gives, stacked along an axis of its own."""
    if opset < 9:
        return _scan_of_samples(inputs, body, num_scan_inputs, directions, run)
    first = len(inputs) - num_scan_inputs
    states, sequences = list(inputs[:first]), inputs[first:]
    axes = scan_input_axes or (0,) * num_scan_inputs
    back = scan_input_directions or directions or (0,) * num_scan_inputs
    rows = [
        moved(x, lambda a, k=k: np.moveaxis(a, k, 0)) for x, k in zip(sequences, axes, strict=True)
    ]
    length = rows[0].shape[0]

    def step(t: int, before: list[Any]) -> tuple[list[Any], list[Any]]:
        read = [x[length - 1 - t if b else t] for x, b in zip(rows, back, strict=True)]
        found = run(body, *before, *read)
        return found[:first], found[first:]

    tape = open_tape(length, *rows)
    if tape is not None:
        if any(back) or any(scan_output_directions or ()):
            raise refuse("directions", "1 over a sequence of open length", "0")
        states, others = run_one_step(tape, lambda s: step(0, s), states, "an initial state")
        given = [others]
    else:
        given = []
        for t in range(length):
            states, others = step(t, states)
            given.append(others)
    results = []
    for k, parts in enumerate(zip(*given, strict=True)):
        axis = (scan_output_axes or (0,) * len(given[0]))[k]
        order = list(parts)[:: -1 if (scan_output_directions or (0,) * len(given[0]))[k] else 1]
        joined = stack(order)
        results.append(moved(joined, lambda a, axis=axis: np.moveaxis(a, 0, axis)))
    return *states, *results


def _scan_of_samples(
    inputs: tuple[Any, ...], body: Graph, count: int, directions: Ints | None, run: Runner
) -> tuple[Tensor, ...]:
    """Opset 8: lengths, then states and sequences, whose first axis is the samples."""
    lengths, *others = inputs
    if lengths is not None:
        raise refuse("sequence_lens", "given", "none")
    each = [
        scan(*(x[k] for x in others), body=body, num_scan_inputs=count, directions=directions,
             opset=9, run=run)
        for k in range(others[0].shape[0])
    ]  # fmt: skip
    return tuple(stack(list(parts)) for parts in zip(*each, strict=True))
