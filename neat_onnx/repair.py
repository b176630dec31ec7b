"""Repairs: what NeatapticTS writes as ONNX, made valid. Each repair is a warning in words.

Its documents list consumers before producers, name an output that no node produces, have inputs
without a batch axis, and leave open what feeds a recurrent layer's `hidden_prev`. A document that
has none of this comes back as it is.
"""

import warnings

from neat_onnx.errors import ModelError, NeatOnnxWarning
from neat_onnx.model import Graph, Model, Node, ValueInfo, node_class
from neat_onnx.model.wiring import Wiring
from neat_onnx.operators.state import NEXT, PREVIOUS

_BY_PRODUCTS = ("LSTM", "GRU")  # in shapes that ONNX does not have; nothing reads them


def repaired(model: Model) -> Model:
    """The model with its graph repaired.

    Raises:
        ModelError: an output that no node produces could be any of several tensors.
    """
    graph = _with_outputs(model.graph)
    if graph is not model.graph:  # it is one of NeatapticTS
        graph = _with_states(_with_batch(graph))
    graph = _in_order(graph)
    return model if graph is model.graph else model.model_copy(update={"graph": graph})


def _with_outputs(graph: Graph) -> Graph:
    """Bind an output that nothing produces to the one tensor that nothing reads."""
    wiring = Wiring(graph)
    missing = [entry.name for entry in graph.outputs if entry.name not in wiring.producer]
    missing = [name for name in missing if name not in wiring.given]
    if not missing:
        return graph
    nodes = [node for node in graph.node if node.op_type not in _BY_PRODUCTS]
    if len(nodes) < len(graph.node):
        _warn("LSTM and GRU nodes that stand beside the layers they repeat are left out")
    read = {name for node in nodes for name in node.input}
    unread = [node.output[0] for node in nodes if not read.intersection(node.output)]
    if len(missing) != 1 or len(unread) != 1:
        raise ModelError(
            f"graph output '{missing[0]}' is produced by no node",
            where="graph.outputs",
            hint=f"Tensors that nothing reads: {', '.join(unread[:5]) or 'none'}",
        )
    _warn(f"no node produces the output '{missing[0]}': it is bound to '{unread[0]}'")
    nodes = [_renamed(node, unread[0], missing[0]) for node in nodes]
    return graph.model_copy(update={"node": nodes})


def _with_batch(graph: Graph) -> Graph:
    """Put a batch axis before the only axis of inputs and outputs, and let Concat follow."""
    if any(len(entry.shape or ()) != 1 for entry in (*graph.inputs, *graph.outputs)):
        return graph
    _warn("the inputs have no batch axis: it is put in front")
    nodes = [_along(node, 1) if node.op_type == "Concat" else node for node in graph.node]
    return graph.model_copy(
        update={
            "inputs": [_batched(entry) for entry in graph.inputs],
            "outputs": [_batched(entry) for entry in graph.outputs],
            "node": nodes,
        }
    )


def _with_states(graph: Graph) -> Graph:
    """Feed each `hidden_prev…` with the sum that its recurrent matrix goes into."""
    outputs, nodes = list(graph.outputs), list(graph.node)
    for entry in graph.inputs:
        following = entry.name.replace(PREVIOUS, NEXT)
        if not entry.name.startswith(PREVIOUS) or following in {out.name for out in outputs}:
            continue
        product = next((node for node in graph.node if node.input[:1] == [entry.name]), None)
        total = next((n for n in graph.node if product and product.output[0] in n.input), None)
        if total is None:
            raise ModelError(f"nothing recurrent reads the input '{entry.name}'")
        _warn(f"'{entry.name}' is what '{total.output[0]}' was one step ago")
        identity = node_class("Identity")
        nodes.append(
            identity(name=f"feed_{entry.name}", input=total.output[:1], output=[following])
        )
        outputs.append(ValueInfo.of(following, entry.elem_type, entry.shape))
    return graph.model_copy(update={"outputs": outputs, "node": nodes})


def _in_order(graph: Graph) -> Graph:
    """Sort the nodes so that each stands after those it reads."""
    wiring = Wiring(graph)
    if wiring.cyclic:
        return graph  # whoever lifts it says so
    order: list[int] = []
    done: set[int] = set()
    for first in range(len(graph.node)):
        waiting = [first]
        while waiting:
            at = waiting[-1]
            before = sorted(wiring.sources(at) - done, reverse=True)
            if before:
                waiting += before
                continue
            waiting.pop()
            if at not in done:
                done.add(at)
                order.append(at)
    if order == list(range(len(graph.node))):
        return graph
    _warn("nodes stand before others that they read: they are sorted")
    return graph.model_copy(update={"node": [graph.node[at] for at in order]})


def _renamed(node: Node, old: str, new: str) -> Node:
    outputs = [new if name == old else name for name in node.output]
    return node.model_copy(update={"output": outputs})


def _along(node: Node, axis: int) -> Node:
    attributes = node.attributes.model_copy(update={"axis": axis})
    return node.model_copy(update={"attributes": attributes})


def _batched(entry: ValueInfo) -> ValueInfo:
    return ValueInfo.of(entry.name, entry.elem_type, ["N", *(entry.shape or ())])


def _warn(text: str) -> None:
    warnings.warn(f"repaired: {text}", NeatOnnxWarning, stacklevel=4)
