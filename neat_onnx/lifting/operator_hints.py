"""Hints at the operators that neurons were imported as, for those that are more than one layer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from neat_onnx.model import DataType, Graph, Model, Node, OperatorSet, Tensor, ValueInfo
from neat_onnx.model.graph import ONNX_DOMAINS
from neat_onnx.model.node import operator_of
from neat_onnx.model.open_node import schema_of
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import names_made, subgraphs
from neat_onnx.model.wiring import reads as tensors_read
from neat_onnx.network.genes import NONE, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.network.operator_hint import OperatorHint
from neat_onnx.network.port import shared_ports
from neat_onnx.network.window import Sizes
from neat_onnx.passes.constants import constant_nodes
from neat_onnx.passes.draft import Draft, copied
from neat_onnx.passes.splice import renamed_tensor, renamed_throughout
from neat_onnx.passes.written_attributes import without_defaults

_MAX_NUMBERS = 256  # of constants: more are weights, and layers of these come back by themselves
_MAX_NODES = 4  # of one hint
_MANY_INPUTS = 3
_MAX_INNER, _MAX_INNER_EACH = 16_384, 64  # neurons of an operator, and for each that it reads
_KINDS = {DataType.FLOAT, DataType.BOOL}  # runtimes stop at some integers, as a divisor of 0

_Key = tuple[object, ...]


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
    known = {
        name: neurons
        for name, neurons in tensors.items()
        if not np.any(neurons == NONE) and (name in shared or shapes[name][:1] == (1,))
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
        self._net, self._draft, self._tensors, self._sizes = net, Draft(model), tensors, sizes
        self._texts: dict[_Key, str] = {}
        self._is_known = np.zeros(len(net), np.bool_)
        nodes = self._draft.model.graph.node
        self._places = {name: at for at, node in enumerate(nodes) for name in node.output if name}

    def found(self) -> Iterator[OperatorHint]:
        """Yield the hints."""
        groups, nodes, opset = {}, self._draft.model.graph.node, self._draft.model.opset
        for place, node in enumerate(nodes):
            places = self._group(place) if _may_come_back(node, opset) else ()
            if places and all(_may_come_back(nodes[at], opset) for at in places):
                groups[places] = [nodes[at] for at in places]
        for group in groups.values():
            made = {name for each in group for name in each.output}
            names = dict.fromkeys(name for each in group for name in tensors_read(each) if name)
            reads = [name for name in names if name in self._tensors and name not in made]
            constants = [name for name in names if name not in self._tensors and name not in made]
            gives = [name for name in group[-1].output if name]
            if reads and gives and self._is_large(reads, gives):
                text = self._text(group, reads, gives, constants)
                if text is not None:
                    neurons = np.concatenate([self._tensors[name] for name in reads])
                    yield OperatorHint(text, neurons)

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

    def _is_large(self, reads: Sequence[str], gives: Sequence[str]) -> bool:
        """Whether neurons between these tensors are in neither, or several of them are read: many,
        or two of truth values.
        """
        read, made = (
            distinct(np.concatenate([self._tensors[name] for name in names]))
            for names in (reads, gives)
        )
        made = np.setdiff1d(made, read)  # others are handed on
        inner = self._between(read, made) if len(made) else None
        if inner is None:
            return False
        several = len(reads) > 1 and all(kind.is_discrete for kind in map(self._kind, reads))
        return inner > 0 or several or len(reads) >= _MANY_INPUTS

    def _between(self, read: Ints, made: Ints) -> int | None:
        """How many neurons are between others; None if they read some besides, or are too many."""
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
        return None if len(met[-1]) else inner

    def _text(
        self, group: Sequence[Node], reads: Sequence[str], gives: Sequence[str], names: list[str]
    ) -> str | None:
        """The model of nodes alone as JSON; None if they have weights, or integers at their ends at
        which a runtime may stop.

        It is written once for all nodes that differ by names alone.
        """
        if not self._runs_always(group, reads, gives):
            return None
        constants = self._constants(names)
        inner = [each for node in group for each in _inside(node)]
        if constants is None or not _are_few_numbers([*constants, *inner]):
            return None
        key = self._key(group, reads, gives, constants)
        if key not in self._texts:
            self._texts[key] = self._alone(group, reads, gives, constants).to_json(indent=False)
        return self._texts[key]

    def _runs_always(
        self, group: Sequence[Node], reads: Sequence[str], gives: Sequence[str]
    ) -> bool:
        """Whether no number at the ends of nodes stops a runtime, but a place that is an input."""
        ends = {name for name in (*reads, *gives) if self._kind(name) not in _KINDS}
        if not all(self._kind(name).is_discrete for name in ends):
            return False
        known = {entry.name for entry in self._draft.model.graph.inputs}.union(gives)
        for node in group:
            operator, its = operator_of(node), ends.intersection((*node.input, *node.output))
            if its and not (operator.takes_steps or (operator.takes_places and its <= known)):
                return False
        return True

    def _constants(self, names: list[str]) -> list[Tensor] | None:
        """The constants of these names; None if they are weights, or none."""
        tensors = self._draft.tensors
        if not all(name in tensors for name in names):
            return None
        found = [tensors[name] for name in names]
        return found if _are_few_numbers(found) else None

    def _key(
        self,
        group: Sequence[Node],
        reads: Sequence[str],
        gives: Sequence[str],
        constants: Sequence[Tensor],
    ) -> _Key:
        """All that makes a difference between nodes, but for names."""
        numbers = {name: at for at, name in enumerate((*reads, *(each.name for each in constants)))}
        for name in (name for node in group for name in node.output):
            numbers.setdefault(name, len(numbers))
        operators = (
            (node.op_type, node.attributes.model_dump_json(), *map(numbers.get, node.input))
            for node in group
        )
        return (
            *operators,
            *(tuple(map(numbers.get, node.output)) for node in group),
            *((self._kind(name), *self._sizes[name]) for name in (*reads, *gives)),
            *((each.data_type, each.dims, each.values.tobytes()) for each in constants),
        )

    def _alone(
        self,
        group: Sequence[Node],
        reads: Sequence[str],
        gives: Sequence[str],
        constants: Sequence[Tensor],
    ) -> Model:
        """The model of nodes alone."""
        inputs, outputs = ([*map(self._entry, ends)] for ends in (reads, gives))
        graph = Graph(
            name="operator",
            inputs=inputs,
            outputs=outputs,
            initializer=[*constants],
            node=[*group],
        )
        opset = OperatorSet(version=self._draft.model.opset)
        return without_defaults(Model(opset_import=[opset], graph=_numbered(graph)))

    def _entry(self, name: str) -> ValueInfo:
        return ValueInfo.of(name, self._kind(name), self._sizes[name])

    def _kind(self, name: str) -> DataType:
        return self._draft.facts(name).elem_type or DataType.FLOAT


def _numbered(graph: Graph) -> Graph:
    """The graph with names that are the same wherever its operators stand."""
    names: dict[str, str] = {}
    made = [name for node in graph.node for name in node.output]
    made += [name for node in graph.node for each in subgraphs(node) for name in names_made(each)]
    tensors = [each.name for each in graph.initializer]
    for name in filter(None, (*(each.name for each in graph.inputs), *tensors, *made)):
        names.setdefault(name, f"t{len(names)}")
    return copied(
        graph,
        inputs=[copied(each, name=names[each.name]) for each in graph.inputs],
        outputs=[copied(each, name=names[each.name]) for each in graph.outputs],
        initializer=[renamed_tensor(each, names[each.name]) for each in graph.initializer],
        node=[copied(renamed_throughout(node, names), name="") for node in graph.node],
    )


def _inside(node: Node) -> Iterator[Tensor]:
    """Yield the constants of graphs inside a node."""
    for graph in subgraphs(node):
        yield from constant_nodes(Model(graph=graph)).graph.initializer
        for each in graph.node:
            yield from _inside(each)


def _are_few_numbers(tensors: Sequence[Tensor]) -> bool:
    """Whether constants are few numbers, no weights, and finite: JSON has no others."""
    few = sum(each.size for each in tensors) <= _MAX_NUMBERS
    numbers = all(each.values.dtype.kind in "biuf" for each in tensors)
    return few and numbers and all(np.isfinite(each.values).all() for each in tensors)


def _may_come_back(node: Node, opset: int) -> bool:
    """Whether a node is an operator of ONNX that runtimes agree on, as are those inside of it."""
    known = node.domain in ONNX_DOMAINS and schema_of(node.op_type, node.domain, opset) is not None
    inner = (each for graph in subgraphs(node) for each in graph.node)
    return (
        known and operator_of(node).by_hint and all(_may_come_back(each, opset) for each in inner)
    )
