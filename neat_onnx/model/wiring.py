"""The graph-semantics profile: how nodes, tensors, inputs and outputs must hang together.

Its constraints, under the profile's own names:

- C1: each graph input is read by a node.
- C2: each graph output is produced by a node.
- C3: the graph is acyclic, and each node stands after those whose outputs it reads.
- C4: each node has an output.
- C5: each input of a node is produced by a node, or is a graph input or an initializer.
- C6: each tensor has one producer.
- R1: each node contributes to a graph output, and each initializer is read.

Two it says in words, without codes of its own for them:

- deterministic: "if all operators are deterministic, a graph is also deterministic".
- order: "the values of the outputs do not depend on the execution order of its nodes"; a graph
  inside a node must not give a name again that a tensor around it has.

Beside them: topological order, and graphs without dead nodes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, field_validator

from neat_onnx.errors import ModelError, abridged, printable
from neat_onnx.model.graph import ONNX_DOMAINS, Graph
from neat_onnx.model.node import Node
from neat_onnx.parsing import Plain

if TYPE_CHECKING:
    from neat_onnx.model.model import Model


class Finding(BaseModel, metaclass=Plain):
    """One thing that is wrong with a model.

    Attributes:
        code: "schema", "onnx", or the constraint: C1 to C6, R1, "functions", "deterministic",
            "order".
        where: the node's or the tensor's name, or a JSON path.
        message: the mistake, one sentence without its full stop.
        hint: the way out; "" if that is obvious.
        severity: "error" breaks the profile; "warning" does not.
    """

    model_config = ConfigDict(defer_build=True, frozen=True)

    code: str
    where: str
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"

    @field_validator("where", "message", "hint")
    @classmethod
    def _printable(cls, text: str) -> str:
        return printable(text)


class Wiring:
    """Who produces and who reads each tensor of a graph. A node is its position."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.given = {value.name for value in graph.inputs} | set(graph.tensors)
        self.wanted = {value.name for value in graph.outputs}
        self.reads = [tuple(filter(None, reads(node))) for node in graph.node]
        self.read = {name for names in self.reads for name in names}
        self.producer: dict[str, int] = {}
        self.twice: dict[str, list[int]] = {}
        for at, node in enumerate(graph.node):
            for name in filter(None, node.output):
                if self.producer.setdefault(name, at) != at:
                    self.twice.setdefault(name, []).append(at)

    def sources(self, node: int) -> set[int]:
        """The nodes that `node` reads from."""
        return {self.producer[name] for name in self.reads[node] if name in self.producer}

    @cached_property
    def cycle(self) -> list[int]:
        """The nodes of a cycle, in their order; none if there is none."""
        try:
            TopologicalSorter({at: self.sources(at) for at in range(len(self.reads))}).prepare()
        except CycleError as error:
            return sorted({*error.args[1]})
        return []

    @cached_property
    def contributing(self) -> set[int]:
        """The nodes that an output of the graph depends on, by any producer of a tensor."""
        found: set[int] = set()
        pending = list(self.wanted)
        while pending:
            name = pending.pop()
            if name not in self.producer:
                continue
            for at in (self.producer[name], *self.twice.get(name, ())):
                if at not in found:
                    found.add(at)
                    pending.extend(self.reads[at])
        return found


def producers(graph: Graph) -> dict[str, Node]:
    """The node that produces each computed tensor, by the tensor's name."""
    return {name: node for node in graph.node for name in node.output if name}


def nodes_within(graph: Graph) -> Iterator[Node]:
    """Every node of a graph, and of the graphs inside its nodes."""
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from nodes_within(inner)


def node_count(graph: Graph) -> int:
    """Count the nodes of a graph and of its subgraphs."""
    return sum(1 for _ in nodes_within(graph))


def subgraphs(node: Node) -> list[Graph]:
    """The graphs among a node's attributes."""
    if not node.attributes.may_hold_graphs():
        return []
    return [value for _, _, value in node.attributes.given() if isinstance(value, Graph)]


def reads(node: Node) -> Sequence[str]:
    """The tensors that `node` reads, with those that a graph among its attributes captures."""
    graphs = subgraphs(node)
    return [*node.input, *chain(*map(_free, graphs))] if graphs else node.input


