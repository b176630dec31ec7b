"""Which axes of an input are time and the batch, from the layers and Scans that run along them.

PyTorch names an axis whatever its user calls it, or leaves it without a name, and a layer with the
batch first transposes [N, T, F] before it runs. The axis that it runs along is time.
"""

from collections.abc import Callable, Mapping, Sequence

from neat_onnx.errors import warn
from neat_onnx.model import Model, Node, ValueInfo
from neat_onnx.model.value import Extent
from neat_onnx.model.draft import with_graph
from neat_onnx.passes.recurrent_layers import Axes, RecurrentLayers

_TIME, _BATCH = "time", "batch"
_THROUGH_SEQUENCES = frozenset({"GRU", "LSTM", "Loop", "RNN", "Scan"})


def sequence_axes(model: Model, read: Callable[[Sequence[Extent]], Axes]) -> Model:
    """The model with the axes of inputs named "time" and "batch" where the graph tells them.

    An axis of a fixed size above 1 is neither.

    Args:
        model: the model.
        read: the axes (time, batch) that an import reads from sizes; right ones are left.
    """
    if not any(node.op_type in _THROUGH_SEQUENCES for node in model.graph.node):
        return _without_time(model, read)
    layers = RecurrentLayers(model)
    changed: dict[str, ValueInfo] = {}
    symbols: dict[str, str] = {}
    for node in (*layers.nodes, *layers.scans):
        name, axes = layers.input_of(node)
        if len(axes) < 2:
            continue
        entry = layers.entries[name]
        if _is_misread(entry.shape or (), axes, read):
            _warn_of_batch(node, (entry.shape or ())[axes[0]])
            changed.setdefault(name, _named(entry, axes, symbols))
    return _with_symbols(model, symbols, changed)


def axes_of_loops(
    model: Model, known: Mapping[str, Axes], read: Callable[[Sequence[Extent]], Axes]
) -> Model:
    """The model with the axes of inputs named "time" and "batch" as they are known to be.

    Only a model with Loops is changed: the axis that a Loop goes along stands nowhere in it.

    Args:
        model: the model.
        known: (time, batch) of inputs, by name.
        read: the axes that are read from sizes; right ones are left.
    """
    if not any(node.op_type == "Loop" for node in model.graph.node):
        return model
    changed: dict[str, ValueInfo] = {}
    symbols: dict[str, str] = {}
    for entry in model.graph.inputs:
        sizes, axes = entry.shape or (), known.get(entry.name, ())
        if axes and max(axes) < len(sizes) and _is_misread(sizes, axes, read):
            changed[entry.name] = _named(entry, axes, symbols)
    return _with_symbols(model, symbols, changed)


def _without_time(model: Model, read: Callable[[Sequence[Extent]], Axes]) -> Model:
    """The model with the first axis of [T, 1] named "batch": no node goes through a sequence.

    Such a model takes one number for each sample, whatever its axis is called.
    """
    timed = [sizes for entry in model.graph.inputs if len(read(sizes := entry.shape or ())) == 2]
    if any(len(sizes) > 2 or sizes[1] != 1 for sizes in timed):
        return model
    return _with_symbols(model, {str(sizes[0]): _BATCH for sizes in timed}, {})


def _with_symbols(model: Model, symbols: dict[str, str], inputs: dict[str, ValueInfo]) -> Model:
    """The model with some inputs, and other names for axes of no fixed size."""
    if not symbols and not inputs:
        return model
    given = [inputs.get(entry.name, entry) for entry in model.graph.inputs]
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
