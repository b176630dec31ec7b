"""List order, compiled: how neataptic and NeatapticTS evaluate a network, as explicit delays.

Both go through `nodes` once a step, in list order, and read the values that the nodes have at that
moment. So
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
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.genes import NONE, Bools, Connections, Floats, Ints, Neurons
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.parsing import ForeignDocument


class ListNode(ForeignDocument):
    """A node. Whatever is neither `input` nor `output` is hidden, whatever its type is called."""

    type: str
    bias: float
    squash: str


class ListConnection(ForeignDocument):
    """A connection between nodes, by their positions in the list."""

    source: int = Field(alias="from")
    target: int = Field(alias="to")
    weight: float
    gater: int | None = None


class ListDocument(ForeignDocument):
    """The fields of the whole network that both libraries have: the sizes of its ends."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True)
class ListNetwork:
    """A network in list order.

    Attributes:
        library: who wrote it.
        names: the library's names of activations to ours.
        nodes: n of them, evaluated in this order.
        connections: m of them.
        initial_gain: the gain of a gated connection before its gater was first computed: 0 after
            `clear()`, 1 where the network was restored without.
        ids: of the neurons, shape (n,); None for their positions.
        enabled: whether the library lets each connection act, shape (m,); None if all do.
        registered_for: the library's name where users register functions; `library` if empty.
    """

    library: str
    names: Mapping[str, str]
    nodes: Sequence[ListNode]
    connections: Sequence[ListConnection]
    initial_gain: float = 0.0
    ids: Ints | None = None
    enabled: Bools | None = None
    registered_for: str = ""

    def numbers(self, name: str, plain: float = 0.0) -> Floats:
        """Return a number of each node, (n,): the mask, or the state or activation at the start."""
        return np.array([getattr(node, name, plain) for node in self.nodes], np.float64)


