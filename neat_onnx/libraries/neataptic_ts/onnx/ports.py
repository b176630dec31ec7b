"""Graph outputs that no node produces, and states that nothing feeds: bound to tensors."""

from neat_onnx.errors import ModelError, abridged
from neat_onnx.libraries.neataptic_ts.onnx.edits import renamed, warn_repaired, with_graph
from neat_onnx.libraries.neataptic_ts.onnx.metadata import EMITTED
from neat_onnx.model import Graph, Model, Node, ValueInfo
from neat_onnx.model.states import NEXT, PREVIOUS, with_stated_pairs
from neat_onnx.model.wiring import Wiring
from neat_onnx.operators.export.layout.shaping import Identity


def unproduced(graph: Graph) -> list[str]:
    """Return the graph outputs that no node produces."""
    wiring = Wiring(graph)
    names = (entry.name for entry in graph.outputs)
    return [name for name in names if name not in wiring.producer and name not in wiring.given]


def without_unproduced(model: Model) -> Model:
    """Leave out outputs that no node produces, beside others that nodes do produce.

    A tool that edited the file lost the constants of a policy, such as the size of its memory.
    """
    missing = unproduced(model.graph)
    kept = [entry for entry in model.graph.outputs if entry.name not in missing]
    if not missing or not kept:
        return model
    warn_repaired(f"outputs that no node produces are left out: {abridged(missing, 5)}")
    return with_graph(model, outputs=kept)


def with_bound_output(model: Model) -> Model:
    """Bind the output to the one tensor that no node reads; drop LSTM and GRU nodes beside layers.

    Raises:
        ModelError: the output could be any of several tensors.
    """
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
    return with_graph(model, node=[_producing(node, unread[0], missing[0]) for node in nodes])


def _producing(node: Node, old: str, new: str) -> Node:
    return node.model_copy(update={"output": renamed(node.output, old, new)})


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

    Raises:
        ModelError: no recurrent sum reads one of them.
    """
    model = _without_unread(model)
    graph = model.graph
    outputs, nodes = list(graph.outputs), list(graph.node)
    pairs: dict[str, str] = {}
    for entry in graph.inputs:
        following = entry.name.replace(PREVIOUS, NEXT)
        if not entry.name.startswith(PREVIOUS) or following in {out.name for out in outputs}:
            continue
        total = _sum_of(graph, entry.name)
        warn_repaired(f"'{entry.name}' is what '{total.output[0]}' was one step ago")
        name = f"feed_{entry.name}"
        nodes.append(Identity(name=name, input=total.output[:1], output=[following]))
        outputs.append(ValueInfo.of(following, entry.elem_type, entry.shape))
        pairs[entry.name] = following
    if not pairs:
        return model
    return with_stated_pairs(with_graph(model, outputs=outputs, node=nodes), pairs)


def _without_unread(model: Model) -> Model:
    """Drop states that no node reads: a layer written as a Conv has lost its own."""
    graph = model.graph
    read = {name for node in graph.node for name in node.input}
    unread = [
        entry.name
        for entry in graph.inputs
        if entry.name.startswith(PREVIOUS) and entry.name not in read
    ]
    if not unread:
        return model
    for name in unread:
        warn_repaired(
            f"no node reads the state '{name}': it is left out; the layer has lost its memory"
        )
    return with_graph(model, inputs=[entry for entry in graph.inputs if entry.name not in unread])


def _sum_of(graph: Graph, previous: str) -> Node:
    """Return the Add that reads the product of a state and its recurrent matrix."""
    product = next((node for node in graph.node if node.input[:1] == [previous]), None)
    total = next((n for n in graph.node if product and product.output[0] in n.input), None)
    if total is None:
        raise ModelError(f"nothing recurrent reads the input '{previous}'")
    return total
