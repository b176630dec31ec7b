"""Repair a document of NeatapticTS into valid ONNX; every repair is a warning.

`_OWN` repairs apply to NeatapticTS's documents only, recognised by outputs that no node produces,
not one of them; `_GENERAL` ones to every model that would not be valid without them. A model with
nothing to repair comes back as the same object.
"""

from neat_onnx.errors import ModelError, abridged, warn
from neat_onnx.libraries.neataptic_ts.onnx.space import warn_repaired, window_of, with_space
from neat_onnx.libraries.neataptic_ts.onnx.spec import (
    EMITTED,
    NOT_SHARED,
    is_identity,
    is_readable,
    items,
)
from neat_onnx.model import Model, ValueInfo, node_class
from neat_onnx.model.draft import copied, make_node, renamed, with_graph
from neat_onnx.model.states import NEXT, PREVIOUS, with_stated_pairs
from neat_onnx.model.wiring import is_in_order, unproduced, with_nodes_in_order


def repaired(model: Model) -> Model:
    """Return the model with its defects repaired, or the very same object if it has none."""
    missing = unproduced(model.graph)
    if missing and len(missing) < len(model.graph.outputs):
        model, missing = _without(model, missing), []
    for repair in _OWN if missing else (_in_order,):
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
        window = window_of(node, model.graph.tensors)
        if window is None:
            continue
        if node.op_type == "Conv":
            padded += [node.label] if any(window.begin) else []
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


def _with_batch(model: Model) -> Model:
    """Put a batch axis before the only axis of inputs and outputs; Concat follows."""
    graph = model.graph
    if any(len(entry.shape or ()) != 1 for entry in (*graph.inputs, *graph.outputs)):
        return model
    warn_repaired("the inputs have no batch axis: it is put in front")
    inputs, outputs = (
        [ValueInfo.of(entry.name, entry.elem_type, ["N", *(entry.shape or ())]) for entry in side]
        for side in (graph.inputs, graph.outputs)
    )
    joins = node_class("Concat")
    nodes = [
        copied(node, attributes=copied(node.attributes, axis=1))
        if isinstance(node, joins)
        else node
        for node in graph.node
    ]
    return with_graph(model, inputs=inputs, outputs=outputs, node=nodes)


def _in_order(model: Model) -> Model:
    """Sort the nodes topologically; a graph with a cycle stays, for the lifting to refuse."""
    if is_in_order(model.graph):
        return model
    sorted_graph = with_nodes_in_order(model.graph)
    if sorted_graph is model.graph:
        return model
    warn_repaired("nodes stand before others that they read: they are sorted")
    return model.model_copy(update={"graph": sorted_graph})


def _without(model: Model, missing: list[str]) -> Model:
    """Leave out outputs that no node produces, beside others that nodes do produce.

    A tool that edited the file lost the constants of a policy, such as the size of its memory.
    """
    kept = [entry for entry in model.graph.outputs if entry.name not in missing]
    warn_repaired(f"outputs that no node produces are left out: {abridged(missing, 5)}")
    return with_graph(model, outputs=kept)


def with_bound_output(model: Model) -> Model:
    """Bind the output to the one tensor that no node reads; drop LSTM and GRU beside layers."""
    model = _without_by_products(model)
    nodes, missing = model.graph.node, unproduced(model.graph)
    read = {name for node in nodes for name in node.input}
    unread = [node.output[0] for node in nodes if node.output and read.isdisjoint(node.output)]
    if len(missing) != 1 or len(unread) != 1:
        raise ModelError(
            f"graph output '{missing[0]}' is produced by no node",
            where="graph.outputs",
            hint=f"Tensors that nothing reads: {abridged(unread, 5) or 'none'}",
        )
    warn_repaired(f"no node produces the output '{missing[0]}': it is bound to '{unread[0]}'")
    bound = [renamed(node, {unread[0]: missing[0]}) for node in nodes]
    return with_graph(model, node=bound)


def _without_by_products(model: Model) -> Model:
    graph = model.graph
    nodes = [node for node in graph.node if node.op_type not in EMITTED]
    if len(nodes) == len(graph.node):
        return model
    warn_repaired("LSTM and GRU nodes that stand beside the layers they repeat are left out")
    read = {name for node in nodes for name in node.input}
    kept = [entry for entry in model.metadata_props if entry.key not in EMITTED.values()]
    return with_graph(
        model.model_copy(update={"metadata_props": kept}),
        node=nodes,
        initializer=[tensor for tensor in graph.initializer if tensor.name in read],
    )


def with_states(model: Model) -> Model:
    """Feed each `hidden_prev…` with the sum that its recurrent matrix enters.

    A layer that is written as a Conv has lost its own: no node reads its states.
    """
    graph = model.graph
    inputs, outputs, nodes = list(graph.inputs), list(graph.outputs), list(graph.node)
    pairs: dict[str, str] = {}
    for entry in graph.inputs:
        following = entry.name.replace(PREVIOUS, NEXT)
        if not entry.name.startswith(PREVIOUS) or following in {out.name for out in outputs}:
            continue
        product = next((node for node in graph.node if entry.name in node.input), None)
        if product is None:
            warn_repaired(
                f"no node reads the state '{entry.name}': it is left out; the layer has lost its "
                "memory"
            )
            inputs.remove(entry)
            continue
        total = next((node for node in graph.node if product.output[0] in node.input), None)
        if total is None:
            raise ModelError(f"nothing recurrent reads the input '{entry.name}'")
        warn_repaired(f"'{entry.name}' is what '{total.output[0]}' was one step ago")
        name = f"feed_{entry.name}"
        nodes.append(make_node("Identity", total.output[:1], [following], name=name))
        outputs.append(ValueInfo.of(following, entry.elem_type, entry.shape))
        pairs[entry.name] = following
    model = with_graph(model, inputs=inputs, outputs=outputs, node=nodes)
    return with_stated_pairs(model, pairs) if pairs else model


_OWN = (
    _with_json_metadata,
    _warn_of_losses,
    with_bound_output,
    _with_batch,
    with_states,
    _in_order,
    with_space,
)
