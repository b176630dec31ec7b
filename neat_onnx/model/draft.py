"""Draft: the graph that a rewrite is writing, with new names, initializers and nodes.

Beside it, tensors under other names: of a graph inside a node, taken into the graph around it, and
of nodes that hand their input on.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Graph, Model, Node, OpenNode, Tensor
from neat_onnx.model.graph import parse_node
from neat_onnx.model.inference import TensorFacts, inferred_facts, is_known, stated_facts
from neat_onnx.model.wiring import producers, reads, subgraphs

MODERN = 18
"""The opset that old forms are brought to; models of later ones keep theirs."""

Part = TypeVar("Part", bound=BaseModel)

Step = tuple[str, Sequence[str], Mapping[str, Any]]
"""An operator, what it reads beside its first input, and its attributes."""

_KINDS = {int: ("INT", "i"), float: ("FLOAT", "f"), str: ("STRING", "s")}


class FreshNames:
    """Gives each wish a name of its own.

    Args:
        taken: names that are not to be given.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}  # up to which the names after a wish are taken

    def like(self, wish: str) -> str:
        """Return `wish`, or `wish_2`, …: a name that nothing has yet, and that is taken now."""
        found = wish
        if wish in self._taken:
            number = self._numbers.get(wish, 1) + 1
            while (found := f"{wish}_{number}") in self._taken:
                number += 1
            self._numbers[wish] = number
        self._taken.add(found)
        return found


class Draft:
    """Names, initializers and nodes in the making, beside the model that they replace parts of.

    Attributes:
        model: the model as it was.
        tensors: its initializers by name, with those that were added.
        nodes: the nodes emitted so far.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tensors: dict[str, Tensor] = model.graph.tensors
        self.nodes: list[Node] = []

    @cached_property
    def _names(self) -> FreshNames:
        return FreshNames(names_of(self.model.graph))

    @cached_property
    def _stated(self) -> dict[str, TensorFacts]:
        return stated_facts(self.model)

    @cached_property
    def _inferred(self) -> dict[str, TensorFacts]:
        return inferred_facts(self.model)

    def facts(self, name: str) -> TensorFacts:
        """The element type and shape of a tensor of the model, as far as they can be known."""
        stated = self._stated.get(name, TensorFacts(None, None))
        if is_known(stated):
            return stated
        return self._inferred.get(name, stated)

    @cached_property
    def producers(self) -> dict[str, Node]:
        """The node of the model that produces each computed tensor, by the tensor's name."""
        return producers(self.model.graph)

    def maker(self, name: str, *operators: str) -> Node | None:
        """The node that produces a tensor, if it is one of these operators."""
        node = self.producers.get(name)
        return node if node is not None and is_one_of(node, *operators) else None

    def behind(self, name: str, *operators: str) -> str:
        """The tensor that nodes of these operators alone, one after the other, make another of."""
        while (node := self.maker(name, *operators)) is not None:
            name = node.input[0]
        return name

    @cached_property
    def readers(self) -> dict[str, list[int]]:
        """The positions of the nodes that read each tensor of the model, once for each time.

        A node reads the tensors that graphs inside of it capture. An output of the graph has
        none, since the caller reads it as well.
        """
        found: dict[str, list[int]] = defaultdict(list)
        for at, node in enumerate(self.model.graph.node):
            for name in filter(None, reads(node)):
                found[name].append(at)
        return found | {entry.name: [] for entry in self.model.graph.outputs}

    def sole_reader(self, name: str) -> int | None:
        """The position of the node that reads a tensor, where it alone does, and only once."""
        readers = self.readers.get(name, ())
        return readers[0] if len(readers) == 1 else None

    def name(self, wish: str) -> str:
        """`wish`, or `wish_2` and so on if that is taken."""
        return self._names.like(wish)

    @cached_property
    def _node_names(self) -> FreshNames:
        return FreshNames(node.name for node in self.model.graph.node)

    def node_name(self, wish: str) -> str:
        """The name of a new node: `wish`, or `wish_2` and so on if that is taken."""
        return self._node_names.like(wish) if wish else ""

    def constant(self, wish: str, values: Any, data_type: DataType = DataType.INT64) -> str:
        """The name of a new initializer."""
        name = self.name(wish)
        kind = np.int64 if data_type is DataType.INT64 else None
        self.tensors[name] = Tensor.of(name, np.asarray(values, kind), data_type)
        return name

    def node(
        self,
        op_type: str,
        reads: Iterable[str],
        gives: Iterable[str],
        *,
        name: str = "",
        **attributes: Any,
    ) -> Node:
        """A node of ONNX itself, in the form that it has in the model's opset.

        Raises:
            ModelError: see `make_node`.
        """
        return make_node(op_type, reads, gives, attributes, name=name, opset=self.model.opset)

    def chain(self, source: str, target: str, steps: Sequence[Step], wish: str) -> list[Node]:
        """The nodes that make one tensor of another, one after the other.

        Args:
            source, target: the names of both.
            steps: at least one.
            wish: the name of tensors between them.
        """
        between = [self.name(wish) for _ in steps[1:]]
        names = pairwise([source, *between, target])
        return [
            self.node(op_type, [read, *others], [made], **attributes)
            for (op_type, others, attributes), (read, made) in zip(steps, names, strict=True)
        ]

    def finished(self, nodes: list[Node] | None = None) -> Model:
        """The model with these nodes, or those emitted, and the initializers there are now."""
        return with_graph(
            self.model,
            node=self.nodes if nodes is None else nodes,
            initializer=list(self.tensors.values()),
        )

    def replaced(self, changed: Mapping[int, Node | list[Node] | None]) -> Model:
        """The model with the nodes at these positions replaced, or left out where there is None.

        It is the model itself where nothing changes.
        """
        if not changed:
            return self.model
        nodes: list[Node] = []
        for at, node in enumerate(self.model.graph.node):
            found = changed.get(at, node)
            nodes += found if isinstance(found, list) else [found] if found is not None else []
        return self.finished(nodes)

    def rewritten(self, rule: Callable[[Node], list[Node] | None]) -> Model:
        """The model with the nodes that a rule gives in place of each, asked in their order.

        It is the model itself where the rule gives None for all of them.
        """
        changed = False
        for node in self.model.graph.node:
            nodes = rule(node)
            changed = changed or nodes is not None
            self.nodes += [node] if nodes is None else nodes
        return self.finished() if changed else self.model


