"""Neurons as nodes of a library in list order: a neuron becomes one node, or a chain of them.

Such libraries know one aggregation, the sum, and no response. A neuron that has more is written as
a chain of nodes that computes the same numbers:

    response r      a node of identity sums the inputs, the next one reads it with the weight r
    state read      where others read the pre-activation, a node of identity holds it
    sigmoid(5 z)    a node of identity, and one of sigmoid that reads it with the weight 5

A network in list order: nodes sorted so that each connection has the delay it should have.

A node reads an earlier one in the same step, and itself or a later one a step late. Where no order
gives every delay, a *register* is added: a node of identity that stands right after the inputs and
reads a later node, so that its activation is the value of the step before. A chain of registers
gives longer delays, and a copy of an input at its end delays an input or lets it gate.
"""

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neat_onnx.errors import warn
from neat_onnx.libraries.limits import cannot_hold
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network


@dataclass(frozen=True)
class ListLibrary:
    """The expressive power of a library in list order.

    Attributes:
        title: its name for people.
        activations: names of ours to its names.
        adds_repeats: whether connections with the same ends add up; else they are refused.
        has_disabled: whether a connection can be disabled.
        unit_loops: whether self-connections have the weight 1 alone.
        open_gates: whether gains start at 1 rather than 0.
        keeps_states: whether a node begins with a state of its own.
    """

    title: str
    activations: Mapping[str, str]
    adds_repeats: bool = False
    has_disabled: bool = False
    unit_loops: bool = False
    open_gates: bool = False
    keeps_states: bool = False


@dataclass
class Node:
    """A node of the draft, of the neuron at `neuron`, or NONE for an added one.

    `kind` is input, hidden or output; `initial` the state and the activation before the first step.
    """

    activation: str
    bias: float = 0.0
    neuron: int = NONE
    kind: str = "hidden"
    initial: float = 0.0


@dataclass
class Edge:
    """A connection between nodes of the draft, by their numbers.

    Attributes:
        computes: False for a gene that is only kept.
        enabled: whether it is written as enabled.
        gater: the node whose activation is the gain, or NONE.
        is_loop: whether it is a self-connection that reads the state.
        starts_open: whether its gain starts at 1 rather than 0.
    """

    source: int
    target: int
    weight: float = 1.0
    computes: bool = True
    enabled: bool = True
    delay: int = 0
    gater: int = NONE
    gate_delay: int = 0
    is_loop: bool = False
    starts_open: bool = False

    def document(self) -> dict[str, Any]:
        """Return the keys that NeatapticTS and synaptic share."""
        gater = None if self.gater == NONE else self.gater
        return {"from": self.source, "to": self.target, "weight": self.weight, "gater": gater}


@dataclass
class Draft:
    """Nodes and edges, not yet in an order, and the node of each output."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def add(self, node: Node) -> int:
        """Append a node and return its number."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def follow(self, source: int, node: Node, weight: float = 1.0) -> int:
        """Append a node that reads `source` alone, in the same step, and return its number."""
        number = self.add(node)
        self.edges.append(Edge(source, number, weight))
        return number


@dataclass
class _Neuron:
    """The chain of a neuron: its first node, its last one, and the one that shows its state."""

    first: int
    last: int
    state: int
    loops: bool  # whether the state of the first node is that of the neuron


_CHAINS: dict[str, tuple[str, float, float, str]] = {
    "neat_sigmoid": ("identity", 5.0, 0.0, "sigmoid"),
    "neat_tanh": ("identity", 2.5, 0.0, "tanh"),
    "hat": ("abs", -1.0, 1.0, "relu"),
}
"""Activations as two nodes: activation of the first, weight to and bias of the second, its own."""


