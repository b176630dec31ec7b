"""Operators in the place of the neurons that import makes of them.

An operator whose neurons are many, and have no short form of their own, is proposed by its room.
It is imported alone, and its neurons are found in the network, gene for gene; all others are
written around it (`around_operators.py`).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from neat_onnx.lowering.around_operators import Export, Found, versions_of, written_with
from neat_onnx.lowering.hinted_operators import hinted
from neat_onnx.lowering.registry import Proposal, proposals
from neat_onnx.lowering.short_model import BareModel
from neat_onnx.model import DataType, Graph, Model, ValueInfo
from neat_onnx.model.budget import limits
from neat_onnx.network.genes import NONE, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.short_form.order import in_order_of

_Key = tuple[Any, ...]
_Column = np.ndarray[Any, np.dtype[Any]]
_ROOM, _LEAST_ROOM = 4, 10_000  # a hint that makes more of a short text is none at these neurons
_UNGATED = NONE - 1  # in the place of a gater


_Proposals = Iterator[tuple[Proposal, Network | None]]
"""Proposals, and the networks that import makes of them, if it makes any."""


def with_proposed_operators(
    net: Network, plain: Model, export: Export
) -> tuple[Model | None, Model | None]:
    """The model with operators that rooms propose in the place of neurons, and the one with those
    at which the network has hints besides; None for each that has no more than the one before.

    Args:
        net: the network.
        plain: its model, whose ports the new ones have.
        export: makes the model of another network, without metadata.
    """
    if net.has_memory or net.memory:
        return None, None
    found, genes, taken = list[Found](), _Genes(net), set[int]()

    def with_more(proposed: _Proposals) -> Model | None:
        known = len(found)
        for proposal, alone in proposed:
            each = None if alone is None else _found(genes, proposal, alone, taken)
            if each is not None and taken.isdisjoint(each.neurons.tolist()):
                taken.update(each.places.tolist())
                found.append(each)
        whole = written_with(net, plain, export, found) if len(found) > known else None
        return None if whole is None else genes.in_order(whole)

    return with_more(_proposed(net, plain)), with_more(_hinted(net, plain))


def _proposed(net: Network, plain: Model) -> _Proposals:
    """Yield the proposals of rooms, for a model of float32."""
    numbers = plain.graph.inputs[0].elem_type
    for proposal in proposals(net) if numbers is DataType.FLOAT else ():
        graph = Graph(
            name="graph",
            inputs=[
                ValueInfo.of(name, shape=["N", *sources.shape])
                for name, sources in proposal.reads.items()
            ],
            outputs=[ValueInfo.of(name) for name in proposal.gives],
            initializer=list(proposal.constants),
            node=list(proposal.nodes),
        )
        model = Model(opset_import=versions_of(plain.opset, proposal), graph=graph)
        yield proposal, BareModel(model).network


def _hinted(net: Network, plain: Model) -> _Proposals:
    """Yield the operators at which the network has hints."""
    room = {
        "neurons": max(_ROOM * len(net), _LEAST_ROOM),
        "connections": max(_ROOM * len(net.connections), _LEAST_ROOM),
    }
    for proposal, alone in hinted(net, plain.opset, plain.graph.inputs[0].elem_type):
        with limits(**room):
            network = alone.network
        yield proposal, network


def _found(
    genes: "_Genes", proposal: Proposal, alone: Network, taken: Collection[int]
) -> Found | None:
    """The operator, if import makes neurons of the network of it.

    Args:
        genes: of the network.
        proposal: the operator.
        alone: the network that import makes of it.
        taken: neurons that other operators have.
    """
    reads = [*proposal.reads.values()]
    inputs = np.concatenate([sources.ravel() for sources in reads])
    place = genes.places(alone, inputs, taken)
    results = {
        name: Port(name, port.shape, place[port.neurons])
        for name, port in zip(proposal.gives, alone.outputs, strict=True)
        if np.all(place[port.neurons] != NONE) and not np.any(np.isin(place[port.neurons], inputs))
    }  # others are handed on, in whole or in part
    made = np.concatenate([np.empty(0, np.int64), *(port.neurons for port in results.values())])
    if not len(made) or len(distinct(made)) < len(made):
        return None  # elements are one neuron
    return Found(proposal, place, results)


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
        read = place[live.source[its]], np.where(gater == NONE, _UNGATED, place[gater])
        columns = _in_order([*read, live.weight[its], *(column[its] for column in others)])
        yield (
            neuron,
            (
                net.activation_names[neuron],
                net.aggregation_names[neuron],
                numbers[neuron].tobytes(),
                *(column.tobytes() for column in columns),
            ),
        )


def _in_order(columns: Sequence[_Column]) -> Sequence[_Column]:
    """The genes of connections into one neuron in the order of the neurons that they read."""
    if np.all(columns[0][1:] > columns[0][:-1]):
        return columns
    order = np.lexsort(columns[::-1])
    return [column[order] for column in columns]
