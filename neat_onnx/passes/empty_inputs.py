"""Inputs without elements: exporters declare them for the memory of a policy that has none."""

from neat_onnx.model import Model
from neat_onnx.model.wiring import reads
from neat_onnx.passes.draft import with_graph


def empty_inputs(model: Model) -> Model:
    """The model without the inputs that have an axis of size 0, and that nothing reads."""
    empty = {entry.name for entry in model.graph.inputs if 0 in (entry.shape or ())}
    empty -= {name for node in model.graph.node if empty for name in reads(node)}
    empty -= {entry.name for entry in model.graph.outputs}
    if not empty:
        return model
    kept = [entry for entry in model.graph.inputs if entry.name not in empty]
    return with_graph(model, inputs=kept)
