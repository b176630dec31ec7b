"""What feeds the states of recurrent layers: outputs that the graph lacks, and metadata of it."""

import json

from neat_onnx.errors import ModelError
from neat_onnx.libraries.neataptic_ts.onnx.repair.telling import tell, with_graph
from neat_onnx.model import Graph, MetadataEntry, Model, Node, ValueInfo
from neat_onnx.model.states import NEXT, PREVIOUS, STATE_KEY
from neat_onnx.operators.shaping import Identity


def with_states(model: Model) -> Model:
    """The model whose every `hidden_prev…` is fed by the sum that its recurrent matrix goes into.

    Raises:
        ModelError: nothing recurrent reads one of them.
    """
    model = _without_unread(model)
    graph = model.graph
    outputs, nodes, pairs = list(graph.outputs), list(graph.node), []
    for entry in graph.inputs:
        following = entry.name.replace(PREVIOUS, NEXT)
        if not entry.name.startswith(PREVIOUS) or following in {out.name for out in outputs}:
            continue
        total = _sum_of(graph, entry.name)
        tell(f"'{entry.name}' is what '{total.output[0]}' was one step ago")
        name = f"feed_{entry.name}"
        nodes.append(Identity(name=name, input=total.output[:1], output=[following]))
        outputs.append(ValueInfo.of(following, entry.elem_type, entry.shape))
        pairs.append([entry.name, following])
    if not pairs:
        return model
    told = MetadataEntry(key=STATE_KEY, value=json.dumps(pairs))
    model = with_graph(model, outputs=outputs, node=nodes)
    return model.model_copy(update={"metadata_props": [*model.metadata_props, told]})


def _without_unread(model: Model) -> Model:
    """Without states that no node reads: a layer that is written as a Conv has lost its own."""
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
        tell(f"no node reads the state '{name}': it is left out; the layer has lost its memory")
    return with_graph(model, inputs=[entry for entry in graph.inputs if entry.name not in unread])


def _sum_of(graph: Graph, previous: str) -> Node:
    """The node that adds what the recurrent matrix makes of a state."""
    product = next((node for node in graph.node if node.input[:1] == [previous]), None)
    total = next((n for n in graph.node if product and product.output[0] in n.input), None)
    if total is None:
        raise ModelError(f"nothing recurrent reads the input '{previous}'")
    return total
