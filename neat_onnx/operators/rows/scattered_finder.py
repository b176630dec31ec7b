"""The finder of the largest elements of rows, scattered over rows of one number.

A gate of a mixture of experts scatters the first elements of a TopK, as they are or as shares, over
zeros or a number far below them. Import makes neurons of each comparison, and of each choice. The
first elements are sums of comparisons that the elements gate.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import product

import numpy as np

from neat_onnx.lowering.registry import Proposal, proposes
from neat_onnx.model import DataType, Node, Tensor
from neat_onnx.network.activations import with_formula
from neat_onnx.network.expression import VARIABLE, greater, negated, number
from neat_onnx.network.genes import NONE, Ints, distinct
from neat_onnx.network.network import Network
from neat_onnx.passes.draft import make_node

_IS_FIRST = number(greater(VARIABLE, 0.5))
_IS_NOT_PLACE = number(negated(greater(VARIABLE, 0.5)))
_MAX_FILLS = 4  # numbers that are tried
_SHARES = {
    "as they are": (),
    "softmax": (make_node("Softmax", ["values"], ["shares"], {"axis": -1}),),
    "parts of their sum": (
        make_node("ReduceSum", ["values", "last"], ["sum"], {"keepdims": 1}),
        make_node("Div", ["values", "sum"], ["shares"]),
    ),
}
"""How the values of a TopK become those that are scattered."""


@proposes
def propose_scattered_elements(net: Network) -> Iterator[Proposal]:
    """Propose a TopK and a ScatterElements for rows whose first elements are chosen."""
    firsts = with_formula(net, _IS_FIRST.__eq__)
    if not np.any(firsts) or not np.any(with_formula(net, _IS_NOT_PLACE.__eq__)):
        return
    chosen = defaultdict[tuple[int, ...], int](int)
    for neuron in distinct(net.live.target[firsts[net.live.source]]).tolist():
        _, edge = net.edges_into(np.array([neuron]))
        gaters = net.live.gater[edge]
        alone = len(distinct(gaters)) == len(gaters) > 1 and NONE not in gaters
        if alone and np.all(firsts[net.live.source[edge]]):
            chosen[tuple(gaters.tolist())] += 1
    alike = defaultdict[tuple[int, int], list[tuple[int, ...]]](list)
    for row, count in chosen.items():
        alike[len(row), count].append(row)
    for (_, count), rows in alike.items():
        elements = np.array(rows[0] if len(rows) == 1 else rows)
        for fill, shares in product(_fills(net), _SHARES.values()):
            yield _proposal(elements, count, fill, shares)


def _fills(net: Network) -> list[float]:
    """Zero, and the numbers that elements have where nothing is scattered, the weights there."""
    live = net.live
    weights = live.weight[
        with_formula(net, _IS_NOT_PLACE.__eq__)[live.source] & (live.gater == NONE)
    ]
    return [0.0, *distinct(weights).tolist()[:_MAX_FILLS]]


def _proposal(elements: Ints, count: int, fill: float, shares: tuple[Node, ...]) -> Proposal:
    """The first elements along the last axis, scattered over rows of a number."""
    values = "shares" if shares else "values"
    nodes = (
        make_node("TopK", ["x", "count"], ["values", "places"], {"axis": -1}),
        *shares,
        make_node("Shape", ["x"], ["shape"]),
        make_node("Expand", ["fill", "shape"], ["empty"]),
        make_node("ScatterElements", ["empty", "places", values], ["y"], {"axis": -1}),
    )
    constants = (
        Tensor.of("count", np.array([count]), DataType.INT64),
        Tensor.of("fill", np.array([fill]), DataType.FLOAT),
        Tensor.of("last", np.array([-1]), DataType.INT64),
    )
    read = {name for node in nodes for name in node.input}
    its = [each for each in constants if each.name in read]
    return Proposal(nodes, {"x": elements}, ("y",), its)
