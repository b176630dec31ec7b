"""Operators in the place of the neurons that import makes of them.

An operator whose neurons are many, and have no short form of their own, is proposed by its room.
It is imported alone, and its neurons are found in the network, gene for gene. The network of all
others, to which its results are inputs, is exported as any other, and the operator is put in front.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.lowering.registry import Proposal, proposals
from neat_onnx.lowering.short_model import BareModel
from neat_onnx.model import DataType, Graph, Model, Node, OperatorSet, ValueInfo
from neat_onnx.model.fresh_names import FreshNames
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.idle import without_idle
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.schedule import contributing
from neat_onnx.passes.draft import Draft, copied, with_graph
from neat_onnx.short_form.order import in_order_of

Export = Callable[[Network], Model]
_Key = tuple[Any, ...]
_UNGATED = NONE - 1  # in the place of a gater
_NOT_IMPORTED = "neat-onnx"  # a network without a short form
_VERSION = 1  # of the domains of operators that are not ONNX's own


class _Found(NamedTuple):
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


def with_proposed_operators(net: Network, plain: Model, export: Export) -> Model | None:
    """The model with an operator in the place of neurons; None if none is proposed, or found.

    Args:
        net: the network.
        plain: its model, whose ports the new one has.
        export: makes the model of another network, without metadata.
    """
    if net.has_memory or net.memory or plain.graph.inputs[0].elem_type is not DataType.FLOAT:
        return None
    found, genes, taken = list[_Found](), _Genes(net), set[int]()
    for proposal in proposals(net):
        each = _found(genes, proposal, plain.opset, taken)
        if each is not None and taken.isdisjoint(each.neurons.tolist()):
            taken.update(each.places.tolist())
            found.append(each)
    if not found:
        return None
    return genes.in_order(_written(net, plain, export, found))


def _found(
    genes: "_Genes", proposal: Proposal, opset: int, taken: Collection[int]
) -> _Found | None:
    """The operator, if import makes neurons of the network of it.

    Args:
        genes: of the network.
        proposal: the operator.
        opset: of the model.
        taken: neurons that other operators have.
    """
    graph = Graph(
        name="graph",
        inputs=[ValueInfo.of(proposal.reads, shape=["N", *proposal.sources.shape])],
        outputs=[ValueInfo.of(name) for name in proposal.gives],
        initializer=list(proposal.constants),
        node=list(proposal.nodes),
    )
    alone = BareModel(Model(opset_import=_versions(opset, proposal), graph=graph)).network
    if alone is None:
        return None
    place = genes.places(alone, proposal.sources.ravel(), taken)
    results = {
        port.name: Port(port.name, port.shape, place[port.neurons])
        for port in alone.outputs
        if np.all(place[port.neurons] != NONE)
    }
    return _Found(proposal, place, results) if results else None


def _versions(opset: int, *proposed: Proposal) -> list[OperatorSet]:
    domains = sorted({node.domain for each in proposed for node in each.nodes} - {""})
    others = [OperatorSet(domain=domain, version=_VERSION) for domain in domains]
    return [OperatorSet(version=opset), *others]


class _Genes:
    """The neurons of a network, by their genes."""

    def __init__(self, net: Network) -> None:
        self._net = net

    @cached_property
    def _known(self) -> dict[_Key, list[int]]:
        known = defaultdict[_Key, list[int]](list)
        for neuron, key in _keys(self._net, np.arange(len(self._net))):
            if not self._net.is_input[neuron]:
                known[key].append(neuron)
        return known

    def places(self, part: Network, inputs: Ints, taken: Collection[int] = ()) -> Ints:
        """For each neuron of a part, the neuron that has its genes; NONE if none has.

        Args:
            part: its neurons stand behind those that they read.
            inputs: the neurons that the inputs of the part are.
            taken: of equal neurons, these are the last that are found.
        """
        place = np.full(len(part), NONE, np.int64)
        place[part.input_neurons] = inputs
        times = Counter[_Key]()  # equal neurons are found one after the other
        for neuron, key in _keys(part, place):
            alike = sorted(self._known.get(key, []), key=taken.__contains__)
            if not part.is_input[neuron] and times[key] < len(alike):
                place[neuron] = alike[times[key]]
                times[key] += 1
        return place

    def in_order(self, model: Model) -> Model:
        """A model of the network with its nodes in the order of the neurons."""
        lifted = BareModel(model).lifted
        if lifted is None:
            return model
        place = self.places(lifted.network, self._net.input_neurons)
        place[place == NONE] = last = len(self._net)
        first = {name: place[at].min(initial=last) for name, at in lifted.tensors.items()}
        return in_order_of(model, sorted(first, key=first.__getitem__))


def _keys(net: Network, place: Ints) -> Iterator[tuple[int, _Key]]:
    """Yield each neuron and its genes, those that it reads by their places when it is reached."""
    genes, live, ends = net.neurons, net.live, net.first_edge.tolist()
    numbers = np.stack([genes.bias, genes.response, genes.initial], axis=1)
    others = live.delay, live.reads_state, live.gate_delay, live.initial_gain
    for neuron, (start, stop) in enumerate(pairwise(ends)):
        its = slice(start, stop)
        gater = live.gater[its]
        yield (
            neuron,
            (
                net.activation_names[neuron],
                net.aggregation_names[neuron],
                numbers[neuron].tobytes(),
                place[live.source[its]].tobytes(),
                live.weight[its].tobytes(),
                np.where(gater == NONE, _UNGATED, place[gater]).tobytes(),
                *(column[its].tobytes() for column in others),
            ),
        )


def _written(net: Network, plain: Model, export: Export, found: Sequence[_Found]) -> Model:
    """The model of the network with operators."""
    names = FreshNames(port.name for port in (*net.inputs, *net.outputs))
    results = [
        {old: replace(port, name=names.like(port.name)) for old, port in each.results.items()}
        for each in found
    ]
    reads = [_read(net, each.proposal, names) for each in found]
    ports = [port for each in results for port in each.values()]
    others = export(_without(net, ports, reads))
    draft = Draft(with_graph(others, inputs=plain.graph.inputs, outputs=plain.graph.outputs))
    nodes = [
        node
        for each, port, gives in zip(found, reads, results, strict=True)
        for node in _nodes(draft, each.proposal, port, gives)
    ]
    versions = _versions(plain.opset, *(each.proposal for each in found))
    whole = draft.finished([*nodes, *others.graph.node])
    return in_order_of(copied(whole, opset_import=versions), ())


def _read(net: Network, proposal: Proposal, names: FreshNames) -> Port:
    """The port of the neurons that an operator reads: an input, or a new one."""
    shape, sources = proposal.sources.shape, proposal.sources.ravel()
    for port in net.inputs:
        if port.shape == shape and np.array_equal(port.neurons, sources):
            return port
    return Port(names.like(proposal.reads), shape, sources)


def _nodes(
    draft: Draft, proposal: Proposal, read: Port, results: dict[str, Port]
) -> Iterator[Node]:
    """Yield the nodes of an operator, from a port to its results."""
    names = {proposal.reads: read.name} | {name: port.name for name, port in results.items()}
    for each in proposal.constants:
        names[each.name] = draft.constant(each.name, each.values.reshape(each.dims), each.data_type)
    for node in proposal.nodes:
        names |= {name: draft.name(name) for name in node.output if name not in names}
        reads, gives = ([names[name] for name in side] for side in (node.input, node.output))
        yield copied(node, input=reads, output=gives)


def _without(net: Network, ports: Sequence[Port], reads: Sequence[Port]) -> Network:
    """The network with neurons of operators as inputs, and without those that they alone read.

    Args:
        net: the network.
        ports: the results of the operators.
        reads: the neurons that they read: inputs, which are left out if nothing else reads them,
            or others, which are outputs then.
    """
    inner = np.zeros(len(net), np.bool_)
    inner[np.concatenate([port.neurons for port in ports])] = True
    names = {port.name for port in net.inputs}
    rest = replace(
        net,
        inputs=(*net.inputs, *ports),
        outputs=(*net.outputs, *(port for port in reads if port.name not in names)),
        connections=net.connections.take(~inner[net.connections.target]),
        library=_NOT_IMPORTED,
    )
    needed, given = contributing(rest), {port.name for port in reads}
    kept = [port for port in rest.inputs if port.name not in given or np.any(needed[port.neurons])]
    outputs = map(_of_numbers, rest.outputs)
    return without_idle(replace(rest, inputs=tuple(map(_of_numbers, kept)), outputs=tuple(outputs)))


def _of_numbers(port: Port) -> Port:
    """The port without hints: it stands inside of the graph."""
    return replace(port, dtype="", batch_axis=0)
