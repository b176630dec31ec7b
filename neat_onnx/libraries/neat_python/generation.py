"""A generation of live genomes, from genes to the arrays of one network of all of them.

Read one by one, a genome takes as long as a hundred steps of its network. Here keys become
positions, and nodes that no output depends on are left out, for all genomes at once.
"""

from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from neat_onnx.errors import NetworkError
from neat_onnx.libraries.neat_python.functions import Kind, described
from neat_onnx.libraries.neat_python.settings import Settings
from neat_onnx.libraries.neat_python.static import ACTIVATION_NAMES, AGGREGATION_NAMES
from neat_onnx.libraries.neat_python.versions import NEWER
from neat_onnx.network.genes import Bools, Connections, Floats, Ints, Neurons, codes_of
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.schedule import Edges, schedule
from neat_onnx.network.side_by_side import SideBySide
from neat_onnx.network.structure import Structure


def generation_of(genomes: Sequence[Any], settings: Settings) -> SideBySide | None:
    """Return the networks of genomes side by side, as neat-python 1.1 and newer evaluates them.

    Args:
        genomes: live ones, one or more.
        settings: of their configuration.

    Returns:
        None where they have to be read one by one: they are of an older version or another kind,
        have functions that neat-python has not, or genes that a reader refuses.
    """
    if settings.version is None or settings.version < NEWER:
        return None
    try:
        return _Generation(genomes, settings).side_by_side()
    except (NetworkError, AttributeError, TypeError, ValueError, OverflowError):
        return None


def network_of(genome: Any, settings: Settings) -> Network | None:
    """Return the network of a live genome with all of its genes, as `genome` and `static` read it.

    None where they have to: see `generation_of`; and for a recurrent genome with nodes that nothing
    feeds, or a feed-forward one with a cycle.
    """
    if settings.version is None or settings.version < NEWER:
        return None
    try:
        return _network(genome, settings)
    except (NetworkError, KeyError, AttributeError, TypeError, ValueError, OverflowError):
        return None


def _network(genome: Any, settings: Settings) -> Network | None:
    late, count = not settings.feed_forward, len(settings.inputs)
    keys, nodes = [*settings.inputs, *genome.nodes], genome.nodes.values()
    place = {key: k for k, key in enumerate(keys)}
    edges = [
        (place[gene.key[1]], place[gene.key[0]], gene.weight, gene.enabled)
        for gene in genome.connections.values()
    ]
    edges.sort(key=itemgetter(0))
    acts = [(source, target) for target, source, _, enabled in edges if enabled]
    fed = {target for _, target in acts}
    if (
        len(place) < len(keys)
        or not {bool} >= {type(edge[3]) for edge in edges}
        or (edges and edges[0][0] < count)
        or (late and (len(fed) < len(nodes) or _are_timed(nodes)))
        or not (late or _is_acyclic(acts, len(keys)))
    ):
        return None
    activations, activation = codes_of(["identity"] * count + _ours("activation", nodes, settings))
    aggregations, aggregation = codes_of(["sum"] * count + _ours("aggregation", nodes, settings))
    source = np.array([edge[1] for edge in edges], np.int64)
    return Network(
        inputs=(Port("input", (count,), np.arange(count)),),
        outputs=(
            Port(
                "output", (len(settings.outputs),), np.array([place[k] for k in settings.outputs])
            ),
        ),
        neurons=Neurons(
            np.array(keys, np.int64),
            activation,
            aggregation,
            np.array([0.0] * count + [node.bias for node in nodes], np.float64),
            np.array([1.0] * count + [node.response for node in nodes], np.float64),
            np.zeros(len(keys)),
        ),
        connections=Connections.of(
            source,
            np.array([edge[0] for edge in edges], np.int64),
            np.array([edge[2] for edge in edges], np.float64),
            enabled=np.array([edge[3] for edge in edges], np.bool_),
            delay=late & (source >= count),
        ),
        activations=activations,
        aggregations=aggregations,
        library=f"neat-python {'recurrent' if late else 'feed-forward'}",
    )


def _is_acyclic(edges: Sequence[tuple[int, int]], count: int) -> bool:
    """Return whether each of `count` nodes can be computed after its sources."""
    waiting = [0] * count
    readers: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        waiting[target] += 1
        readers[source].append(target)
    ready = [node for node in range(count) if not waiting[node]]
    for node in ready:
        for reader in readers[node]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    return len(ready) == count


def _are_timed(nodes: Collection[Any]) -> bool:
    """Return whether nodes have time constants, so that they may be of a ctrnn."""
    return any(getattr(node, "time_constant", 1.0) != 1.0 for node in nodes)


def _ours(kind: Kind, nodes: Iterable[Any], settings: Settings) -> list[str]:
    """Return our names of the functions of nodes.

    Raises:
        NetworkError: one is the user's, and not neat-python's own.
    """
    activates = kind == "activation"
    table = settings.activations if activates else settings.aggregations
    known = ACTIVATION_NAMES if activates else AGGREGATION_NAMES
    names = [getattr(node, kind) for node in nodes]
    for name in set(names):
        if name not in known or described(kind, name, table.get(name))["custom"]:
            raise NetworkError(f"the {kind} '{name}' is not neat-python's own")
    return [known[name] for name in names]


