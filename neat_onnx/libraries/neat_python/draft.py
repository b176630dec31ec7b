"""A network as the genes of neat-python: nodes, connections, and the kind of network they make.

The genes of a feed-forward network read within the step; the genes of a recurrent one read every
node as it was one step before, and only the inputs at once. A network that mixes both is neither.
"""

from dataclasses import replace

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.limits import Reasons, cannot_hold
from neat_onnx.libraries.neat_python.functions import aggregation_called, called
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene
from neat_onnx.libraries.neat_python.static import held_genes
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network


def genes_of(net: Network) -> Genes:
    """Return the genes of a network, or refuse it with every reason and its neurons."""
    _refuse(net)
    keys = _keys(net)
    held = held_genes(net) if net.has_memory else {}
    genes = Genes(
        "recurrent" if net.has_memory else "feedforward",
        [keys[j] for j in net.input_neurons.tolist()],
        list(range(len(net.output_neurons))),
        silent={keys[j] for j in held},
    )
    computing = [j for j in np.flatnonzero(~net.is_input).tolist() if j not in held.values()]
    genes.nodes = [node_gene(net, held.get(j, j), keys[j]) for j in computing]
    _add_connections(net, genes, keys, {*held.values()})
    _add_outputs(net, genes, keys)
    if genes.kind == "recurrent":
        _feed_constants(net, genes, keys, computing)
    _tell(net, genes)
    return genes


def _refuse(net: Network) -> None:
    live, computes = net.live, ~net.is_input
    of_input, now = net.is_input[live.source], live.delay == 0
    reasons = Reasons(net, "neat-python")
    reasons.connections("a gate", live.gater != NONE)
    reasons.connections("a connection that reads a state", live.reads_state)
    reasons.connections("a delayed input", of_input & ~now)
    reasons.connections("a connection into an input", net.is_input[live.target])
    reasons.connections("a delay of more than 1", live.delay > 1)
    reasons.neurons("an initial value", net.neurons.initial != 0.0)
    if np.any(~now & ~of_input):
        mixed = "neurons that read others at once beside delayed ones"
        reasons.connections(mixed, now & ~of_input)
    for name in net.activations:
        if called(name) is None:
            reasons.neurons(f"the activation {name}", computes & (net.activation_names == name))
    for name in net.aggregations:
        if aggregation_called(name) is None:
            reasons.neurons(f"the aggregation {name}", computes & (net.aggregation_names == name))
    reasons.refuse()


def _keys(net: Network) -> list[int]:
    """The key of each neuron: inputs -1, -2, …, outputs 0, 1, …, others their id or a fresh one."""
    keys: dict[int, int] = {}
    for place, neuron in enumerate(net.input_neurons.tolist()):
        keys[neuron] = -1 - place
    for place, neuron in enumerate(net.output_neurons.tolist()):
        keys.setdefault(neuron, place)
    outputs = len(net.output_neurons)
    ids = net.neurons.id.tolist()
    taken = {ids[j] for j in range(len(net)) if j not in keys and ids[j] >= outputs}
    fresh = max(taken, default=outputs - 1) + 1
    for neuron, own in enumerate(ids):
        if neuron not in keys:
            keys[neuron] = own if own >= outputs else fresh
            fresh += own < outputs
    changed = sum(keys[neuron] != own for neuron, own in enumerate(ids))
    if changed:
        warn(f"neat-python numbers inputs -1, -2, … and outputs 0, 1, …: {changed} ids change")
    return [keys[neuron] for neuron in range(len(net))]


def numbered(genes: Genes) -> Genes:
    """Return genes with the inputs -1, -2, … and the outputs 0, 1, …, as a genome has them."""
    keys = {key: -1 - place for place, key in enumerate(genes.inputs)}
    for place, key in enumerate(genes.outputs):
        if key in keys:
            raise NetworkError(f"neat-python cannot hold node {key} as two ends of the network")
        keys[key] = place
    named = {key for gene in genes.connections for key in (gene.source, gene.target)}
    others = list(dict.fromkeys([*(node.key for node in genes.nodes), *sorted(named)]))
    free = max([len(genes.outputs) - 1, *others]) + 1
    for key in others:
        if key not in keys:
            kept = key >= len(genes.outputs)
            keys[key], free = (key, free) if kept else (free, free + 1)
    nodes = [node._replace(key=keys[node.key]) for node in genes.nodes]
    has = {node.key for node in nodes} | {keys[key] for key in genes.inputs}
    nodes += [NodeGene(key) for key in dict.fromkeys(keys.values()) if key not in has]
    connections = [
        gene._replace(source=keys[gene.source], target=keys[gene.target])
        for gene in genes.connections
    ]
    inputs, outputs = list(keys.values())[: len(genes.inputs)], list(range(len(genes.outputs)))
    silent = {keys[key] for key in genes.silent}
    return replace(
        genes,
        inputs=inputs,
        outputs=outputs,
        nodes=nodes,
        connections=connections,
        silent=silent,
    )