def compile_list(network: ListNetwork, document: ListDocument | None = None) -> Network:
    """Return the network with explicit delays; its ends have the sizes that the document states.

    A node whose mask is not 1 gets a neuron after it, which everything reads in its place: its
    identity of mask · activation. Only the node's own self-connection still reads the node. So does
    one that begins with a state and an activation that are both read: a neuron has one such value.
    """
    kinds = np.array([node.type for node in network.nodes], dtype=object)
    is_input = kinds == "input"
    for end in ("input", "output") if document is not None else ():
        said, found = getattr(document, end), int(np.sum(kinds == end))
        if said is not None and said != found:
            nodes = "1 node has" if found == 1 else f"{found} nodes have"
            raise NetworkError(f"{end} is {said} but {nodes} type {end}", where=end)
    _check(network, is_input)
    mask, initial = network.numbers("mask", 1.0), _initial(network)
    masked = np.flatnonzero(((mask != 1.0) | (initial[0] != initial[1])) & ~is_input)
    shown = np.arange(len(kinds))
    shown[masked] = len(kinds) + np.arange(len(masked))
    neurons, activations = _neurons(network, is_input, masked, initial)
    genes = _connections(network, is_input, shown)
    masks = Connections.of(masked, shown[masked], mask[masked])
    inputs, outputs = np.flatnonzero(is_input), shown[kinds == "output"]
    return Network(
        inputs=(Port("input", (len(inputs),), inputs),),
        outputs=(Port("output", (len(outputs),), outputs),),
        neurons=neurons,
        connections=_joined(genes, masks),
        activations=activations,
        aggregations=("sum",),
        library=network.library,
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


def sorted_by(
    order: Sequence[int], nodes: Sequence[ListNode], genes: Sequence[ListConnection]
) -> tuple[list[ListNode], list[ListConnection]]:
    """Return the nodes in another order, and the connections between their new positions.

    An end that does not exist stays as it is, for `compile_list` to refuse.
    """
    place: dict[int | None, int] = {node: position for position, node in enumerate(order)}
    moved = [
        gene.model_copy(
            update={
                "source": place.get(gene.source, gene.source),
                "target": place.get(gene.target, gene.target),
                "gater": place.get(gene.gater, gene.gater),
            }
        )
        for gene in genes
    ]
    return [nodes[node] for node in order], moved


def _check(network: ListNetwork, is_input: Bools) -> None:
    """Refuse an input node after others, and connections without their nodes."""
    count, inputs = len(network.nodes), int(is_input.sum())
    if not np.all(is_input[:inputs]):
        hint = f"{network.library} gives the k-th input to the k-th node: put the input nodes first"
        raise NetworkError(
            "an input node stands after nodes of other types",
            where=f"nodes[{np.flatnonzero(is_input)[-1]}]",
            hint=hint,
        )
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


def _initial(network: ListNetwork) -> tuple[Floats, Floats]:
    """The value of each neuron before the first step, and that of the neuron others read, (n,)."""
    states, activations = network.numbers("state"), network.numbers("activation")
    ends = [(gene.source, gene.target) for gene in network.connections]
    places = np.arange(len(network.nodes))
    loops = np.isin(places, [source for source, target in ends if source == target])
    late = np.isin(places, [source for source, target in ends if source > target])
    own = np.where(loops, states, np.where(late, activations, 0.0))
    return own, np.where(late, activations, own)


def _neurons(
    network: ListNetwork, is_input: Bools, masked: Ints, initial: tuple[Floats, Floats]
) -> tuple[Neurons, tuple[str, ...]]:
    names = [
        "identity"
        if is_input[position]
        else translated(
            node.squash,
            network.names,
            ACTIVATIONS,
            "activation",
            f"nodes[{position}].squash",
            network.registered_for or network.library,
        )
        for position, node in enumerate(network.nodes)
    ]
    extra = len(masked)
    bias = np.array([node.bias for node in network.nodes] + [0.0] * extra, np.float64)
    bias[: len(names)][is_input] = 0.0
    given = np.arange(len(names)) if network.ids is None else network.ids
    ids = np.concatenate([given, given.max(initial=-1) + 1 + np.arange(extra)])
    labels = ("",) * len(names) + tuple(f"masked {id}" for id in given[masked].tolist())
    neurons, activations, _ = Neurons.of(
        ids,
        names + ["identity"] * extra,
        bias=bias,
        initial=np.concatenate([initial[0], initial[1][masked]]),
        name=labels,
        spelling=_spellings(network, names) + [""] * extra,
    )
    return neurons, activations


def _spellings(network: ListNetwork, names: Sequence[str]) -> list[str]:
    """The name of each activation where it is not the library's usual one for `names`."""
    usual = reversed_names(network.names)
    return [
        node.squash if network.names.get(node.squash) == name and node.squash != usual[name] else ""
        for node, name in zip(network.nodes, names, strict=True)
    ]


def _connections(network: ListNetwork, is_input: Bools, shown: Ints) -> Connections:
    """The connections, read from `shown` (where each node's masked activation stands)."""
    genes = network.connections
    source = np.array([gene.source for gene in genes], np.int64)
    target = np.array([gene.target for gene in genes], np.int64)
    gater = np.array([NONE if gene.gater is None else gene.gater for gene in genes], np.int64)
    gated = gater != NONE
    to_itself = source == target
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
    return Connections.of(
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


def _joined(one: Connections, other: Connections) -> Connections:
    return Connections(
        *(
            np.concatenate([getattr(one, field.name), getattr(other, field.name)])
            for field in fields(Connections)
        )
    )


def initial_gain_of(options: ReadOptions) -> float:
    """Return the gain that gated connections start with, 0 if none is given."""
    gain = 0.0 if options.initial_gain is None else options.initial_gain
    if not is_number(gain) or not math.isfinite(gain):
        raise OptionError(f"{gain!r} is not a finite number", where="initial_gain")
    return float(gain)
