"""Operators that a network has hints at, for the neurons that import made of them."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError, NeatOnnxError
from neat_onnx.lifting.core import BatchAxis
from neat_onnx.lowering.registry import Proposal
from neat_onnx.lowering.short_model import BareModel
from neat_onnx.model import DataType, Graph, Model, Node, OperatorSet, ValueInfo, load_model
from neat_onnx.model.graph import DEFAULT_OPSET, ONNX_DOMAINS
from neat_onnx.model.open_node import schema_of
from neat_onnx.network.network import Network
from neat_onnx.network.operator_hint import OperatorHint
from neat_onnx.network.port import Port
from neat_onnx.passes.draft import Draft, copied, make_node, with_graph
from neat_onnx.passes.of_all_samples import has_batch, name_of_samples, of_all_samples
from neat_onnx.passes.splice import splice

_NEWEST = 24  # onnxruntime 1.31 has no Attention of a later opset


def hinted(net: Network, opset: int, numbers: DataType) -> Iterator[tuple[Proposal, BareModel]]:
    """Yield the operators at which a network has hints, and each of them alone.

    Args:
        net: the network; if it was changed, neurons that stand there may be others.
        opset: of the model.
        numbers: the type of its numbers.
    """
    known: dict[str, BareModel] = {}  # layers that are repeated are alike
    for hint, alone in _alone(net, opset):
        if _fits(hint, alone, numbers):
            axis: BatchAxis = "auto" if has_batch(alone.graph) else None
            found = known.setdefault(hint.model, BareModel(alone, axis))
            yield _proposal(hint, alone, numbers), found


def _alone(net: Network, opset: int) -> Iterator[tuple[OperatorHint, Model]]:
    """Yield the hints of a network, and the operators of each alone."""
    for hint in net.operators:
        try:
            alone = _in_opset(load_model(hint.model), opset)
        except NeatOnnxError:
            continue  # the hint is of no import, or the opset has no such operator
        yield hint, alone


def whole_graphs(net: Network, like: Model) -> Iterator[Model]:
    """Yield the graphs at which a network has hints between all its inputs and all its outputs.

    Args:
        net: the network.
        like: a model with its ports.
    """
    ports = (*net.inputs, *net.outputs)
    stated = (*like.graph.inputs, *like.graph.outputs)
    for hint, alone in _alone(net, like.opset):
        own = (*alone.graph.inputs, *alone.graph.outputs)
        if (
            np.array_equal(hint.neurons, net.input_neurons)
            and len(own) == len(stated)
            and all(map(_is_alike, own, stated, ports))
        ):
            yield _between(alone.graph, like)


def _is_alike(own: ValueInfo, stated: ValueInfo, port: Port) -> bool:
    """Whether an end of a graph has the shape of a model's, and its type or that of a port."""
    kinds = (stated.elem_type.dtype.name, port.dtype)
    return (
        len(own.shape or ()) == len(stated.shape or ())
        and _shape(own) == _shape(stated)
        and own.elem_type.dtype.name in kinds
    )


def _between(graph: Graph, like: Model) -> Model:
    """The model of a graph with the ports of another one, in its own types."""
    inputs, outputs = (
        [
            ValueInfo.of(stated.name, own.elem_type, stated.shape)
            for own, stated in zip(*ends, strict=True)
        ]
        for ends in ((graph.inputs, like.graph.inputs), (graph.outputs, like.graph.outputs))
    )
    draft = Draft(with_graph(like, node=[], initializer=[], inputs=inputs, outputs=outputs))
    given = {own.name: stated.name for own, stated in zip(graph.inputs, inputs, strict=True)}
    return draft.finished(splice(draft, graph, given, [each.name for each in outputs]))


def opset_of_hints(net: Network) -> int:
    """The first opset that has every operator at which a network has hints.

    It is 18 at least; operators that runtimes may not have yet are left out.
    """
    found = [DEFAULT_OPSET]
    for text in {hint.model for hint in net.operators}:
        try:
            model = load_model(text)
        except NeatOnnxError:
            continue  # the hint is of no import
        found.append(_opset_of(model))
    return max(found)


