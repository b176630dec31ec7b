"""Tensors inside a graph as outputs of it, to look at their values or to import them."""

from collections.abc import Sequence

from neat_onnx.model.data_type import DataType
from neat_onnx.model.inference import inferred_facts
from neat_onnx.model.model import Model
from neat_onnx.model.value import ValueInfo

_FLOATING = (DataType.FLOAT, DataType.DOUBLE)


def with_inner_outputs(model: Model, names: Sequence[str], *, inputs: bool = False) -> Model:
    """The model whose tensors of these names are outputs too; other names are passed over.

    Their types are the ones that onnx infers; where it cannot, that of the inputs' numbers, or of
    the outputs' where no input has such.

    Args:
        model: the model.
        names: outputs of nodes.
        inputs: names of graph inputs count as well.
    """
    graph = model.graph
    made = {name for node in graph.node for name in node.output if name}
    made |= {entry.name for entry in graph.inputs if inputs}
    made -= {entry.name for entry in graph.outputs}
    fresh = [name for name in dict.fromkeys(names) if name in made]
    if isinstance(names, str) or not fresh:
        return model
    facts, usual = inferred_facts(model), _element(model)
    types = [facts[name].elem_type if name in facts else None for name in fresh]
    outputs = [
        *graph.outputs,
        *(ValueInfo.of(name, kind or usual) for name, kind in zip(fresh, types, strict=True)),
    ]
    return model.model_copy(update={"graph": graph.model_copy(update={"outputs": outputs})})


def _element(model: Model) -> DataType:
    for entries in (model.graph.inputs, model.graph.outputs):
        kinds = {entry.elem_type for entry in entries if entry.elem_type in _FLOATING}
        if kinds:
            return DataType.DOUBLE if kinds == {DataType.DOUBLE} else DataType.FLOAT
    return DataType.FLOAT
