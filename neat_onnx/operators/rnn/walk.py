"""The walk over the steps of RNN, LSTM and GRU: inputs, outputs, directions.

Each has a table of its cell, which makes the neurons of one step. A network steps by itself, so the
cell is made once, and the states that it hands on stand in registers. Y_h and Y_c, which ONNX gives
at the end of the sequence, are given at every step, as if the sequence ended there.

Where the steps are features (an axis of fixed length behind the batch, or with batch_axis=None)
there is a cell for every step, and all directions work.
"""

from collections.abc import Mapping

import numpy as np

from neat_onnx.lifting.axes import AS_FEATURES
from neat_onnx.lifting.context import REGISTER, Array, LiftingContext, Value
from neat_onnx.lifting.followed_axes import FEATURE
from neat_onnx.network.cells import Cell, part_name
from neat_onnx.network.genes import Floats, Ints
from neat_onnx.operators.rnn.axes import runs_over_time
from neat_onnx.operators.rnn.cell_activations import cell_functions
from neat_onnx.operators.rnn.ends import find_ends, unrolling
from neat_onnx.operators.rnn.nodes import Recurrence
from neat_onnx.operators.rnn.starts import Start, check_all_fed, computed_start, feeding
from neat_onnx.operators.rnn.step import Computed, Parameter, Step, each, step_of

_MAX_STEPS = 1000
_W, _R, _B, _LENGTHS, _INITIAL, _PEEPHOLE = 1, 2, 3, 4, 5, 7
_ONE_OPEN = (
    "Leave the axis of the batch open, and give the sequence a fixed length or a name as 'time'"
)


def lift_recurrence(ctx: LiftingContext, node: Recurrence, cell: Cell) -> None:
    """Make the neurons of a node, and bind its outputs."""
    x = ctx.materialize(ctx.value(node, 0))
    if x.ndim != 3:
        ctx.fail(node, f"its input has {x.ndim} axes, expected 3")
    if node.attributes.layout:
        x = x.swapaxes(0, 1)
    steps = _directions(ctx, node, cell, x.shape[2])
    stepping = not ctx.features_only and len(x) == 1 and runs_over_time(ctx, node)
    static = find_ends(ctx) if stepping else set[str]()
    lengths = _lengths(ctx, node, x.shape[:2], stepping)
    if stepping and x.shape[1] > 1:
        ctx.fail(node, f"its sequence is open, and its batch has {x.shape[1]} samples", _ONE_OPEN)
    shape = (len(steps), x.shape[1], steps[0].w.shape[1])
    positions = range(_INITIAL, _INITIAL + len(cell.states))
    begun = [_begun(ctx, node, at, shape, static) for at in positions] if stepping else []
    start = [state.signals for state in begun] if stepping else [
        _start(ctx, node, at, shape, steps[0]) for at in positions
    ]  # fmt: skip
    every, last = [], []
    for k, step in enumerate(steps):
        held = {
            name: None if signals is None else signals[k]
            for name, signals in zip(cell.states, start, strict=True)
        }
        outputs, states, parts = _walk(cell, step, x, held, _order(node, k, len(x)), lengths)
        if not stepping and k == 0:
            kept = held.get(cell.keeper)
            _remember(ctx, node, cell, parts, len(x), idle=kept is None)
        every.append(outputs)
        last.append(states)
    results = [np.stack(every, axis=1), *np.stack(last, axis=1)]
    for state, signals in zip(begun, results[1:], strict=False):
        if not ctx.hold(state.registers, signals):
            ctx.fail(node, "another layer begins with the same state")
    if node.attributes.layout:
        results = [np.moveaxis(signals, -2, 0) for signals in results]
    for name, signals in zip(node.output, results, strict=False):
        if name:
            ctx.operands[name] = Value(signals)


