"""LpPool and GlobalLpPool: the p-norm of a window on one channel."""

import math

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.formulas.arithmetic import value_of
from neat_onnx.operators.spatial.layer import channels_and_space, pool_window_of, refuse_window
from neat_onnx.operators.spatial.nodes import PoolAttributes

_EUCLIDEAN = 2


class LpPoolAttributes(PoolAttributes):
    """Attributes of LpPool: the window, and the power."""

    p: int = 2


class LpPool(Node):
    """X [N, C, …]; dilations and ceil_mode from opset 18."""

    since = 11
    attributes: LpPoolAttributes


class GlobalLpPoolAttributes(Attributes):
    """Attributes of GlobalLpPool: the power."""

    p: int = 2


class GlobalLpPool(Node):
    """The p-norm of each channel."""

    since = 2
    attributes: GlobalLpPoolAttributes = GlobalLpPoolAttributes.defaults()


@lifts(LpPool)
def lift_lp_pool(ctx: LiftingContext, node: LpPool) -> None:
    """Lift LpPool: a sum neuron for each position of the window, between two formulas."""
    tensors, given = Algebra(ctx, node), node.attributes
    powers = _powers(ctx, node, tensors, given.p)
    signals = channels_and_space(ctx, node, ctx.as_value(node, powers))
    space = signals.shape[2:]
    if len(given.kernel_shape) != len(space):
        ctx.fail(node, f"kernel_shape is {list(given.kernel_shape)}, expected {len(space)} numbers")
    window = pool_window_of(ctx, node, given, given.kernel_shape, space)
    positions = window.positions(space)
    if 0 in positions:
        refuse_window(ctx, node, window, space)
    shape = (*signals.shape[:2], *positions)
    ctx.check_size(node, math.prod(shape))
    place, tap = np.nonzero((taps := window.taps(space)) >= 0)
    sources = signals.reshape(-1, math.prod(space))[:, taps[place, tap]]
    targets = np.arange(len(sources))[:, None] * len(taps) + place
    made = ctx.add_neurons(math.prod(shape))
    ctx.connect(made, sources.ravel(), targets.ravel(), np.ones(sources.size))
    ctx.bind(node, _root(tensors, value_of(made, shape), given.p))


@lifts(GlobalLpPool)
def lift_global_lp_pool(ctx: LiftingContext, node: GlobalLpPool) -> None:
    """Lift GlobalLpPool: a sum neuron for each channel, between two formulas."""
    tensors, p = Algebra(ctx, node), node.attributes.p
    powers = _powers(ctx, node, tensors, p)
    space = tuple(range(2, len(powers.shape)))
    ctx.refuse_along(node, space)
    total = tensors.reduced("sum", powers, space)
    ctx.bind(node, _root(tensors, total, p))


def _powers(ctx: LiftingContext, node: Node, tensors: Algebra, p: int) -> Operand:
    """The power p of the size of each element."""
    if p < 1:
        ctx.fail(node, f"p is {p}, expected 1 or more")
    x = tensors.input(0)
    if p == _EUCLIDEAN:
        return tensors("mul", x, x)
    size = tensors("abs", x)
    return size if p == 1 else tensors("pow", size, float(p))


def _root(tensors: Algebra, total: Operand, p: int) -> Operand:
    if p == _EUCLIDEAN:
        return tensors("sqrt", total)
    return total if p == 1 else tensors("pow", total, 1.0 / p)
