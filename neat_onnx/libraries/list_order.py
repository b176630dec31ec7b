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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from neat_onnx.errors import NetworkError, warn
from neat_onnx.libraries.names import reversed_names, translated
from neat_onnx.network.genes import NONE, Bools, Connections, Ints, Neurons, marked, place_among
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
        enabled: whether the library lets each connection act, shape (m,), or all.
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
    enabled: npt.ArrayLike = True
    registered_for: str = ""

    def compiled(self) -> Network:
        """Return the network with explicit delays.

        A node whose mask is not 1 gets a neuron after it, which everything reads in its place: its
        identity of mask · activation. Only the node's own self-connection still reads the node. So
        does one that begins with a state and an activation that are both read: a neuron has one
        such value.
        """
        self._check_ends()
        order, kinds, count = self._ordered()
        is_input = kinds == "input"
        place = np.append(place_among(order, count), NONE)  # of NONE, the last place
        genes = self.connections
        ends = [(g.source, g.target, NONE if g.gater is None else g.gater) for g in genes]
        source, target, gater = place[np.array(ends, np.int64).reshape(-1, 3)].T
        to_itself, gated = source == target, gater != NONE
        bias, mask, state, activation = (
            np.array([getattr(self.nodes[at], name, plain) for at in order], np.float64)
            for name, plain in (("bias", 0.0), ("mask", 1.0), ("state", 0.0), ("activation", 0.0))
        )
        loops, is_late = (marked(count, source[which]) for which in (to_itself, source > target))
        initial = np.where(loops, state, np.where(is_late, activation, 0.0))
        read = np.where(is_late, activation, initial)  # by others, before the first step
        masked = np.flatnonzero(((mask != 1.0) | (initial != read)) & ~is_input)
        shown = np.arange(count)  # where the activation that others read stands
        shown[masked] = count + np.arange(len(masked))

        def with_masks(values: npt.ArrayLike, added: npt.ArrayLike) -> npt.NDArray[Any]:
            """The values of nodes or connections, then those of what masks add."""
            return np.concatenate([values, np.broadcast_to(added, len(masked))])

        ids = order if self.ids is None else self.ids
        names, spellings = self._functions(order, is_input)
        neurons = Neurons.of(
            with_masks(ids, ids.max(initial=-1) + 1 + np.arange(len(masked))),
            names + ["identity"] * len(masked),
            bias=with_masks(np.where(is_input, 0.0, bias), 0.0),
            initial=with_masks(initial, read[masked]),
            name=[""] * count + [f"masked {id}" for id in ids[masked].tolist()],
            spelling=spellings + [""] * len(masked),
        )
        weight = np.array([gene.weight for gene in genes], np.float64)
        enabled, by_input = ~is_input[target] & self.enabled, gated & is_input[gater]
        if self.initial_gain:  # an input never sets the gain, so it stays
            weight = np.where(by_input, self.initial_gain * weight, weight)
            gated &= ~by_input
        else:
            self._warn_of_dead(int(np.sum(by_input & enabled)))
            enabled &= ~by_input
        connections = Connections.of(
            with_masks(np.where(to_itself, source, shown[source]), masked),
            with_masks(target, shown[masked]),
            with_masks(weight, mask[masked]),
            enabled=with_masks(enabled, True),
            delay=with_masks(source >= target, 0),
            reads_state=with_masks(to_itself, False),
            gater=with_masks(np.where(gated, shown[gater], NONE), NONE),
            gate_delay=with_masks(gated & (gater >= target), 0),
            initial_gain=with_masks(np.where(gated, self.initial_gain, 0.0), 0.0),
        )
        outputs = shown[kinds == "output"]
        return Network.of_genes(
            np.flatnonzero(is_input), outputs, neurons, connections, self.library
        )

    def _check_ends(self) -> None:
        """Refuse connections without their nodes."""
        count = len(self.nodes)
        for position, gene in enumerate(self.connections):
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

    def _ordered(self) -> tuple[Ints, npt.NDArray[np.object_], int]:
        """The positions in the order of evaluation, the kinds of these nodes, and their number."""
        count = len(self.nodes)
        order = np.array(range(count) if self.order is None else self.order, np.int64)
        kinds = np.array([self.kinds[at] for at in order], dtype=object)
        is_input = kinds == "input"
        if not np.all(is_input[: int(is_input.sum())]):
            raise NetworkError(
                "an input node stands after nodes of other types",
                where=f"nodes[{np.flatnonzero(is_input)[-1]}]",
                hint=f"{self.library} gives the k-th input to the k-th node: put the input nodes "
                "first",
            )
        return order, kinds, count

    def _functions(self, order: Ints, is_input: Bools) -> tuple[list[str], list[str]]:
        """Our names of the activations of nodes, and the library's where they are unusual."""
        usual = reversed_names(self.names)
        kind, names, spellings = self.registered_for or self.library, list[str](), list[str]()
        for at, ignored in zip(order.tolist(), is_input.tolist(), strict=True):
            theirs, name = self.nodes[at].squash, "identity"
            if not ignored:
                name = translated(theirs, self.names, "activation", f"nodes[{at}].squash", kind)
            is_usual = self.names.get(theirs) != name or theirs == usual[name]
            names.append(name)
            spellings.append("" if is_usual else theirs)
        return names, spellings

    def _warn_of_dead(self, count: int) -> None:
        if count:
            warn(
                f"{count} connection{'s' if count > 1 else ''} gated by an input: {self.library} "
                "leaves such gains at 0 after clear(), so they never act and are read as disabled"
            )


def check_sizes(kinds: Sequence[str | None], input: int | None, output: int | None) -> None:
    """Refuse a document that states other numbers of inputs and outputs than it has nodes of."""
    for end, said in (("input", input), ("output", output)):
        found = kinds.count(end)
        if said is not None and said != found:
            nodes = "1 node has" if found == 1 else f"{found} nodes have"
            hint = f"Write {found} there if no nodes are missing"
            raise NetworkError(f"{end} is {said} but {nodes} type {end}", where=end, hint=hint)


def repeats(connections: Sequence[ListConnection]) -> Bools:
    """Which connections have the same ends as an earlier one, shape (m,)."""
    first: dict[tuple[int, int], int] = {}
    ends = ((gene.source, gene.target) for gene in connections)
    return np.array([first.setdefault(pair, at) != at for at, pair in enumerate(ends)], np.bool_)


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
