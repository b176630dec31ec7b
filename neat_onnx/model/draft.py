"""Draft: the graph that a rewrite is writing, with new names, initializers and nodes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from pydantic import BaseModel, ValidationError

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Graph, Model, Node, Tensor
from neat_onnx.model.attributes import attribute_list
from neat_onnx.model.graph import parse_node
from neat_onnx.model.inference import TensorFacts, inferred_facts, is_known, stated_facts
from neat_onnx.model.wiring import producers, subgraphs

MODERN = 18
"""The opset that old forms are brought to; models of later ones keep theirs."""

Part = TypeVar("Part", bound=BaseModel)

Step = tuple[str, Sequence[str], Mapping[str, Any]]
"""An operator, what it reads beside its first input, and its attributes."""


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

    def name(self, wish: str) -> str:
        """`wish`, or `wish_2` and so on if that is taken."""
        return self._names.like(wish)

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
    document: dict[str, Any] = {
        "op_type": op_type,
        "name": name,
        "domain": domain,
        "input": list(reads),
        "output": list(gives),
        "attributes": attribute_list(attributes or {}),
    }
    label = f"node {name or next(filter(None, document['output']), '')} ({op_type})"
    try:
        return parse_node(document, {"opset": opset})
    except ValueError as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise ModelError(f"{label}: {said.removeprefix('Value error, ')}") from None


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


def _reading_renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """A graph inside a node: the names that it reads from outside change."""
    own = {entry.name for entry in graph.inputs} | set(graph.tensors)
    own |= {name for node in graph.node for name in node.output}
    outside = {old: new for old, new in names.items() if old not in own}
    outputs = [copied(entry, name=outside.get(entry.name, entry.name)) for entry in graph.outputs]
    nodes = [renamed(node, outside) for node in graph.node]
    return copied(graph, node=nodes, outputs=outputs)
