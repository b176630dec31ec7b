"""Powers of one formula whose exponents differ from neuron to neuron, as one node for all of them.

A Yeo-Johnson transform has an exponent of its own for each feature. Import makes a formula for each
exponent, and neurons in the order of the elements.
"""

from neat_onnx.tracing.recognition import known_activation
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.network.expression import VARIABLE, Expression, call
from neat_onnx.operators.formulas.activation_functions import is_function
from neat_onnx.operators.formulas.formula import FormulaEmitter
from neat_onnx.operators.formulas.functions import function_of

EXPONENT = Expression("exponent")
"""Stands for the exponent of each neuron."""


def power_of(ctx: LoweringContext, formula: Expression) -> Expression | None:
    """A power with `EXPONENT` in place of its number; None if the formula is none, or stays alone.

    A base with a name would be a neuron of its own for import.
    """
    if formula.op != "pow" or not formula.args[1].is_constant or formula.args[0].is_constant:
        return None
    base = formula.args[0]
    if base != VARIABLE and known_activation(base) is not None:
        return None
    operator = function_of(formula, ctx.opset, ctx.data_type)
    if operator is not None or is_function(ctx, formula):
        return None
    return call("pow", base, EXPONENT)


def emit_powers(
    ctx: LoweringContext, powers: Expression, exponents: str, tensor: str, output: str, name: str
) -> str:
    """Add the nodes of powers of a formula.

    Args:
        powers: the base to the power of `EXPONENT`.
        exponents: a tensor with one for each column.
        tensor, output, name: as in `emit_formula`.

    Returns:
        The name of the result.
    """
    return FormulaEmitter(ctx, tensor, output, name, {EXPONENT: exponents}).emit(powers)
