"""A network as the genes of neat-python: nodes, connections, and the kind of network they make.

The genes of a feed-forward network read within the step; the genes of a recurrent one read every
node
as it was one step before, and only the inputs at once. A network that mixes both is neither.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.limits import cannot_hold
from neat_onnx.libraries.neat_python.functions import AGGREGATION_NAMES, aggregation_called, called
from neat_onnx.libraries.neat_python.silent import released
from neat_onnx.network.activations import activation_named
from neat_onnx.network.aggregations import aggregation_named
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network


@dataclass(frozen=True)
class NodeGene:
    """A node gene; `numbers` has the further genes of a ctrnn or an iznn, by name."""

    key: int
    bias: float = 0.0
    response: float = 1.0
    activation: str = "identity"
    aggregation: str = "sum"
    custom: bool = False
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ConnectionGene:
    """A connection gene."""

    source: int
    target: int
    weight: float
    enabled: bool = True


@dataclass
class Draft:
    """The genes of a network.

    Attributes:
        feed_forward: whether they are evaluated within the step.
        inputs, outputs: the keys of the nodes.
        nodes: hidden ones and outputs.
        silent: further ones of a ctrnn, which stay 0: a document does not have them.
        connections: at most one between two nodes.
        timed: "ctrnn" or "iznn" where a step is an amount of time, else empty.
        time_step, advance_time: of such a step.
        version: of neat-python.
    """

    feed_forward: bool
    inputs: list[int]
    outputs: list[int]
    nodes: list[NodeGene] = field(default_factory=list)
    silent: list[NodeGene] = field(default_factory=list)
    connections: list[ConnectionGene] = field(default_factory=list)
    timed: str = ""
    time_step: float = 1.0
    advance_time: float = 1.0
    version: str = "2.0.0"

    @property
    def kind(self) -> str:
        """The type of network, as a document calls it."""
        return self.timed or ("feedforward" if self.feed_forward else "recurrent")


def draft_of(net: Network) -> Draft:
    """Return the genes of a network."""
    net, silent = released(net)
    problems = _problems(net)
    if problems:
        raise cannot_hold(net, "neat-python", problems)
    feed_forward = not net.has_memory and not len(silent)
    keys = _keys(net)
    outputs = list(range(len(net.output_neurons)))
    draft = Draft(feed_forward, [keys[j] for j in net.input_neurons.tolist()], outputs)
    draft.nodes = [node_gene(net, j, keys[j]) for j in np.flatnonzero(~net.is_input).tolist()]
    _add_connections(net, draft, keys)
    _add_outputs(net, draft, keys)
    if not draft.feed_forward:
        _feed_constants(net, draft, keys, set(silent.tolist()))
    _tell(net)
    return draft


def _problems(net: Network) -> dict[str, Iterable[int]]:
    """The reasons why neat-python cannot compute the network, each with its neurons."""
    live, found = net.live, dict[str, Iterable[int]]()
    of_input = net.is_input[live.source]
    computed = np.flatnonzero(~net.is_input)
    delays = live.delay[~of_input]
    checks: list[tuple[str, Ints]] = [
        ("a gate", live.target[live.gater != NONE]),
        ("a connection that reads a state", live.target[live.reads_state]),
        ("a delayed input", live.target[of_input & (live.delay > 0)]),
        ("a connection into an input", live.target[net.is_input[live.target]]),
        ("a delay of more than 1", live.target[live.delay > 1]),
        ("an initial value", np.flatnonzero(net.neurons.initial != 0.0)),
    ]
    if np.any(delays > 0) and np.any(delays == 0):
        at_once = live.target[~of_input & (live.delay == 0)]
        checks.append(("neurons that read others at once beside delayed ones", at_once))
    for name in net.activations:
        if called(name) is None:
            who = computed[net.activation_names[computed] == name]
            checks.append((f"the activation {name}", who))
    for name in net.aggregations:
        if aggregation_called(name) is None:
            who = computed[net.aggregation_names[computed] == name]
            checks.append((f"the aggregation {name}", who))
    for reason, neurons in checks:
        if len(neurons):
            found[reason] = neurons.tolist()
    return found


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


def numbered(draft: Draft) -> Draft:
    """Return genes with the inputs -1, -2, … and the outputs 0, 1, …, as a genome has them."""
    keys = {key: -1 - place for place, key in enumerate(draft.inputs)}
    for place, key in enumerate(draft.outputs):
        if key in keys:
            raise NetworkError(f"neat-python cannot hold node {key} as two ends of the network")
        keys[key] = place
    named = {key for gene in draft.connections for key in (gene.source, gene.target)}
    own = [*draft.nodes, *draft.silent]
    others = list(dict.fromkeys([*(node.key for node in own), *sorted(named)]))
    free = max([len(draft.outputs) - 1, *others]) + 1
    for key in others:
        if key not in keys:
            kept = key >= len(draft.outputs)
            keys[key], free = (key, free) if kept else (free, free + 1)
    nodes = [replace(node, key=keys[node.key]) for node in own]
    has = {node.key for node in nodes} | {keys[key] for key in draft.inputs}
    nodes += [NodeGene(key) for key in dict.fromkeys(keys.values()) if key not in has]
    connections = [
        replace(gene, source=keys[gene.source], target=keys[gene.target])
        for gene in draft.connections
    ]
    ends = list(keys.values())[: len(draft.inputs)], list(range(len(draft.outputs)))
    draft = replace(draft, inputs=ends[0], outputs=ends[1], connections=connections)
    return replace(draft, nodes=nodes, silent=[])


def node_gene(net: Network, neuron: int, key: int) -> NodeGene:
    """Return the gene of a neuron, its activation's slope divided out of bias and response."""
    genes = net.neurons
    how = called(net.activation_names[neuron])
    assert how is not None  # _problems has looked
    return NodeGene(
        key,
        float(genes.bias[neuron]) / how.slope + how.shift,
        float(genes.response[neuron]) / how.slope,
        how.name,
        aggregation_called(net.aggregation_names[neuron]) or "sum",
        how.custom,
    )