def with_graph(model: Model, **changes: Any) -> Model:
    """The model with these fields of its graph replaced."""
    return copied(model, graph=copied(model.graph, **changes))


def copied(part: Part, **changes: Any) -> Part:
    """A shallow copy with these fields replaced."""
    return part.model_copy(update=changes)


def make_node(
    op_type: str,
    reads: Iterable[str],
    gives: Iterable[str],
    attributes: Mapping[str, Any] | None = None,
    *,
    name: str = "",
    domain: str = "",
    opset: int = MODERN,
) -> Node:
    """A node, of its operator's class if it has one.

    Raises:
        ModelError: there is no such operator, or not in this form.
    """
    entries = [_entry(key, value) for key, value in (attributes or {}).items()]
    document: dict[str, Any] = {
        "op_type": op_type,
        "name": name,
        "domain": domain,
        "input": list(reads),
        "output": list(gives),
        "attributes": entries,
    }
    label = f"node {name or next(filter(None, document['output']), '')} ({op_type})"
    try:
        return parse_node(document, {"opset": opset})
    except ValidationError as error:
        raise ModelError(
            f"{label}: {error.errors()[0]['msg'].removeprefix('Value error, ')}"
        ) from None
    except ValueError as error:
        raise ModelError(f"{label}: {error}") from None


def with_inputs(node: Node, reads: list[str]) -> Node:
    """The node, reading other tensors."""
    return node.model_copy(update={"input": reads})


def is_one_of(node: Node, *operators: str) -> bool:
    """Whether a node's operator is one of these of ONNX itself, in a form that it has."""
    if node.op_type not in operators or node.domain:
        return False
    return not (isinstance(node, OpenNode) and node.problem)


