"""An output that no node produces, bound to the one tensor that no node reads."""

from neat_onnx.errors import ModelError
from neat_onnx.libraries.neataptic_ts.onnx.repair.telling import some, tell, with_graph
from neat_onnx.model import Graph, Model, Node
from neat_onnx.model.wiring import Wiring

# in shapes that ONNX does not have; nothing reads them. And what the metadata says of them
_BY_PRODUCTS = {"LSTM": "lstm_emitted_layers", "GRU": "gru_emitted_layers"}


def unproduced(graph: Graph) -> list[str]:
    """The outputs that no node produces."""
    wiring = Wiring(graph)
    names = (entry.name for entry in graph.outputs)
    return [name for name in names if name not in wiring.producer and name not in wiring.given]


def with_outputs(model: Model) -> Model:
    """The model whose output is produced, without LSTM and GRU nodes beside the layers.

    Raises:
        ModelError: the output could be any of several tensors.
    """
    model = _without_by_products(model)
    nodes, missing = model.graph.node, unproduced(model.graph)
    read = {name for node in nodes for name in node.input}
    unread = [node.output[0] for node in nodes if not read.intersection(node.output)]
    if len(missing) != 1 or len(unread) != 1:
        raise ModelError(
            f"graph output '{missing[0]}' is produced by no node",
            where="graph.outputs",
            hint=f"Tensors that nothing reads: {some(unread) or 'none'}",
        )
    tell(f"no node produces the output '{missing[0]}': it is bound to '{unread[0]}'")
    return with_graph(model, node=[_renamed(node, unread[0], missing[0]) for node in nodes])


def _without_by_products(model: Model) -> Model:
    graph = model.graph
    nodes = [node for node in graph.node if node.op_type not in _BY_PRODUCTS]
    if len(nodes) == len(graph.node):
        return model
    tell("LSTM and GRU nodes that stand beside the layers they repeat are left out")
    read = {name for node in nodes for name in node.input}
    return with_graph(
        model.model_copy(
            update={
                "metadata_props": [
                    entry
                    for entry in model.metadata_props
                    if entry.key not in _BY_PRODUCTS.values()
                ]
            }
        ),
        node=nodes,
        initializer=[tensor for tensor in graph.initializer if tensor.name in read],
    )


def _renamed(node: Node, old: str, new: str) -> Node:
    outputs = [new if name == old else name for name in node.output]
    return node.model_copy(update={"output": outputs})
