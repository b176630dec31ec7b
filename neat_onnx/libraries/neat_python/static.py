"""Feed-forward and recurrent networks of neat-python, compiled.

A feed-forward network is evaluated in topological order; a recurrent one reads the current inputs,
and the value of every other node one step before. Nodes that nothing reads are not in JSON.

A node without enabled connections into it is not computed in a recurrent network or a ctrnn,
whatever its bias. Here it is the constant 0, and its genes stand on a neuron beside it, its
*holder*, so that nothing is lost on the way through ONNX, and a genome that is written again
evolves on:

    node 7     identity, bias 0
    holder     the activation, aggregation, bias and response of node 7, and a disabled connection
               to it, whose weight is the time constant of a ctrnn, in time steps
"""

from collections.abc import Sequence

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.genome_graph import Edge
from neat_onnx.libraries.neat_python.functions import Role, name_in_network
from neat_onnx.libraries.neat_python.genes import Genes, NodeGene
from neat_onnx.network.genes import Connections, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

HOLDS = "genes of node "
"""The name of a holder, before the key of its node."""


def static_network(genes: Genes) -> Network:
    """Return the network, as neat-python 2 evaluates it."""
    recurrent, count = genes.kind == "recurrent", len(genes.inputs)
    missing = genes.missing(strict=False)
    if missing and not recurrent:
        for key in missing:
            warn(f"no node computes the output {key}: neat-python gives 0")
    nodes, edges, names = genes.nodes, genes.connections, [""]
    if missing or genes.silent:
        held = holders(genes)
        nodes = [NodeGene(node.key) if node.key in genes.silent else node for node in nodes]
        nodes += [*map(NodeGene, missing), *held.values()]
        edges = [*edges, *(Edge(h.key, key, 0.0, False) for key, h in held.items())]
        names = [""] * (count + len(nodes) - len(held)) + [f"{HOLDS}{key}" for key in held]
    keys = [*genes.inputs, *(node.key for node in nodes)]
    place = {key: index for index, key in enumerate(keys)}
    source = [place[edge.source] for edge in edges]
    neurons = Neurons.of(
        np.array(keys, np.int64),
        ["identity"] * count + _names(nodes, "activation"),
        ["sum"] * count + _names(nodes, "aggregation"),
        bias=[0.0] * count + [node.bias for node in nodes],
        response=[1.0] * count + [node.response for node in nodes],
        name=names,
    )
    network = Network.of_genes(
        np.arange(count),
        np.array([place[key] for key in genes.outputs], np.int64),
        neurons,
        Connections.of(
            source,
            [place[edge.target] for edge in edges],
            [edge.weight for edge in edges],
            enabled=[edge.enabled for edge in edges],
            delay=[int(recurrent and at >= count) for at in source],
        ),
        f"neat-python {'recurrent' if recurrent else 'feed-forward'}",
    )
    if not recurrent and not genes.acyclic:
        try:
            schedule(network)
        except NetworkError as error:
            what = f"network_type is feedforward but {error.message}"
            hint = "Export a network with cycles as a recurrent one"
            raise NetworkError(what, where=error.where, hint=hint) from error
    return network


def _names(nodes: Sequence[NodeGene], kind: Role) -> list[str]:
    """Our names of the functions of nodes."""
    return [name_in_network(getattr(node, kind), kind, f"{node.where}.{kind}") for node in nodes]


def holders(genes: Genes) -> dict[int, NodeGene]:
    """Return the holders of silent nodes, whose keys are fresh, by the key of the node.

    A node of the plainest genes needs none.
    """
    silent = [n for n in genes.nodes if n.key in genes.silent and n[1:4] != _PLAIN]
    fresh = max([-1, *genes.inputs, *(node.key for node in genes.nodes)]) + 1
    return {node.key: node._replace(key=key) for key, node in enumerate(silent, fresh)}


_PLAIN = NodeGene(0, {"bias": 0.0, "response": 1.0})[1:4]


def held_genes(network: Network) -> dict[int, int]:
    """Return the neurons that hold the genes of others, by these others."""
    own = network.connections
    found = {}
    for holder, name in enumerate(network.neuron_names):
        if name.startswith(HOLDS):
            (at,) = np.nonzero((own.source == holder) & ~own.enabled)
            if len(at) == 1:
                found[int(own.target[at[0]])] = holder
    return found