def _walk(
    cell: Cell,
    step: Step,
    x: Ints,
    start: Mapping[str, Ints | None],
    order: range,
    lengths: Ints | None,
) -> tuple[Ints, Ints, dict[str, list[Ints]]]:
    """H at every step (T, N, H), the states after the last one (states, N, H), and each part's
    neurons, step by step, (H,).

    Behind the end of a shorter sequence H is 0, and states stay as they are; after one of length 0
    they are 0, as onnxruntime has them.
    """
    count, units = x.shape[1], step.w.shape[1]
    every = np.empty((len(x), count, units), np.int64)
    last = np.empty((len(cell.states), count, units), np.int64)
    parts: dict[str, list[Ints]] = {part.name: [] for part in cell.parts}
    for sample in range(count):
        states = {
            name: None if signals is None else signals[sample] for name, signals in start.items()
        }
        for t in order:
            after = step_of(cell, step, x[t, sample], states)
            for name, neurons in after.items():
                parts[name].append(neurons)
            hidden = after["hidden"]
            if lengths is not None:
                inside, outside = step.within(lengths[sample], t)
                hidden = step.sums(each(hidden, gate=inside))
                kept = states if t else dict.fromkeys(states)
                after = {
                    name: step.sums(each(after[name], gate=inside), each(before, gate=outside))
                    for name, before in kept.items()
                }
            states = {name: after[name] for name in cell.states}
            every[t, sample] = hidden
            last[:, sample] = np.stack([after[name] for name in cell.states])
    return every, last, parts


def _remember(
    ctx: LiftingContext,
    node: Recurrence,
    cell: Cell,
    parts: dict[str, list[Ints]],
    length: int,
    *,
    idle: bool,
) -> None:
    """Name the neurons inside the first direction, so that the genome finds them again.

    Args:
        parts: the neurons of each part, step by step, one sample after the other.
        length: the number of steps.
        idle: the kept state starts at zero: parts that multiply it alone have no first step.
    """
    for name, steps in parts.items():
        first = 1 if idle and name in cell.idle_at_first else 0
        samples = [steps[k + first : k + length] for k in range(0, len(steps), length)]
        if inside := [neurons for sample in samples for neurons in sample]:
            ctx.operands[part_name(node.output[0], name)] = Value(np.stack(inside))


def _order(node: Recurrence, direction: int, length: int) -> range:
    backwards = node.attributes.direction == "reverse" or direction == 1
    return range(length)[::-1] if backwards else range(length)


def _directions(ctx: LiftingContext, node: Recurrence, cell: Cell, inputs: int) -> list[Step]:
    """The parameters of each direction."""
    given = node.attributes
    count = 2 if given.direction == "bidirectional" else 1
    units = (ctx.operand(node, _R).shape or (1,))[-1]
    if given.hidden_size not in (None, units):
        ctx.fail(node, f"hidden_size is {given.hidden_size}, R is for {units}")
    rows = cell.blocks * units
    w = _parameter(ctx, node, _W, (count, rows, inputs)).reshape(count, cell.blocks, units, inputs)
    r = _parameter(ctx, node, _R, (count, rows, units)).reshape(count, cell.blocks, units, units)
    b = _parameter(ctx, node, _B, (count, 2 * rows)).reshape(count, 2, cell.blocks, units)
    p = _parameter(ctx, node, _PEEPHOLE, (count, 3 * units)).reshape(count, 3, units)
    functions = cell.functions * count if given.activations is None else given.activations
    expected = len(cell.functions) * count
    if count == 1 and len(functions) == 2 * expected:
        functions = functions[:expected]  # of both directions: ONNX's default of RNN is two
    if len(functions) != expected:
        ctx.fail(node, f"it has {len(functions)} activations, expected {expected}")
    if given.clip is not None and given.clip <= 0:
        ctx.fail(node, f"clip is {given.clip}, expected more than 0")
    each = cell_functions(functions, given.activation_alpha, given.activation_beta, given.clip)
    unstated = [name for name, made in zip(functions, each, strict=True) if not made.is_stated]
    if unstated:
        ctx.fail(node, f"activation_alpha, activation_beta: {unstated[0]} has no defaults")
    width = len(cell.functions)
    return [
        Step(ctx, node, w[k], r[k], b[k, 0], b[k, 1], p[k], each[k * width : (k + 1) * width])
        for k in range(count)
    ]


def _parameter(
    ctx: LiftingContext, node: Recurrence, position: int, shape: tuple[int, ...]
) -> Parameter:
    """A parameter of this shape; zeros where it is left out."""
    values: Parameter | Value | None = ctx.optional(node, position)
    if values is None:
        return np.zeros(shape)
    if isinstance(values, Value):
        _require_shared(ctx, node, position)
        values = Computed(ctx.materialize(values))
    if values.shape != shape:
        ctx.fail(
            node,
            f"{node.input[position]} has the shape {list(values.shape)}, expected {list(shape)}",
        )
    return values


