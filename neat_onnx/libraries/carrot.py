"""Read and write carrot's JSON: input nodes, then hidden ones, then outputs, each in list order.

Which nodes are inputs and outputs stands in `input_nodes` and `output_nodes`; the types of the
nodes do not count.

carrot replaces an infinite activation by the largest double, which float32 does not hold: a network
that overflows is not carrot's from there on.
"""

from collections.abc import Mapping
from typing import Any

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.list_order import ListConnection, ListNetwork, ListNode, refuse_repeats
from neat_onnx.libraries.neataptic import ACTIVATION_NAMES, list_document
from neat_onnx.network.network import Network
from neat_onnx.parsing import ForeignDocument, parse


class _Node(ListNode):
    mask: float = 1.0


class _Document(ForeignDocument):
    input_nodes: list[int]
    output_nodes: list[int]
    nodes: list[_Node]
    connections: list[ListConnection]


def read(document: Mapping[str, Any], options: ReadOptions) -> Network:
    """Return the network that carrot evaluates after `clear()`."""
    parsed = parse(_Document, document, NetworkError)
    count = len(parsed.nodes)
    for key, found in (("input_nodes", parsed.input_nodes), ("output_nodes", parsed.output_nodes)):
        for node in found:
            if not 0 <= node < count:
                raise NetworkError(f"no node {node}: there are {count}", where=key)
    ranks = dict.fromkeys(parsed.output_nodes, 2) | dict.fromkeys(parsed.input_nodes, 0)
    # it writes self-connections twice
    loops = {gene.source: gene for gene in parsed.connections if gene.source == gene.target}
    genes = [
        gene
        for gene in parsed.connections
        if gene.source != gene.target or loops[gene.source] is gene
    ]
    refuse_repeats("carrot", genes)
    return ListNetwork(
        library="carrot",
        names=ACTIVATION_NAMES,
        nodes=parsed.nodes,
        kinds=[("input", "hidden", "output")[ranks.get(at, 1)] for at in range(count)],
        connections=genes,
        order=sorted(range(count), key=lambda at: ranks.get(at, 1)),
        initial_gain=options.initial_gain or 0.0,
    ).compiled()


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
