"""Powers of sums of powers, of which norms, LpPool and LRN are made."""

from collections.abc import Sequence

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import is_one_of
from neat_onnx.short_form.groups.linear_nodes import Terms
from neat_onnx.short_form.groups.search import Search
from neat_onnx.short_form.groups.weighted_sums import Sums, WeightedSums

_ROOT = 0.5  # the exponent of a square root


def bases_of(
    search: Search, reader: WeightedSums, sums: Sums, *operators: str
) -> tuple[Sums, float] | None:
    """The sums with bases in the place of the powers that they add, and the exponent of all.

    Args:
        search: the graph.
        reader: the sums of it.
        sums: sums of powers.
        operators: of these, Pow or Sqrt.
    """

    def raised(node: Node) -> tuple[str, float] | None:
        if not is_one_of(node, *operators):
            return None
        if is_one_of(node, "Sqrt"):
            return node.input[0], _ROOT
        exponents = search.constant(node.input[1])
        numbers = np.empty(0) if exponents is None else np.unique(exponents.values)
        return (node.input[0], float(numbers[0])) if len(numbers) == 1 else None

    return reader.inside(sums, raised)


def roots_of(search: Search, terms: Sequence[Terms]) -> Terms | None:
    """The terms by the tensor whose elements, each times itself, they are.

    Of squares in several nodes it is the tensor that all of their elements were moved from.
    """
    roots = []
    for each in terms:
        square = search.draft.maker(each.tensor, "Mul")
        names = {search.unchanged(name) for name in square.input} if square else set()
        if len(names) != 1:
            return None
        roots.append(each._replace(tensor=names.pop()))
    return roots[0] if len(roots) == 1 else search.sums.origin(*roots)
