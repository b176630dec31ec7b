"""Repair a document of NeatapticTS into valid ONNX; every repair is a warning.

`_OWN` repairs apply to NeatapticTS's documents only, recognised by outputs that no node produces,
not one of them; `_GENERAL` ones to every model that would not be valid without them. A model with
nothing to repair comes back as the same object.
"""

from collections.abc import Callable

from neat_onnx.errors import abridged, warn
from neat_onnx.libraries.neataptic_ts.onnx.edits import warn_repaired, with_graph
from neat_onnx.libraries.neataptic_ts.onnx.metadata import NOT_SHARED, is_readable, items
from neat_onnx.libraries.neataptic_ts.onnx.ports import (
    unproduced,
    with_bound_output,
    with_states,
    without_unproduced,
)
from neat_onnx.libraries.neataptic_ts.onnx.shapes import kernel_of, window_of
from neat_onnx.libraries.neataptic_ts.onnx.space import with_space
from neat_onnx.libraries.neataptic_ts.onnx.windows import is_identity, is_padded_before
from neat_onnx.model import Model, Node, ValueInfo
from neat_onnx.model.order import in_order
from neat_onnx.model.wiring import Wiring
from neat_onnx.network.window import Window
from neat_onnx.operators.export.layout.shaping import Concat
from neat_onnx.operators.export.spatial.nodes import AveragePool, Conv, MaxPool

Repair = Callable[[Model], Model]


def repaired(model: Model) -> Model:
    """Return the model with its defects repaired, or the very same object if it has none.

    Raises:
        ModelError: the model contradicts itself, or does not determine a function; names the node.
    """
    model = without_unproduced(model)
    for repair in (*(_OWN if unproduced(model.graph) else ()), *_GENERAL):
        model = repair(model)
    return model


def _with_json_metadata(model: Model) -> Model:
    """Drop metadata that is not JSON where it should be, and keep the first entry of each key."""
    broken = [entry.key for entry in model.metadata_props if not is_readable(entry)]
    if broken:
        warn_repaired(f"metadata that is not JSON is left out: {abridged(broken, 5)}")
    kept = {entry.key: entry for entry in reversed(model.metadata_props) if is_readable(entry)}
    if len(broken) + len(kept) < len(model.metadata_props):
        warn_repaired("metadata has keys that occur twice: the first entry of each is kept")
    entries = list(reversed(kept.values()))
    return model.model_copy(update={"metadata_props": entries})


def _warn_of_losses(model: Model) -> Model:
    """Warn where the document shows that it differs from the network it was made from."""
    pools, padded = [], []
    for node in model.graph.node:
        window = _window(node, model)
        if window is None:
            continue
        if isinstance(node, Conv):
            padded += [node.label] if is_padded_before(window) else []
        elif not is_identity(window):
            pools.append(node.label)
    unshared = [f"layer {layer}" for layer in items(model, NOT_SHARED)]
    for labels, text in (
        (pools, "a network of NeatapticTS has no pools, this graph computes them"),
        (
            padded,
            "NeatapticTS takes the wrong weights for a kernel with padding at the top or on the "
            "left",
        ),
        (unshared, "its neurons do not share the weights that its Conv has"),
    ):
        if labels:
            warn(
                "the document computes something else than the network it was made from: "
                f"{abridged(labels, 5)}: {text}"
            )
    return model


def _window(node: Node, model: Model) -> Window | None:
    if not isinstance(node, Conv | MaxPool | AveragePool):
        return None
    kernel = kernel_of(node, model.graph.tensors)
    return window_of(node, kernel) if kernel else None


def _with_batch(model: Model) -> Model:
    """Put a batch axis before the only axis of inputs and outputs; Concat follows."""
    graph = model.graph
    if any(len(entry.shape or ()) != 1 for entry in (*graph.inputs, *graph.outputs)):
        return model
    warn_repaired("the inputs have no batch axis: it is put in front")
    return with_graph(
        model,
        inputs=[_batched(entry) for entry in graph.inputs],
        outputs=[_batched(entry) for entry in graph.outputs],
        node=[_joining_columns(node) for node in graph.node],
    )


def _joining_columns(node: Node) -> Node:
    if not isinstance(node, Concat):
        return node
    return node.model_copy(update={"attributes": node.attributes.model_copy(update={"axis": 1})})


def _batched(entry: ValueInfo) -> ValueInfo:
    return ValueInfo.of(entry.name, entry.elem_type, ["N", *(entry.shape or ())])


def _in_order(model: Model) -> Model:
    """Sort the nodes topologically; a graph with a cycle stays, for the lifting to refuse."""
    nodes, wiring = model.graph.node, Wiring(model.graph)
    given = range(len(nodes))
    order = in_order(given, lambda at: sorted(wiring.sources(at)))
    if order is None or order == [*given]:
        return model
    warn_repaired("nodes stand before others that they read: they are sorted")
    return with_graph(model, node=[nodes[at] for at in order])


_OWN: tuple[Repair, ...] = (
    _with_json_metadata,
    _warn_of_losses,
    with_bound_output,
    _with_batch,
    with_states,
)
_GENERAL: tuple[Repair, ...] = (_in_order, with_space)
