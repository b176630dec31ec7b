"""A batch axis, where inputs and outputs have none."""

from neat_onnx.libraries.neataptic_ts.onnx.repair.telling import tell, with_graph
from neat_onnx.model import Model, Node, ValueInfo
from neat_onnx.operators.shaping import Concat


def with_batch(model: Model) -> Model:
    """The model with a batch axis before the only axis of inputs and outputs; Concat follows."""
    graph = model.graph
    if any(len(entry.shape or ()) != 1 for entry in (*graph.inputs, *graph.outputs)):
        return model
    tell("the inputs have no batch axis: it is put in front")
    return with_graph(
        model,
        inputs=[_batched(entry) for entry in graph.inputs],
        outputs=[_batched(entry) for entry in graph.outputs],
        node=[_of_columns(node) for node in graph.node],
    )


def _of_columns(node: Node) -> Node:
    if not isinstance(node, Concat):
        return node
    return node.model_copy(update={"attributes": node.attributes.model_copy(update={"axis": 1})})


def _batched(entry: ValueInfo) -> ValueInfo:
    return ValueInfo.of(entry.name, entry.elem_type, ["N", *(entry.shape or ())])