class _Drafting:
    """The work of making a draft of one network for one library."""

    def __init__(self, net: Network, library: ListLibrary) -> None:
        self.net, self.library, self.draft = net, library, Draft()
        self.problems: dict[str, list[int]] = {}
        self.notes: Counter[str] = Counter()
        live = net.live
        self._fan_in = net.fan_in
        loops = (live.source == live.target) & (live.delay == 1)
        self._shown = set(live.source[live.reads_state & ~loops].tolist())
        looping = Counter(live.source[live.reads_state & loops].tolist())
        self._looping = set(looping)
        some = 0 if library.unit_loops else 1  # loops of other weights read the state by others
        self._shown |= {neuron for neuron, count in looping.items() if count > some}
        self.chains: list[_Neuron] = []
        self.gains: dict[float, list[int]] = {}  # neurons by initial gain of what they read

    def run(self) -> Draft:
        net = self.net
        inputs = net.input_neurons.tolist()
        begun = set(inputs)
        chains = {neuron: self._input(neuron) for neuron in inputs}
        chains |= {neuron: self._chain(neuron) for neuron in range(len(net)) if neuron not in begun}
        self.chains = [chains[neuron] for neuron in range(len(net))]
        seen: set[tuple[int, int, bool]] = set()
        for position in range(len(net.connections)):
            self._connect(position, seen)
        for neuron in net.output_neurons.tolist():
            node = self.chains[neuron].last
            if self.draft.nodes[node].kind != "hidden":
                node = self.draft.follow(node, Node("identity"))
                self.notes["an output that is an input, or several outputs, has a copy"] += 1
            self.draft.nodes[node].kind = "output"
            self.draft.outputs.append(node)
        self._check_gains()
        return self.draft

    def _check_gains(self) -> None:
        for gain, neurons in self.gains.items():
            if gain not in (0.0, 1.0) or (len(self.gains) > 1 and not self.library.open_gates):
                self.problems.setdefault(f"an initial gain of {gain:g}", []).extend(neurons)
        if 1.0 in self.gains and not self.library.open_gates:
            self.notes["its gates start at 1 where it is loaded and clear() is not called"] = 0

    def _input(self, neuron: int) -> _Neuron:
        node = self.draft.add(Node("identity", neuron=neuron, kind="input"))
        return _Neuron(node, node, node, False)

    def _chain(self, j: int) -> _Neuron:
        """Append the nodes of a neuron that computes."""
        genes, draft = self.net.neurons, self.draft
        bias, scale = self._sum_of(j, float(genes.bias[j]), float(genes.response[j]))
        name = str(self.net.activation_names[j])
        steps: list[tuple[str, float, float]] = []  # activation, bias, weight to it
        if scale != 1.0 and self._fan_in[j]:
            steps.append(("identity", 0.0, 1.0))
            self.notes["a response or a mean is a weight between two"] += 1
        state = len(steps)
        head = name if name in self.library.activations else _CHAINS.get(name, (name,))[0]
        needs_state = j in self._shown or (j in self._looping and state > 0)
        if needs_state and head != "identity":
            steps.append(("identity", bias, scale))
            bias, scale = 0.0, 1.0
            self.notes["a state that is read is held by one"] += 1
        if name in self.library.activations:
            steps.append((name, bias, scale))
        elif name in _CHAINS and {head, _CHAINS[name][3]} <= self.library.activations.keys():
            steps += [(head, bias, scale), (_CHAINS[name][3], *_CHAINS[name][2:0:-1])]
            self.notes[f"the activation {name} is two"] += 1
        else:
            self._problem(f"the activation {name}", j)
            steps.append((name, bias, scale))
        nodes = [draft.add(Node(steps[0][0], steps[0][1]))]
        for activation, own, weight in steps[1:]:
            nodes.append(draft.follow(nodes[-1], Node(activation, own), weight))
        draft.nodes[nodes[-1]].neuron = j
        return _Neuron(nodes[0], nodes[-1], nodes[state], state == 0)

    def _sum_of(self, j: int, bias: float, response: float) -> tuple[float, float]:
        """The bias, and the factor of the sum, that give the neuron's aggregation."""
        aggregation, count = str(self.net.aggregation_names[j]), int(self._fan_in[j])
        if count == 0 and aggregation == "product":
            return bias + response, 1.0
        if aggregation == "sum" or count < 2:
            return bias, response
        if aggregation != "mean":
            self._problem(f"the aggregation {aggregation}", j)
        elif count & (count - 1):
            self.notes["a mean is a sum times 1/n, equal to the last bit or two, and has one"] += 1
        return bias, response / count

    def _connect(self, position: int, seen: set[tuple[int, int, bool]]) -> None:
        genes = self.net.connections
        source, target = int(genes.source[position]), int(genes.target[position])
        start, end = self.chains[source], self.chains[target]
        gater = int(genes.gater[position])
        edge = Edge(
            start.state if genes.reads_state[position] else start.last,
            end.first,
            float(genes.weight[position]),
            bool(genes.enabled[position]),
            True,
            int(genes.delay[position]),
            NONE if gater == NONE else self.chains[gater].last,
            int(genes.gate_delay[position]),
        )
        self._check(position, edge)
        if not edge.computes:
            if source != target or source not in self._looping:
                self._keep_disabled(edge, source == target, seen)
            return
        reads_own_state = genes.reads_state[position] or (
            edge.source == edge.target and (self.draft.nodes[edge.source].activation == "identity")
        )
        is_free = (edge.target, edge.target, True) not in seen
        is_free &= edge.weight == 1.0 or not self.library.unit_loops
        if source == target and edge.delay == 1 and reads_own_state and start.loops and is_free:
            edge.source, edge.is_loop = edge.target, True
        self._append(edge, seen)

    def _append(self, edge: Edge, seen: set[tuple[int, int, bool]]) -> None:
        if (edge.source, edge.target, edge.is_loop) in seen and not self.library.adds_repeats:
            edge.source = self.draft.follow(edge.source, Node("identity"))
            self.notes["a second connection with the same ends reads a copy"] += 1
        seen.add((edge.source, edge.target, edge.is_loop))
        self.draft.edges.append(edge)

    def _keep_disabled(self, edge: Edge, is_loop: bool, seen: set[tuple[int, int, bool]]) -> None:
        """Keep a gene that does not compute, if the library has a way to hold it.

        One that the library never computes, whatever its flag, is enabled there.
        """
        dead = (
            edge.gater != NONE
            and not self.library.open_gates
            and self.draft.nodes[edge.gater].kind == "input"
        )
        kept = self.library.has_disabled and not is_loop
        edge.source = edge.target if is_loop else edge.source
        if (kept or dead) and (
            self.library.adds_repeats or (edge.source, edge.target, is_loop) not in seen
        ):
            edge.enabled, edge.is_loop = dead or not kept, is_loop
            seen.add((edge.source, edge.target, is_loop))
            self.draft.edges.append(edge)
        else:
            self.notes["disabled connections are left out"] = 0

    def _check(self, position: int, edge: Edge) -> None:
        genes, j = self.net.connections, int(self.net.connections.target[position])
        if not edge.computes:
            return
        source = int(genes.source[position])
        initial = float(self.net.neurons.initial[source])
        if edge.delay and initial != 0.0:
            self.draft.nodes[edge.source].initial = initial
            if not self.library.keeps_states:
                self._problem("an initial value", source)
        if edge.gater == NONE:
            return
        if edge.gate_delay:
            gain = float(genes.initial_gain[position])
            edge.starts_open = gain == 1.0
            self.gains.setdefault(gain, []).append(j)

    def _problem(self, what: str, neuron: int) -> None:
        self.problems.setdefault(what, []).append(neuron)


