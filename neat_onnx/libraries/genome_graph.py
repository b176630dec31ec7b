"""Genomes of nodes and weighted edges, compiled to networks in the two ways that breeders evaluate.

An *acyclic* network passes each sample through nodes in topological order. An *updated* one
computes all nodes at once, from the inputs and from the nodes' values one update before, and takes
a fixed number of updates for each step.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

from neat_onnx.errors import NetworkError, OptionError, abridged, warn
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule
from neat_onnx.network.side_by_side import repeated


class Node(NamedTuple):
    """A node that computes; `activation` and `aggregation` are our names."""

    id: int
    activation: str
    bias: float = 0.0
    response: float = 1.0
    aggregation: str = "sum"

    @property
    def gene(self) -> dict[str, Any]:
        """All but its id, as `Network.build` takes it."""
        return {key: value for key, value in self._asdict().items() if key != "id"}


class Edge(NamedTuple):
    """A weighted connection between two ids."""

    source: int
    target: int
    weight: float
    enabled: bool = True


Value = tuple[int, int]
"""What a connection reads: the id of a neuron, and the delay in steps."""

_KEY_LIMIT = 2**52  # fresh ids go on from the keys below it


class NetworkBuilder:
    """Gathers neurons one by one, where a library's node becomes several of them.

    `taken` are the ids of the library's own nodes, which no helper may have.
    """

    def __init__(self, taken: Iterable[int]) -> None:
        known = set(taken)
        first = max((key for key in known if 0 <= key < _KEY_LIMIT), default=-1) + 1
        self._fresh = (key for key in count(first) if key not in known)
        self._neurons: list[dict[str, Any]] = []
        self._connections: list[dict[str, Any]] = []

    def fresh_id(self) -> int:
        """An id that nobody has."""
        return next(self._fresh)

    def neuron(self, key: int, name: str, reads: Iterable[tuple[Value, float]], **gene: Any) -> int:
        """Add a neuron, and a connection from each (value, weight) that it reads."""
        self._neurons.append({"id": key, "name": name, **gene})
        for value, weight in reads:
            self.connect(value, key, weight)
        return key

    def helper(self, name: str, reads: Iterable[tuple[Value, float]], **gene: Any) -> int:
        """Add a neuron that no node of the library is; see `neuron`."""
        return self.neuron(self.fresh_id(), name, reads, **gene)

    def connect(self, value: Value, target: int, weight: float, **gene: Any) -> None:
        """Add a connection that reads `value`."""
        source, delay = value
        self._connections.append(
            {"source": source, "target": target, "weight": weight, "delay": delay, **gene}
        )

    def network(self, inputs: Sequence[int], outputs: Sequence[int], library: str) -> Network:
        """The network of all of them, with these input and output neurons."""
        built = Network.build(
            inputs=inputs, outputs=outputs, neurons=self._neurons, connections=self._connections
        )
        return replace(built, library=library)


@dataclass(frozen=True)
class GenomeGraph:
    """A genome.

    Attributes:
        library: the name of the library that wrote it.
        inputs, outputs: ids, in order.
        nodes: all that compute; the outputs are among them.
        edges: between inputs and nodes, in the order in which a node adds them.
        limit: the activation of neurons that outputs pass through on their way out.
        limited: the outputs that do.
        biased: the nodes that read one that is always 1, which `with_biases` has left out.
    """

    library: str
    inputs: Sequence[int]
    outputs: Sequence[int]
    nodes: Sequence[Node]
    edges: Sequence[Edge]
    limit: str = ""
    limited: frozenset[int] = frozenset()
    biased: frozenset[int] = frozenset()

    def with_biases(self, ones: Collection[int]) -> "GenomeGraph":
        """Return the genome in which edges from nodes that are always 1 are biases."""
        bias: dict[int, float] = {}
        for edge in self.edges:
            if edge.enabled and edge.source in ones:
                bias[edge.target] = bias.get(edge.target, 0.0) + edge.weight
        return replace(
            self,
            nodes=[node._replace(bias=bias.get(node.id, 0.0)) for node in self.nodes],
            edges=[edge for edge in self.edges if edge.source not in ones],
            biased=frozenset(bias),
        )

    def checked(self) -> "GenomeGraph":
        """Return the genome, or refuse an edge without its ends, or one that ends at an input."""
        computing, inputs = {node.id for node in self.nodes}, set(self.inputs)
        for edge in self.edges:
            place = f"connection {edge.source} to {edge.target}"
            if edge.source not in computing and edge.source not in inputs:
                raise NetworkError(f"there is no node {edge.source}", where=place)
            if edge.target not in computing:
                what = "an input" if edge.target in inputs else "no node"
                raise NetworkError(f"{edge.target} is {what}", where=place)
        return self

    def reached(self) -> set[int]:
        """Return the ids to which enabled edges lead from the inputs or a bias, these included."""
        leads: dict[int, list[int]] = {}
        for edge in self.edges:
            if edge.enabled:
                leads.setdefault(edge.source, []).append(edge.target)
        return reached([*self.biased, *self.inputs], leads)

    def without_silent(self) -> "GenomeGraph":
        """Return the genome with edges disabled that begin at nodes no input or bias leads to.

        Libraries that push values forward, layer by layer from the inputs, read 0 from such nodes.
        """
        found = self.reached()
        silent = {e.source for e in self.edges if e.enabled and e.source not in found}
        if not silent:
            return self
        named = abridged(map(str, sorted(silent)), 4)
        warn(
            f"{self.library} reads 0 from nodes that no input leads to ({named}): "
            "their connections are read as disabled"
        )
        edges = [e._replace(enabled=e.enabled and e.source not in silent) for e in self.edges]
        return replace(self, edges=edges)

    @property
    def has_cycle(self) -> bool:
        """Whether enabled edges form one."""
        try:
            self.acyclic()
        except NetworkError:
            return True
        return False

    def acyclic(self, hint: str | None = None) -> Network:
        """Return the network in topological order; `hint` is the way out of a cycle."""
        built = self._built(0)
        try:
            schedule(built)
        except NetworkError as error:
            raise NetworkError(error.message, where=error.where, hint=hint) from error
        return built

    def updated(self, cycles: int) -> Network:
        """Return the network that updates all nodes at once, `cycles` times in a step."""
        return repeated(self._built(1), cycles)

    def _built(self, delay: int) -> Network:
        made = NetworkBuilder([*self.inputs, *(node.id for node in self.nodes)])
        inputs = set(self.inputs)
        for node in self.nodes:
            made.neuron(node.id, "", (), **node.gene)
        for source, target, weight, enabled in self.edges:
            value = (source, 0 if source in inputs else delay)
            made.connect(value, target, weight, enabled=enabled)
        outputs = [
            made.helper(f"limit of {key}", [((key, 0), 1.0)], activation=self.limit)
            if key in self.limited
            else key
            for key in self.outputs
        ]
        return made.network(list(self.inputs), outputs, self.library)


def needs_cycles(what: str, hint: str) -> OptionError:
    """Return the error of a genome with a cycle whose file does not say how often to update it."""
    return OptionError(what, where="cycles", hint=f"{hint}; cycles=N does, or --cycles N")


def reached(
    start: Iterable[int], leads: Mapping[int, Iterable[int]], without: Collection[int] = ()
) -> set[int]:
    """Return the ids on the ways from `start`, these included.

    Args:
        start: the ids where the ways begin.
        leads: for each id, those that it leads to.
        without: ids that no way goes through.
    """
    found = set(start)
    waiting = list(found)
    while waiting:
        for target in leads.get(waiting.pop(), ()):
            if target not in found and target not in without:
                found.add(target)
                waiting.append(target)
    return found


def completed(begin: Iterable[int], sources: Mapping[int, Collection[int]]) -> set[int]:
    """Return the ids all of whose sources are reached from `begin`, these included."""
    missing = {key: len(values) for key, values in sources.items()}
    readers: dict[int, list[int]] = {}
    for key, values in sources.items():
        for source in values:
            readers.setdefault(source, []).append(key)
    found, todo = set(begin), list(begin)
    while todo:
        for reader in readers.get(todo.pop(), ()):
            missing[reader] -= 1
            if not missing[reader] and reader not in found:
                found.add(reader)
                todo.append(reader)
    return found
