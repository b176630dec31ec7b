"""ReduceL1, ReduceL2, ReduceSumSquare and ReduceLogSum: reductions that are formulas of sums."""

from collections.abc import Callable

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.formulas.integers import truncated, warn_of_no_number
from neat_onnx.operators.reductions.reduce import (
    ReduceL1,
    ReduceL2,
    ReduceLogSum,
    ReduceSumSquare,
    reduced_axes,
)

_Norm = Callable[[Algebra, Operand, tuple[int, ...], bool], Operand]


@lifts(ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum)
def lift_norm(
    ctx: LiftingContext, node: ReduceL1 | ReduceL2 | ReduceSumSquare | ReduceLogSum
) -> None:
    """Lift a reduction that is a formula of sums."""
    axes, tensors = reduced_axes(ctx, node) or (), Algebra(ctx, node)
    keep = bool(node.attributes.keepdims)
    result = _NORMS[node.op_type](tensors, tensors.input(0), axes, keep)
    exact = isinstance(node, ReduceL1 | ReduceSumSquare)
    if isinstance(node, ReduceLogSum) and ctx.has_integers(node) and isinstance(result, Value):
        warn_of_no_number(ctx, node, result)
    ctx.bind(node, result if exact else truncated(ctx, node, result))


def _sum_of(primitive: str | None, after: str | None = None) -> _Norm:
    def norm(tensors: Algebra, x: Operand, axes: tuple[int, ...], keep: bool) -> Operand:
        part = tensors("mul", x, x) if primitive == "square" else x
        part = tensors("abs", x) if primitive == "abs" else part
        total = tensors.reduced("sum", part, axes, keepdims=keep)
        return total if after is None else tensors(after, total)

    return norm


_NORMS: dict[str, _Norm] = {
    "ReduceL1": _sum_of("abs"),
    "ReduceL2": _sum_of("square", "sqrt"),
    "ReduceSumSquare": _sum_of("square"),
    "ReduceLogSum": _sum_of(None, "log"),
}
