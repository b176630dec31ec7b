"""Read and write genomes of goNEAT as the networks that it builds of them.

goNEAT computes all nodes at once from the values of the update before, and a caller asks for as
many updates as the network is deep: one without cycles then holds its values in topological order.
A node is computed once something that reaches back to an input or a bias has come in; till then it
is 0, for ever where nothing does.

What is written is plain text. A bias is a gene from an added node that is always 1. A neuron that
reads nothing gets one of weight 0 as well, because goNEAT leaves a node at 0 that no input and no
bias leads to. goNEAT evolves on with the id of the last node plus 1, and its crossover sorts nodes
by their ids: so they stand in that order, and ids by which inputs or outputs would change places
are not kept.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.genome_graph import Edge, GenomeGraph, Node, check_cycles
from neat_onnx.libraries.goneat.genome import (
    ACTIVATION_NAMES,
    BIAS,
    HIDDEN,
    INPUT,
    OUTPUT,
    TYPES,
    Genome,
    NodeLine,
    plain_genomes,
)
from neat_onnx.libraries.goneat.yaml import yaml_genome
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.limits import Limits, reasons_against
from neat_onnx.libraries.names import reversed_names, translated
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule


def read(content: str, options: ReadOptions) -> Network:
    """Return the network of the only genome of a file.

    Raises:
        NetworkError: there are several, or it is not a genome; says where.
        OptionError: it has a cycle, and `cycles` is not given.
    """
    genomes = _genomes(content)
    if len(genomes) != 1:
        ids = ", ".join(str(genome.id) for genome in genomes[:20])
        raise NetworkError(
            f"a population of {len(genomes)} networks",
            hint=f"Say which (genome=ID, or --genome ID), or use load_networks. Found: {ids}",
        )
    return _network(genomes[0], options.cycles)


def read_all(content: str, options: ReadOptions) -> Mapping[int, Network]:
    """Return the network of each genome by its id, in the order of the file.

    Raises:
        NetworkError: one of them is not a genome, or two have one id; says where.
        OptionError: one has a cycle, and `cycles` is not given.
    """
    found: dict[int, Network] = {}
    for genome in _genomes(content):
        if genome.id in found:
            raise NetworkError(f"the genome id {genome.id} occurs twice")
        found[genome.id] = _network(genome, options.cycles)
    return found


def _genomes(content: str) -> list[Genome]:
    return plain_genomes(content) or [yaml_genome(content)]


def _network(genome: Genome, cycles: int | None) -> Network:
    """The network of a genome; genes that come from a bias are the biases of their targets."""
    ids = [node.id for node in genome.nodes]
    if len(set(ids)) < len(ids):
        raise NetworkError(f"two nodes have one id, in the genome {genome.id}")
    always_one = {node.id for node in genome.nodes if node.kind == BIAS}
    biases = [edge for edge in genome.genes if edge.source in always_one and edge.enabled]
    graph = GenomeGraph(
        library="goneat",
        inputs=[node.id for node in genome.nodes if node.kind == INPUT],
        outputs=[node.id for node in genome.nodes if node.kind == OUTPUT],
        nodes=[_node(node, biases) for node in genome.nodes if node.kind in (HIDDEN, OUTPUT)],
        edges=[edge for edge in genome.genes if edge.source not in always_one],
    ).checked()
    start = {edge.target for edge in biases}
    _check_outputs(graph, start)
    graph = graph.without_silent(start)
    if not graph.has_cycle:
        net = graph.acyclic()
        if cycles is not None:
            check_cycles(cycles)
            _warn_if_deeper(net, genome, cycles)
        return net
    if cycles is None:
        raise OptionError(
            f"the genome {genome.id} has a cycle",
            where="cycles",
            hint="Say how many updates a step takes (what ForwardSteps is called with); cycles=N "
            "does, or --cycles N",
        )
    _check_first_update(graph, genome, start)
    return graph.updated(cycles)


def _warn_if_deeper(net: Network, genome: Genome, cycles: int) -> None:
    """Warn where goNEAT would not get to the outputs in the updates that are asked for."""
    depth = int(schedule(net).level[net.output_neurons].max())
    if cycles < depth:
        warn(
            f"the genome {genome.id} has no cycle and is {depth} updates deep: it is read as after "
            f"all of them, not as goNEAT leaves it after {cycles}"
        )


def _node(node: NodeLine, biases: list[Edge]) -> Node:
    name = translated(
        node.activation, ACTIVATION_NAMES, ACTIVATIONS, "activation", node.where, "goneat"
    )
    return Node(node.id, name, sum(edge.weight for edge in biases if edge.target == node.id))


def _check_outputs(graph: GenomeGraph, start: set[int]) -> None:
    """Refuse a network that goNEAT does not activate.

    Raises:
        NetworkError: there is no output, or nothing leads from an input or a bias to one.
    """
    if not graph.outputs:
        raise NetworkError("a network without outputs", where="nodes")
    reached = graph.reached([*start, *graph.inputs])
    silent = [key for key in graph.outputs if key not in reached]
    if silent:
        raise NetworkError(
            "no input and no bias leads to it: goNEAT does not activate such a network",
            where=f"node {silent[0]}",
        )


def _check_first_update(graph: GenomeGraph, genome: Genome, start: set[int]) -> None:
    """Refuse a cyclic network some of whose nodes are still 0 after the first update.

    Raises:
        NetworkError: one of its nodes has inputs from nodes that come later in the list alone.
    """
    awake = set(graph.inputs)
    for node in genome.nodes:
        sources = {edge.source for edge in graph.edges if edge.enabled and edge.target == node.id}
        if node.id in start or sources & awake:
            awake.add(node.id)
    for key in sorted(graph.reached([*start, *graph.inputs]) - awake):
        raise NetworkError(
            "in a network with cycles, goNEAT leaves this node at 0 in its first update, because "
            "all that it reads comes later in the list of nodes",
            where=f"node {key}",
            hint="Connect it to an input or a bias, with the weight 0 if need be",
        )


_NAMES = reversed_names(ACTIVATION_NAMES)
_LIMITS = Limits("goNEAT", _NAMES, repeated=True)
_SENSOR = "NullActivation"
_ID_LIMIT = 2**30
"""Ids of new nodes are int32 there; evolution goes on with the ids above."""


def write(net: Network) -> str:
    """Return the genome as plain text; its numbers read back to the same doubles.

    Raises:
        NetworkError: goNEAT cannot express something; lists every reason with neurons.
    """
    reasons_against(net, _LIMITS).refuse()
    ids = _ids(net)
    bias = max(ids, default=0) + 1
    lines = ["genomestart 1", "trait 1 0.1 0 0 0 0 0 0 0"]
    outputs = set(net.output_neurons.tolist())
    for j in np.argsort(ids).tolist():
        if net.is_input[j]:
            lines.append(_node_line(ids[j], INPUT, _SENSOR))
        else:
            lines.append(
                _node_line(ids[j], OUTPUT if j in outputs else HIDDEN, _activation(net, j))
            )
    lines += [_node_line(bias, BIAS, _SENSOR), *_genes(net, ids, bias)]
    return "\n".join([*lines, "genomeend 1"]) + "\n"


def _ids(net: Network) -> list[int]:
    """The neurons' own ids, or 1, 2, … where goNEAT does not count so: inputs, outputs, others."""
    ids: list[int] = net.neurons.id.tolist()
    ends = [net.input_neurons.tolist(), net.output_neurons.tolist()]
    ascend = all(ids[a] < ids[b] for end in ends for a, b in pairwise(end))
    if ascend and all(0 < key < _ID_LIMIT for key in ids):
        return ids
    order = dict.fromkeys([*ends[0], *ends[1], *range(len(net))])
    place = {neuron: key for key, neuron in enumerate(order, 1)}
    return [place[neuron] for neuron in range(len(net))]


def _node_line(key: int, kind: str, activation: str) -> str:
    sensor = int(kind in (INPUT, BIAS))
    return f"node {key} 0 {sensor} {TYPES.index(kind)} {activation}"


def _activation(net: Network, neuron: int) -> str:
    return _NAMES[str(net.activation_names[neuron])]


def _genes(net: Network, ids: list[int], bias: int) -> list[str]:
    """A line for each connection, disabled ones too, and for each bias."""
    genes = net.connections
    lines = [
        (ids[source], ids[target], weight, enabled)
        for source, target, weight, enabled in zip(
            genes.source.tolist(),
            genes.target.tolist(),
            genes.weight.tolist(),
            genes.enabled.tolist(),
            strict=True,
        )
    ]
    wanted = ~net.is_input & ((net.neurons.bias != 0.0) | (net.fan_in == 0))
    for j in np.flatnonzero(wanted).tolist():
        lines.append((bias, ids[j], float(net.neurons.bias[j]), True))
    return [
        f"gene 1 {source} {target} {weight!r} {str(source == target).lower()} {innovation} 0 "
        f"{str(enabled).lower()}"
        for innovation, (source, target, weight, enabled) in enumerate(lines, 1)
    ]
