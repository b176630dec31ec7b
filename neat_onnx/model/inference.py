"""Types and shapes of a graph's tensors, as onnx's shape inference finds them."""

from typing import NamedTuple

from neat_onnx.errors import ModelError
from neat_onnx.model.crashes import surviving_proto
from neat_onnx.model.data_type import DataType
from neat_onnx.model.model import Model
from neat_onnx.model.value import Extent, ValueInfo

_KNOWN = frozenset(map(int, DataType))


class TensorFacts(NamedTuple):
    """The element type and the shape of a tensor, each None where it is not known."""

    elem_type: DataType | None
    shape: tuple[Extent, ...] | None


def stated_facts(model: Model) -> dict[str, TensorFacts]:
    """Types and shapes that the graph states for its inputs, outputs and initializers."""
    entries = (*_outputs(model), *model.graph.inputs)
    facts = {entry.name: TensorFacts(entry.elem_type, entry.shape) for entry in entries}
    return facts | {
        tensor.name: TensorFacts(tensor.data_type, tensor.dims)
        for tensor in model.graph.initializer
    }


def _outputs(model: Model) -> list[ValueInfo]:
    """The outputs, whose sizes have the names of inputs' sizes alone: exporters make up others."""
    known = {size for entry in model.graph.inputs for size in entry.shape or ()}
    opened = []
    for entry in model.graph.outputs:
        sizes = [
            size if isinstance(size, int) or size in known else None for size in entry.shape or ()
        ]
        shape = None if entry.shape is None else sizes
        opened.append(ValueInfo.of(entry.name, entry.elem_type, shape))
    return opened


def inferred_facts(model: Model) -> dict[str, TensorFacts]:
    """Types and shapes that the graph states, and the ones that onnx infers beside them.

    A graph that inference refuses has only the facts that it states: the checker says why.
    Values of tensors are not followed: that takes memory for each element of a vector.
    """
    from onnx import shape_inference  # noqa: PLC0415 - slow to import

    facts = stated_facts(model)
    graph = model.graph.model_copy(update={"outputs": _outputs(model)})
    try:
        proto = surviving_proto(model.model_copy(update={"graph": graph}))
        proto = shape_inference.infer_shapes(proto)
    except (shape_inference.InferenceError, ModelError, RuntimeError, ValueError):
        return facts
    for entry in (*proto.graph.value_info, *proto.graph.output):
        if not is_known(facts.get(entry.name)):
            facts[entry.name] = _of_proto(entry)
    return facts


def is_known(facts: TensorFacts | None) -> bool:
    """Whether the type and each size of a tensor is known, if only by a name."""
    return facts is not None and None not in (facts.elem_type, facts.shape, *(facts.shape or ()))


def _of_proto(entry: object) -> TensorFacts:
    tensor = entry.type.tensor_type  # type: ignore[attr-defined]
    known = tensor.elem_type in _KNOWN
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(_extent(dim) for dim in tensor.shape.dim)
    return TensorFacts(DataType(tensor.elem_type) if known else None, shape)


def _extent(dim: object) -> Extent:
    field = dim.WhichOneof("value")  # type: ignore[attr-defined]
    found: Extent = getattr(dim, field) if field else None
    return found or None if isinstance(found, str) else found
