"""A network around operators that stand for neurons of it, as one graph.

The network of all other neurons, to which the results of the operators are inputs, is exported as
any other. Where it would compute neurons before an operator and behind it at once, it is exported
in parts: the neurons before all operators, those behind one, and so on.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from neat_onnx.lowering.registry import Proposal
from neat_onnx.model import Model, Node, OperatorSet
from neat_onnx.model.wiring import names_made, subgraphs
from neat_onnx.network.genes import NONE, Bools, Ints
from neat_onnx.network.idle import without_idle
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.schedule import contributing, schedule
from neat_onnx.passes.draft import Draft, copied, with_graph
from neat_onnx.passes.splice import renamed_throughout, splice
from neat_onnx.short_form.order import in_order_of

Export = Callable[[Network], Model]
_VERSION = 1  # of the domains of operators that are not ONNX's own


class Found(NamedTuple):
    """An operator whose neurons a network has.

    Attributes:
        proposal: the operator.
        places: the neurons of the network that import makes of it, NONE of those that it has not.
        results: by each of its outputs that was found, its neurons, in C order, and its shape.
    """

    proposal: Proposal
    places: Ints
    results: dict[str, Port]

    @property
    def neurons(self) -> Ints:
        """The neurons of all outputs."""
        return np.concatenate([port.neurons for port in self.results.values()])


def versions_of(opset: int, *proposed: Proposal) -> list[OperatorSet]:
    """The operator sets of a model with operators."""
    domains = sorted({node.domain for each in proposed for node in each.nodes} - {""})
    others = [OperatorSet(domain=domain, version=_VERSION) for domain in domains]
    return [OperatorSet(version=opset), *others]


def written_with(
    net: Network, plain: Model, export: Export, found: Sequence[Found]
) -> Model | None:
    """The model of a network with operators; None where they read one another's results in a cycle.

    Args:
        net: the network.
        plain: its model, whose ports the new one has.
        export: makes the model of another network, without metadata.
        found: the operators.
    """
    around = _Around(net, plain, export, found)
    whole = around.at_once()
    if whole.graph.node:
        return whole
    stages = _stages(net, around)
    return None if stages is None else around.in_stages(stages)


class _Around:
    """The operators in one graph with the neurons around them.

    Attributes:
        found: the operators.
        reads: the ports of the neurons that each reads, by their names in the proposal: inputs, or
            new ones.
        new_ports: the ports among them that are no inputs.
        results: the new ports of its outputs, by their names in the proposal.
    """

    def __init__(self, net: Network, plain: Model, export: Export, found: Sequence[Found]) -> None:
        self.found = found
        self._net, self._plain, self._export = net, plain, export
        self._draft = Draft(with_graph(plain, node=[], initializer=[]))
        self.results = [
            {old: self._named(port) for old, port in each.results.items()} for each in found
        ]
        self.new_ports: list[Port] = []
        self.reads = [
            {name: self._read(name, sources) for name, sources in each.proposal.reads.items()}
            for each in found
        ]
        self._nodes = [
            node
            for each, reads, results in zip(found, self.reads, self.results, strict=True)
            for node in self._operator(each.proposal, reads | results)
        ]

    @property
    def ports(self) -> list[Port]:
        """The ports of all results."""
        return [port for each in self.results for port in each.values()]

    def _named(self, port: Port) -> Port:
        return replace(port, name=self._draft.name(port.name))

    def _read(self, name: str, sources: Ints) -> Port:
        """The port of a tensor that is read; one that others read is the same."""
        shape, neurons = sources.shape, sources.ravel()
        for port in (*self._net.inputs, *self.new_ports):
            if port.shape == shape and np.array_equal(port.neurons, neurons):
                return port
        self.new_ports.append(self._named(Port(name, shape, neurons)))
        return self.new_ports[-1]

    def _operator(self, proposal: Proposal, ports: dict[str, Port]) -> Iterator[Node]:
        """Yield the nodes of an operator, between ports of these names in the proposal."""
        draft = self._draft
        names = {name: port.name for name, port in ports.items()}
        for each in proposal.constants:
            values = each.values.reshape(each.dims)
            names[each.name] = draft.constant(each.name, values, each.data_type)
        for node in proposal.nodes:
            made = [*node.output, *(name for each in subgraphs(node) for name in names_made(each))]
            names |= {name: draft.name(name) for name in made if name not in names}
            yield renamed_throughout(node, names)

    def at_once(self) -> Model:
        """The model with the other neurons as one network; without nodes if that makes a cycle."""
        given = {port.name for port in self._net.inputs}
        rest = _around(
            self._net,
            inputs=[*self._net.inputs, *self.ports],
            outputs=[*self._net.outputs, *self.new_ports],
            kept=given - {port.name for each in self.reads for port in each.values()},
        )
        return self._whole([rest])

    def in_stages(self, stage: Ints) -> Model:
        """The model with the other neurons as a network for each stage."""
        parts = [*_parts(self._net, self, stage, self._named)]
        return self._whole(parts)

    def _whole(self, parts: Iterable[Network]) -> Model:
        """The model of the operators, and of networks that have ports in common with them."""
        draft, nodes = self._draft, [*self._nodes]
        constants = dict(draft.tensors)
        for part in parts:
            graph = self._export(part).graph
            given = {entry.name: entry.name for entry in graph.inputs}
            nodes += splice(draft, graph, given, [entry.name for entry in graph.outputs])
        versions = versions_of(self._plain.opset, *(each.proposal for each in self.found))
        whole = copied(draft.finished(nodes), opset_import=versions)
        draft.tensors = constants
        return in_order_of(whole, ())


def _stages(net: Network, around: _Around) -> Ints | None:
    """For each neuron the number of operators before it; None where they are in a cycle."""
    stage, levels = np.zeros(len(net), np.int64), schedule(net).levels
    least = stage.copy()
    for _ in range(len(around.found) + 1):
        before = least.copy()
        for reads, results in zip(around.reads, around.results, strict=True):
            last = max(stage[port.neurons].max() for port in reads.values())
            for port in results.values():
                least[port.neurons] = last + 1
        if np.array_equal(least, before):
            return stage
        for neurons in levels:
            row, edge = net.edges_into(neurons)
            highest = least[neurons]
            for ends in (net.live.source[edge], net.live.gater[edge]):
                np.maximum.at(highest, row[ends != NONE], stage[ends[ends != NONE]])
            stage[neurons] = highest
    return None


def _parts(
    net: Network, around: _Around, stage: Ints, named: Callable[[Port], Port]
) -> Iterator[Network]:
    """Yield the network of each stage; an output of it gives neurons to later stages.

    Args:
        net: the network.
        around: the operators.
        stage: of each neuron.
        named: gives a port a name of its own.
    """
    names = {port.name for port in net.inputs}
    wanted = [*net.outputs, *around.new_ports]
    given = [*net.inputs, *around.ports]
    rest = _around(net, given, wanted, names, idle=True)
    needed, live, known = contributing(rest), rest.live, rest.is_input
    for number in range(int(stage.max()) + 1):
        outputs = [port for port in wanted if stage[port.neurons].max() == number]
        later = stage[live.target] > number
        reads = [live.source[later], live.gater[later & (live.gater != NONE)]]
        reads += [port.neurons for port in wanted if stage[port.neurons].max() > number]
        handed = np.zeros(len(net), np.bool_)
        handed[np.concatenate(reads)] = True
        handed &= needed & ~known & (stage == number)
        if np.any(handed):
            neurons = np.flatnonzero(handed)
            outputs.append(named(Port("between", neurons.shape, neurons)))
        if outputs:
            yield _around(rest, given, outputs, set(), stage == number)
        given += outputs[len(outputs) - bool(np.any(handed)) :]


def _around(
    net: Network,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    kept: Collection[str],
    its: Bools | None = None,
    *,
    idle: bool = False,
) -> Network:
    """The network between ports.

    Args:
        net: the network.
        inputs, outputs: the ports.
        kept: names of inputs that stay, whether or not they are read.
        its: the neurons that it computes, if not all.
        idle: idle neurons and inputs stay.
    """
    inner = np.zeros(len(net), np.bool_)
    inner[np.concatenate([port.neurons for port in inputs])] = True
    its = ~inner if its is None else its & ~inner
    rest = replace(
        net,
        inputs=tuple(map(_of_numbers, inputs)),
        outputs=tuple(map(_of_numbers, outputs)),
        connections=net.connections.take(its[net.connections.target]),
        blocks=tuple(block for block in net.blocks if np.all(its[block.neurons])),
        operators=(),
    )
    if idle:
        return rest
    needed = contributing(rest)
    read = [port for port in rest.inputs if port.name in kept or np.any(needed[port.neurons])]
    return without_idle(replace(rest, inputs=tuple(read or rest.inputs[:1])))


def _of_numbers(port: Port) -> Port:
    """The port without hints: it stands inside of the graph."""
    return replace(port, dtype="", batch_axis=0, time_axis=None)
