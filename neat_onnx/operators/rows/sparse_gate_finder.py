"""The finder of sparse gates: softmaxes of the largest elements, and 0 for all others.

A gate of a mixture of experts scatters the first elements of a TopK over a row of -∞, and takes the
softmax. Import makes neurons of each comparison, and of each choice between an element and -∞. The
row has a maximum that counts as a number far below 0 where it is less; on the way to its elements
are the chosen ones, each a sum of all elements that places gate.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from neat_onnx.lowering.registry import Proposal, proposes
from neat_onnx.model import DataType, Tensor
from neat_onnx.network.activations import with_formula
from neat_onnx.network.expression import Expression
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.passes.draft import make_node

_FAR_BELOW = -1e30
_MAX_NEURONS_BETWEEN = 8  # neurons between an element and a chosen one


class _Gate(NamedTuple):
    """A row of a gate.

    Attributes:
        at: the neuron of its maximum.
        chosen: how many elements are chosen.
        elements: the neurons that are compared.
    """

    at: int
    chosen: int
    elements: tuple[int, ...]


@proposes
def propose_sparse_gates(net: Network) -> Iterator[Proposal]:
    """Propose a TopK, a ScatterElements and a Softmax for rows that stand one after the other."""
    largest = with_formula(net, _is_bounded) & (net.aggregation_names == "max")
    gates = [gate for at in np.flatnonzero(largest).tolist() if (gate := _gate(net, at))]
    for _, group in groupby(enumerate(gates), _run):
        rows = [gate for _, gate in group]
        elements = np.array([gate.elements for gate in rows])
        yield _proposal(elements[0] if len(rows) == 1 else elements, rows[0].chosen)


def _is_bounded(formula: Expression) -> bool:
    """Whether a formula is the variable, or a number far below 0 if that is more."""
    if formula.op != "maximum":
        return False
    one, other = formula.args
    return one.op == "variable" and other.is_constant and other.value < _FAR_BELOW


def _run(numbered: tuple[int, _Gate]) -> tuple[int, int, int]:
    """A key that rows have in common if they are alike, and their maxima are neighbours."""
    number, gate = numbered
    return gate.at - number, gate.chosen, len(gate.elements)


def _gate(net: Network, largest: int) -> _Gate | None:
    """The row of which a neuron is the maximum."""
    width, live = int(net.fan_in[largest]), net.live
    chosen: dict[int, tuple[int, ...]] = {}
    reached, known = {largest}, {largest}
    for _ in range(_MAX_NEURONS_BETWEEN):
        _, edge = net.edges_into(np.array(sorted(reached), np.int64))
        ends = {*live.source[edge].tolist(), *live.gater[edge].tolist()} - {NONE}
        reached = ends - known - {each for row in chosen.values() for each in row}
        known |= reached
        rows = {neuron: _gaters(net, neuron) for neuron in reached}
        chosen |= {neuron: row for neuron, row in rows.items() if len({*row}) == width}
        reached -= chosen.keys()
    elements = {*chosen.values()}
    return _Gate(largest, len(chosen), elements.pop()) if len(elements) == 1 else None


def _gaters(net: Network, neuron: int) -> tuple[int, ...]:
    """The neurons that gate all that a neuron reads; none if some of it is not gated."""
    _, edge = net.edges_into(np.array([neuron]))
    gaters = tuple(net.live.gater[edge].tolist())
    return () if NONE in gaters else gaters


def _proposal(elements: Ints, count: int) -> Proposal:
    """The gate of elements along the last axis, of which so many are chosen."""
    nodes = (
        make_node("TopK", ["x", "count"], ["values", "places"], {"axis": -1}),
        make_node("Log", ["zero"], ["nothing"]),  # initializers are finite
        make_node("Shape", ["x"], ["shape"]),
        make_node("Expand", ["nothing", "shape"], ["empty"]),
        make_node("ScatterElements", ["empty", "places", "values"], ["row"], {"axis": -1}),
        make_node("Softmax", ["row"], ["y"], {"axis": -1}),
    )
    constants = (
        Tensor.of("count", np.array([count]), DataType.INT64),
        Tensor.of("zero", np.zeros(1), DataType.FLOAT),
    )
    return Proposal(nodes, {"x": elements}, ("y",), constants)
