"""A network as the genes of neat-python: nodes, connections, and the kind of network they make.

The genes of a feed-forward network read within the step; the genes of a recurrent one read every
node as it was one step before, and only the inputs at once. A network that mixes both is neither.
"""

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.libraries.limits import Reasons
from neat_onnx.libraries.neat_python.functions import aggregation_called, called
from neat_onnx.libraries.neat_python.genes import ConnectionGene, Genes, NodeGene
from neat_onnx.libraries.neat_python.static import held_genes
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Bools, Connections
from neat_onnx.network.network import Network


def genes_of(net: Network) -> Genes:
    """Return the genes of a network, or refuse it with every reason and its neurons."""
    held = held_genes(net) if net.has_memory else {}
    computing = [j for j in np.flatnonzero(~net.is_input).tolist() if j not in held.values()]
    _refuse(net, [j for j in computing if j not in held])
    keys = _keys(net)
    genes = Genes(
        "recurrent" if net.has_memory else "feedforward",
        [keys[j] for j in net.input_neurons.tolist()],
        list(range(len(net.output_neurons))),
        [node_gene(net, held.get(j, j), keys[j]) for j in computing],
        silent={keys[j] for j in held},
    )
    _add_connections(net, genes, keys, {*held.values()})
    _tell(net, genes)
    return genes


def _refuse(net: Network, computing: list[int]) -> None:
    live, computes = net.live, ~net.is_input
    of_input, now = net.is_input[live.source], live.delay == 0
    reasons, hint = Reasons(net, "neat-python"), None
    reasons.connections("a gate", live.gater != NONE)
    reasons.connections("a connection that reads a state", live.reads_state)
    reasons.connections("a delayed input", of_input & ~now)
    reasons.connections("a connection into an input", net.is_input[live.target])
    reasons.connections("a delay of more than 1", live.delay > 1)
    reasons.connections("a second connection between two nodes", _is_second(net, live))
    reasons.neurons("an initial value", net.neurons.initial != 0.0)
    places = np.bincount(net.output_neurons, minlength=len(net))
    reasons.neurons("an input as an output", net.is_input & (places > 0))
    reasons.neurons("one neuron as two outputs", places > 1)
    if net.has_memory:
        mixed = "neurons that read others at once beside delayed ones"
        reasons.connections(mixed, now & ~of_input)
        fed = {*live.target.tolist()}
        constant = [j for j in computing if j not in fed and _constant(net, j) != 0.0]
        what = "a neuron that nothing leads to and that is not 0"  # it is 0 there
        reasons.neurons(what, np.isin(np.arange(len(net)), constant))
        hint = "Connect an input to it, with the weight 0" if constant else None
    for name in net.activations:
        if called(name) is None:
            reasons.neurons(f"the activation {name}", computes & (net.activation_names == name))
    for name in net.aggregations:
        if aggregation_called(name) is None:
            reasons.neurons(f"the aggregation {name}", computes & (net.aggregation_names == name))
    reasons.refuse(hint)


def _is_second(net: Network, live: Connections) -> Bools:
    """Which connections have the same ends as one before."""
    first = np.unique(live.source * len(net) + live.target, return_index=True)[1]
    return ~np.isin(np.arange(len(live)), first)


def _constant(net: Network, neuron: int) -> float:
    """The value of a neuron that nothing leads to."""
    empty = aggregation_named(net.aggregation_names[neuron]).empty
    z = net.neurons.bias[neuron] + net.neurons.response[neuron] * empty
    return float(activation_named(net.activation_names[neuron])(np.array([z]))[0])


def _keys(net: Network) -> list[int]:
    """The key of each neuron: inputs -1, -2, …, outputs 0, 1, …, others their id or a fresh one."""
    keys: dict[int, int] = {}
    for place, neuron in enumerate(net.input_neurons.tolist()):
        keys[neuron] = -1 - place
    for place, neuron in enumerate(net.output_neurons.tolist()):
        keys[neuron] = place
    outputs, ids = len(net.output_neurons), net.neurons.id.tolist()
    fresh = max([outputs - 1, *(own for j, own in enumerate(ids) if j not in keys)]) + 1
    for neuron, own in enumerate(ids):
        if neuron not in keys:
            keys[neuron] = own if own >= outputs else fresh
            fresh += own < outputs
    changed = sum(keys[neuron] != own for neuron, own in enumerate(ids))
    if changed:
        warn(f"neat-python numbers inputs -1, -2, … and outputs 0, 1, …: {changed} ids change")
    return [keys[neuron] for neuron in range(len(net))]


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
    """Add the connections, but for disabled ones that neat-python has no place for."""
    own, live = net.connections, net.live
    taken = set(zip(live.source.tolist(), live.target.tolist(), strict=True))
    ends = zip(own.source.tolist(), own.target.tolist(), strict=True)
    dropped = 0
    for (source, target), weight, enabled in zip(
        ends, own.weight.tolist(), own.enabled.tolist(), strict=True
    ):
        if source in without:
            continue
        if not enabled and ((source, target) in taken or net.is_input[target]):
            dropped += 1
            continue
        taken.add((source, target))
        genes.connections.append(ConnectionGene(keys[source], keys[target], weight, enabled))
    if dropped:
        warn(f"{dropped} disabled connections that neat-python has no place for are left out")


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