def draft_of(net: Network, library: ListLibrary) -> Draft:
    """Return the nodes and edges of a network."""
    work = _Drafting(net, library)
    draft = work.run()
    if work.problems:
        raise cannot_hold(net, library.title, work.problems)
    for text, count in work.notes.items():
        extra = f"neurons were added: {text} ({count})" if count else text
        warn(f"written for {library.title}: {extra}")
    return draft


_ID_LIMIT = 2**52


@dataclass(frozen=True)
class Written:
    """A network in list order; ends and gaters of edges are positions in `nodes`."""

    nodes: list[Node]
    ids: list[int]
    edges: list[Edge]


def write_list(net: Network, library: ListLibrary, *, outputs_last: bool = False) -> Written:
    """Return a network in list order, with warnings for added nodes and lost fields.

    Several ports become one, their neurons in order. Outputs may have to stand last.
    """
    if len(net.inputs) > 1 or len(net.outputs) > 1:
        warn(f"written for {library.title}: several ports become one, their neurons in order")
    draft = draft_of(net, library)
    order = _own_order(draft)
    if not _fits(draft, order, library) or (
        outputs_last and order[-len(draft.outputs) :] != draft.outputs
    ):
        _free_outputs(draft)
        order = _with_registers(net, library, draft, _sorted(draft))
    position = _positions(order)
    for edge in draft.edges:
        ends = position[edge.source], position[edge.target], position[edge.gater]
        edge.source, edge.target, edge.gater = ends
    nodes = [draft.nodes[node] for node in order]
    return Written(nodes, _ids(net, nodes), draft.edges)


