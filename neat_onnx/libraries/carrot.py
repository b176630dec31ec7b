"""Read and write carrot's JSON: input nodes, then hidden ones, then outputs, each in list order.

Which nodes are inputs and outputs stands in `input_nodes` and `output_nodes`; the types of the
nodes do not count.

carrot replaces an infinite activation by the largest double, which float32 does not hold: a network
that overflows is not carrot's from there on.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.list_order import (
    ListConnection,
    ListNetwork,
    ListNode,
    compile_list,
    initial_gain_of,
    refuse_repeats,
    sorted_by,
)
from neat_onnx.libraries.neataptic import ACTIVATION_NAMES, list_document
from neat_onnx.network.network import Network
from neat_onnx.parsing import ForeignDocument, parse


class _Node(ListNode):
    type: str | None = "hidden"  # type: ignore[assignment]
    mask: float = 1.0


class _Document(ForeignDocument):
    input_nodes: list[int]
    output_nodes: list[int]
    nodes: list[_Node]
    connections: list[ListConnection]


def read(document: Mapping[str, Any], options: ReadOptions) -> Network:
    """Return the network that carrot evaluates after `clear()`."""
    parsed = parse(_Document, document, NetworkError)
    typed = _typed(parsed)
    genes = _without_second_loops(parsed.connections)
    refuse_repeats("carrot", genes)
    ranks = {"input": 0, "hidden": 1, "output": 2}
    order = sorted(range(len(typed)), key=lambda at: ranks[typed[at].type])
    nodes, genes = sorted_by(order, typed, genes)
    network = ListNetwork(
        library="carrot",
        names=ACTIVATION_NAMES,
        nodes=nodes,
        connections=genes,
        initial_gain=initial_gain_of(options),
        ids=np.array(order, np.int64),
    )
    return compile_list(network)


def _typed(document: _Document) -> list[ListNode]:
    """The nodes, with the types that the lists of inputs and outputs give them."""
    count = len(document.nodes)
    inputs, outputs = set(document.input_nodes), set(document.output_nodes)
    for key, found in (("input_nodes", inputs), ("output_nodes", outputs)):
        for node in found:
            if not 0 <= node < count:
                raise NetworkError(f"no node {node}: there are {count}", where=key)
    kinds = (
        "input" if k in inputs else "output" if k in outputs else "hidden" for k in range(count)
    )
    return [
        node.model_copy(update={"type": kind})
        for node, kind in zip(document.nodes, kinds, strict=True)
    ]


def _without_second_loops(genes: list[ListConnection]) -> list[ListConnection]:
    """The connections, each self-connection once: carrot writes them twice."""
    last = {gene.source: gene for gene in genes if gene.source == gene.target}
    return [gene for gene in genes if gene.source != gene.target or last[gene.source] is gene]


def write(net: Network) -> dict[str, Any]:
    """Return a document that computes the same after `Network.fromJSON` and `clear()`."""
    document = list_document(net, "carrot")
    count, inputs, outputs = len(document["nodes"]), document["input"], document["output"]
    return {
        **document,
        "input_nodes": list(range(inputs)),
        "output_nodes": list(range(count - outputs, count)),
        "input_size": inputs,
        "output_size": outputs,
    }
