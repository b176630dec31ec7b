"""Acyclic networks as SharpNEAT evaluates them: pushed from the inputs, layer by layer."""

from dataclasses import replace

from neat_onnx.errors import warn
from neat_onnx.libraries.genome_graph import GenomeGraph
from neat_onnx.network.network import Network


def acyclic(genome: GenomeGraph) -> Network:
    """Return an acyclic genome's network: SharpNEAT pushes values from the inputs, layer by layer.

    Raises:
        NetworkError: it has a cycle.
    """
    if any(edge.enabled and edge.source in set(genome.inputs) for edge in genome.edges):
        return genome.without_silent(()).acyclic("Write `cyclic` and the number of updates")
    warn("no connection leaves an input: SharpNEAT computes nothing, and its outputs are 0")
    nodes = [node._replace(activation="identity", bias=0.0) for node in genome.nodes]
    edges = [edge._replace(enabled=False) for edge in genome.edges]
    return replace(genome, nodes=nodes, edges=edges).acyclic()
