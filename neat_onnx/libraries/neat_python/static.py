"""Feed-forward and recurrent networks of neat-python, compiled.

A feed-forward network is evaluated in topological order; a recurrent one reads the current inputs,
and the value of every other node one step before. Nodes that nothing reads are not in JSON.

A node without enabled connections into it is not computed in a recurrent network, whatever its
bias. Here it is the constant 0, and its genes stand on a neuron beside it, its *holder*, so that
nothing is lost on the way through ONNX, and a genome that is written again evolves on:

    node 7     identity, bias 0; reads the holder with the weight 0
    holder     the activation, aggregation, bias and response of node 7
"""

from collections.abc import Sequence

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.neat_python.functions import Kind
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene, function_name
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import Connections, Neurons, codes_of
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.schedule import schedule


def read(genes: Genes) -> Network:
    """Return the network, as neat-python 2 evaluates it."""
    recurrent, count = genes.kind == "recurrent", len(genes.inputs)
    silent = silent_ids(genes)
    holders = _holders(genes, silent)
    nodes = [*genes.nodes, *(NodeGene(key) for key in silent), *holders.values()]
    keys = [*genes.inputs, *(node.key for node in nodes)]
    names = [""] * (len(keys) - len(holders)) + [f"genes of node {key}" for key in holders]
    place = {key: index for index, key in enumerate(keys)}
    edges = [
        *genes.connections,
        *(ConnectionGene(holder.key, key, 0.0) for key, holder in holders.items()),
    ]
    source = np.array([place[edge.source] for edge in edges], np.int64)
    activations, activation = codes_of(["identity"] * count + _names(nodes, "activation"))
    aggregations, aggregation = codes_of(["sum"] * count + _names(nodes, "aggregation"))
    network = Network(
        inputs=(Port("input", (count,), np.arange(count)),),
        outputs=(
            Port("output", (len(genes.outputs),), np.array([place[k] for k in genes.outputs])),
        ),
        neurons=Neurons(
            np.array(keys, np.int64),
            activation,
            aggregation,
            np.array([0.0] * count + [node.bias for node in nodes], np.float64),
            np.array([1.0] * count + [node.response for node in nodes], np.float64),
            np.zeros(len(keys)),
            tuple(names) if holders else (),
        ),
        connections=Connections.of(
            source,
            np.array([place[edge.target] for edge in edges], np.int64),
            np.array([edge.weight for edge in edges], np.float64),
            enabled=np.array([edge.enabled for edge in edges], np.bool_),
            delay=recurrent & (source >= count),
        ),
        activations=activations,
        aggregations=aggregations,
        library=f"neat-python {'recurrent' if recurrent else 'feed-forward'}",
    )
    if not recurrent and not genes.acyclic:
        _refuse_cycles(network)
    return network


def _names(nodes: Sequence[NodeGene], kind: Kind) -> list[str]:
    """Our names of the functions of nodes."""
    known: dict[object, str] = {}
    found = []
    for node in nodes:
        function = getattr(node, kind)
        if function not in known:
            known[function] = function_name(node, kind)
        found.append(known[function])
    return found


def is_plain(node: NodeGene) -> bool:
    """Return whether a node without inputs is the constant 0 of the plainest genes."""
    return node[1:5] == NodeGene(node.key)[1:5]


def _holders(genes: Genes, silent: Sequence[int]) -> dict[int, NodeGene]:
    """The holders of silent nodes with genes, by the key of the node."""
    found: dict[int, NodeGene] = {}
    if not genes.silent:
        return found
    fresh = max([-1, *silent, *genes.inputs, *(node.key for node in genes.nodes)]) + 1
    for at, node in enumerate(genes.silent):
        names = silent_functions(node)
        if names is None or node.key not in silent or is_plain(node):
            continue
        z = node.bias + node.response * aggregation_named(names[1]).empty
        with np.errstate(all="ignore"):
            value = activation_named(names[0])(np.array([z]))[0]
        if np.isfinite(value):  # so that 0 times it is 0
            found[node.key] = node._replace(key=fresh + at)
    return found


def silent_functions(node: NodeGene) -> tuple[str, str] | None:
    """The functions of a node that stays 0; None, with a warning, if nobody knows them."""
    try:
        return function_name(node, "activation"), function_name(node, "aggregation")
    except NetworkError as error:
        warn(f"node {node.key} stays at 0, and its genes are left out: {error.message}")
        return None


def _refuse_cycles(network: Network) -> None:
    try:
        schedule(network)
    except NetworkError as error:
        raise NetworkError(
            f"network_type is feedforward but {error.message}",
            where=error.where,
            hint="Export a network with cycles as a recurrent one",
        ) from error


def silent_ids(genes: Genes) -> list[int]:
    """The keys that stand for the constant 0: named, or silent, but not among the nodes.

    Both kinds of network start an output at 0, and leave it there if it has no node. In a recurrent
    one that also holds for a node without enabled connections into it. A connection that ends in an
    input or, unless that is such a 0, nowhere is refused.
    """
    recurrent, nodes = genes.kind != "feedforward", {node.key for node in genes.nodes}
    inputs = set(genes.inputs)
    silent = dict.fromkeys(k for k in genes.outputs if k not in nodes and k not in inputs)
    for key in () if recurrent else silent:
        warn(f"no node computes the output {key}: neat-python gives 0")
    known = {*inputs, *nodes, *genes.outputs}
    for index, gene in enumerate(genes.connections):
        where = f"connections[{index}]"
        if gene.enabled and gene.target in inputs:
            raise NetworkError(f"it ends in node {gene.target}, an input", where=f"{where}.to")
        if gene.enabled and gene.target not in nodes:
            raise NetworkError(f"no node {gene.target}", where=f"{where}.to")
        for end, key in (("from", gene.source), ("to", gene.target)):
            if key not in known:
                if not recurrent:
                    raise NetworkError(f"no node {key}", where=f"{where}.{end}")
                silent[key] = None
    silent |= dict.fromkeys(node.key for node in genes.silent if node.key not in inputs | nodes)
    return list(silent)
