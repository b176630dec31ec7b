"""Sums of products of two computed tensors, as a MatMul or a Conv makes of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from neat_onnx.lowering.builder import GraphBuilder
from neat_onnx.model import DataType, Node, Tensor
from neat_onnx.network.activations import activation_named
from neat_onnx.network.expression import VARIABLE, Expression
from neat_onnx.network.genes import NONE, Ints, distinct, is_none, stable_order
from neat_onnx.network.network import Network
from neat_onnx.operators.formulas.formula import emit_formula
from neat_onnx.passes.draft import MODERN


@dataclass(frozen=True, eq=False)
class SumsOfProducts:
    """Neurons that sum products of an element of one tensor and one of another.

    Attributes:
        values, gates: the neurons of the tensors, in their shapes.
        neurons: the sums, ascending, (n,), all of one activation.
        activation: the formula of it.
        row: the sum of each product, a position in `neurons`, (m,), ascending.
        value, gate: the factors of each, positions among the values and the gates, (m,).
        addends: the neurons that some sums read besides, as they are.
    """

    values: Ints
    gates: Ints
    neurons: Ints
    activation: Expression
    row: Ints
    value: Ints
    gate: Ints
    addends: Ints


def sums_of_products(net: Network) -> Iterator[SumsOfProducts]:
    """Yield the sums of products of each two tensors, of one or more.

    Tensors are inputs, and the results and sources of windows, of one sample.
    """
    live = net.live
    if is_none(live.gater):
        return
    tensors = [*_tensors(net)]
    owner, place = np.full(len(net), NONE), np.zeros(len(net), np.int64)
    for number, tensor in enumerate(tensors):
        owner[tensor] = number
        place[tensor.ravel()] = np.arange(tensor.size)
    edges = np.flatnonzero((live.gater != NONE) & (live.weight == 1.0))
    edges = edges[(owner[live.source[edges]] != NONE) & (owner[live.gater[edges]] != NONE)]
    if not len(edges):
        return
    pair = owner[live.source[edges]] * len(tensors) + owner[live.gater[edges]]
    order = stable_order(pair)
    starts = np.flatnonzero(np.diff(pair[order])) + 1
    for rows in np.split(order, starts):
        its = edges[rows]
        neurons = distinct(live.target[its])
        _, read = net.edges_into(neurons)
        besides = read[live.gater[read] == NONE]
        alike = len(distinct(net.neurons.activation[neurons])) == 1
        if not alike or len(read) - len(besides) != len(its):
            continue
        values, gates = divmod(int(pair[rows[0]]), len(tensors))
        yield SumsOfProducts(
            tensors[values],
            tensors[gates],
            neurons,
            activation_named(net.activation_names[neurons[0]]).expression,
            np.searchsorted(neurons, live.target[its]),
            place[live.source[its]],
            place[live.gater[its]],
            live.source[besides],
        )


def activated(
    sums: SumsOfProducts, nodes: Sequence[Node], result: str
) -> tuple[list[Node], list[Tensor], str]:
    """Nodes with the activation of sums behind them, its constants, and the name of the result.

    Args:
        sums: the sums.
        nodes: give their pre-activations.
        result: the name of these.
    """
    names = {name for node in nodes for name in (*node.input, *node.output)}
    builder = GraphBuilder(DataType.FLOAT, MODERN, names)
    if sums.activation != VARIABLE:
        result = emit_formula(builder, sums.activation, result, f"{result}_activated", "")
    return [*nodes, *builder.nodes], [*builder.initializers.values()], result


def _tensors(net: Network) -> Iterator[Ints]:
    """Yield the neurons of tensors in their shapes, no neuron twice."""
    known = np.zeros(len(net), np.bool_)
    inputs = [port.neurons.reshape(port.shape) for port in net.inputs]
    blocks = [block for block in net.blocks if not block.is_product]
    windows = [each[None] for block in blocks for each in (block.neurons, block.sources)]
    for tensor in inputs + windows:
        if not np.any(known[tensor]) and len(distinct(tensor.ravel())) == tensor.size:
            known[tensor] = True
            yield tensor
