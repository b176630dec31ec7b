"""Max, Min, Sum and Mean of any number of tensors, Clip, and Mod."""

from typing import Literal

import numpy as np

from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import Expression
from neat_onnx.operators.export.formulas.formula import (
    Emission,
    FormulaEmitter,
    emits,
)


class _Several(Node, abstract=True):
    inputs = (1, None)
    since = 13


class Max(_Several):
    """The largest of several inputs, element by element, with broadcasting."""


class Min(_Several):
    """The smallest of several inputs, element by element, with broadcasting."""


class Sum(_Several):
    """The sum of several inputs, element by element, with broadcasting."""


class Mean(_Several):
    """The mean of several inputs, element by element, with broadcasting."""


class Clip(Node):
    """min(max(x, low), high), element by element; bounds may be left out."""

    inputs = (1, 3)
    since = 13


class ModAttributes(Attributes):
    """Attributes of Mod: fmod, which gives the result the sign of the dividend."""

    fmod: Literal[0, 1] = 0


class Mod(Node):
    """The remainder of A / B, with broadcasting."""

    inputs = (2, 2)
    since = 13
    attributes: ModAttributes = ModAttributes.defaults()


@emits("clip")
def emit_clip(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit Clip; a bound that bounds nothing is left out."""
    bounds = [
        "" if arg.value == infinite else emitter.operand(arg)
        for arg, infinite in zip(part.args[1:], (-np.inf, np.inf), strict=True)
    ]
    while bounds and not bounds[-1]:
        bounds.pop()
    return Emission(Clip, [emitter.operand(part.args[0]), *bounds], {})


@emits("maximum", "minimum")
def emit_extreme(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit Max or Min of two operands."""
    operator = Max if part.op == "maximum" else Min
    return Emission(operator, [emitter.operand(arg) for arg in part.args], {})


@emits("mod")
def emit_mod(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Emit Mod with fmod=1, the only form for floats."""
    return Emission(Mod, [emitter.operand(arg) for arg in part.args], {"fmod": 1})
