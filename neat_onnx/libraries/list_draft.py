"""Neurons as nodes of a library in list order: a neuron becomes one node, or a chain of them.

Such libraries know one aggregation, the sum, and no response. A neuron that has more is written as
a chain of nodes that computes the same numbers:

    response r      a node of identity sums the inputs, the next one reads it with the weight r
    state read      where others read the pre-activation, a node of identity holds it
    sigmoid(5 z)    a node of identity, and one of sigmoid that reads it with the weight 5
"""

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
        gates: whether a node can gate a connection.
        unit_loops: whether self-connections have the weight 1 alone.
        open_gates: whether gains start at 1 rather than 0.
        keeps_states: whether a node begins with a state of its own.
    """

    title: str
    activations: Mapping[str, str]
    adds_repeats: bool = False
    has_disabled: bool = False
    gates: bool = True
    unit_loops: bool = False
    open_gates: bool = False
    keeps_states: bool = False


@dataclass
class Node:
    """A node of the draft.

    Attributes:
        activation: our name.
        bias: its bias.
        neuron: the position of the neuron it stands for, or NONE for an added node.
        kind: input, hidden or output.
        initial: the state and the activation before the first step.
    """

    activation: str
    bias: float = 0.0
    neuron: int = NONE
    kind: str = "hidden"
    initial: float = 0.0


@dataclass
class Edge:
    """A connection between nodes of the draft.

    Attributes:
        source, target: numbers of nodes.
        weight: its weight.
        computes: False for a gene that is only kept.
        enabled: whether it is written as enabled.
        delay: in steps.
        gater: the node whose activation is the gain, or NONE.
        gate_delay: in steps.
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
    """Nodes and edges, not yet in an order.

    Attributes:
        nodes, edges: of the draft.
        outputs: the node of each output, in order.
    """

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
        if (kept or (dead and self.library.gates)) and (
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
        if not self.library.gates:
            self._problem("a gated connection", j)
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
