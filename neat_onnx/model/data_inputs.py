"""The inputs of a graph that carry data: neither weights, nor tensors without elements."""

from neat_onnx.model import Model, Tensor, ValueInfo
from neat_onnx.model.draft import with_graph
from neat_onnx.model.value import is_fixed
from neat_onnx.model.wiring import reads


def with_data_inputs(model: Model) -> Model:
    """The model without inputs that are weights, and without empty ones that nothing reads.

    Up to IR 3 every initializer had to be an input as well. Later on it is an input's default: a
    weight all the same, unless the input's shape is open. Inputs without elements are declared for
    the memory of a policy that has none.
    """
    tensors = model.graph.tensors
    kept = [entry for entry in model.graph.inputs if not _is_weight(model, entry, tensors)]
    empty = {entry.name for entry in kept if 0 in (entry.shape or ())}
    if empty:
        empty -= {name for node in model.graph.node for name in reads(node)}
        empty -= {entry.name for entry in model.graph.outputs}
    kept = [entry for entry in kept if entry.name not in empty]
    return model if len(kept) == len(model.graph.inputs) else with_graph(model, inputs=kept)


def _is_weight(model: Model, entry: ValueInfo, tensors: dict[str, Tensor]) -> bool:
    if entry.name not in tensors:
        return False
    old = model.ir_version is not None and model.ir_version < 4
    return old or is_fixed(entry.shape)
