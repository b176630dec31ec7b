"""Which axes of inputs and outputs are time and the batch; all others are features.

An axis of no fixed size is the batch, wherever it stands. Of two of them at the start, the first is
time unless it is named as a batch. Where every size is fixed the first axis is the batch, but
that of a vector is features.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeGuard

from neat_onnx.errors import ImportAdvice
from neat_onnx.model import ValueInfo
from neat_onnx.model.value import Extent, is_fixed
from neat_onnx.network.port import names_time

BatchAxis = Literal["auto"] | None
Axes = tuple[int, ...]
"""The axes that are no features: (batch,), (time, batch), or none."""

AS_FEATURES = ImportAdvice("Import with {} to take every axis for features", {"batch_axis": None})
_MATRIX = 2  # axes
_BATCH_NAMES = frozenset({"n", "b", "bs"})


def input_axes(sizes: Sequence[Extent]) -> Axes:
    """The axes of an input that are time and the batch."""
    first, second = (*sizes[:2], None, None)[:2]
    if isinstance(first, str) and isinstance(second, str) and len(sizes) > 1:
        return (1, 0) if names_batch(first) and not names_batch(second) else (0, 1)
    if second == 1 and _is_time(first):
        return (0, 1)
    if first == 1 and _is_time(second) and len(sizes) > 2:
        return (1, 0)
    varying = [axis for axis, size in enumerate(sizes) if not isinstance(size, int)]
    if len(varying) == 1:
        return (varying[0],)
    return () if len(sizes) == 0 or (len(sizes) == 1 and sizes != (1,)) else (0,)


def axes_of_inputs(inputs: Sequence[ValueInfo]) -> dict[str, Axes]:
    """The axes of each input that are time and the batch, by name.

    A vector as long as another input's batch is one number for each sample. Where another's batch
    has no fixed size, a single number and a matrix of several rows are shared by all samples.
    """
    found = {entry.name: input_axes(entry.shape or ()) for entry in inputs}
    if not all(is_fixed(entry.shape) for entry in inputs):
        found |= {entry.name: () for entry in inputs if _is_shared(entry)}
    lengths = {
        entry.shape[axes[0]] for entry in inputs if entry.shape and (axes := found[entry.name])
    }
    vectors = [entry for entry in inputs if not found[entry.name] and entry.shape]
    return found | {
        entry.name: (0,) for entry in vectors if lengths.intersection(entry.shape or ())
    }


def _is_shared(entry: ValueInfo) -> bool:
    sizes = entry.shape or ()
    several = is_fixed(sizes) and len(sizes) == _MATRIX and sizes[0] != 1
    return sizes == (1,) or several


def _is_time(size: Extent) -> bool:
    return isinstance(size, str) and names_time(size)


def names_batch(symbol: str) -> bool:
    """Whether a symbol, as "batch_size", says that its axis is the batch."""
    return symbol.lower() in _BATCH_NAMES or symbol.lower().startswith("batch")


def example_shapes(
    inputs: Sequence[ValueInfo], *, features_only: bool = False
) -> dict[str, tuple[int | str, ...]]:
    """The argument `shapes` that gives a size to each open axis of inputs that is features.

    Args:
        inputs: the inputs.
        features_only: every axis is features, but the one that would be the batch may stay open.
    """
    shapes: dict[str, tuple[int | str, ...]] = {}
    for entry in inputs:
        sizes = entry.shape or ()
        called = [axis for axis, size in enumerate(sizes) if names_batch(str(size))]
        batch = [*axes_of_inputs([entry])[entry.name][-1:]] if features_only else [*called, 0][:1]
        if any(not _has_size(size) and axis not in batch for axis, size in enumerate(sizes)):
            shapes[entry.name] = tuple(
                size if _has_size(size) else "N" if axis in batch else 16
                for axis, size in enumerate(sizes)
            )
    return shapes


def _has_size(size: Extent) -> TypeGuard[int]:
    return isinstance(size, int) and size > 0


def shapes_of_inputs(inputs: Sequence[ValueInfo]) -> dict[tuple[Extent, ...], Axes]:
    """The axes of the inputs that are time and the batch, by shape: there may be many inputs."""
    found = axes_of_inputs(inputs)
    return {tuple(entry.shape or ()): found[entry.name] for entry in inputs}


def output_axes(entry: ValueInfo, inputs: Mapping[tuple[Extent, ...], Axes], count: int) -> Axes:
    """The axes of an output that are time and the batch.

    Args:
        entry: the output, as the graph states it.
        inputs: shapes of the inputs of the graph, with their axes (`shapes_of_inputs`).
        count: how many axes there are to find.

    Returns:
        Axes of the same symbols as the inputs', or one of time alone, where the graph states any;
        else the only one of no fixed size, where the first has one that no batch has; else the
        first.
    """
    sizes = entry.shape or ()
    for given, axes in inputs.items():
        symbols = [given[axis] for axis in axes][len(axes) - count :]
        if len(symbols) == count and all(
            isinstance(name, str) and sizes.count(name) == 1 for name in symbols
        ):
            return tuple(sizes.index(name) for name in symbols)
        time = symbols[0] if count == len(axes) == 2 else None
        if isinstance(time, str) and sizes[:2].count(time) == 1:  # the batch has a size
            return (sizes.index(time), 1 - sizes.index(time))
    varying = [axis for axis, size in enumerate(sizes) if not isinstance(size, int)]
    if count == len(varying) == 1 and sizes[0] != 1:
        return (varying[0],)
    return (1, 0) if count == 2 and (1, 0) in inputs.values() else (0, 1)[:count]
