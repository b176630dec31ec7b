"""Where time and the samples of the batch are in an output of a graph."""

from collections.abc import Mapping, Sequence

from neat_onnx.errors import warn
from neat_onnx.lifting.axes import Axes, output_axes
from neat_onnx.lifting.followed_axes import (
    FEATURE,
    FIRST,
    SECOND,
    FollowedAxes,
    FollowedAxis,
    elements_before,
)
from neat_onnx.model import ValueInfo
from neat_onnx.model.value import Extent


def states_batch(shape: Sequence[Extent], leading: list[bool], sizes: set[Extent]) -> bool:
    """Whether an output of this shape may have the axes that it is followed to, the batch too.

    Sizes that a graph states for its outputs may be of another run; that they are as many is right.
    """
    fixed = len(sizes) == 1 and all(isinstance(size, int) for size in sizes)
    return not fixed or len(shape) == len(leading)


def leading_axes(
    followed: FollowedAxes, entry: ValueInfo, inputs: Mapping[tuple[Extent, ...], Axes], count: int
) -> Axes:
    """The axes of an output that are time and the batch.

    Args:
        followed: its axes as followed through the graph, which count where they are known.
        entry: the output, as the graph states it.
        inputs: shapes of the inputs of the graph, with their axes (`shapes_of_inputs`).
        count: how many axes there are to find.
    """
    found = sorted((kind, at) for at, kind in enumerate(followed) if kind != FEATURE)
    kinds = [kind for kind, _ in found]
    if len(kinds) == count and kinds in ([FIRST], [SECOND], [FIRST, SECOND]):
        return tuple(at for _, at in found)
    return output_axes(entry, inputs, count)


def has_samples_first(followed: FollowedAxes, shape: tuple[int, ...]) -> bool:
    """Whether the elements of each sample stay together, in an axis of their own."""
    alone = not any(axis.is_around for axis in followed)
    return alone and elements_before(followed, shape) in (None, 1)


def stacks_rows(followed: FollowedAxes, shape: tuple[int, ...], sizes: set[Extent]) -> bool:
    """Whether the first axis of an output has the rows of all samples, sample after sample.

    So a sequence model ends whose layers read [samples · steps, features]. Where the batch has a
    fixed size, every axis may be features.

    Args:
        followed: the axes of the output.
        shape: its shape, for one sample.
        sizes: the sizes that the inputs state for time and the batch.
    """
    varies = len(sizes) == 1 and not any(isinstance(size, int) for size in sizes)
    inside = followed[:1] == (FollowedAxis.around(1),) and set(followed[1:]) <= {FEATURE}
    return varies and inside and shape[0] > 1


def warn_of_stacked_rows(name: str, shape: tuple[int, ...]) -> None:
    """Tell which shape an output whose rows are stacked has in the network."""
    warn(
        f"output '{name}' has {shape[0]} rows for each sample along its first axis; the network "
        f"gives an axis to the samples: {['N', *shape]}"
    )
