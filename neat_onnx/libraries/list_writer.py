"""Networks written for libraries that compute their nodes one by one, in the order of a list.

Such libraries know one aggregation, the sum, and no response. A neuron that has more is written as
a chain of nodes that computes the same numbers:

    response r      a node of identity sums the inputs, the next one reads it with the weight r
    state read      where others read the pre-activation, a node of identity holds it
    sigmoid(5 z)    a node of identity, and one of sigmoid that reads it with the weight 5

A node reads an earlier one in the same step, and itself or a later one a step late; a gate acts as
late as a connection from its gater. Where no order gives every delay, a *register* is added: a node
of identity that stands right after the inputs and reads a later node, so that its activation is the
value of the step before. A chain of registers gives longer delays, and a copy of an input at its
end delays an input or lets it gate.
"""

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from neat_onnx.errors import warn
from neat_onnx.libraries.limits import Reasons
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
        first_gain: the gain of a connection before its gater is first computed.
        keeps_states: whether a node begins with a state of its own.
    """

    title: str
    activations: Mapping[str, str]
    adds_repeats: bool = False
    has_disabled: bool = False
    unit_loops: bool = False
    first_gain: float = 0.0
    keeps_states: bool = False


@dataclass
class Node:
    """A node, of the neuron at `neuron`, or NONE for an added one.

    `kind` is input, hidden or output; `initial` the state and the activation before the first step;
    `id` is the neuron's, or a new one for an added node, and for what JavaScript cannot hold.
    """

    activation: str
    bias: float = 0.0
    neuron: int = NONE
    kind: str = "hidden"
    initial: float = 0.0
    id: int = NONE


@dataclass
class Edge:
    """A connection between nodes, by their numbers.

    Attributes:
        computes: False for a gene that is only kept.
        enabled: whether it is written as enabled.
        gater: the node whose activation is the gain, or NONE.
        first_gain: the gain before the gater is first computed.
        is_loop: whether it is a self-connection that reads the state.
    """

    source: int
    target: int
    weight: float = 1.0
    computes: bool = True
    enabled: bool = True
    delay: int = 0
    gater: int = NONE
    gate_delay: int = 0
    first_gain: float = 0.0
    is_loop: bool = False

    def document(self) -> dict[str, Any]:
        """Return the keys that all these libraries have."""
        gater = None if self.gater == NONE else self.gater
        return {"from": self.source, "to": self.target, "weight": self.weight, "gater": gater}


_ID_LIMIT = 2**52


def write_list(
    net: Network, library: ListLibrary, *, outputs_last: bool = False
) -> tuple[list[Node], list[Edge]]:
    """Return a network in list order, with warnings for added nodes and lost fields.

    Ends and gaters of edges are positions of nodes. Several ports become one, their neurons in
    order. Outputs may have to stand last.
    """
    if len(net.inputs) > 1 or len(net.outputs) > 1:
        warn(f"written for {library.title}: several ports become one, their neurons in order")
    draft = _Draft(net, library)
    order = draft.own_order()
    if not draft.fits(order) or (outputs_last and order[-len(draft.outputs) :] != draft.outputs):
        draft.free_outputs()
        order = draft.with_registers(draft.sorted())
    draft.refuse_or_tell()
    position = _positions(order)
    for edge in draft.edges:
        ends = position[edge.source], position[edge.target], position[edge.gater]
        edge.source, edge.target, edge.gater = ends
    nodes, ids = [draft.nodes[node] for node in order], net.neurons.id.tolist()
    fresh = count(max([0, *(key + 1 for key in ids if key < _ID_LIMIT)]))
    for node in nodes:
        own = NONE if node.neuron == NONE else ids[node.neuron]
        node.id = own if 0 <= own < _ID_LIMIT else next(fresh)
        if node.kind == "input":
            node.activation = "sigmoid"  # which these libraries give to inputs, and ignore
    return nodes, draft.edges


def _positions(order: list[int]) -> dict[int, int]:
    return {NONE: NONE} | {node: position for position, node in enumerate(order)}


_CHAINS: dict[str, tuple[str, float, float, str]] = {
    "neat_sigmoid": ("identity", 5.0, 0.0, "sigmoid"),
    "neat_tanh": ("identity", 2.5, 0.0, "tanh"),
    "hat": ("abs", -1.0, 1.0, "relu"),
}
"""Activations as two nodes: activation of the first, weight to and bias of the second, its own."""


class _Chain(NamedTuple):
    """The nodes of a neuron: its first, its last, and the one that shows its state."""

    first: int
    last: int
    state: int


class _Draft:
    """Nodes and edges for a library, not yet in an order, and the node of each output."""

    def __init__(self, net: Network, library: ListLibrary) -> None:
        self.net, self.library = net, library
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.outputs: list[int] = []
        self.reasons = Reasons(net, library.title)
        self.notes: Counter[str] = Counter()
        live = net.live
        loops = live.reads_state & (live.source == live.target) & (live.delay == 1)
        self._looping = Counter(live.source[loops].tolist())
        some = 0 if library.unit_loops else 1  # loops of other weights read the state by others
        self._shown = set(live.source[live.reads_state & ~loops].tolist())
        self._shown |= {neuron for neuron, count in self._looping.items() if count > some}
        self._fan_in = net.fan_in
        self._seen: set[tuple[int, int, bool]] = set()
        inputs = dict.fromkeys(net.input_neurons.tolist())
        self._chains = {neuron: self._input(neuron) for neuron in inputs}
        self._chains |= {j: self._chain(j) for j in range(len(net)) if j not in inputs}
        for position in range(len(net.connections)):
            self._connect(position)
        for neuron in net.output_neurons.tolist():
            node = self._chains[neuron].last
            if self.nodes[node].kind != "hidden":
                node = self._follow(node, Node("identity"))
                self.notes["an output that is an input, or several outputs, has a copy"] += 1
            self.nodes[node].kind = "output"
            self.outputs.append(node)

    def refuse_or_tell(self) -> None:
        """Refuse what the library cannot hold, or warn of what was added and left out."""
        self.reasons.refuse()
        for text, added in self.notes.items():
            extra = f"neurons were added: {text} ({added})" if added else text
            warn(f"written for {self.library.title}: {extra}")

    # --- nodes -----------------------------------------------------------------------------------

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _follow(self, source: int, node: Node, weight: float = 1.0) -> int:
        """Append a node that reads `source` alone, in the same step, and return its number."""
        number = self._add(node)
        self.edges.append(Edge(source, number, weight))
        return number

    def _input(self, neuron: int) -> _Chain:
        node = self._add(Node("identity", neuron=neuron, kind="input"))
        return _Chain(node, node, node)

    def _chain(self, j: int) -> _Chain:
        """Append the nodes of a neuron that computes."""
        known = self.library.activations
        bias, scale = self._sum_of(j)
        name = str(self.net.activation_names[j])
        steps: list[tuple[str, float, float]] = []  # activation, bias, weight to it
        if scale != 1.0 and self._fan_in[j]:
            steps.append(("identity", 0.0, 1.0))
            self.notes["a response or a mean is a weight between two"] += 1
        state = len(steps)
        head, slope, shift, tail = _CHAINS.get(name, (name, 1.0, 0.0, ""))
        if name in known or not {head, tail} <= known.keys():
            head, tail = name, ""
        if head != "identity" and (j in self._shown or (j in self._looping and state > 0)):
            steps.append(("identity", bias, scale))
            bias, scale = 0.0, 1.0
            self.notes["a state that is read is held by one"] += 1
        steps.append((head, bias, scale))
        if tail:
            steps.append((tail, shift, slope))
            self.notes[f"the activation {name} is two"] += 1
        elif name not in known:
            self.reasons.found[f"the activation {name}"].append(j)
        nodes = [self._add(Node(*steps[0][:2]))]
        for activation, own, weight in steps[1:]:
            nodes.append(self._follow(nodes[-1], Node(activation, own), weight))
        self.nodes[nodes[-1]].neuron = j
        return _Chain(nodes[0], nodes[-1], nodes[state])

    def _sum_of(self, j: int) -> tuple[float, float]:
        """The bias, and the factor of the sum, that give the neuron's aggregation."""
        bias, response = float(self.net.neurons.bias[j]), float(self.net.neurons.response[j])
        aggregation, count = str(self.net.aggregation_names[j]), int(self._fan_in[j])
        if count == 0 and aggregation == "product":
            return bias + response, 1.0
        if aggregation == "sum" or count < 2:
            return bias, response
        if aggregation != "mean":
            self.reasons.found[f"the aggregation {aggregation}"].append(j)
        elif count & (count - 1):
            self.notes["a mean is a sum times 1/n, equal to the last bit or two, and has one"] += 1
        return bias, response / count

    # --- edges -----------------------------------------------------------------------------------

    def _connect(self, position: int) -> None:
        """Append the edge of a gene, or leave out one that the library has no way to hold."""
        genes = self.net.connections
        source, target = int(genes.source[position]), int(genes.target[position])
        gater, reads_state = int(genes.gater[position]), bool(genes.reads_state[position])
        start, end = self._chains[source], self._chains[target]
        edge = Edge(
            start.state if reads_state else start.last,
            end.first,
            float(genes.weight[position]),
            computes=bool(genes.enabled[position]),
            delay=int(genes.delay[position]),
            gater=NONE if gater == NONE else self._chains[gater].last,
            gate_delay=int(genes.gate_delay[position]),
            first_gain=float(genes.initial_gain[position]),
        )
        if not edge.computes:
            if source != target or source not in self._looping:
                self._keep(edge, source == target)
            return
        initial = float(self.net.neurons.initial[source])
        if edge.delay and initial != 0.0:
            self.nodes[edge.source].initial = initial
            if not self.library.keeps_states:
                self.reasons.found["an initial value"].append(source)
        own_state = reads_state or (
            edge.source == end.first and self.nodes[edge.source].activation == "identity"
        )
        if (
            (source == target and edge.delay == 1 and own_state and start.first == start.state)
            and (end.first, end.first, True) not in self._seen
            and (edge.weight == 1.0 or not self.library.unit_loops)
        ):
            edge.source, edge.is_loop = end.first, True
        ends = edge.source, edge.target, edge.is_loop
        if ends in self._seen and not self.library.adds_repeats:
            edge.source = self._follow(edge.source, Node("identity"))
            self.notes["a second connection with the same ends reads a copy"] += 1
        self._seen.add((edge.source, edge.target, edge.is_loop))
        self.edges.append(edge)

    def _keep(self, edge: Edge, is_loop: bool) -> None:
        """Keep a gene that does not compute, if the library has a way to hold it.

        One that the library never computes, as an input gates it, is enabled there.
        """
        gated = edge.gater != NONE and self.nodes[edge.gater].kind == "input"
        dead = gated and self.library.first_gain == 0.0
        disabled = self.library.has_disabled and not is_loop
        edge.source = edge.target if is_loop else edge.source
        ends = edge.source, edge.target, is_loop
        if (disabled or dead) and (self.library.adds_repeats or ends not in self._seen):
            edge.enabled, edge.is_loop = dead or not disabled, is_loop
            self._seen.add(ends)
            self.edges.append(edge)
        else:
            self.notes["disabled connections are left out"] = 0

    # --- order -----------------------------------------------------------------------------------

    def own_order(self) -> list[int]:
        """The inputs in the order of the ports, then the neurons in that of the network.

        A node that was added for a neuron stands right before it.
        """
        rank, following = {}, len(self.nodes)
        for number in reversed(range(len(self.nodes))):
            node = self.nodes[number]
            following = following if node.neuron == NONE else node.neuron
            rank[number] = (node.kind != "input", following if node.kind != "input" else 0, number)
        return sorted(rank, key=rank.__getitem__)

    def fits(self, order: list[int]) -> bool:
        """Whether an order gives every delay, and the outputs in their order."""
        position = _positions(order)
        outputs = [position[node] for node in self.outputs]
        return outputs == sorted(outputs) and all(
            self._is_read_in_time(edge, position) and self._is_gated_in_time(edge, position)
            for edge in self.edges
            if edge.computes
        )

    def _is_read_in_time(self, edge: Edge, position: dict[int, int]) -> bool:
        """Whether the positions of its ends give a connection its delay."""
        if edge.source == edge.target:
            return edge.is_loop
        return edge.delay == int(position[edge.source] > position[edge.target])

    def _is_gated_in_time(self, edge: Edge, position: dict[int, int]) -> bool:
        """Whether the position of its gater gives a connection the delay of its gate."""
        if edge.gater == NONE:
            return True
        if self.nodes[edge.gater].kind == "input":
            return False  # inputs do not set gains
        if edge.gate_delay and edge.first_gain != self.library.first_gain:
            return False
        return edge.gate_delay == int(position[edge.gater] >= position[edge.target])

    def free_outputs(self) -> None:
        """Let a copy be the output in place of each node that others read in the same step."""
        early = {source for source, _ in self._dependencies()}
        for position, node in enumerate(self.outputs):
            if node in early:
                self.nodes[node].kind = "hidden"
                self.outputs[position] = self._follow(node, Node("identity", kind="output"))

    def _dependencies(self) -> list[tuple[int, int]]:
        """Pairs of nodes, of which the first has to be computed before the second."""
        pairs = []
        for edge in self.edges:
            if edge.computes and edge.delay == 0:
                pairs.append((edge.source, edge.target))
            if edge.computes and edge.gater != NONE and edge.gate_delay == 0:
                pairs.append((edge.gater, edge.target))
        return pairs

    def sorted(self) -> list[int]:
        """A topological order, the inputs first and the outputs last.

        Of the nodes that can stand next the last one is taken: others often read it a step late,
        and these stand behind it then.
        """
        readers: list[list[int]] = [[] for _ in self.nodes]
        waiting = [0] * len(self.nodes)
        for source, target in self._dependencies():
            readers[source].append(target)
            waiting[target] += 1
        inputs = [n for n, node in enumerate(self.nodes) if node.kind == "input"]
        order: list[int] = []
        ready = [(0, n) for n in inputs]
        ready += [(1, -n) for n, count in enumerate(waiting) if not count and n not in {*inputs}]
        heapq.heapify(ready)
        while ready:
            order.append(abs(heapq.heappop(ready)[1]))
            for reader in readers[order[-1]]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    heapq.heappush(ready, (1, -reader))
        last = {*self.outputs}
        return [node for node in order if node not in last] + self.outputs

    def with_registers(self, order: list[int]) -> list[int]:
        """Let registers give the delays that an order does not, and return the order with them."""
        position, registers = _positions(order), dict[tuple[int, int], int]()
        for edge in list(self.edges):
            if not edge.computes:
                continue
            if not self._is_read_in_time(edge, position):
                edge.source = self._register(edge.source, edge.delay, registers)
            if not self._is_gated_in_time(edge, position):
                if edge.gate_delay and edge.first_gain != self.nodes[edge.gater].initial:
                    what = f"an initial gain of {edge.first_gain:g}"
                    self.reasons.found[what].append(self.nodes[edge.target].neuron)
                edge.gater = self._register(edge.gater, edge.gate_delay, registers)
        if registers:
            text = f"{len(registers)} nodes were added that hold a value of the step before, where "
            self.notes[f"{text}no order of the nodes gives that delay"] = 0
        inputs = sum(node.kind == "input" for node in self.nodes)
        return order[:inputs] + [*registers.values()][::-1] + order[inputs:]

    def _register(self, node: int, delay: int, made: dict[tuple[int, int], int]) -> int:
        """Return the register that holds the activation of `node` of `delay` steps ago."""
        if (node, delay) not in made:
            is_input = self.nodes[node].kind == "input"
            is_last = delay == 0 or (delay == 1 and not is_input)
            before = node if is_last else self._register(node, delay - 1, made)
            made[node, delay] = self._follow(
                before, Node("identity", initial=self.nodes[node].initial)
            )
        return made[node, delay]