def names_of(graph: Graph) -> Iterator[str]:
    """Every name of a tensor in a graph, and in the graphs inside its nodes."""
    yield from (entry.name for entry in graph.inputs)
    yield from (entry.name for entry in graph.outputs)
    yield from (tensor.name for tensor in graph.initializer)
    for node in graph.node:
        yield from node.input
        yield from node.output
        for inner in subgraphs(node):
            yield from names_of(inner)


def _entry(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, Tensor):
        kind, key = "TENSOR", "t"
    elif isinstance(value, Graph):
        kind, key = "GRAPH", "g"
    elif isinstance(value, tuple | list):
        kind, key = _KINDS[type(value[0])] if value else ("INT", "i")
        kind, key, value = f"{kind}S", f"{kind.lower()}s", list(value)
    else:
        kind, key = _KINDS[type(value)]
    return {"name": name, "type": kind, key: value}


def splice(draft: Draft, graph: Graph, given: Mapping[str, str], wanted: list[str]) -> list[Node]:
    """The nodes of `graph` under names of the graph around it; its initializers go to `draft`.

    Args:
        given: for each input of `graph`, the tensor outside that it is.
        wanted: the tensors outside that its outputs become; "" for one that nobody reads.
    """
    names = dict(given)
    outputs = [entry.name for entry in graph.outputs]
    made = {name for node in graph.node for name in node.output if name}
    for inner, outer in zip(outputs, wanted, strict=True):
        if outer and inner in made and inner not in names:
            names[inner] = outer
    for tensor in graph.initializer:
        if tensor.name not in names:
            names[tensor.name] = draft.name(tensor.name)
            draft.tensors[names[tensor.name]] = copied(tensor, name=names[tensor.name])
    for node in graph.node:
        for name in filter(None, node.output):
            if name not in names:
                names[name] = draft.name(name)
    nodes = [copied(renamed(node, names), name=draft.node_name(node.name)) for node in graph.node]
    for inner, outer in zip(outputs, wanted, strict=True):
        source = names.get(inner, inner)
        if outer and source != outer:
            nodes.append(draft.node("Identity", [source], [outer]))
    return nodes


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """The node reading and giving tensors by their new names, in graphs inside of it as well."""
    reads = [names.get(name, name) for name in node.input]
    gives = [names.get(name, name) for name in node.output]
    if not subgraphs(node):
        if reads == node.input and gives == node.output:
            return node
        return copied(node, input=reads, output=gives)
    attributes = {
        key: _reading_renamed(value, names) if isinstance(value, Graph) else value
        for key, value in node.given_attributes.items()
    }
    return make_node(node.op_type, reads, gives, attributes, name=node.name, domain=node.domain)


class HandedOn:
    """Tensors that are the same as another one, and the names that stay for both.

    Attributes:
        wanted: the names of the graph's outputs, which stay.
        alias: by name, the tensor that is the same.
        called: by name, the graph output that the tensor is now called.
    """

    def __init__(self, graph: Graph) -> None:
        self.wanted = {entry.name for entry in graph.outputs}
        self.alias: dict[str, str] = {}
        self.called: dict[str, str] = {}
        self._fixed = self.wanted | {entry.name for entry in graph.inputs} | set(graph.tensors)

    def source(self, name: str) -> str:
        """The name of the tensor that this one is."""
        return self.alias.get(name, name)

    def take(self, name: str, result: str) -> bool:
        """Have a tensor stand for a copy of it; False where the names of both have to stay."""
        source = self.source(name)
        if result not in self.wanted:
            self.alias[result] = source
            return True
        if source in self._fixed or source in self.called:
            return False
        self.called[source] = result
        return True

    @property
    def names(self) -> dict[str, str]:
        """The names that tensors have now, of those that have another one."""
        called = self.called
        return {name: called.get(source, source) for name, source in self.alias.items()} | called


def _reading_renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """A graph inside a node: the names that it reads from outside change."""
    own = {entry.name for entry in graph.inputs} | set(graph.tensors)
    own |= {name for node in graph.node for name in node.output}
    outside = {old: new for old, new in names.items() if old not in own}
    outputs = [copied(entry, name=outside.get(entry.name, entry.name)) for entry in graph.outputs]
    nodes = [renamed(node, outside) for node in graph.node]
    return copied(graph, node=nodes, outputs=outputs)
