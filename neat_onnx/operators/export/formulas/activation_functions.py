"""Activations as nodes: an operator, its primitives, or a function of the model.

An activation that is no ONNX operator can be a function that nodes call. One without a name may be
an operator that no registered activation is, as import met it.
"""

import re

from neat_onnx.lowering.builder import GraphBuilder
from neat_onnx.lowering.context import LoweringContext
from neat_onnx.model import DataType, Function, OperatorSet, Tensor
from neat_onnx.model.draft import FreshNames
from neat_onnx.model.node import OWN_DOMAIN
from neat_onnx.network.activations import FORMULA, label_of
from neat_onnx.network.expression import Expression, parts_of, scalar_slope
from neat_onnx.network.runtime_formulas import writable
from neat_onnx.operators.export.constants import Constant, ConstantAttributes
from neat_onnx.operators.export.formulas.formula import emit_formula
from neat_onnx.operators.export.formulas.functions import function_of

_ARGUMENT, _RESULT = "z", "a"
_UNNAMED = label_of(FORMULA)


def stays_whole(ctx: LoweringContext, formula: Expression) -> bool:
    """Whether no factor may be taken out of an activation: it is a function, or an operator."""
    whole = function_of(formula, ctx.opset, ctx.data_type)
    return whole is not None or is_function(ctx, scalar_slope(formula)[1])


def is_function(ctx: LoweringContext, formula: Expression) -> bool:
    """Whether an activation of this formula is to be written as a function."""
    return ctx.options.functions and not _is_operator(formula, ctx.data_type)


def emit_activation(
    ctx: LoweringContext, label: str, formula: Expression, tensor: str, output: str, name: str
) -> str:
    """Add the nodes that apply an activation to a tensor, or the one that is or calls it.

    Args:
        label: the activation's name.
        formula: the activation.
        tensor, output, name: as in `emit_formula`.

    Returns:
        The name of the result.
    """
    whole = function_of(formula, ctx.opset, ctx.data_type) if label == _UNNAMED else None
    if whole is not None:
        operator, attributes = whole
        return ctx.emit(operator, [tensor], output, name, **attributes)
    if not is_function(ctx, formula):
        return emit_formula(ctx, formula, tensor, output, name)
    key = (label, formula)
    if key not in ctx.functions:
        taken = {function.name for function in ctx.functions.values()}
        ctx.functions[key] = _function(ctx, FreshNames(taken).like(_plain(label)), label, formula)
    return ctx.call(ctx.functions[key], tensor, output, name)


def _is_operator(formula: Expression, data_type: DataType) -> bool:
    """Whether one node, or none, applies the formula."""
    parts = parts_of(writable(formula, data_type.dtype))
    return sum(part.op not in ("variable", "constant") for part in parts) <= 1


def _function(ctx: LoweringContext, name: str, label: str, formula: Expression) -> Function:
    inside = GraphBuilder(ctx.data_type, ctx.opset, (_ARGUMENT,))
    result = emit_formula(inside, formula, _ARGUMENT, _RESULT, name)
    constants = [
        Constant(output=[tensor.name], attributes=ConstantAttributes(value=_unnamed(tensor)))
        for tensor in inside.initializers.values()
    ]
    return Function(
        name=name,
        domain=OWN_DOMAIN,
        doc_string=f"{label}: {formula}",
        inputs=[_ARGUMENT],
        outputs=[result],
        opset_import=[OperatorSet(version=ctx.opset)],
        node=[*constants, *inside.nodes],
    )


def _unnamed(tensor: Tensor) -> Tensor:
    return tensor.model_copy(update={"name": ""})


def _plain(label: str) -> str:
    """The activation's name in letters, digits and underscores."""
    plain = re.sub(r"\W", "_", label, flags=re.ASCII)
    return plain if plain[:1].isalpha() else f"f_{plain}"
