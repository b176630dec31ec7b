"""Ports: inputs of a graph are fresh signals, its outputs are materialized."""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from neat_onnx.errors import ImportAdvice, ModelError
from neat_onnx.lifting.axes import (
    AS_FEATURES,
    Axes,
    axes_of_inputs,
    example_shapes,
    shapes_of_inputs,
)
from neat_onnx.lifting.context import REGISTER, LiftingContext, Value
from neat_onnx.lifting.followed_axes import FEATURE, INSIDE, UNKNOWN
from neat_onnx.lifting.neurons import Resolution
from neat_onnx.lifting.outputs import (
    has_samples_first,
    leading_axes,
    other_outputs,
    stacks_rows,
    states_batch,
    warn_of_stacked_rows,
)
from neat_onnx.lifting.reductions import NoNeuronError
from neat_onnx.model import DataType, ValueInfo
from neat_onnx.model.value import MAX_AXES, Extent
from neat_onnx.network.expression import VARIABLE
from neat_onnx.network.genes import Ints
from neat_onnx.network.port import Dtype, Port

_MAX_INPUTS = 1 << 24

Opened = tuple[str, tuple[int, ...], Ints]
"""The name of an input or output, its shape without time and the batch, and its signals, flat."""


def open_input(ctx: LiftingContext, entry: ValueInfo, axes: Axes, kind: int) -> Opened:
    """Bind a graph input to fresh signals."""
    if entry.name in ctx.operands:
        _refuse_open_default(ctx, entry.name)
    sizes = entry.shape
    if sizes is None:
        raise ModelError(
            f"graph input '{entry.name}' has no shape",
            where="graph.inputs",
            hint=ImportAdvice(
                "Give it one, as {} for four numbers a sample", {"shapes": {entry.name: ("N", 4)}}
            ),
        )
    alone = axes_of_inputs([entry])[entry.name][-1:] if ctx.features_only else ()
    shape = tuple(
        size if isinstance(size, int) else 1 if axis in alone else -1
        for axis, size in enumerate(sizes)
        if axis not in axes
    )
    if any(size < 1 for size in shape):
        raise ModelError(
            f"graph input '{entry.name}' has the shape {list(sizes)}",
            where="graph.inputs",
            hint=ImportAdvice(
                "Every axis but the batch needs a fixed size of 1 or more: give it one, as {}",
                {"shapes": example_shapes([entry], features_only=ctx.features_only)},
            ),
        )
    if len(sizes) > MAX_AXES:
        raise ModelError(
            f"graph input '{entry.name}' has {len(sizes)} axes, expected {MAX_AXES} or fewer",
            where="graph.inputs",
        )
    count = int(np.prod(shape, dtype=object))
    if count > _MAX_INPUTS:
        raise ModelError(f"graph input '{entry.name}' has {count} elements", where="graph.inputs")
    if entry.elem_type.is_integer:
        ctx.integer.add(entry.name)
    ctx.facts[entry.name].is_whole = entry.elem_type is DataType.BOOL
    signals = ctx.add_signals(count, kind)
    ctx.operands[entry.name] = Value(np.expand_dims(signals.reshape(shape), axes))
    return entry.name, shape, signals


def _refuse_open_default(ctx: LiftingContext, name: str) -> NoReturn:
    tensors = ctx.model.graph.tensors
    entries = [entry.name for entry in ctx.model.graph.inputs if entry.name in tensors]
    shapes = {each: tuple(tensors[each].dims) for each in entries}
    empty = any(0 in shape for shape in shapes.values())
    raise ModelError(
        f"graph input '{name}' has a default value, and an axis of no fixed size",
        where="graph.inputs",
        hint="Take it out of the inputs, and the default is a weight"
        if empty
        else ImportAdvice("With {} the default is a weight", {"shapes": shapes}),
    )


def open_state(
    ctx: LiftingContext, entry: ValueInfo, axes: Axes, initial: list[float] | None
) -> None:
    """Bind a state input to fresh registers."""
    _, _, signals = open_input(ctx, entry, axes, REGISTER)
    if initial is not None:
        if len(initial) != len(signals):
            raise ModelError(f"{len(initial)} initial values for '{entry.name}' of {len(signals)}")
        ctx.initial.update(zip(signals.tolist(), initial, strict=True))


