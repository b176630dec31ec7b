"""Nodes for one sample after the other, as the body of a Scan.

Some operators take every axis for features: the kernel of a Conv has no batch. An export is for any
number of samples, each with a kernel of its own.
"""

from collections.abc import Mapping, Sequence

from neat_onnx.model import DataType, Graph, Node, Tensor, ValueInfo
from neat_onnx.passes.draft import is_one_of, make_node


def for_each_sample(
    nodes: Sequence[Node],
    reads: Mapping[str, str],
    gives: Mapping[str, str],
    constants: Sequence[Tensor],
    kinds: Mapping[str, DataType] | None = None,
) -> Node:
    """The Scan over samples of which these nodes compute one.

    Args:
        nodes: of one sample.
        reads, gives: names of tensors of all samples [N, ...], and the names of one among the
            nodes.
        constants: constants that they read.
        kinds: the types of tensors of one sample that are not floats.
    """
    kinds = kinds or {}
    body = Graph(
        name="b",
        inputs=[ValueInfo.of(name, kinds.get(name, DataType.FLOAT)) for name in reads.values()],
        outputs=[ValueInfo.of(name, kinds.get(name, DataType.FLOAT)) for name in gives.values()],
        initializer=list(constants),
        node=list(nodes),
    )
    attributes = {"body": body, "num_scan_inputs": len(reads)}
    return make_node("Scan", list(reads), list(gives), attributes)


def body_for_each_sample(node: Node) -> Graph | None:
    """The graph of one sample, if a node is a Scan over samples that carries no state."""
    given, whole = node.given_attributes, {"num_scan_inputs": len(node.input)}
    if not is_one_of(node, "Scan") or given != {"body": given["body"], **whole}:
        return None
    body: Graph = given["body"]
    return body