def _ids(net: Network, nodes: list[Node]) -> list[int]:
    """The ids of the neurons; new ones for added nodes, and for ids that JavaScript cannot hold."""
    known = net.neurons.id.tolist()
    following = 1 + max((known_id for known_id in known if known_id < _ID_LIMIT), default=-1)
    following = max(following, 0)
    ids = []
    for node in nodes:
        neuron_id = NONE if node.neuron == NONE else known[node.neuron]
        if not 0 <= neuron_id < _ID_LIMIT:
            neuron_id, following = following, following + 1
        ids.append(neuron_id)
    return ids


def _own_order(draft: Draft) -> list[int]:
    """The inputs in the order of the ports, then the neurons in that of the network.

    A node that was added for a neuron stands right before it.
    """
    rank, following = {}, len(draft.nodes)
    for number in reversed(range(len(draft.nodes))):
        node = draft.nodes[number]
        following = following if node.neuron == NONE else node.neuron
        rank[number] = (node.kind != "input", following if node.kind != "input" else 0, number)
    return sorted(rank, key=rank.__getitem__)


def _fits(draft: Draft, order: list[int], library: ListLibrary) -> bool:
    """Whether an order gives every delay, and the outputs in their order."""
    position = _positions(order)
    outputs = [position[node] for node in draft.outputs]
    return outputs == sorted(outputs) and not any(
        (not edge.is_loop and not _is_read_in_time(edge, position))
        or not _is_gated_in_time(edge, draft, position, library)
        for edge in draft.edges
        if edge.computes
    )


def _positions(order: list[int]) -> dict[int, int]:
    return {NONE: NONE} | {node: position for position, node in enumerate(order)}


def _is_read_in_time(edge: Edge, position: dict[int, int]) -> bool:
    """Whether the positions of its ends give a connection its delay."""
    if edge.source == edge.target:
        return False  # a self-connection reads the state
    return edge.delay == int(position[edge.source] > position[edge.target])


def _is_gated_in_time(
    edge: Edge, draft: Draft, position: dict[int, int], library: ListLibrary
) -> bool:
    """Whether the position of its gater gives a connection the delay of its gate."""
    if edge.gater == NONE:
        return True
    if draft.nodes[edge.gater].kind == "input":
        return False  # inputs do not set gains
    if edge.gate_delay and library.open_gates and not edge.starts_open:
        return False  # a register closes the gate in the first step
    return edge.gate_delay == int(position[edge.gater] >= position[edge.target])