def is_in_order(graph: Graph) -> bool:
    """Whether each node stands after those that it reads, and each tensor is given once."""
    known = {"", *graph.tensors, *(entry.name for entry in graph.inputs)}
    given = len(known)
    for node in graph.node:
        if not known.issuperset(reads(node)):
            return False
        made = [name for name in node.output if name]
        known.update(made)
        given += len(made)
    return given == len(known) and known.issuperset(entry.name for entry in graph.outputs)


def with_nodes_in_order(graph: Graph) -> Graph:
    """The graph with each node after those that it reads; itself where that is so, or there is a
    cycle.
    """
    wiring, given = Wiring(graph), range(len(graph.node))
    order = in_order(given, lambda at: sorted(wiring.sources(at)))
    if order is None or order == [*given]:
        return graph
    return graph.model_copy(update={"node": [graph.node[at] for at in order]})


def wiring_findings(graph: Graph) -> list[Finding]:
    """Every breach of the profile, constraint by constraint."""
    wiring = Wiring(graph)
    found = [*_contradictions(wiring), *_shortcomings(wiring)]
    return sorted(found, key=lambda finding: finding.code)


def require_wiring(graph: Graph) -> None:
    """Refuses a graph that cannot be computed.

    A graph whose nodes are only out of order, or unused, can be.

    Raises:
        ModelError: the first breach.
    """
    for finding in _contradictions(Wiring(graph)):
        raise ModelError(finding.message, hint=finding.hint or None)


def _breach(code: str, where: str, message: str, hint: str = "") -> Finding:
    return Finding(code=code, where=where, message=message, hint=hint)


def _contradictions(wiring: Wiring) -> Iterator[Finding]:
    """C5, C6, and cycles (C3)."""
    for node, names in zip(wiring.graph.node, wiring.reads, strict=True):
        for name in names:
            if name not in wiring.producer and name not in wiring.given:
                by_none = "is produced by no node, initializer or graph input"
                yield _breach("C5", node.label, f"node {node.label}: input '{name}' {by_none}")
    # an initializer of an input's name is that input's default: not a second producer
    produced = Counter(name for node in wiring.graph.node for name in node.output if name)
    produced.update(wiring.given)
    inputs = Counter(entry.name for entry in wiring.graph.inputs)
    produced.update({name: times - 1 for name, times in inputs.items()})
    for name, times in produced.items():
        if times > 1:
            yield _breach("C6", name, f"tensor '{name}' is produced twice")
    if wiring.cycle:
        labels = [wiring.graph.node[at].label for at in wiring.cycle]
        message = f"a cycle of nodes, among {abridged(labels, 5)}"
        hint = "What a node reads from the step before is an input and an output of the graph"
        yield _breach("C3", labels[0], message, hint)


def _shortcomings(wiring: Wiring) -> Iterator[Finding]:
    """C1, C2, the order of the nodes (C3), C4 and R1."""
    nodes = wiring.graph.node
    for entry in wiring.graph.inputs:
        if entry.name not in wiring.read:
            yield _breach("C1", entry.name, f"graph input '{entry.name}' is read by no node")
    for entry in wiring.graph.outputs:
        if entry.name not in wiring.producer:
            yield _breach("C2", entry.name, f"graph output '{entry.name}' is produced by no node")
    for at, node in enumerate(nodes):
        for source in sorted(wiring.sources(at)) if not wiring.cycle else ():
            if source > at:
                message = f"node {node.label} stands before {nodes[source].label}, "
                message += "whose output it reads"
                hint = "ONNX wants nodes in the order in which they are computed"
                yield _breach("C3", node.label, message, hint)
        if not any(node.output):
            yield _breach("C4", f"graph.node[{at}]", "the node has no output")
        elif at not in wiring.contributing:
            yield _breach("R1", node.label, f"node {node.label} contributes to no graph output")
    for name in wiring.graph.tensors:
        if name not in wiring.read:
            yield _breach("R1", name, f"initializer '{name}' is read by no node")


