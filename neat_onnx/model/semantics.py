"""The graph-semantics profile in words: deterministic operators, and values that no order changes.

The draft says these beside its constraints, without codes of its own for them:

- deterministic: "if all operators are deterministic, a graph is also deterministic".
- order: "the values of the outputs do not depend on the execution order of its nodes"; a graph
  inside a node must not give a name again that a tensor around it has.
"""

from collections.abc import Iterator
from typing import Any

from neat_onnx.model.data_type import DataType
from neat_onnx.model.graph import ONNX_DOMAINS, Graph
from neat_onnx.model.node import Node
from neat_onnx.model.tensor import Tensor
from neat_onnx.model.wiring import Finding, subgraphs

RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
    | {"Multinomial", "Bernoulli"}
)
"""The operators of ONNX that draw their outputs at random."""


def is_random(node: Node) -> bool:
    """Whether a node draws its outputs at random."""
    return node.op_type in RANDOM and node.domain in ONNX_DOMAINS


def _may_drop(node: Node, off: frozenset[str]) -> bool:
    """Whether a Dropout may leave values out at random: its training_mode is not known as off."""
    mode = (*node.input, "", "", "")[2]
    return node.op_type == "Dropout" and node.domain in ONNX_DOMAINS and mode not in {"", *off}


def _switched_off(graph: Graph) -> frozenset[str]:
    """The constants of a graph that are one false, whether initializers or Constant nodes."""
    constants: list[tuple[str, Any]] = list(graph.tensors.items())
    for node in graph.node:
        if node.op_type == "Constant":
            constants += [(node.output[0], value) for _, _, value in node.attributes.given()]
    return frozenset(
        name
        for name, value in constants
        if isinstance(value, Tensor) and value.data_type is DataType.BOOL and not value.values.any()
    )


def gives_sizes(node: Node) -> bool:
    """Whether a node gives the sizes of a tensor, and nothing of its elements."""
    return node.op_type in ("Shape", "Size") and node.domain in ONNX_DOMAINS


def semantic_findings(
    graph: Graph, around: frozenset[str] = frozenset(), off: frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """Yield the breaches of a graph, and of the graphs inside its nodes.

    Args:
        graph: the graph.
        around: names of tensors of the graphs that it stands in.
        off: constants among them that are false.
    """
    off |= _switched_off(graph)
    own = _names(graph)
    for name in sorted(own & around):
        yield Finding(
            code="order",
            where=name,
            message=f"a graph inside a node gives '{name}' again, a tensor of the graph around it",
            hint="Give every tensor a name of its own",
        )
    for node in graph.node:
        if is_random(node) or _may_drop(node, off):
            yield Finding(
                code="deterministic",
                where=node.label,
                message=f"node {node.label} draws its outputs at random",
                hint="Make the random numbers an input of the graph",
            )
        for inner in subgraphs(node):
            yield from semantic_findings(inner, around | own, off)


def _names(graph: Graph) -> frozenset[str]:
    given = {entry.name for entry in graph.inputs} | set(graph.tensors)
    return frozenset(given | {name for node in graph.node for name in node.output if name})
