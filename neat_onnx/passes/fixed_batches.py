"""The batch of a recurrent layer that reads [T, N, F] of fixed sizes: the second axis.

Exporters write the sizes of their example, and PyTorch's layers have time first. Where the outputs
have as many rows as the second axis, and not as the first, it can only be the batch.
"""

from neat_onnx.model import Model, Node, ValueInfo
from neat_onnx.model.value import is_fixed
from neat_onnx.model.draft import Draft, with_graph
from neat_onnx.passes.recurrent_layers import RecurrentLayers, is_recurrent
from neat_onnx.model.splice import renamed

_SEQUENCE = 3  # axes


def fixed_batches(model: Model) -> Model:
    """The model with [N, T, F] for the input [T, N, F] of a recurrent layer, which it transposes.

    All sizes are fixed, and it has no other input.
    """
    if not any(is_recurrent(node) for node in model.graph.node):
        return model
    layers = RecurrentLayers(model)
    (*others, entry) = layers.entries.values() or [None]
    if others or entry is None or not any(_has_time_first(entry, node) for node in layers.nodes):
        return model
    steps, samples, features = entry.shape or ()
    rows = {layers.shape_of(output.name)[:1] for output in model.graph.outputs}
    if samples in (1, steps) or rows != {(samples,)}:
        return model
    draft = Draft(model)
    names = {entry.name: draft.name(f"{entry.name}_steps")}
    turn = draft.node("Transpose", [entry.name], names.values(), perm=[1, 0, 2])
    turned = ValueInfo.of(entry.name, entry.elem_type, [samples, steps, features])
    found = draft.finished([turn, *(renamed(node, names) for node in model.graph.node)])
    inputs = [turned if each.name == entry.name else each for each in model.graph.inputs]
    return with_graph(found, inputs=inputs)


def _has_time_first(entry: ValueInfo, node: Node) -> bool:
    """Whether a layer reads [T, N, F] of fixed sizes that are an input of the graph."""
    fixed = is_fixed(entry.shape) and len(entry.shape) == _SEQUENCE
    return fixed and node.input[0] == entry.name and not node.given_attributes.get("layout")
