"""Functions of one number, for numbers and for neurons.

`formula(expression)` makes one of an expression of `z`: on numbers it computes, on neurons it
becomes part of the formula that is pending, and so of the activation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from neat_onnx.lifting.neurons import Neurons
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE, Expression

z = VARIABLE
Function = Callable[[Any], Any]


def formula(expression: Expression, *, truth: bool = False) -> Function:
    """The function of an expression of `z`.

    Args:
        expression: of `z`.
        truth: its values are 0 and 1, of the type bool.
    """

    def apply(x: Any) -> Any:
        if isinstance(x, Neurons):
            return x.apply(expression, np.bool_ if truth else None)
        values = np.asarray(x)
        found = expression.evaluate(values)
        kept = np.bool_ if truth else values.dtype
        return np.broadcast_to(found, values.shape).astype(kept)

    return apply


exp = formula(e.exp(z))
log = formula(e.log(z))
sqrt = formula(e.sqrt(z))
sin, cos, tan = formula(e.sin(z)), formula(e.cos(z)), formula(e.tan(z))
tanh, sigmoid, relu = formula(e.tanh(z)), formula(e.sigmoid(z)), formula(e.relu(z))
absolute = formula(abs(z))
reciprocal = formula(e.reciprocal(z))
floor, ceil, rounded = formula(e.floor(z)), formula(e.ceil(z)), formula(e.rounded(z))
softplus = formula(e.softplus(z))
erf = formula(e.erf(z))
square = formula(z * z)
