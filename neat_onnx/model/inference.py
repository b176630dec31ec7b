"""Types and shapes of a graph's tensors, as onnx's shape inference finds them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from neat_onnx.errors import ModelError
from neat_onnx.model.crashes import surviving_proto
from neat_onnx.model.data_type import DataType
from neat_onnx.model.model import Model
from neat_onnx.model.value import Extent

_KNOWN = frozenset(map(int, DataType))


class TensorFacts(NamedTuple):
    """The element type and the shape of a tensor, each None where it is not known."""

    elem_type: DataType | None
    shape: tuple[Extent, ...] | None


def stated_facts(model: Model) -> dict[str, TensorFacts]:
    """Types and shapes that the graph states for its inputs, outputs and initializers.

    A size of an output that is called as no size of an input is not known: exporters make up such
    names.
    """
    graph = model.graph
    facts = {entry.name: TensorFacts(entry.elem_type, entry.shape) for entry in graph.inputs}
    known = symbols(model)
    for entry in graph.outputs:
        sizes = tuple(
            None if isinstance(size, str) and size not in known else size
            for size in entry.shape or ()
        )
        shape = None if entry.shape is None else sizes
        facts.setdefault(entry.name, TensorFacts(entry.elem_type, shape))
    return facts | {
        tensor.name: TensorFacts(tensor.data_type, tensor.dims) for tensor in graph.initializer
    }


def inferred_facts(model: Model) -> dict[str, TensorFacts]:
    """Types and shapes that the graph states, and the ones that onnx infers beside them.

    A graph that inference refuses has only the facts that it states: the checker says why.
    Values of tensors are not followed: that takes memory for each element of a vector.
    """
    from onnx import shape_inference  # noqa: PLC0415 - slow to import

    facts = stated_facts(model)
    try:
        proto = surviving_proto(model)
        _forget(proto.graph.output, symbols(model))
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


def symbols(model: Model) -> set[Extent]:
    """The names of sizes that inputs have."""
    sizes = {size for entry in model.graph.inputs for size in entry.shape or ()}
    return {size for size in sizes if isinstance(size, str)}


def _forget(outputs: Iterable[Any], known: set[Extent]) -> None:
    """Leave sizes open that have other names than the inputs'."""
    for entry in outputs:
        for size in entry.type.tensor_type.shape.dim:
            if size.HasField("dim_param") and size.dim_param not in known:
                size.Clear()


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
