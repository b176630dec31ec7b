"""Nodes that onnx's checker and shape inference do not survive, refused before they are called.

Both are written in C++. On a few mistakes they abort the process, or fill the memory, instead of
saying no: outputs of a Split that `num_outputs` does not count, axes beyond 32 bits, and inputs
that an operator needs but that are left out.
"""

from collections.abc import Iterator
from functools import cache

from neat_onnx.errors import ModelError
from neat_onnx.model.graph import NEWEST_OPSET, ONNX_DOMAINS
from neat_onnx.model.model import Model
from neat_onnx.model.node import Node
from neat_onnx.model.wiring import subgraphs

_LARGEST_AXIS = 2**31 - 1


def refuse_crashes(model: Model) -> None:
    """Refuse a model that onnx's checker and shape inference would crash on.

    Raises:
        ModelError: says which node, and why.
    """
    versions = {entry.domain: entry.version for entry in model.opset_import}
    versions |= dict.fromkeys(ONNX_DOMAINS, model.opset)
    for node in _nodes(model):
        given = {name: value for name, _, value in node.attributes.given()}
        problem = (
            _split(node, given.get("num_outputs"))
            or _axis(given.get("axis"))
            or _left_out(node, versions.get(node.domain, 1))
        )
        if problem:
            raise ModelError(f"node {node.label}: {problem}", where=node.name or None)


def _nodes(model: Model) -> Iterator[Node]:
    """Every node: of the graph, of graphs inside nodes, and of functions."""
    bodies = [model.graph.node, *(function.node for function in model.functions)]
    while bodies:
        for node in bodies.pop():
            yield node
            bodies.extend(graph.node for graph in subgraphs(node))


def _split(node: Node, count: object) -> str:
    if node.op_type != "Split" or count is None or count == len(node.output):
        return ""
    return f"num_outputs is {count}, and it has {len(node.output)} outputs"


def _axis(axis: object) -> str:
    if not isinstance(axis, int) or abs(axis) <= _LARGEST_AXIS:
        return ""
    return f"axis is {axis}, beyond 32 bits"


def _left_out(node: Node, version: int) -> str:
    if "" not in node.input:
        return ""
    needed = _needed_inputs(node.op_type, node.domain, version)
    left_out = [at for at, name in enumerate(node.input) if not name and at in needed]
    return f"input {left_out[0]} is left out, and it needs that" if left_out else ""


@cache
def _needed_inputs(op_type: str, domain: str, version: int) -> frozenset[int]:
    """The positions of inputs that are not optional; none for an operator that is not known."""
    from onnx import defs  # noqa: PLC0415 - slow to import

    try:
        schema = defs.get_schema(op_type, min(version, NEWEST_OPSET), domain)
    except defs.SchemaError:
        return frozenset()
    single = defs.OpSchema.FormalParameterOption.Single
    return frozenset(at for at, each in enumerate(schema.inputs) if each.option == single)