class _Generation:
    """The genes in arrays. Nodes are numbered: first the inputs, genome by genome, then the others.

    Raises:
        NetworkError: two nodes of a genome have one key, or a connection has no node at an end.
    """

    def __init__(self, genomes: Sequence[Any], settings: Settings) -> None:
        self._settings, self._count = settings, len(genomes)
        self._nodes = [node for genome in genomes for node in genome.nodes.values()]
        self._edges = [gene for genome in genomes for gene in genome.connections.values()]
        if not settings.feed_forward and _are_timed(self._nodes):
            raise NetworkError("these may be genes of a ctrnn")
        inputs = np.array(settings.inputs, np.int64)
        self._inputs = self._count * len(inputs)
        members = np.arange(self._count)
        owners = [np.repeat(members, [len(genome.nodes) for genome in genomes])]
        self._genome = np.concatenate([np.repeat(members, len(inputs)), *owners])
        own = np.array([key for genome in genomes for key in genome.nodes], np.int64)
        key = np.concatenate([np.tile(inputs, self._count), own])
        self._low, self._span = int(key.min()), int(np.ptp(key)) + 1
        code = self._genome * self._span + (key - self._low)
        self._by_code = np.argsort(code)
        self._codes = code[self._by_code]
        if np.any(self._codes[1:] == self._codes[:-1]):
            raise NetworkError("two nodes of one key")
        ends = np.array([gene.key for gene in self._edges], np.int64).reshape(-1, 2)
        owner = np.repeat(members, [len(genome.connections) for genome in genomes])
        self._source, self._target = (self._node(owner, end) for end in ends.T)
        outputs = np.array(settings.outputs, np.int64)
        self._outputs = self._node(np.repeat(members, len(outputs)), np.tile(outputs, self._count))

    def _node(self, genome: Ints, key: Ints) -> Ints:
        """Return the number of each node."""
        code = genome * self._span + (key - self._low)
        place = np.minimum(np.searchsorted(self._codes, code), len(self._codes) - 1)
        inside = (key >= self._low) & (key < self._low + self._span)
        if not np.all(inside & (self._codes[place] == code)):
            raise NetworkError("a connection without a node at an end")
        return self._by_code[place]

    def side_by_side(self) -> SideBySide:
        """Return the networks, of the inputs and of the nodes that an output depends on.

        Raises:
            NetworkError: a gene has no value that it can have, or there is a cycle within the step.
        """
        enabled = np.array([gene.enabled for gene in self._edges], np.bool_)
        weight = np.array([gene.weight for gene in self._edges], np.float64)[enabled]
        source, target = self._source[enabled], self._target[enabled]
        kept = np.zeros(len(self._genome), np.bool_)
        kept[self._outputs] = True
        kept = Edges(target, source, len(kept)).reached(kept)
        kept[: self._inputs] = True
        acts = kept[target]
        source, target, weight = source[acts], target[acts], weight[acts]
        order = np.argsort(self._genome, kind="stable")
        order = order[kept[order]]
        place = np.empty(len(kept), np.int64)
        place[order] = np.arange(len(order))
        late = not self._settings.feed_forward
        net = Structure.of_genes(
            place[: self._inputs].reshape(self._count, -1),
            place[self._outputs].reshape(self._count, -1),
            self._neurons(order, self._silent(target)),
            Connections.of(
                place[source], place[target], weight, delay=late & (source >= self._inputs)
            ),
        )
        schedule(net)  # refuses a cycle, behind which neat-python leaves outputs at 0
        return SideBySide(net, np.searchsorted(self._genome[order], np.arange(self._count + 1)))

    def _silent(self, fed: Ints) -> Bools:
        """Return which nodes stay 0: in a recurrent network those that nothing feeds."""
        silent = np.full(len(self._genome), not self._settings.feed_forward)
        silent[fed] = False
        return silent

    def _neurons(
        self, order: Ints, silent: Bools
    ) -> tuple[Neurons, tuple[str, ...], tuple[str, ...]]:
        """Return the neurons of some nodes, and the tables of their functions."""
        activations, activation = self._functions("activation", "identity", silent)
        aggregations, aggregation = self._functions("aggregation", "sum", silent)
        neurons = Neurons(
            np.arange(len(order)),
            activation[order],
            aggregation[order],
            self._numbers("bias", 0.0, silent)[order],
            self._numbers("response", 1.0, silent)[order],
            np.zeros(len(order)),
        )
        return neurons, activations, aggregations

    def _numbers(self, name: str, plain: float, silent: Bools) -> Floats:
        values = np.full(len(self._genome), plain)
        values[self._inputs :] = [getattr(node, name) for node in self._nodes]
        values[silent] = plain
        return values

    def _functions(self, kind: Kind, plain: str, silent: Bools) -> tuple[tuple[str, ...], Ints]:
        """Return a table of functions, and the place in it of the function of each node."""
        table, own = codes_of([plain, *_ours(kind, self._nodes, self._settings)])
        codes = np.full(len(self._genome), own[0])
        codes[self._inputs :] = own[1:]
        codes[silent] = own[0]
        return table, codes
