"""Hints at the operators that neurons were imported as, for those that are more than one layer, and
at the whole of a small graph.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from neat_onnx.lifting.hint_texts import HintTexts
from neat_onnx.lifting.hinted_nodes import is_newer, may_come_back
from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.node import operator_of
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import reads as tensors_read
from neat_onnx.network.genes import NONE, Bools, Ints, distinct
from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network
from neat_onnx.network.operator_hint import OperatorHint
from neat_onnx.network.port import shared_ports
from neat_onnx.network.schedule import contributing
from neat_onnx.network.window import Sizes
from neat_onnx.passes.constants import constant_nodes
from neat_onnx.passes.draft import Draft

_MAX_NODES = 4  # of one hint
_MAX_NODES_BEFORE = 32  # the same, with those behind what may be infinite, or the whole graph
_MANY_INPUTS = 3
_AXES_OF_MATRIX = 2
_MAX_INNER, _MAX_INNER_EACH = 16_384, 64  # neurons of an operator, and for each that it reads


def with_operator_hints(
    net: Network,
    model: Model,
    tensors: Mapping[str, Ints],
    shapes: Mapping[str, Sizes],
    *,
    has_batch: bool,
) -> Network:
    """The network of a graph with a hint at each operator that is more than one layer of it.

    Args:
        net: the network.
        model: the model as it was read.
        tensors: for each tensor that neurons could be found for, their positions, flat.
        shapes: the shape of each of them, with one sample of a batch.
        has_batch: the first axis of inputs is a batch, unless all samples share them.
    """
    if net.has_memory:
        return net
    shared = {port.name for port in shared_ports(net.inputs)} if has_batch else shapes.keys()
    stays = contributing(net) | net.is_input
    known = {
        name: neurons
        for name, neurons in tensors.items()
        if not np.any(neurons == NONE)
        and np.all(stays[neurons])
        and (name in shared or shapes[name][:1] == (1,))
    }
    sizes: dict[str, list[Extent]] = {name: [*shapes[name]] for name in known}
    for name in known.keys() - shared:
        sizes[name][0] = "N"
    hints = tuple(_Hints(net, constant_nodes(model), known, sizes).found())
    return replace(net, operators=hints) if hints else net


class _Hints:
    """The hints at operators of one graph.

    Args:
        net: the network.
        model: the model, without Constant nodes.
        tensors: the neurons of tensors, flat.
        sizes: the shapes of these, "N" for the batch.
    """

    def __init__(
        self,
        net: Network,
        model: Model,
        tensors: Mapping[str, Ints],
        sizes: Mapping[str, Sequence[Extent]],
    ) -> None:
        self._net, self._draft, self._tensors = net, Draft(model), tensors
        self._texts = HintTexts(self._draft, sizes)
        self._counts: dict[tuple[tuple[str, ...], tuple[str, ...]], int | None] = {}
        self._is_known = np.zeros(len(net), np.bool_)
        nodes = self._draft.model.graph.node
        self._places = {name: at for at, node in enumerate(nodes) for name in node.output if name}

    def found(self) -> Iterable[OperatorHint]:
        """The hints, each once."""
        hints = chain(self._of_groups(), self._of_whole_graph())
        return {(each.model, each.neurons.tobytes()): each for each in hints}.values()

    def _of_groups(self) -> Iterator[OperatorHint]:
        """Yield the hints at a node or a few."""
        groups, nodes, opset = {}, self._draft.model.graph.node, self._draft.model.opset
        for place, node in enumerate(nodes):
            own = self._group(place) if may_come_back(node, opset) else ()
            for whole in (False, True) if self._reads_truths(own) else (False,):
                places = self._closed(own, whole=whole)
                if places and all(may_come_back(nodes[at], opset) for at in places):
                    groups[places] = [nodes[at] for at in places]
        for group in groups.values():
            reads, constants, gives = self._ends(group)
            any_size = any(is_newer(each, opset) for each in group)
            any_size |= self._adds_up_infinities(reads, constants)
            if reads and gives and self._is_large(reads, gives, any_size=any_size):
                yield from self._hint(group, reads, gives, constants)

    def _of_whole_graph(self) -> Iterator[OperatorHint]:
        """Yield the hint at all nodes of a small graph, between its inputs and its outputs.

        Layers come back by themselves.
        """
        graph, opset = self._draft.model.graph, self._draft.model.opset
        reads, gives = ([each.name for each in ends] for ends in (graph.inputs, graph.outputs))
        if (
            len(graph.node) <= _MAX_NODES_BEFORE
            and all(name in self._tensors for name in (*reads, *gives))
            and all(may_come_back(node, opset) for node in graph.node)
            and not all(map(self._is_layer, graph.node))
        ):
            _, constants, _ = self._ends(graph.node)
            yield from self._hint(graph.node, reads, gives, constants, throughout=True)

    def _is_layer(self, node: Node) -> bool:
        """Whether a node gives numbers of one tensor: a function of each, or sums by a matrix."""
        tensors = self._draft.tensors
        weights = [tensors[name] for name in node.input if name in tensors]
        computed = [name for name in node.input if name and name not in tensors]
        sums = any(len(each.dims) >= _AXES_OF_MATRIX for each in weights)
        if len(computed) != 1 or not (sums or operator_of(node).elementwise):
            return False
        return self._texts.kind(computed[0]) is self._texts.kind(node.output[0]) is DataType.FLOAT

    def _hint(
        self,
        group: Sequence[Node],
        reads: Sequence[str],
        gives: Sequence[str],
        constants: Sequence[str],
        *,
        throughout: bool = False,
    ) -> Iterator[OperatorHint]:
        """Yield the hint at nodes between these tensors, if they are one; see `HintTexts.text`."""
        text = self._texts.text(group, reads, gives, constants, throughout=throughout)
        if text is not None:
            yield OperatorHint(text, np.concatenate([self._tensors[name] for name in reads]))

    def _reads_truths(self, places: tuple[int, ...]) -> bool:
        """Whether nodes read neurons of truth values, as a choice does."""
        nodes = self._draft.model.graph.node
        names = (name for at in places for name in tensors_read(nodes[at]))
        return any(
            name in self._tensors and self._texts.kind(name) is DataType.BOOL for name in names
        )

    def _ends(self, group: Sequence[Node]) -> tuple[list[str], list[str], list[str]]:
        """The tensors of neurons and the constants that nodes read, and the last one's results."""
        made = {name for each in group for name in each.output}
        names = dict.fromkeys(name for each in group for name in tensors_read(each) if name)
        reads = [name for name in names if name in self._tensors and name not in made]
        constants = [name for name in names if name not in self._tensors and name not in made]
        return reads, constants, [name for name in group[-1].output if name]

    def _closed(self, places: tuple[int, ...], *, whole: bool) -> tuple[int, ...]:
        """The places of nodes, and of nodes before them as far as neurons between their ends read
        others besides: a choice looks behind infinite numbers. () if these are too many.

        Args:
            places: the nodes.
            whole: nodes whose results tell less than themselves are among them.
        """
        nodes = self._draft.model.graph.node
        while places and len(places) <= _MAX_NODES_BEFORE:
            reads, _, gives = self._ends([nodes[at] for at in places])
            computed = [name for name in reads if name in self._places]
            whole &= any(self._texts.kind(name) is DataType.BOOL for name in reads)
            if computed and gives and self._inner(reads, gives) is not None:
                computed = [name for name in computed if whole and self._tells_more(name)]
            before = [self._group(self._places[name]) for name in computed]
            more = sorted({*places, *(at for group in before for at in group)})
            if not (before and gives and all(before)) or more[-1] != places[-1]:
                return places
            places = tuple(more)
        return ()

    def _group(self, place: int) -> tuple[int, ...]:
        """The places of a node, and of nodes before and behind it as far as no neurons are between
        them; () if these are too many.

        A neuron takes the function of a node that alone reads its aggregate.
        """
        nodes, group, waiting = self._draft.model.graph.node, {place}, [place]
        while waiting and len(group) <= _MAX_NODES:
            for name in tensors_read(nodes[waiting.pop()]):
                if name in self._places and name not in self._tensors:
                    group.add(self._places[name])
                    waiting.append(self._places[name])
        found = sorted(group)
        while len(found) <= _MAX_NODES:
            outputs = [name for name in nodes[found[-1]].output if name]
            if all(name in self._tensors for name in outputs):
                return tuple(found)
            reader = self._draft.sole_reader(outputs[0])
            if reader is None or len(outputs) > 1:
                break
            found.append(reader)
        return ()

    @cached_property
    def _overflows(self) -> Bools:
        return overflowing(self._net).activation

    def _tells_more(self, name: str) -> bool:
        """Whether a tensor is of truth values, in place of which neurons may read numbers that are
        compared, or may be infinite, which some nodes behind it take into account.
        """
        return self._texts.kind(name) is DataType.BOOL or self._may_be_infinite(name)

    def _may_be_infinite(self, name: str) -> bool:
        return bool(np.any(self._overflows[self._tensors[name]]))

    def _adds_up_infinities(self, reads: Sequence[str], constants: Sequence[str]) -> bool:
        """Whether nodes without weights read numbers that may be infinite: an export has no
        matrix of these, whose zeros would make NaN of them.
        """
        tensors = self._draft.tensors
        if any(
            name not in tensors or not tensors[name].data_type.is_discrete for name in constants
        ):
            return False
        return any(map(self._may_be_infinite, reads))

    def _is_large(self, reads: Sequence[str], gives: Sequence[str], *, any_size: bool) -> bool:
        """Whether neurons between these tensors are in neither, or several of them are read: many,
        or two of truth values.

        Args:
            reads, gives: the tensors.
            any_size: it is enough that there are neurons.
        """
        inner = self._inner(reads, gives)
        if inner is None or inner < 0:
            return False
        several = len(reads) > 1 and all(kind.is_discrete for kind in map(self._texts.kind, reads))
        return any_size or inner > 0 or several or len(reads) >= _MANY_INPUTS

    def _inner(self, reads: Sequence[str], gives: Sequence[str]) -> int | None:
        """How many neurons are between tensors; below 0 if none is made, or too many are,
        None if they read others besides.
        """
        ends = tuple(reads), tuple(gives)
        if ends not in self._counts:
            self._counts[ends] = self._counted(reads, gives)
        return self._counts[ends]

    def _counted(self, reads: Sequence[str], gives: Sequence[str]) -> int | None:
        read, made = (
            distinct(np.concatenate([self._tensors[name] for name in names]))
            for names in (reads, gives)
        )
        made = np.setdiff1d(made, read)  # others are handed on
        return self._between(read, made) if len(made) else -1

    def _between(self, read: Ints, made: Ints) -> int | None:
        net, known, met = self._net, self._is_known, [read, made]
        known[read] = known[made] = True
        most, inner = _MAX_INNER + _MAX_INNER_EACH * len(read), 0
        while (
            len(met[-1]) and inner <= most and not np.any(net.is_input[met[-1]] & ~known[met[-1]])
        ):
            known[met[-1]] = True
            _, edge = net.edges_into(met[-1])
            ends = np.concatenate([net.live.source[edge], net.live.gater[edge]])
            following = distinct(ends[ends != NONE])
            met.append(following[~known[following]])
            inner += len(met[-1])
        for each in met:
            known[each] = False
        if inner > most:
            return -1
        return None if len(met[-1]) else inner
