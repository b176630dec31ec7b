"""Which axes of the inputs and outputs are the batch and time.

They are read from symbols and sizes, or the caller says so. Nothing is deduced from the nodes: the
proof shows whether it was right (`proof.py`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neat_onnx.errors import ImportAdvice, ModelError
from neat_onnx.lifting.axes import (
    AS_FEATURES,
    Axes,
    BatchAxis,
    axes_of_inputs,
    example_shapes,
    output_axes,
    shapes_of_inputs,
)
from neat_onnx.lifting.neurons import Neurons
from neat_onnx.lifting.tape import Tape
from neat_onnx.model import DataType, ValueInfo
from neat_onnx.model.ports import single_rows
from neat_onnx.model.value import MAX_AXES, is_fixed
from neat_onnx.network.genes import Ints
from neat_onnx.network.port import Dtype, Port
from neat_onnx.operators.constants import numpy_type

_MAX_INPUTS = 1 << 24
_SEQUENCE = 3  # axes


@dataclass(frozen=True)
class Frame:
    """The axes of one import.

    Attributes:
        axes: of each input those that are time and the batch: (batch,), (time, batch), or none.
        samples: how many samples are traced: more than one where the graph has that size.
    """

    axes: Mapping[str, Axes]
    samples: int = 1

    @property
    def has_batch(self) -> bool:
        """Whether some input has samples."""
        return any(self.axes.values())

    @property
    def has_time(self) -> bool:
        """Whether some input is a sequence."""
        return any(len(each) > 1 for each in self.axes.values())


def frames_of(
    inputs: Sequence[ValueInfo], batch_axis: BatchAxis, states: Collection[str], *,
    has_layers: bool,
) -> Iterator[Frame]:  # fmt: skip
    """The axes that may be the batch and time, the likeliest first.

    They are the ones that symbols and sizes say, or the caller. Where inputs of one row stand
    beside a batch of no fixed size, all samples may share these; where every size is fixed, every
    axis may be features, or the second one of a sequence that layers read the batch.

    Args:
        inputs: the inputs.
        batch_axis: as the caller says.
        states: inputs among them that outputs feed.
        has_layers: there are recurrent layers.
    """
    none = Frame({entry.name: () for entry in inputs})
    if batch_axis is None:
        yield none
        return
    axes = axes_of_inputs(inputs)
    frame = Frame(axes, *_samples(inputs, axes))
    if not all(is_fixed(entry.shape) for entry in inputs):
        yield frame
        if shared := single_rows(inputs).difference(states):
            yield Frame(axes | dict.fromkeys(shared, ()))
        return
    apart = len(_sizes(inputs, axes)) > 1
    yield from (none, frame) if apart else (frame,)
    if (
        has_layers
        and len(inputs) == 1
        and len(inputs[0].shape or ()) == _SEQUENCE
        and frame.samples > 1
    ):
        second = {inputs[0].name: (1,)}
        yield Frame(second, *_samples(inputs, second))
    if not apart and frame.has_batch:
        yield none


def _samples(inputs: Sequence[ValueInfo], axes: Mapping[str, Axes]) -> tuple[int, ...]:
    """How many samples are traced, where the inputs have one number of them."""
    sizes = _sizes(inputs, axes)
    return tuple(sizes) if len(sizes) == 1 else ()


def _sizes(inputs: Sequence[ValueInfo], axes: Mapping[str, Axes]) -> set[int]:
    """The fixed sizes of the batch."""
    sizes = {(entry.shape or ())[axes[entry.name][-1]] for entry in inputs if axes[entry.name]}
    return {size for size in sizes if isinstance(size, int)}


def open_input(tape: Tape, entry: ValueInfo, frame: Frame) -> Neurons:
    """An input as fresh signals, with one step of time, and the samples that are traced."""
    shape = traced_shape(entry, frame)
    axes = frame.axes[entry.name]
    if not axes or shape[axes[-1]] == 1:
        ids = tape.add_inputs(math.prod(shape)).reshape(shape)
    else:
        batch, rest = axes[-1], [d for k, d in enumerate(shape) if k != axes[-1]]
        tape.budget.require("neurons", math.prod(shape), entry.name)
        count = math.prod(rest)
        parts = [tape.add_inputs(count, foreign=k > 0).reshape(rest) for k in range(shape[batch])]
        ids = np.stack(parts, axis=batch)
    return Neurons(tape, ids, dtype=numpy_type(entry.elem_type))


def traced_shape(entry: ValueInfo, frame: Frame) -> tuple[int, ...]:
    """The shape of an input in the trace.

    Raises:
        ModelError: an axis that is features has no fixed size.
    """
    axes = frame.axes[entry.name]
    if entry.shape is None:
        advice = "Give it one, as {} for four numbers a sample"
        raise ModelError(
            f"graph input '{entry.name}' has no shape",
            where="graph.inputs",
            hint=ImportAdvice(advice, {"shapes": {entry.name: ("N", 4)}}),
        )
    given = dict.fromkeys(axes, 1)
    if axes and isinstance(entry.shape[axes[-1]], int):
        given[axes[-1]] = frame.samples
    alone = axes_of_inputs([entry])[entry.name][-1:] if not frame.has_batch else ()
    shape = tuple(
        given[k] if k in given else d if isinstance(d, int) else 1 if k in alone else -1
        for k, d in enumerate(entry.shape)
    )
    if min(shape, default=1) < 1:
        raise ModelError(
            f"graph input '{entry.name}' has the shape {list(entry.shape)}",
            where="graph.inputs",
            hint=ImportAdvice(
                "Every axis but the batch needs a fixed size of 1 or more: give it one, as {}",
                {"shapes": example_shapes([entry], features_only=not frame.has_batch)},
            ),
        )
    if len(shape) > MAX_AXES:
        text = f"graph input '{entry.name}' has {len(shape)} axes, expected {MAX_AXES} or fewer"
        raise ModelError(text, where="graph.inputs")
    if math.prod(shape) > _MAX_INPUTS:
        raise ModelError(f"graph input '{entry.name}' has the shape {list(shape)}, it is too large")
    return shape


def of_sample(x: Neurons, axes: Axes, samples: int) -> Neurons:
    """The first sample, where several were traced, with the axis of one sample."""
    if samples == 1 or not axes or x.shape[axes[-1]] == 1:
        return x
    return x.moved(lambda array: array.take([0], axis=axes[-1]))


def input_port(entry: ValueInfo, x: Neurons, frame: Frame, neuron_of: Ints) -> Port:
    """The port of an input."""
    axes = frame.axes[entry.name]
    signals = of_sample(x, axes, frame.samples).ids
    shape = tuple(d for k, d in enumerate(signals.shape) if k not in axes)
    hints = _hints(entry, axes, frame)
    if frame.has_batch and not axes:
        hints = hints[0], None, hints[2]  # all samples share it
    return Port(entry.name, shape, neuron_of[signals.ravel()], *hints)


def axes_of_output(
    entry: ValueInfo, shape: tuple[int, ...], inputs: Sequence[ValueInfo], frame: Frame
) -> Axes:
    """The axes of an output that are time and the batch: of the inputs' symbols, else the first."""
    if not frame.has_batch:
        return ()
    count = max(map(len, frame.axes.values()))
    known = shapes_of_inputs(inputs)
    some = count
    if count > 1 and entry.shape is not None:
        symbols = {
            (each.shape or ())[axes[0]] for each in inputs if len(axes := frame.axes[each.name]) > 1
        }
        named = {size for size in symbols if isinstance(size, str)}
        if named and named.isdisjoint(entry.shape):
            some = 1
    found = output_axes(entry, known, some)
    if any(axis >= len(shape) or shape[axis] not in (1, frame.samples) for axis in found):
        single = [axis for axis, size in enumerate(shape) if size == frame.samples]
        found = tuple(single[-1:] if len(single) < some else single[:some])
    if not found:
        raise _without_batch(entry)
    return found


def _without_batch(entry: ValueInfo) -> ModelError:
    text = f"the first axis of output '{entry.name}' is not the batch"
    return ModelError(text, where="graph.outputs", hint=AS_FEATURES)


def output_port(entry: ValueInfo, signals: Ints, axes: Axes, frame: Frame, neuron_of: Ints) -> Port:
    """The port of an output whose signals have one sample and one step."""
    shape = tuple(d for k, d in enumerate(signals.shape) if k not in axes)
    if any(signals.shape[k] != 1 for k in axes):
        raise _without_batch(entry)
    return Port(entry.name, shape, neuron_of[signals.ravel()], *_hints(entry, axes, frame))


def _hints(entry: ValueInfo, axes: Axes, frame: Frame) -> tuple[Dtype, int | None, int | None]:
    """The type that a port keeps, where its batch is in a graph of one step, and time in one of
    sequences.
    """
    kind = entry.elem_type
    kept = kind.is_discrete or kind in (DataType.DOUBLE, DataType.FLOAT16)
    dtype: Any = kind.dtype.name if kept else ""
    if not frame.has_batch:
        return dtype, None, None
    if len(axes) < 2:
        return dtype, (*axes, 0)[0], None
    time, batch = axes
    return dtype, batch - (time < batch), time
