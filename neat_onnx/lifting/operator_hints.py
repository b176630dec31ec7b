"""Hints at the operators that neurons were imported as, for those that are more than one layer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from neat_onnx.model import DataType, Graph, Model, Node, OperatorSet, Tensor, ValueInfo
from neat_onnx.model.graph import ONNX_DOMAINS
from neat_onnx.model.node import operator_of
from neat_onnx.model.open_node import schema_of
from neat_onnx.model.value import Extent
from neat_onnx.model.wiring import subgraphs
from neat_onnx.network.genes import NONE, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.network.operator_hint import OperatorHint
from neat_onnx.network.port import shared_ports
from neat_onnx.network.window import Sizes
from neat_onnx.passes.constants import constant_nodes
from neat_onnx.passes.draft import Draft, copied
from neat_onnx.passes.splice import renamed, renamed_tensor
from neat_onnx.passes.written_attributes import without_defaults

_MAX_NUMBERS = 256  # of constants: more are weights, and layers of these come back by themselves
_MAX_NODES = 4  # of one hint
_MANY_INPUTS = 3
_MAX_INNER, _MAX_INNER_EACH = 16_384, 64  # neurons of an operator, and for each that it reads
_WIDE = (DataType.FLOAT, DataType.INT32, DataType.INT64, DataType.BOOL)


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
        self._is_known = np.zeros(len(net), np.bool_)

    def found(self) -> Iterator[OperatorHint]:
        """Yield the hints."""
        groups = {}
        for node in filter(_may_come_back, self._draft.model.graph.node):
            if (group := self._group(node)) and all(map(_may_come_back, group)):
                groups[tuple(each.output[0] for each in group)] = group
        for group in groups.values():
            made = {name for each in group for name in each.output}
            names = dict.fromkeys(name for each in group for name in each.input if name)
            reads = [name for name in names if name in self._tensors and name not in made]
            constants = [name for name in names if name not in self._tensors and name not in made]
            gives = [name for name in group[-1].output if name]
            if reads and gives and self._is_large(reads, gives) and self._gives_places(reads):
                alone = self._alone(group, reads, gives, constants)
                if alone is not None:
                    neurons = np.concatenate([self._tensors[name] for name in reads])
                    yield OperatorHint(alone.to_json(indent=False), neurons)

    def _group(self, node: Node) -> list[Node] | None:
        """The node, with nodes before and behind it as far as no neurons are between them.

        A neuron takes the function of a node that alone reads its aggregate.
        """
        group, waiting = {node.output[0]: node}, [node]
        while waiting and len(group) <= _MAX_NODES:
            for name in waiting.pop().input:
                maker = self._draft.producers.get(name)
                if maker is not None and name not in self._tensors:
                    group |= {maker.output[0]: maker}
                    waiting.append(maker)
        found = [each for each in self._draft.model.graph.node if each.output[0] in group]
        while not all(name in self._tensors for name in filter(None, found[-1].output)):
            reader = self._draft.sole_reader(found[-1].output[0])
            if reader is None or len(found[-1].output) > 1:
                return None
            found.append(self._draft.model.graph.node[reader])
        return found if len(found) <= _MAX_NODES else None

    def _is_large(self, reads: Sequence[str], gives: Sequence[str]) -> bool:
        """Whether neurons between these tensors are in neither, or several of them are read: many,
        or two of integers or truth values.
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
        net, known = self._net, self._is_known.copy()
        known[read] = known[made] = True
        most, inner, following = _MAX_INNER + _MAX_INNER_EACH * len(read), 0, made
        while len(following):
            _, edge = net.edges_into(following)
            ends = np.concatenate([net.live.source[edge], net.live.gater[edge]])
            following = distinct(ends[ends != NONE])
            following = following[~known[following]]
            inner += len(following)
            if inner > most or np.any(net.is_input[following]):
                return None
            known[following] = True
        return inner

    def _gives_places(self, reads: Iterable[str]) -> bool:
        """Whether all integers that are read are given: computed places may be beyond a tensor,
        where runtimes stop, and neurons give 0.
        """
        given = {entry.name for entry in self._draft.model.graph.inputs}
        return all(name in given or not self._kind(name).is_integer for name in reads)

    def _alone(
        self, group: Sequence[Node], reads: Sequence[str], gives: Sequence[str], names: list[str]
    ) -> Model | None:
        """The model of nodes alone; None if they have weights, or types that few runtimes take."""
        tensors, opset = self._draft.tensors, self._draft.model.opset
        if not all(name in tensors for name in names):
            return None
        constants: list[Tensor] = [tensors[name] for name in names]
        inputs, outputs = ([*map(self._entry, ends)] for ends in (reads, gives))
        kinds = {entry.elem_type for entry in (*inputs, *outputs)}
        if not kinds <= {*_WIDE} and not all(_is_of_integers(node, opset) for node in group):
            return None
        if sum(each.values.size for each in constants) > _MAX_NUMBERS:
            return None
        graph = Graph(
            name="operator", inputs=inputs, outputs=outputs, initializer=constants, node=[*group]
        )
        alone = Model(opset_import=[OperatorSet(version=opset)], graph=_numbered(graph))
        return without_defaults(alone)

    def _entry(self, name: str) -> ValueInfo:
        return ValueInfo.of(name, self._kind(name), self._sizes[name])

    def _kind(self, name: str) -> DataType:
        return self._draft.facts(name).elem_type or DataType.FLOAT


def _numbered(graph: Graph) -> Graph:
    """The graph with names that are the same wherever its operators stand."""
    names: dict[str, str] = {}
    made = [name for node in graph.node for name in node.output]
    tensors = [each.name for each in graph.initializer]
    for name in filter(None, (*(each.name for each in graph.inputs), *tensors, *made)):
        names.setdefault(name, f"t{len(names)}")
    return copied(
        graph,
        inputs=[copied(each, name=names[each.name]) for each in graph.inputs],
        outputs=[copied(each, name=names[each.name]) for each in graph.outputs],
        initializer=[renamed_tensor(each, names[each.name]) for each in graph.initializer],
        node=[copied(renamed(node, names), name="") for node in graph.node],
    )


def _may_come_back(node: Node) -> bool:
    return node.domain in ONNX_DOMAINS and not subgraphs(node) and not operator_of(node).varies


def _is_of_integers(node: Node, opset: int) -> bool:
    """Whether an operator is made for narrow integers: it takes no other numbers in their place."""
    schema = schema_of(node.op_type, node.domain, opset)
    return schema is not None and "tensor(float)" not in schema.inputs[0].types