def _add_connections(net: Network, draft: Draft, keys: list[int]) -> None:
    """Add the genes; a second one between two nodes goes through a node of its own."""
    genes, seen = net.connections, set[tuple[int, int]]()
    order = np.argsort(~genes.enabled, kind="stable")  # an enabled gene wins over a disabled one
    kept: list[tuple[int, list[ConnectionGene]]] = []
    dropped, relays = 0, 0
    for at in order.tolist():
        source, target = keys[genes.source[at]], keys[genes.target[at]]
        gene = ConnectionGene(source, target, float(genes.weight[at]), bool(genes.enabled[at]))
        if not gene.enabled and ((source, target) in seen or target < 0):
            dropped += 1
            continue
        if (source, target) in seen:
            kept.append((at, _relayed(net, draft, gene, int(genes.target[at]))))
            relays += 1
            continue
        seen.add((source, target))
        kept.append((at, [gene]))
    draft.connections = [gene for _, group in sorted(kept, key=lambda e: e[0]) for gene in group]
    if dropped:
        warn(f"{dropped} disabled connections that neat-python has no place for are left out")
    if relays:
        warn(f"neat-python has one connection between two nodes: {relays} nodes are added")


def _relayed(net: Network, draft: Draft, gene: ConnectionGene, target: int) -> list[ConnectionGene]:
    if not draft.feed_forward:
        raise cannot_hold(net, "neat-python", {"a second connection between two nodes": [target]})
    key = _fresh(draft)
    draft.nodes.append(NodeGene(key))
    return [ConnectionGene(gene.source, key, 1.0), replace(gene, source=key)]


def _fresh(draft: Draft) -> int:
    return max([len(draft.outputs) - 1, *(node.key for node in draft.nodes)]) + 1


def _add_outputs(net: Network, draft: Draft, keys: list[int]) -> None:
    """Give each place of the outputs a node; an input, or a neuron there twice, gets another."""
    neurons = net.output_neurons.tolist()
    extra = [place for place, neuron in enumerate(neurons) if keys[neuron] != place]
    for place in extra:
        neuron = neurons[place]
        if not draft.feed_forward and not net.is_input[neuron]:
            raise cannot_hold(net, "neat-python", {"one neuron as two outputs": [neuron]})
        draft.nodes.append(NodeGene(place))
        draft.connections.append(ConnectionGene(keys[neuron], place, 1.0))
    if extra:
        warn(f"neat-python's outputs are nodes of their own: {len(extra)} nodes are added")


def _feed_constants(net: Network, draft: Draft, keys: list[int], silent: set[int]) -> None:
    """Give a weight of 0 to nodes without connections, which neat-python would leave at 0.

    Nodes with the ids `silent` are left at 0.
    """
    fed = set(net.live.target.tolist())
    added = 0
    for neuron in np.flatnonzero(~net.is_input).tolist():
        aggregation = aggregation_named(net.aggregation_names[neuron])
        z = net.neurons.bias[neuron] + net.neurons.response[neuron] * aggregation.empty
        value = activation_named(net.activation_names[neuron])(np.array([z]))[0]
        if neuron in fed or value == 0.0 or net.neurons.id[neuron] in silent:
            continue
        if aggregation.empty:
            raise cannot_hold(net, "neat-python", {"a product of nothing": [neuron]})
        source = draft.inputs[0] if draft.inputs else keys[neuron]
        draft.connections = [
            gene
            for gene in draft.connections
            if (gene.source, gene.target) != (source, keys[neuron])
        ]
        draft.connections.append(ConnectionGene(source, keys[neuron], 0.0))
        added += 1
    if added:
        warn(
            f"neat-python leaves recurrent nodes without connections at 0: {added} connections of "
            "weight 0 are added"
        )


def _tell(net: Network) -> None:
    """Warn of rounding, and of functions that the user has to add."""
    hows = {name: called(name) for name in net.activation_names[~net.is_input].tolist()}
    scaled = sorted(name for name, how in hows.items() if how and how.slope != 1.0)
    if scaled:
        warn(
            f"neat-python's slopes are divided out of bias and response of {', '.join(scaled)}: "
            "the last bit may differ"
        )
    used = {aggregation_called(name) for name in net.aggregation_names[~net.is_input].tolist()}
    custom = sorted(how.name for how in hows.values() if how and how.custom)
    custom += sorted(name for name in used if name and name not in AGGREGATION_NAMES)
    if custom:
        warn(f"add these functions to neat-python's configuration: {', '.join(custom)}")
