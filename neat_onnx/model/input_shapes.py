"""Sizes for the axes of a graph's inputs that have none, as of an exporter's dynamic axes."""

from collections.abc import Mapping, Sequence
from typing import Any

from neat_onnx.arguments import is_whole, shown
from neat_onnx.errors import OptionError
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.draft import with_graph
from neat_onnx.model.numbers import MAX_COUNT
from neat_onnx.model.value import Extent


def with_input_shapes(model: Model, shapes: Mapping[str, Sequence[Extent]]) -> Model:
    """The model with these shapes of inputs, itself if there are none.

    Axes of one name have one size everywhere.

    Args:
        model: the model.
        shapes: by the name of an input, a size for each axis, or a name or None where it stays
            without one.

    Raises:
        OptionError: there is no such input, or it has other axes or sizes; says which.
    """
    if not shapes:
        return model
    entries = {entry.name: entry for entry in model.graph.inputs}
    sizes: dict[str, Extent] = {}
    given: dict[str, list[Extent]] = {}
    for name, shape in shapes.items():
        if name not in entries:
            raise OptionError(
                f"the model has no input {shown(name)}",
                where="shapes",
                hint=f"Its inputs are {', '.join(sorted(entries))}",
            )
        given[name] = _checked(entries[name], shape)
        for stated, size in zip(entries[name].shape or (), given[name], strict=False):
            if not isinstance(stated, str) or not isinstance(size, int):
                continue
            if sizes.setdefault(stated, size) != size:
                raise OptionError(
                    f"the axis '{stated}' has the sizes {sizes[stated]} and {size}",
                    where=f"shapes.{name}",
                )
    return with_graph(
        model,
        inputs=[_sized(entry, given.get(entry.name), sizes) for entry in model.graph.inputs],
        outputs=[_sized(entry, None, sizes) for entry in model.graph.outputs],
    )


def _checked(entry: ValueInfo, shape: Any) -> list[Extent]:
    """The shape as a list, if the input may have it."""
    stated, where = entry.shape, f"shapes.{entry.name}"
    if not isinstance(shape, Sequence) or isinstance(shape, str):
        raise OptionError(f"expected a list of sizes, got {shown(shape)}", where=where)
    for axis, size in enumerate(shape):
        named = size is None or isinstance(size, str)
        if not (named or (is_whole(size) and 0 < size <= MAX_COUNT)):
            raise OptionError(
                f"expected a size of 1 to {MAX_COUNT}, a name or None, got {shown(size)}",
                where=f"{where}[{axis}]",
            )
    fits = stated is None or (
        len(stated) == len(shape)
        and all(
            not isinstance(own, int) or own == size for own, size in zip(stated, shape, strict=True)
        )
    )
    if not fits:
        raise OptionError(
            f"the input '{entry.name}' is {list(stated or ())}, not {list(shape)}",
            where=where,
            hint="Give each axis of no fixed size one, and leave the others as they are",
        )
    return list(shape)


def _sized(
    entry: ValueInfo, shape: Sequence[Extent] | None, sizes: Mapping[str, Extent]
) -> ValueInfo:
    if shape is None and entry.shape is None:
        return entry
    found = entry.shape or () if shape is None else shape
    new = [sizes.get(size, size) if isinstance(size, str) else size for size in found]
    return ValueInfo.of(entry.name, entry.elem_type, new)