def _require_shared(ctx: LiftingContext, node: Recurrence, position: int) -> None:
    """Refuse a computed parameter that each sample has for itself: the node has one for all."""
    followed = () if ctx.features_only else ctx.followed.of(node.input[position])
    if any(axis != FEATURE for axis in followed):
        ctx.fail(node, f"its parameter {node.input[position]} is computed of samples", AS_FEATURES)


def _lengths(
    ctx: LiftingContext, node: Recurrence, shape: tuple[int, ...], stepping: bool
) -> Ints | None:
    """The signals of the lengths of sequences, (N,), where they are computed; None if all have the
    length of the input.

    Args:
        shape: how many steps and samples there are.

    Raises:
        ModelError: the result depends on an unknown length.
    """
    direction, length = node.attributes.direction, shape[0]
    if stepping and direction != "forward":
        ctx.fail(
            node, f"direction {direction}: its first step needs the last input", unrolling(ctx)
        )
    if length > _MAX_STEPS:
        ctx.fail(node, f"it has {length} steps, the most is {_MAX_STEPS}")
    given = ctx.optional(node, _LENGTHS)
    if given is None:
        return None
    if isinstance(given, Value) and not stepping:
        if given.shape != shape[1:]:
            ctx.fail(node, f"sequence_lens has the shape {given.shape}, expected {shape[1:]}")
        return ctx.materialize(given)
    if stepping or any(count != length for count in ctx.integers(node, _LENGTHS)):
        ctx.fail(
            node, "sequence_lens: a network's sequences all have the same length", unrolling(ctx)
        )
    return None


def _begun(
    ctx: LiftingContext, node: Recurrence, position: int, shape: tuple[int, ...], static: set[str]
) -> Start:
    """The states before the first step of an open sequence, (directions, N, H)."""
    operand = ctx.optional(node, position)
    if not isinstance(operand, Value):
        check_all_fed(ctx, node)
        values = _constant_start(ctx, node, position, shape)
        registers = ctx.add_signals(values.size, REGISTER)
        ctx.initial.update(zip(registers.tolist(), values.ravel().tolist(), strict=True))
        return Start(registers.reshape(shape), registers.reshape(shape))
    name, signals = node.input[position], ctx.materialize(operand)
    if signals.shape != shape:
        ctx.fail(node, f"its initial state {name} has the shape {list(signals.shape)}")
    if node.attributes.layout:
        signals = signals.swapaxes(0, 1)
    if np.all(ctx.kind[signals] == REGISTER):
        return Start(signals, signals)
    if name not in static or ctx.states:
        ctx.fail(node, f"its initial state {name} is computed, not constant", feeding(ctx))
    return computed_start(ctx, signals)


def _start(
    ctx: LiftingContext, node: Recurrence, position: int, shape: tuple[int, ...], step: Step
) -> Ints | None:
    """Signals of the states before the first step, (directions, N, H); None for zeros."""
    operand = ctx.optional(node, position)
    if isinstance(operand, Value):
        signals = ctx.materialize(operand)
        return signals.swapaxes(0, 1) if node.attributes.layout else signals
    values = _constant_start(ctx, node, position, shape)
    return step.constant(values).reshape(shape) if np.any(values) else None


def _constant_start(
    ctx: LiftingContext, node: Recurrence, position: int, shape: tuple[int, ...]
) -> Floats:
    """A constant initial state of this shape; zeros where it is left out."""
    if ctx.optional(node, position) is None:
        return np.zeros(shape)
    operand = ctx.constant(node, position)
    if node.attributes.layout:
        operand = operand.swapaxes(0, 1)
    return _of_shape(ctx, node, position, operand, shape)


def _of_shape(
    ctx: LiftingContext, node: Recurrence, position: int, values: Array, shape: tuple[int, ...]
) -> Floats:
    """An initial state of this shape; one that is the same for all of a batch is one sample's."""
    if values.ndim == 3 and shape[1] == 1 and np.all(values == values[:, :1]):
        values = values[:, :1]
    if values.shape != shape:
        name, found = node.input[position], list(values.shape)
        ctx.fail(node, f"the initial state {name} has the shape {found}, expected {list(shape)}")
    return values