def _free_outputs(draft: Draft) -> None:
    """Let a copy be the output in place of each node that others read in the same step."""
    rank = {node: position for position, node in enumerate(draft.outputs)}
    early: set[int] = set()
    read = [pair for pair in _dependencies(draft) if pair[0] in rank]
    for source, target in sorted(read, key=lambda pair: -rank[pair[0]]):
        if target in early or rank.get(target, -1) < rank[source]:
            early.add(source)
    for position, node in enumerate(draft.outputs):
        if node in early:
            draft.nodes[node].kind = "hidden"
            copy = draft.follow(node, Node("identity", kind="output"))
            draft.outputs[position] = copy


def _dependencies(draft: Draft) -> list[tuple[int, int]]:
    """Pairs of nodes, of which the first has to be computed before the second."""
    pairs = []
    for edge in draft.edges:
        if edge.computes and edge.delay == 0:
            pairs.append((edge.source, edge.target))
        if edge.computes and edge.gater != NONE and edge.gate_delay == 0:
            pairs.append((edge.gater, edge.target))
    return pairs


def _sorted(draft: Draft) -> list[int]:
    """A topological order, the outputs last.

    Of the nodes that can stand next the last one is taken: others often read it a step late, and
    these stand behind it then.
    """
    readers: list[list[int]] = [[] for _ in draft.nodes]
    waiting = [0] * len(draft.nodes)
    for source, target in _dependencies(draft):
        readers[source].append(target)
        waiting[target] += 1
    inputs = [n for n, node in enumerate(draft.nodes) if node.kind == "input"]
    order, last = list(inputs), {*draft.outputs}
    ready = [-n for n, count in enumerate(waiting) if not count and n not in last | {*inputs}]
    for node in inputs:
        for reader in readers[node]:
            waiting[reader] -= 1
            ready += [-reader] if not waiting[reader] and reader not in last else []
    heapq.heapify(ready)
    while ready:
        node = -heapq.heappop(ready)
        order.append(node)
        for reader in readers[node]:
            waiting[reader] -= 1
            if not waiting[reader] and reader not in last:
                heapq.heappush(ready, -reader)
    return order + draft.outputs


class _Registers:
    """Registers of a draft, each made once."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.order: list[int] = []  # of the registers in the list
        self._known: dict[tuple[int, int], int] = {}

    def of(self, node: int, delay: int) -> int:
        """Return the register that holds the activation of `node` of `delay` steps ago."""
        if (node, delay) in self._known:
            return self._known[node, delay]
        is_input = self.draft.nodes[node].kind == "input"
        is_last = delay == 0 or (delay == 1 and not is_input)
        before = node if is_last else self.of(node, delay - 1)
        initial = self.draft.nodes[node].initial
        register = self.draft.follow(before, Node("identity", initial=initial))
        self.order.insert(0, register)
        self._known[node, delay] = register
        return register


def _with_registers(
    net: Network, library: ListLibrary, draft: Draft, order: list[int]
) -> list[int]:
    """Let registers give the delays that the order does not; returns the order with them."""
    position, registers = _positions(order), _Registers(draft)
    late_gains = []
    for edge in list(draft.edges):
        if not edge.computes:
            continue
        if not edge.is_loop and not _is_read_in_time(edge, position):
            edge.source, edge.delay = registers.of(edge.source, edge.delay), 0
        if not _is_gated_in_time(edge, draft, position, library):
            if edge.starts_open:
                late_gains.append(draft.nodes[edge.target].neuron)
            edge.gater, edge.gate_delay = registers.of(edge.gater, edge.gate_delay), 0
    if late_gains:
        raise cannot_hold(net, library.title, {"an initial gain with such delays": late_gains})
    if registers.order:
        warn(
            f"written for {library.title}: {len(registers.order)} nodes were added that hold a "
            "value of the step before, where no order of the nodes gives that delay"
        )
    inputs = sum(node.kind == "input" for node in draft.nodes)
    return order[:inputs] + registers.order + order[inputs:]