def _opset_of(model: Model) -> int:
    """The first opset from the usual one on in which import makes the same network of a model; the
    usual one if it is newer than runtimes are.
    """
    nodes = model.graph.node
    first = max((_first_opset(node, model.opset) for node in nodes), default=DEFAULT_OPSET)
    if model.opset <= DEFAULT_OPSET or first > _NEWEST:
        return DEFAULT_OPSET
    since = [schema_of(node.op_type, node.domain, model.opset) for node in nodes]
    last = max((each.since_version for each in since if each), default=DEFAULT_OPSET)
    return next(
        (
            each
            for each in (DEFAULT_OPSET, first, last)
            if each <= _NEWEST and _is_same_in(model, each)
        ),
        DEFAULT_OPSET,
    )


def _is_same_in(model: Model, opset: int) -> bool:
    """Whether a model has its operators in another opset, and import makes the same network of it
    if they have other attributes there.
    """
    try:
        other = _in_opset(model, opset)
    except NeatOnnxError:
        return False
    pairs = zip(model.graph.node, other.graph.node, strict=True)
    if all(
        _first_opset(node, model.opset) <= opset and node.given_attributes == there.given_attributes
        for node, there in pairs
    ):
        return True
    axis: BatchAxis = "auto" if has_batch(model.graph) else None
    here, there = BareModel(model, axis).network, BareModel(other, axis).network
    return here is not None and here == there


def _first_opset(node: Node, opset: int) -> int:
    """The first opset, from the usual one on, that has an operator with its attributes."""
    own = schema_of(node.op_type, node.domain, opset)
    for each in range(DEFAULT_OPSET, opset if own is not None else DEFAULT_OPSET):
        known = schema_of(node.op_type, node.domain, each)
        if known is not None and {*known.attributes} == {*own.attributes}:
            return each
    return DEFAULT_OPSET if own is None else max(DEFAULT_OPSET, own.since_version)


def _in_opset(model: Model, opset: int) -> Model:
    """The model of operators in another opset.

    Raises:
        ModelError: that has no such operators.
    """
    pairs = [_node_in_opset(node, model.opset, opset) for node in model.graph.node]
    graph = copied(model.graph, node=[node for node, _ in pairs])
    found = copied(model, opset_import=[OperatorSet(version=opset)], graph=graph)
    if not all(is_same for _, is_same in pairs):
        from neat_onnx.model.validate import validate  # noqa: PLC0415 - seldom needed

        if validate(found, "onnx"):
            raise ModelError(f"opset {opset} has no such operator")
    return found


def _node_in_opset(node: Node, before: int, after: int) -> tuple[Node, bool]:
    """The node in another opset, and whether its operator is the same there.

    A text that the operator does not know there is left out, in case that it is the default: the
    neurons will show it.
    """
    known, other = (schema_of(node.op_type, node.domain, opset) for opset in (before, after))
    if node.domain not in ONNX_DOMAINS or known is None or other is None:
        raise ModelError(f"opset {after} has no {node.op_type}")
    given, is_same = node.given_attributes, known.since_version == other.since_version
    if not is_same:
        given = {key: value for key, value in given.items() if _is_known(other, key, value)}
    ends = node.input, node.output, given
    return make_node(node.op_type, *ends, opset=after), is_same


def _is_known(schema: Any, attribute: str, value: Any) -> bool:
    """Whether an operator's description has a text among the values of an attribute."""
    if not isinstance(value, str) or attribute not in schema.attributes:
        return True
    return value in re.findall(r"\w+", schema.attributes[attribute].description)


def _fits(hint: OperatorHint, alone: Model, numbers: DataType) -> bool:
    """Whether a hint has a neuron for each element that is read, and its numbers are of a type."""
    ends = (*alone.graph.inputs, *alone.graph.outputs)
    kinds = {each.elem_type for each in ends if not each.elem_type.is_discrete}
    return sum(map(_count, alone.graph.inputs)) == hint.neurons.size and kinds <= {numbers}


def _shape(entry: ValueInfo) -> tuple[int, ...]:
    return tuple(size for size in entry.shape or () if isinstance(size, int))


def _count(entry: ValueInfo) -> int:
    return int(np.prod(_shape(entry), dtype=object))


def _proposal(hint: OperatorHint, alone: Model, numbers: DataType) -> Proposal:
    """The operators between tensors of numbers of all samples."""
    graph = alone.graph
    nodes, constants = of_all_samples(graph, numbers)
    starts = np.cumsum([*map(_count, graph.inputs)])[:-1]
    reads = {
        name_of_samples(entry): neurons.reshape(_shape(entry))
        for entry, neurons in zip(graph.inputs, np.split(hint.neurons, starts), strict=True)
    }
    return Proposal(nodes, reads, [*map(name_of_samples, graph.outputs)], constants)
