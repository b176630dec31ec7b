"""The finder of a MatMul of two inputs, whose matrices stand in leading axes that broadcast.

Import makes a neuron of each element, a sum of products. Planes that share a matrix look like rows
of one larger product, and their order has to be put right again.
"""

from collections.abc import Iterator
from itertools import zip_longest
from math import prod

import numpy as np

from neat_onnx.lowering.registry import Proposal, proposes
from neat_onnx.network.network import Network
from neat_onnx.network.window import Sizes
from neat_onnx.operators.products.pairs import SumsOfProducts, activated, sums_of_products
from neat_onnx.passes.draft import make_node
from neat_onnx.passes.each_sample import for_each_sample

_MATRIX = 2  # axes
_SIZES = 2  # of axes that are broadcast: 1 and another


@proposes
def propose_products_of_inputs(net: Network) -> Iterator[Proposal]:
    """Propose a MatMul of each two inputs that neurons sum products of, if their planes broadcast.

    Of inputs with other numbers of axes it is one for each sample: the batch would be aligned with
    planes.
    """
    for sums in sums_of_products(net):
        if not _is_product(sums):
            continue
        one, other = sums.values, sums.gates
        node = make_node("MatMul", ["a", "b"], ["c"])
        nodes, constants, result = activated(sums, [node], "c")
        if one.ndim == other.ndim:
            yield Proposal(nodes, {"a": one, "b": other}, [result], constants)
        else:
            scan = for_each_sample(nodes, {"x": "a", "w": "b"}, {"y": result}, constants)
            yield Proposal([scan], {"x": one, "w": other}, ["y"])


def _is_product(sums: SumsOfProducts) -> bool:
    """Whether there are as many sums of as many products as the product has elements, and its first
    one is among them.
    """
    one, other = sums.values.shape, sums.gates.shape
    if not (one and other):
        return False  # single numbers
    one, other = (1, *one)[-max(_MATRIX, len(one)) :], (*other, 1)[: max(_MATRIX, len(other))]
    inner, columns = other[-_MATRIX:]
    planes = _planes(one[:-_MATRIX], other[:-_MATRIX])
    if planes is None or one[-1] != inner or len(sums.addends):
        return False
    count, first = planes * one[-_MATRIX] * columns, np.arange(inner)
    return (
        (len(sums.neurons), len(sums.row)) == (count, count * inner)
        and np.array_equal(np.sort(sums.value[:inner]), first)
        and np.array_equal(np.sort(sums.gate[:inner]), first * columns)
    )


def _planes(one: Sizes, other: Sizes) -> int | None:
    """The number of planes of leading axes that broadcast; None if they are alike, or do not."""
    pairs = [*zip_longest(reversed(one), reversed(other), fillvalue=1)]
    if one == other or any(len({1, *pair}) > _SIZES for pair in pairs):
        return None
    return prod(map(max, pairs))
