"""Which axes of an input are time and the batch, from the recurrent layers that run along them.

PyTorch names an axis whatever its user calls it, or leaves it without a name, and a layer with the
batch first transposes [N, T, F] before it runs. The axis that it runs along is time.
"""

from collections.abc import Callable, Iterator, Sequence

from neat_onnx.errors import warn
from neat_onnx.model import Model, Node, ValueInfo
from neat_onnx.model.value import Extent
from neat_onnx.passes.draft import attributes_of, with_graph
from neat_onnx.passes.elementwise import is_elementwise

Axes = tuple[int, ...]

_RECURRENT = ("RNN", "GRU", "LSTM")
_TIME, _BATCH = "time", "batch"
_KEPT = frozenset({"Dropout", "LayerNormalization", "MatMul", "PRelu"})
"""Operators whose first input that is no constant has its axes where the output has them, besides
elementwise ones."""


def sequence_axes(model: Model, read: Callable[[Sequence[Extent]], Axes]) -> Model:
    """The model with the axes of inputs named "time" and "batch" where recurrent layers tell them.

    An axis of a fixed size above 1 is neither.

    Args:
        model: the model.
        read: the axes (time, batch) that an import reads from sizes; right ones are left.
    """
    constant = {tensor.name for tensor in model.graph.initializer}
    made = {
        name: node
        for node in model.graph.node
        if any(each not in constant for each in node.input)
        for name in node.output
    }
    entries = {entry.name: entry for entry in model.graph.inputs if entry.name not in constant}
    changed: dict[str, ValueInfo] = {}
    symbols: dict[str, str] = {}
    for node in model.graph.node:
        if node.op_type in _RECURRENT and not node.domain and node.input:
            name, axes = _read_along(node, made, entries)
            if axes is not None and _is_misread(entries[name].shape or (), axes, read):
                _warn_of_batch(node, (entries[name].shape or ())[axes[0]])
                changed.setdefault(name, _named(entries[name], axes, symbols))
    if not changed:
        return model
    given = [changed.get(entry.name, entry) for entry in model.graph.inputs]
    return with_graph(
        model,
        inputs=[_renamed(entry, symbols) for entry in given],
        outputs=[_renamed(entry, symbols) for entry in model.graph.outputs],
    )


def _is_misread(
    sizes: Sequence[Extent], axes: Axes, read: Callable[[Sequence[Extent]], Axes]
) -> bool:
    """Whether time is open, the batch open or one sample, and both are not read from the sizes."""
    time, batch = (sizes[axis] for axis in axes)
    fits = not isinstance(time, int) and (batch == 1 or not isinstance(batch, int))
    return fits and read(sizes) != axes


def _read_along(
    node: Node, made: dict[str, Node], entries: dict[str, ValueInfo]
) -> tuple[str, Axes | None]:
    """The graph input that a recurrent layer runs along, and its axes of time and the batch."""
    axes = (1, 0) if attributes_of(node).get("layout") else (0, 1)
    for name, perm in _path(node.input[0], made, entries):
        if perm is not None:
            if sorted(perm) != [*range(len(perm))] or max(axes) >= len(perm):
                return name, None
            axes = (perm[axes[0]], perm[axes[1]])
        if name in entries:
            rank = len(entries[name].shape or ())
            return name, axes if max(axes) < rank else None
    return "", None


def _path(
    name: str, made: dict[str, Node], entries: dict[str, ValueInfo]
) -> Iterator[tuple[str, Sequence[int] | None]]:
    """The tensors from one back to a graph input, and the orders of axes on the way."""
    perm: Sequence[int] | None = None
    while True:
        yield name, perm
        node = made.get(name)
        if node is None:
            return
        perm, reads = None, [each for each in node.input if each in made or each in entries]
        if node.op_type == "Transpose":
            perm = attributes_of(node).get("perm")
            if perm is None:
                return
        elif node.op_type == "Gather" and not attributes_of(node).get("axis"):  # an embedding
            reads = reads[-1:] if reads[-1:] == [*node.input[1:]] else []
        elif node.op_type not in _KEPT and not is_elementwise(node):
            return
        if not reads:
            return
        name = reads[0]


def _warn_of_batch(node: Node, size: Extent) -> None:
    if isinstance(size, str) and size.lower().startswith(_BATCH):
        warn(f"node {node.label} runs along the axis '{size}': it is taken for time")


def _named(entry: ValueInfo, axes: Axes, symbols: dict[str, str]) -> ValueInfo:
    """An input whose axes have names; names that it has are noted in `symbols` to be replaced."""
    sizes = list(entry.shape or ())
    for axis, word in zip(axes, (_TIME, _BATCH), strict=True):
        known = sizes[axis]
        if isinstance(known, str):
            symbols[known] = word
        sizes[axis] = word if known is None else known
    return _with_shape(entry, sizes)


def _with_shape(entry: ValueInfo, sizes: Sequence[Extent]) -> ValueInfo:
    return ValueInfo.of(entry.name, entry.elem_type, list(sizes))


def _renamed(entry: ValueInfo, symbols: dict[str, str]) -> ValueInfo:
    if not any(isinstance(size, str) and size in symbols for size in entry.shape or ()):
        return entry
    given = entry.shape or ()
    sizes = [symbols.get(size, size) if isinstance(size, str) else size for size in given]
    return _with_shape(entry, sizes)
