"""A graph without detours: no copies, no node twice, no shape on the way to another.

- Identity hands its input on;
- two nodes of one operator with the same inputs and attributes are one;
- a Reshape or Flatten of a Reshape or Flatten reads the tensor before both;
- a bias of zeros is left out;
- a sum of one tensor alone, a Sum, an Add of 0 or a Gemm by 1, hands it on where that is wanted.

Every tensor that stays holds the same numbers as before, bit for bit, but for the sign of 0 where
such sums are left out.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from neat_onnx.model import Model, Node, Tensor
from neat_onnx.model.wiring import subgraphs
from neat_onnx.passes.draft import is_one_of, with_graph, with_inputs
from neat_onnx.passes.drop_dead import without_dead
from neat_onnx.passes.splice import HandedOn, renamed
from neat_onnx.short_form.columns import shape_of_samples

Names = dict[str, str]
"""The new names of tensors that have one."""


class Form(NamedTuple):
    """A model without detours.

    Attributes:
        model: the model.
        names: the names there of tensors whose own name is gone.
    """

    model: Model
    names: Names

    @property
    def results(self) -> tuple[str, ...]:
        """The names of the results of all nodes, in their order."""
        return tuple(name for node in self.model.graph.node for name in node.output)


_PAIR = 2  # inputs of a sum of one tensor alone
_WITH_BIAS = {"Gemm": 3, "Conv": 3, "ConvTranspose": 3}  # and how many inputs that makes


def straight(
    model: Model,
    *,
    copies: bool | Collection[str] = False,
    sums: bool | Collection[str] = True,
    zeros: bool = False,
) -> Form:
    """The model without detours.

    Args:
        model: nodes in topological order, without graphs inside of them.
        copies: Identities stay, all or some by name.
        sums: sums of one tensor alone stay, likewise; they are copies, too, but for 0
            in place of -0. One that an Identity reads stays anyway, as a neuron of its own.
        zeros: biases of zeros stay.
    """
    shortcuts = _Shortcuts(model, copies=copies, sums=sums, zeros=zeros)
    for node in model.graph.node:
        shortcuts.take(node)
    names = shortcuts.handed_on.names
    nodes = [renamed(node, names) for node in shortcuts.nodes]
    return Form(without_dead(with_graph(model, node=nodes)), names)


def identity_outputs(model: Model) -> list[str]:
    """The results of Identities, which tell neurons from others."""
    return [node.output[0] for node in model.graph.node if is_one_of(node, "Identity")]


def single_input_sums(model: Model) -> list[str]:
    """The results of sums of one tensor alone that `straight` can leave out."""
    shortcuts = _Shortcuts(model, copies=True, sums=False, zeros=False)
    return [node.output[0] for node in model.graph.node if shortcuts.is_copy(node)]


@dataclass
class _Shortcuts:
    """The nodes so far.

    Attributes:
        model: the model as it was.
        copies: Identities stay, all, none, or a choice of them by name.
        sums: sums of one tensor alone stay, likewise.
        zeros: biases of zeros stay.
        nodes: those that stay, reading the tensors that stay.
        handed_on: the tensors that are the same as others.
    """

    model: Model
    copies: bool | Collection[str]
    sums: bool | Collection[str]
    zeros: bool
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        graph = self.model.graph
        self.handed_on = HandedOn(graph)
        self._constants = graph.tensors
        self._marked = {
            node.input[0]
            for node in graph.node
            if is_one_of(node, "Identity") and (self.copies is False or _stays(node, self.copies))
        }
        self._known: dict[tuple[object, ...], Node] = {}
        self._before: Names = {}  # the tensor that another one is in another shape

    def take(self, node: Node) -> None:
        """Go on with a node of the model, if it is needed."""
        node = _reading(node, [self.handed_on.source(name) for name in node.input])
        if subgraphs(node) or node.domain or (_is_single_sum(node) and not self.is_copy(node)):
            self.nodes.append(node)  # sums of one tensor are neurons of their own, though alike
        elif not (self.is_copy(node) and self.handed_on.take(node.input[0], node.output[0])):
            self._once(self._directly(self._without_zeros(node)))

    def is_copy(self, node: Node) -> bool:
        """Whether a node hands its input on, and does not stay for that."""
        if is_one_of(node, "Identity"):
            return not _stays(node, self.copies)
        node = self._without_zeros(node)
        if _stays(node, self.sums) or node.output[0] in self._marked:
            return False
        if len(node.input) != _PAIR:
            return _is_single_sum(node)
        number = self._constants.get(node.input[1])
        if number is None or number.size != 1:
            return False
        if is_one_of(node, "Gemm"):
            return bool(number.values.item() * node.given_attributes.get("alpha", 1.0) == 1.0)
        return is_one_of(node, "Add") and number.dims == (1,) and is_zero(number)

    def _without_zeros(self, node: Node) -> Node:
        """The node without a bias of zeros."""
        if len(node.input) != _WITH_BIAS.get(node.op_type) or not is_one_of(node, node.op_type):
            return node
        bias = self._constants.get(node.input[-1])
        return with_inputs(node, node.input[:-1]) if is_zero(bias) and not self.zeros else node

    def _directly(self, node: Node) -> Node:
        """The node, reading the tensor before others that only had another shape."""
        if shape_of_samples(node, self._constants) is None:
            return node
        source = self._before.get(node.input[0], node.input[0])
        self._before[node.output[0]] = source
        return _reading(node, [source, *node.input[1:]])

    def _once(self, node: Node) -> None:
        """Keep a node, unless there is one like it."""
        given = node.attributes.model_dump_json() if node.attributes.model_fields_set else "[]"
        key = node.op_type, *node.input, len(node.output), given
        like = self._known.setdefault(key, node)
        if like is node or not self.handed_on.wanted.isdisjoint(node.output):
            self.nodes.append(node)
        else:
            self.handed_on.alias.update(zip(node.output, like.output, strict=True))


def _reading(node: Node, reads: list[str]) -> Node:
    """The node, reading other tensors; itself if they are the same."""
    return node if reads == node.input else with_inputs(node, reads)


def _stays(node: Node, which: bool | Collection[str]) -> bool:
    """Whether a node is among those that stay: all, none, or some by the names of results."""
    return which if isinstance(which, bool) else node.output[0] in which


def _is_single_sum(node: Node) -> bool:
    return is_one_of(node, "Sum") and len(node.input) == 1


def is_zero(tensor: Tensor | None) -> bool:
    """Whether a tensor holds 0 alone, of no sign."""
    if tensor is None:
        return False
    return not tensor.values.any() and not bool(np.signbit(tensor.values).any())
