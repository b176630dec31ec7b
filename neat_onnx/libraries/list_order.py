"""List order, compiled: how neataptic and its relatives evaluate a network, as explicit delays.

They go through the nodes once a step, in list order, and read the values that the nodes have at
that moment. So
- a connection from a later node carries the value of the previous step;
- a self-connection multiplies the node's previous *state*, before its activation function;
- a gater sets the gains it gates when it is computed: a gater that stands before the target acts in
  the same step, any other one step later. After a reset these gains are 0;
- an input node only takes its value: its bias, its activation, connections into it are ignored, and
  it never sets a gain, so that connections gated by it do not act after a reset.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from pydantic import Field

from neat_onnx.arguments import is_number
from neat_onnx.errors import NetworkError, OptionError, warn
from neat_onnx.libraries.library import ReadOptions
from neat_onnx.libraries.names import reversed_names, translated
from neat_onnx.network.genes import NONE, Bools, Connections, Floats, Ints, Neurons
from neat_onnx.network.network import Network
from neat_onnx.parsing import ForeignDocument


class ListNode(ForeignDocument):
    """A node.

    Some have a `mask` that multiplies the activation that others read, or a `state` and an
    `activation` with which they begin.
    """

    bias: float
    squash: str


class ListConnection(ForeignDocument):
    """A connection between nodes, by their positions in the list."""

    source: int = Field(alias="from")
    target: int = Field(alias="to")
    weight: float
    gater: int | None = None


@dataclass(frozen=True)
class ListNetwork:
    """A network in list order.

    Attributes:
        library: who wrote it.
        names: the library's names of activations to ours.
        nodes: n of them, as the file has them.
        kinds: input, output or (anything else) hidden, of each.
        connections: m of them, between positions in `nodes`.
        order: the positions in the order of evaluation; their own if None.
        initial_gain: the gain of a gated connection before its gater was first computed: 0 after
            `clear()`, 1 where the network was restored without.
        ids: of the neurons, in the order of evaluation; the positions in `nodes` if None.
        enabled: whether the library lets each connection act, shape (m,); None if all do.
        registered_for: the library's name where users register functions; `library` if empty.
    """

    library: str
    names: Mapping[str, str]
    nodes: Sequence[ListNode]
    kinds: Sequence[str | None]
    connections: Sequence[ListConnection]
    order: Sequence[int] | None = None
    initial_gain: float = 0.0
    ids: Ints | None = None
    enabled: Bools | None = None
    registered_for: str = ""


def compile_list(network: ListNetwork) -> Network:
    """Return the network with explicit delays.

    A node whose mask is not 1 gets a neuron after it, which everything reads in its place: its
    identity of mask · activation. Only the node's own self-connection still reads the node. So does
    one that begins with a state and an activation that are both read: a neuron has one such value.
    """
    count = len(network.nodes)
    _check_ends(network, count)
    order = np.array(range(count) if network.order is None else network.order, np.int64)
    nodes = [network.nodes[at] for at in order]
    kinds = np.array([network.kinds[at] for at in order], dtype=object)
    is_input = kinds == "input"
    if not np.all(is_input[: int(is_input.sum())]):
        hint = f"{network.library} gives the k-th input to the k-th node: put the input nodes first"
        raise NetworkError(
            "an input node stands after nodes of other types",
            where=f"nodes[{np.flatnonzero(is_input)[-1]}]",
            hint=hint,
        )
    place = np.empty(count + 1, np.int64)
    place[order], place[NONE] = np.arange(count), NONE
    ends = [(gene.source, gene.target) for gene in network.connections]
    source, target = place[np.array(ends, np.int64).reshape(-1, 2)].T
    mask = _numbers(nodes, "mask", 1.0)
    initial = _initial(nodes, source, target)
    masked = np.flatnonzero(((mask != 1.0) | (initial[0] != initial[1])) & ~is_input)
    shown = np.arange(count)
    shown[masked] = count + np.arange(len(masked))
    ids = order if network.ids is None else network.ids
    neurons = _neurons(network, nodes, order, is_input, ids, masked, initial)
    masks = Connections.of(masked, shown[masked], mask[masked])
    connections = _connections(network, is_input, source, target, place, shown, masks)
    inputs, outputs = np.flatnonzero(is_input), shown[kinds == "output"]
    return Network.of_genes(inputs, outputs, neurons, connections, network.library)


def check_sizes(kinds: Sequence[str | None], input: int | None, output: int | None) -> None:
    """Refuse a document that states other numbers of inputs and outputs than it has nodes of."""
    for end, said in (("input", input), ("output", output)):
        found = kinds.count(end)
        if said is not None and said != found:
            nodes = "1 node has" if found == 1 else f"{found} nodes have"
            raise NetworkError(
                f"{end} is {said} but {nodes} type {end}",
                where=end,
                hint=f"Write {found} there if no nodes are missing",
            )


def repeats(connections: Sequence[ListConnection]) -> Bools:
    """Which connections have the same ends as an earlier one, shape (m,)."""
    seen: set[tuple[int, int]] = set()
    found = np.zeros(len(connections), np.bool_)
    for position, gene in enumerate(connections):
        found[position] = (gene.source, gene.target) in seen
        seen.add((gene.source, gene.target))
    return found


def refuse_repeats(library: str, connections: Sequence[ListConnection]) -> None:
    """Refuse a second connection with the same ends."""
    repeated = repeats(connections)
    if np.any(repeated):
        position = int(np.argmax(repeated))
        gene = connections[position]
        raise NetworkError(
            f"a second connection from {gene.source} to {gene.target}",
            where=f"connections[{position}]",
            hint=f"{library} refuses it too: keep one, with the sum of both weights",
        )


def _check_ends(network: ListNetwork, count: int) -> None:
    """Refuse connections without their nodes."""
    for position, gene in enumerate(network.connections):
        where = f"connections[{position}]"
        for end, node in (("from", gene.source), ("to", gene.target)):
            if not 0 <= node < count:
                raise NetworkError(f"no node {node}: there are {count}", where=f"{where}.{end}")
        if gene.gater is not None and not 0 <= gene.gater < count:
            raise NetworkError(
                f"no gater node {gene.gater}: there are {count}",
                where=f"{where}.gater",
                hint="The first toJSON() of an evolved network may hold stale gaters: "
                "call it again and use the second",
            )


def _numbers(nodes: Sequence[ListNode], name: str, plain: float) -> Floats:
    return np.array([getattr(node, name, plain) for node in nodes], np.float64)


def _initial(nodes: Sequence[ListNode], source: Ints, target: Ints) -> tuple[Floats, Floats]:
    """The value of each neuron before the first step, and that of the neuron others read, (n,)."""
    states, activations = _numbers(nodes, "state", 0.0), _numbers(nodes, "activation", 0.0)
    loops = np.isin(np.arange(len(nodes)), source[source == target])
    late = np.isin(np.arange(len(nodes)), source[source > target])
    own = np.where(loops, states, np.where(late, activations, 0.0))
    return own, np.where(late, activations, own)


def _neurons(
    network: ListNetwork,
    nodes: Sequence[ListNode],
    order: Ints,
    is_input: Bools,
    ids: Ints,
    masked: Ints,
    initial: tuple[Floats, Floats],
) -> tuple[Neurons, tuple[str, ...], tuple[str, ...]]:
    """The neurons of the nodes, then those of masked ones, as `Neurons.of` gives them."""
    usual = reversed_names(network.names)
    kind, names, spellings = network.registered_for or network.library, [], []
    for at, node in enumerate(nodes):
        where, name = f"nodes[{order[at]}].squash", "identity"
        if not is_input[at]:
            name = translated(node.squash, network.names, "activation", where, kind)
        is_usual = network.names.get(node.squash) != name or node.squash == usual[name]
        names.append(name)
        spellings.append("" if is_usual else node.squash)
    extra = len(masked)
    bias = np.where(is_input, 0.0, np.array([node.bias for node in nodes], np.float64))
    labels = ("",) * len(names) + tuple(f"masked {id}" for id in ids[masked].tolist())
    return Neurons.of(
        np.concatenate([ids, ids.max(initial=-1) + 1 + np.arange(extra)]),
        names + ["identity"] * extra,
        bias=np.concatenate([bias, np.zeros(extra)]),
        initial=np.concatenate([initial[0], initial[1][masked]]),
        name=labels,
        spelling=spellings + [""] * extra,
    )


def _connections(
    network: ListNetwork,
    is_input: Bools,
    source: Ints,
    target: Ints,
    place: Ints,
    shown: Ints,
    masks: Connections,
) -> Connections:
    """The connections, read from `shown` (where each masked activation stands), and the masks."""
    genes = network.connections
    gater = place[np.array([NONE if g.gater is None else g.gater for g in genes], np.int64)]
    gated, to_itself = gater != NONE, source == target
    dead = gated & is_input[gater]
    enabled = ~is_input[target]
    if network.enabled is not None:
        enabled &= network.enabled
    weight = np.array([gene.weight for gene in genes], np.float64)
    if network.initial_gain:  # an input never sets the gain, so it stays
        weight = np.where(dead, network.initial_gain * weight, weight)
        gated, dead = gated & ~dead, np.zeros_like(dead)
    count = int(np.sum(dead & enabled))
    if count:
        warn(
            f"{count} connection{'s' if count > 1 else ''} gated by an input: {network.library} "
            "leaves such gains at 0 after clear(), so they never act and are read as disabled"
        )
    compiled = Connections.of(
        np.where(to_itself, source, shown[source]),
        target,
        weight,
        enabled=enabled & ~dead,
        delay=np.where(source >= target, 1, 0),
        reads_state=to_itself,
        gater=np.where(gated, shown[gater], NONE),
        gate_delay=np.where(gated & (gater >= target), 1, 0),
        initial_gain=np.where(gated, network.initial_gain, 0.0),
    )
    both = [
        (getattr(compiled, field.name), getattr(masks, field.name)) for field in fields(Connections)
    ]
    return Connections(*map(np.concatenate, both))


def initial_gain_of(options: ReadOptions) -> float:
    """Return the gain that gated connections start with, 0 if none is given."""
    gain = 0.0 if options.initial_gain is None else options.initial_gain
    if not is_number(gain) or not math.isfinite(gain):
        raise OptionError(f"{gain!r} is not a finite number", where="initial_gain")
    return float(gain)