def close_output(ctx: LiftingContext, entry: ValueInfo, sizes: set[Extent]) -> Opened:
    """Materialize a graph output, where the batch has these sizes among the inputs."""
    value = ctx.operands.get(entry.name)
    if value is None:
        raise ModelError(
            f"graph output '{entry.name}' is produced by no node", where="graph.outputs"
        )
    if not isinstance(value, Value):
        raise ModelError(f"graph output '{entry.name}' depends on no input", where="graph.outputs")
    _require_samples(ctx, entry.name)
    followed = ctx.followed.of(entry.name)
    if len(followed) != len(value.shape):  # an operator was lifted in a form that it does not have
        raise ModelError(
            f"graph output '{entry.name}' has {len(value.shape)} axes, expected {len(followed)}",
            where="graph.outputs",
        )
    leading = [axis for axis in followed if axis not in (FEATURE, UNKNOWN)]
    if not ctx.features_only and len({*leading}) < len(leading):
        raise ModelError(
            f"graph output '{entry.name}' combines every sample with every other",
            where="graph.outputs",
            hint=AS_FEATURES,
        )
    lengths = zip(value.shape, followed, strict=True)
    if not ctx.features_only and any(size != 1 for size, axis in lengths if axis in (0, 1)):
        _refuse_first_axis(entry.name)
    stacked = not ctx.features_only and stacks_rows(followed, value.shape, sizes)
    whole = entry.shape is None or states_batch(entry.shape, ctx.leading(entry.name), sizes)
    if not (stacked or ctx.features_only or ctx.followed.single):
        whole &= all(axis < INSIDE for axis in followed)
    if not whole or (ctx.samples > 1 and not has_samples_first(followed, value.shape)):
        _refuse_first_axis(entry.name)
    try:
        signals = ctx.materialize(value).copy()
    except NoNeuronError as error:
        raise ModelError(f"graph output '{entry.name}': {error.message}",
                         where="graph.outputs", hint=error.hints) from None  # fmt: skip
    registers = ctx.kind[signals] == REGISTER
    signals[registers] = ctx.materialized_from(signals[registers], VARIABLE)
    if stacked:
        warn_of_stacked_rows(entry.name, signals.shape)
    return entry.name, (1,) * stacked + signals.shape, signals.ravel()


def _require_samples(ctx: LiftingContext, name: str) -> None:
    """Refuse an output of shared inputs alone: a network has one for each sample."""
    shared = ctx.followed.shared
    if name in shared and not ctx.features_only:
        others = [each.name for each in ctx.model.graph.outputs if each.name not in shared]
        raise ModelError(
            f"graph output '{name}' depends on inputs alone that all samples share",
            where="graph.outputs",
            hint=other_outputs(others) or AS_FEATURES,
        )


def input_ports(
    ctx: LiftingContext, resolved: Resolution, entries: Sequence[Opened], axes: Mapping[str, Axes]
) -> tuple[Port, ...]:
    """The ports of the inputs, of which each has these axes that are time and the batch."""
    stated = {each.name: each for each in ctx.model.graph.inputs}
    _require_time(ctx, [name for name, _, _ in entries], axes)
    has_batch = any(axes[name] for name, _, _ in entries)
    ports = []
    for name, shape, signals in entries:
        dtype, batch_axis, time_axis = _hints(ctx, stated[name], axes[name])
        if has_batch and not axes[name]:
            batch_axis = None  # all samples share it
        neurons = resolved.neuron_of[signals]
        ports.append(Port(name, shape, neurons, dtype, batch_axis, time_axis))
    return tuple(ports)


def _require_time(ctx: LiftingContext, names: Sequence[str], axes: Mapping[str, Axes]) -> None:
    """Refuse an input that is there once, beside sequences: a network reads its inputs at every
    step.
    """
    timed = [name for name in axes if len(axes[name]) > 1]
    for name in names if timed else ():
        if len(axes[name]) < 2:
            raise ModelError(
                f"graph input '{name}' has no axis of time, as '{timed[0]}' has: a network reads "
                "each input at every step",
                where="graph.inputs",
                hint=(
                    ImportAdvice(
                        "Give sequences a length, as {}",
                        {"shapes": example_shapes(ctx.model.graph.inputs)},
                    ),
                    f"Or give '{name}' an axis of time",
                ),
            )


def output_ports(
    ctx: LiftingContext, resolved: Resolution, entries: Sequence[Opened], count: int
) -> tuple[Port, ...]:
    """The ports of the outputs, of whose axes `count` are time and the batch."""
    graph, ports = ctx.model.graph, []
    stated, inputs = {each.name: each for each in graph.outputs}, shapes_of_inputs(graph.inputs)
    for name, shape, signals in entries:
        some = max(0, count - (name in ctx.ended))
        axes = leading_axes(ctx.followed.of(name), stated[name], inputs, some)
        if any(axis >= len(shape) or shape[axis] != 1 for axis in axes):
            _refuse_first_axis(name)
        features = tuple(size for axis, size in enumerate(shape) if axis not in axes)
        neurons = resolved.neuron_of[signals]
        ports.append(Port(name, features, neurons, *_hints(ctx, stated[name], axes)))
    return tuple(ports)


def _hints(
    ctx: LiftingContext, entry: ValueInfo, axes: Axes
) -> tuple[Dtype, int | None, int | None]:
    """The type that a port keeps, where its batch is in a graph of one step, and time in one of
    sequences.
    """
    kind = entry.elem_type
    kept = kind.is_discrete or kind in (DataType.DOUBLE, DataType.FLOAT16)
    dtype: Any = kind.dtype.name if kept else ""
    if ctx.features_only:
        return dtype, None, None
    if len(axes) < 2:
        return dtype, (*axes, 0)[0], None
    time, batch = axes
    return dtype, batch - (time < batch), time


def _refuse_first_axis(name: str) -> NoReturn:
    raise ModelError(
        f"the first axis of output '{name}' is not the batch",
        where="graph.outputs",
        hint=AS_FEATURES,
    )