def node_gene(net: Network, neuron: int, key: int) -> NodeGene:
    """Return the gene of a neuron, its activation's slope divided out of bias and response."""
    own, how = net.neurons, called(net.activation_names[neuron])
    aggregates = aggregation_called(net.aggregation_names[neuron])
    if how is None or aggregates is None:
        raise ValueError(neuron)  # where `_refuse` has not looked
    bias = float(own.bias[neuron]) / how.slope + how.shift
    response = float(own.response[neuron]) / how.slope
    return NodeGene(key, {"bias": bias, "response": response}, how.function, aggregates)


def _add_connections(net: Network, genes: Genes, keys: list[int], without: set[int]) -> None:
    """Add the connections; a second one between two nodes goes through a node of its own."""
    own, seen = net.connections, set[tuple[int, int]]()
    order = np.argsort(~own.enabled, kind="stable")  # an enabled gene wins over a disabled one
    kept: dict[int, list[ConnectionGene]] = {}
    dropped, relays = 0, 0
    for at in order.tolist():
        source, target = ends = keys[own.source[at]], keys[own.target[at]]
        gene = ConnectionGene(source, target, float(own.weight[at]), bool(own.enabled[at]))
        if own.source[at] in without:
            continue
        if not gene.enabled and (ends in seen or target < 0):
            dropped += 1
        elif ends in seen:
            kept[at] = _relayed(net, genes, gene, int(own.target[at]))
            relays += 1
        else:
            seen.add(ends)
            kept[at] = [gene]
    genes.connections = [gene for at in sorted(kept) for gene in kept[at]]
    if dropped:
        warn(f"{dropped} disabled connections that neat-python has no place for are left out")
    if relays:
        warn(f"neat-python has one connection between two nodes: {relays} nodes are added")


def _relayed(net: Network, genes: Genes, gene: ConnectionGene, target: int) -> list[ConnectionGene]:
    if genes.kind == "recurrent":
        raise cannot_hold(net, "neat-python", {"a second connection between two nodes": [target]})
    key = max([len(genes.outputs) - 1, *(node.key for node in genes.nodes)]) + 1
    genes.nodes.append(NodeGene(key))
    return [ConnectionGene(gene.source, key, 1.0), gene._replace(source=key)]


def _add_outputs(net: Network, genes: Genes, keys: list[int]) -> None:
    """Give each place of the outputs a node; an input, or a neuron there twice, gets another."""
    neurons = net.output_neurons.tolist()
    extra = [place for place, neuron in enumerate(neurons) if keys[neuron] != place]
    for place in extra:
        neuron = neurons[place]
        if genes.kind == "recurrent" and not net.is_input[neuron]:
            raise cannot_hold(net, "neat-python", {"one neuron as two outputs": [neuron]})
        genes.nodes.append(NodeGene(place))
        genes.connections.append(ConnectionGene(keys[neuron], place, 1.0))
    if extra:
        warn(f"neat-python's outputs are nodes of their own: {len(extra)} nodes are added")


def _feed_constants(net: Network, genes: Genes, keys: list[int], computing: list[int]) -> None:
    """Give a weight of 0 to nodes without connections, which neat-python would leave at 0."""
    fed = {*net.live.target.tolist()}
    added = {}
    for neuron in computing:
        aggregation = aggregation_named(net.aggregation_names[neuron])
        z = net.neurons.bias[neuron] + net.neurons.response[neuron] * aggregation.empty
        value = activation_named(net.activation_names[neuron])(np.array([z]))[0]
        if neuron in fed or value == 0.0 or keys[neuron] in genes.silent:
            continue
        if aggregation.empty:
            raise cannot_hold(net, "neat-python", {"a product of nothing": [neuron]})
        source = genes.inputs[0] if genes.inputs else keys[neuron]
        added[source, keys[neuron]] = ConnectionGene(source, keys[neuron], 0.0)
    if added:
        others = [gene for gene in genes.connections if gene[:2] not in added]
        genes.connections = [*others, *added.values()]
        warn(
            f"neat-python leaves recurrent nodes without connections at 0: {len(added)} "
            "connections of weight 0 are added"
        )


def _tell(net: Network, genes: Genes) -> None:
    """Warn of rounding, and of functions that the user has to add."""
    hows = {name: called(name) for name in net.activation_names[~net.is_input].tolist()}
    scaled = sorted(name for name, how in hows.items() if how and how.slope != 1.0)
    if scaled:
        warn(
            f"neat-python's slopes are divided out of bias and response of {', '.join(scaled)}: "
            "the last bit may differ"
        )
    used = {function for node in genes.nodes for function in (node.activation, node.aggregation)}
    custom = sorted(function.name for function in used if function.custom)
    if custom:
        warn(f"add these functions to neat-python's configuration: {', '.join(custom)}")