def _free(graph: Graph) -> Iterator[str]:
    """The names that a graph reads from around it."""
    wiring = Wiring(graph)
    for name in sorted(wiring.read | wiring.wanted):
        if name not in wiring.producer and name not in wiring.given:
            yield name


def names_read(graph: Graph) -> Iterator[str]:
    """Every name that a node or an output reads, in the graphs inside of nodes too."""
    for node in graph.node:
        yield from node.input
        for inner in subgraphs(node):
            yield from names_read(inner)
    yield from (output.name for output in graph.outputs)


def without_dead(model: "Model") -> "Model":
    """The model without nodes and initializers that contribute to no output.

    It is the model itself where all do.
    """
    graph = drop_dead(model.graph)
    return model if graph is model.graph else model.model_copy(update={"graph": graph})


def drop_dead(graph: Graph) -> Graph:
    """The graph without nodes and initializers that contribute to no graph output; itself where
    all do.

    The nodes may stand in any order. Inputs stay with their defaults, read or not: they are the
    caller's.
    """
    wiring = Wiring(graph)
    alive = wiring.contributing
    inputs = (entry.name for entry in graph.inputs)
    read = wiring.wanted.union(inputs, *(wiring.reads[at] for at in alive))
    nodes = [node for at, node in enumerate(graph.node) if at in alive]
    tensors = [tensor for tensor in graph.initializer if tensor.name in read]
    if len(nodes) == len(graph.node) and len(tensors) == len(graph.initializer):
        return graph
    return graph.model_copy(update={"node": nodes, "initializer": tensors})


Item = TypeVar("Item", bound=Hashable)


def in_order(
    wanted: Iterable[Item], sources: Callable[[Item], Collection[Item]]
) -> list[Item] | None:
    """The items that are wanted and all that they need, each after its sources; None in a cycle.

    Those that are wanted come in their order, after their sources in the order of these. So a list
    that is in topological order stays as it is.

    Args:
        wanted: the items to begin with.
        sources: the items that one needs itself.
    """
    done: dict[Item, None] = {}
    begun: set[Item] = set()
    for first in wanted:
        waiting = [first]
        while waiting:
            item = waiting[-1]
            missing = [each for each in sources(item) if each not in done]
            if missing:
                begun.add(item)
                if not begun.isdisjoint(missing):
                    return None
                waiting += missing[::-1]
            else:
                done[waiting.pop()] = None
    return [*done]


RANDOM = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
    | {"Multinomial", "Bernoulli"}
)
"""The operators of ONNX that draw their outputs at random."""


def is_random(node: Node) -> bool:
    """Whether a node draws its outputs at random."""
    return node.op_type in RANDOM and node.domain in ONNX_DOMAINS


def gives_sizes(node: Node) -> bool:
    """Whether a node gives the sizes of a tensor, and nothing of its elements."""
    return node.op_type in ("Shape", "Size") and node.domain in ONNX_DOMAINS


def unproduced(graph: Graph) -> list[str]:
    """Return the graph outputs that no node produces."""
    made = {*graph.tensors, *(entry.name for entry in graph.inputs)}
    made.update(*(node.output for node in graph.node))
    return [entry.name for entry in graph.outputs if entry.name not in made]


def semantic_findings(graph: Graph, around: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yield the breaches of a graph, and of the graphs inside its nodes.

    Args:
        graph: the graph.
        around: names of tensors of the graphs that it stands in.
    """
    own = {entry.name for entry in graph.inputs} | set(graph.tensors)
    own |= {name for node in graph.node for name in node.output if name}
    for name in sorted(own & around):
        message = f"a graph inside a node gives '{name}' again, a tensor of the graph around it"
        yield _breach("order", name, message, "Give every tensor a name of its own")
    off = {"", *(name for name, tensor in graph.tensors.items() if not tensor.values.any())}
    for node in graph.node:
        trains = node.op_type == "Dropout" and not off.issuperset(node.input[2:])
        if is_random(node) or (trains and node.domain in ONNX_DOMAINS):
            message = f"node {node.label} draws its outputs at random"
            hint = "Make the random numbers an input of the graph"
            yield _breach("deterministic", node.label, message, hint)
        for inner in subgraphs(node):
            yield from semantic_findings(inner, around | own)
