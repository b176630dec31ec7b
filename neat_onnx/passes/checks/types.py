"""Types whose numbers neurons do not have: half precision, and integers that begin anew."""

from neat_onnx.model import DataType, Model, Node
from neat_onnx.verification.half_precision import check_half_precision

_WIDE = (DataType.INT32, DataType.INT64)


def check_types(model: Model) -> None:
    """Refuse a model whose numbers neurons do not compute, or warn of it.

    Raises:
        ModelError: it names the nodes.
    """
    graph = model.graph
    check_half_precision(graph)
    kinds = {entry.elem_type for entry in graph.inputs} | {*map(_cast_to, graph.node)}
    kinds |= {tensor.data_type for tensor in graph.initializer} - {*_WIDE}  # which shapes are of
    if any(kind.is_integer for kind in kinds):
        from neat_onnx.passes.checks.narrow_integers import check_narrow_integers  # noqa: PLC0415 - seldom

        check_narrow_integers(model)


def _cast_to(node: Node) -> DataType:
    """The type that a Cast gives; FLOAT for any other node."""
    given = node.given_attributes
    return DataType(given["to"]) if node.op_type == "Cast" else DataType.FLOAT
