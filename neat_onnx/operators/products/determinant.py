"""Det: sums of products of computed elements, by the minors of the first rows."""

from functools import partial
from itertools import combinations

from neat_onnx.lifting.context import Array, LiftingContext, Operand, lifts
from neat_onnx.lifting.followed_axes import AxisFollower, FollowedAxes, follows
from neat_onnx.model import Node
from neat_onnx.operators.algebra import Algebra, rearranged

MAX_ROWS = 4
"""Rows of a matrix: with more there are as many products as n! / 2."""


class Det(Node):
    """The determinants of matrices of up to 4 rows, in the last two axes."""

    since = 11


@lifts(Det)
def lift_det(ctx: LiftingContext, node: Det) -> None:
    """Each minor of the last rows is one tensor, which larger ones read."""
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    size = x.shape[-1] if x.shape else 0
    if len(x.shape) < 2 or x.shape[-2] != size or not 1 <= size <= MAX_ROWS:
        ctx.fail(node, f"its input has the shape {list(x.shape)}, expected up to {MAX_ROWS} rows")
    ctx.refuse_along(node, [len(x.shape) - 2, len(x.shape) - 1])
    minors: dict[tuple[int, ...], Operand] = {
        (column,): rearranged(x, partial(_element, row=size - 1, column=column))
        for column in range(size)
    }
    for row in range(size - 2, -1, -1):
        for columns in combinations(range(size), size - row):
            terms = [
                tensors(
                    "mul",
                    rearranged(x, partial(_element, row=row, column=column)),
                    minors[columns[:place] + columns[place + 1 :]],
                )
                for place, column in enumerate(columns)
            ]
            total = terms[0]
            for place, term in enumerate(terms[1:]):
                total = tensors("add" if place % 2 else "sub", total, term)
            minors[columns] = total
    ctx.bind(node, minors[tuple(range(size))])


def _element(matrices: Array, row: int, column: int) -> Array:
    found: Array = matrices[..., row, column]
    return found


@follows(Det)
def followed_matrices(axes: AxisFollower, node: Det) -> list[FollowedAxes]:
    """The axes before the last two."""
    return [axes.of(node.input[0])[:-2]]
