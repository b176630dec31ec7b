"""Functions of one number that ONNX has an operator for, and neurons a formula of primitives."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Value, lifts
from neat_onnx.model import Attributes, Node
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    clip,
    elu,
    erf,
    exp,
    greater,
    less,
    minimum,
    relu,
    sigmoid,
    where,
)
from neat_onnx.operators.algebra import Algebra
from neat_onnx.operators.formula import formula_of

_HALF_ROOT = 0.7071067811865476


class GeluAttributes(Attributes):
    approximate: Literal["none", "tanh"] = "none"


class Gelu(Node):
    since = 20
    attributes: GeluAttributes = GeluAttributes.defaults()


class HardSigmoidAttributes(Attributes):
    alpha: float = 0.2
    beta: float = 0.5


class HardSigmoid(Node):
    since = 6
    attributes: HardSigmoidAttributes = HardSigmoidAttributes.defaults()


class HardSwish(Node):
    since = 14


class Mish(Node):
    since = 18


class CeluAttributes(Attributes):
    alpha: float = 1.0


class Celu(Node):
    since = 12
    attributes: CeluAttributes = CeluAttributes.defaults()


class ThresholdedReluAttributes(Attributes):
    alpha: float = 1.0


class ThresholdedRelu(Node):
    since = 10
    attributes: ThresholdedReluAttributes = ThresholdedReluAttributes.defaults()


class ShrinkAttributes(Attributes):
    bias: float = 0.0
    lambd: float = 0.5


class Shrink(Node):
    since = 9
    attributes: ShrinkAttributes = ShrinkAttributes.defaults()


class SwishAttributes(Attributes):
    alpha: float = 1.0


class Swish(Node):
    since = 24
    attributes: SwishAttributes = SwishAttributes.defaults()


class PRelu(Node):
    """X, and the slope where X is negative, which broadcasts to it."""

    inputs = (2, 2)
    since = 7


def _gelu(given: GeluAttributes) -> Expression:
    if given.approximate == "tanh":
        return ACTIVATIONS["gelu"].expression
    return (0.5 * VARIABLE) * (1.0 + erf(_HALF_ROOT * VARIABLE))


def _celu(given: CeluAttributes) -> Expression:
    if given.alpha > 0.0:
        return given.alpha * elu(VARIABLE / given.alpha)
    return relu(VARIABLE) + minimum(given.alpha * (exp(VARIABLE / given.alpha) - 1.0), 0.0)


def _shrink(given: ShrinkAttributes) -> Expression:
    high = where(greater(VARIABLE, given.lambd), VARIABLE - given.bias, 0.0)
    return where(less(VARIABLE, -given.lambd), VARIABLE + given.bias, high)


def _swish(given: SwishAttributes) -> Expression:
    inner = VARIABLE if given.alpha == 1.0 else given.alpha * VARIABLE
    return VARIABLE * sigmoid(inner)


_FORMULAS: dict[type[Node], Callable[[Any], Expression]] = {
    Gelu: _gelu,
    HardSigmoid: lambda given: clip(given.alpha * VARIABLE + given.beta, 0.0, 1.0),
    HardSwish: lambda given: VARIABLE * clip(VARIABLE / 6.0 + 0.5, 0.0, 1.0),
    Mish: lambda given: ACTIVATIONS["mish"].expression,
    Celu: _celu,
    ThresholdedRelu: lambda given: where(greater(VARIABLE, given.alpha), VARIABLE, 0.0),
    Shrink: _shrink,
    Swish: _swish,
}


@lifts(*_FORMULAS)
def lift_function(ctx: LiftingContext, node: Node) -> None:
    formula = _FORMULAS[type(node)](node.attributes)
    ctx.bind(node, formula_of(ctx, ctx.operand(node, 0), formula))


@lifts(PRelu)
def lift_prelu(ctx: LiftingContext, node: PRelu) -> None:
    slope = ctx.operand(node, 1)
    x = ctx.operand(node, 0)
    if isinstance(x, Value) and np.broadcast_shapes(x.shape, slope.shape) != x.shape:
        ctx.fail(node, f"its slope has the shape {list(slope.shape)}, expected {list(x.shape)}")
    if not isinstance(slope, Value) and slope.size and np.all(slope == slope.flat[0]):
        from_slope = np.asarray(float(slope.flat[0]))
        ctx.bind(node, Algebra(ctx, node)("leaky_relu", x, from_slope))
        return
    tensors = Algebra(ctx, node)
    x = tensors.input(0)
    positive = tensors("relu", x)
    negative = tensors("mul", tensors("minimum", x, 0.0), tensors.input(1))
    ctx.bind(node, tensors("add", positive, negative))
