"""A network in list order: nodes sorted so that each connection has the delay it should have.

A node reads an earlier one in the same step, and itself or a later one a step late. Where no order
gives every delay, a *register* is added: a node of identity that stands right after the inputs and
reads a later node, so that its activation is the value of the step before. A chain of registers
gives longer delays, and a copy of an input at its end delays an input or lets it gate.
"""

import heapq
from dataclasses import dataclass

from neat_onnx.errors import warn
from neat_onnx.libraries.limits import cannot_hold
from neat_onnx.libraries.list_draft import Draft, Edge, ListLibrary, Node, draft_of
from neat_onnx.network.genes import NONE
from neat_onnx.network.network import Network

_ID_LIMIT = 2**52


@dataclass(frozen=True)
class Written:
    """A network in list order.

    Attributes:
        nodes: in the order in which they are evaluated: inputs first.
        ids: of the nodes: ids of the neurons, new ones for added nodes.
        edges: the connections; ends and gaters are positions in `nodes`.
    """

    nodes: list[Node]
    ids: list[int]
    edges: list[Edge]


def write_list(net: Network, library: ListLibrary, *, outputs_last: bool = False) -> Written:
    """Return a network in list order, with warnings for added nodes and lost fields.

    Args:
        net: the network. Several ports become one, their neurons in order.
        library: the expressive power of the library.
        outputs_last: whether the outputs have to stand at the end of the list.
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
    """A topological order, the outputs last, in which few delays are missing.

    Of the nodes that can stand next, one is taken that fewest others should stand before, so that
    these read it a step late.
    """
    count = len(draft.nodes)
    readers, waiting = _readers(draft)
    later, wanting = _read_a_step_late(draft)
    last = set(draft.outputs)
    inputs = [number for number in range(count) if draft.nodes[number].kind == "input"]
    ready = [(-1, number) for number in inputs]
    ready += [(wanting[n], n) for n in range(count) if not waiting[n] and n not in last | {*inputs}]
    heapq.heapify(ready)
    order: list[int] = []
    done: set[int] = set()
    while ready:
        _, node = heapq.heappop(ready)
        if node in done:
            continue
        done.add(node)
        order.append(node)
        for reader in readers[node]:
            waiting[reader] -= 1
            if not waiting[reader] and reader not in last:
                heapq.heappush(ready, (wanting[reader], reader))
        for other in later[node]:
            wanting[other] -= 1
            if (
                not waiting[other]
                and other not in last | done
                and draft.nodes[other].kind != "input"
            ):
                heapq.heappush(ready, (wanting[other], other))
    return order + draft.outputs


def _readers(draft: Draft) -> tuple[list[list[int]], list[int]]:
    """Return the nodes that read each node in the same step, and how many each one reads so."""
    readers: list[list[int]] = [[] for _ in draft.nodes]
    waiting = [0] * len(draft.nodes)
    for source, target in _dependencies(draft):
        readers[source].append(target)
        waiting[target] += 1
    return readers, waiting


def _read_a_step_late(draft: Draft) -> tuple[list[list[int]], list[int]]:
    """Return the nodes that each node reads a step late, and how many read each one so."""
    later: list[list[int]] = [[] for _ in draft.nodes]
    wanting = [0] * len(draft.nodes)
    for edge in draft.edges:
        if edge.computes and edge.delay == 1 and edge.source != edge.target:
            later[edge.target].append(edge.source)
            wanting[edge.source] += 1
        if edge.computes and edge.gate_delay == 1 and edge.gater != edge.target:
            later[edge.target].append(edge.gater)
            wanting[edge.gater] += 1
    return later, wanting


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
