"""Formulas to nodes: a node for each primitive of an expression."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lowering.builder import GraphBuilder
from neat_onnx.model import DataType, node_class
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.expression import VARIABLE, Expression, erf, parts_of
from neat_onnx.network.runtime_formulas import writable

WHOLE = {(0.5 * VARIABLE) * (1.0 + erf(0.7071067811865476 * VARIABLE)): "Gelu"}
"""Formulas without a name that are one operator, of which runtimes have kernels in float32."""

INPUTS_AXIS = 2  # the inputs of a neuron, in [N, neurons, k]
_AXES_ARE_INPUTS_SINCE = {"ReduceSum": 13}


class Emission(NamedTuple):
    """The node that computes a primitive; the first of its outputs is the result."""

    operator: str
    inputs: list[str]
    attributes: Mapping[str, Any] = MappingProxyType({})
    outputs: tuple[str, ...] = ("",)


Rule = Callable[["FormulaEmitter", Expression], Emission]
RULES: dict[str, Rule] = {}


def emits(*primitives: str) -> Callable[[Rule], Rule]:
    """Register the decorated function to turn these primitives into a node."""

    def register(rule: Rule) -> Rule:
        for primitive in primitives:
            if primitive in RULES:
                raise ModelError(f"two rules emit the primitive {primitive}")
            RULES[primitive] = rule
        return rule

    return register


def whole_operator(ctx: GraphBuilder, formula: Expression) -> str | None:
    """The operator that a formula without a name is; None if the opset or runtimes have none."""
    if formula not in WHOLE or ctx.data_type is not DataType.FLOAT:
        return None
    named = any(formula == each.expression for each in ACTIVATIONS.values())
    return None if named or node_class(WHOLE[formula]).since > ctx.opset else WHOLE[formula]


def emit_formula(
    ctx: GraphBuilder, formula: Expression, tensor: str, output: str, name: str
) -> str:
    """Add the nodes that apply `formula` to a tensor, an Identity for z itself.

    Args:
        tensor: stands for the variable.
        output, name: wished names of the result and of the node that produces it.

    Returns:
        The name of the result.
    """
    if formula == VARIABLE:
        return ctx.emit("Identity", [tensor], output, name)
    return FormulaEmitter(ctx, tensor, output, name).emit(formula)


class FormulaEmitter:
    """Adds the nodes of one formula to a graph; equal parts become one node.

    Args:
        ctx: the export.
        tensor: tensor for the variable.
        output: the name of the result's tensor; intermediate tensors get a number.
        name: the name of the node that produces the result.
    """

    def __init__(self, ctx: GraphBuilder, tensor: str, output: str, name: str) -> None:
        self.ctx = ctx
        self._output, self._name = output, name
        self._done: dict[Expression, str] = {VARIABLE: tensor}

    def emit(self, formula: Expression) -> str:
        """The name of the tensor that holds `formula`."""
        formula = writable(formula, self.ctx.data_type.dtype, far_from_zero=self.ctx.far_from_zero)
        for part in parts_of(formula):
            if part not in self._done and not part.is_constant:
                self._done[part] = self._node(
                    part, "" if part == formula else f"_{len(self._done)}"
                )
        return self._done[formula]

    def operand(self, part: Expression) -> str:
        """The tensor that holds a part which a rule reads."""
        return self.ctx.scalar(part.value) if part.is_constant else self._done[part]

    def operands(self, part: Expression) -> list[str]:
        """The tensors that hold the arguments of a part."""
        return [self.operand(arg) for arg in part.args]

    def _node(self, part: Expression, suffix: str) -> str:
        operator, inputs, attributes, outputs = RULES[part.op](self, part)
        names = [self._output + suffix + each for each in outputs]
        return self.ctx.emit_all(operator, inputs, names, self._name + suffix, **attributes)[0]


# --- element by element --------------------------------------------------------------------------

_SAME = {
    name.lower(): name
    for name in (
        *("Sigmoid", "Tanh", "Exp", "Log", "Sin", "Sqrt", "Abs", "Neg", "Reciprocal", "Relu"),
        *("Softplus", "Softsign", "Add", "Sub", "Mul", "Div", "Pow", "Cos", "Tan", "Asin", "Acos"),
        *("Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh", "Erf", "Sign", "Floor", "Ceil"),
        *("Round", "Greater", "Less", "Equal", "Where"),
    )
} | {
    "maximum": "Max",
    "minimum": "Min",
    "greater_or_equal": "GreaterOrEqual",
    "less_or_equal": "LessOrEqual",
    "both": "And",
    "either": "Or",
    "one_of": "Xor",
    "negated": "Not",
    "is_nan": "IsNaN",
    "is_infinite": "IsInf",
}
_WITH_ATTRIBUTES = {
    "elu": ("Elu", ("alpha",)),
    "selu": ("Selu", ("alpha", "gamma")),
    "leaky_relu": ("LeakyRelu", ("alpha",)),
}
_REDUCTIONS = {
    "largest": "ReduceMax",
    "smallest": "ReduceMin",
    "product": "ReduceProd",
    "total": "ReduceSum",
}


@emits(*_SAME)
def _same(emitter: FormulaEmitter, part: Expression) -> Emission:
    """The operator that computes a primitive without parameters."""
    return Emission(_SAME[part.op], emitter.operands(part))


@emits(*_WITH_ATTRIBUTES)
def _with_attributes(emitter: FormulaEmitter, part: Expression) -> Emission:
    """The operator of a primitive whose constant parameters are attributes."""
    operator, names = _WITH_ATTRIBUTES[part.op]
    values = [arg.value for arg in part.args[1:]]
    return Emission(
        operator, [emitter.operand(part.args[0])], dict(zip(names, values, strict=True))
    )


@emits("clip")
def _clip(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Clip; a bound that bounds nothing is left out."""
    bounds = [
        "" if arg.value == infinite else emitter.operand(arg)
        for arg, infinite in zip(part.args[1:], (-np.inf, np.inf), strict=True)
    ]
    while bounds and not bounds[-1]:
        bounds.pop()
    return Emission("Clip", [emitter.operand(part.args[0]), *bounds])


@emits("mod")
def _mod(emitter: FormulaEmitter, part: Expression) -> Emission:
    """Mod with fmod=1, the only form for floats."""
    return Emission("Mod", emitter.operands(part), {"fmod": 1})


@emits("number")
def _number(emitter: FormulaEmitter, part: Expression) -> Emission:
    """The Cast of truth values to numbers."""
    return Emission("Cast", emitter.operands(part), {"to": int(emitter.ctx.data_type)})


# --- over the inputs of a neuron -----------------------------------------------------------------


def reduction(
    ctx: GraphBuilder, operator: str, tensor: str, axis: int, keepdims: int = 1
) -> Emission:
    """The reduction of a tensor along an axis: an input or an attribute, by the opset."""
    if ctx.opset >= _AXES_ARE_INPUTS_SINCE.get(operator, 18):
        inputs = [tensor, ctx.shared_integers("axes", [axis])]
        return Emission(operator, inputs, {"keepdims": keepdims})
    return Emission(operator, [tensor], {"axes": (axis,), "keepdims": keepdims})


@emits(*_REDUCTIONS)
def _reduce(emitter: FormulaEmitter, part: Expression) -> Emission:
    data = emitter.operand(part.args[0])
    return reduction(emitter.ctx, _REDUCTIONS[part.op], data, INPUTS_AXIS)


@emits("where_largest")
def _where_largest(emitter: FormulaEmitter, part: Expression) -> Emission:
    return Emission("ArgMax", emitter.operands(part), {"axis": INPUTS_AXIS, "keepdims": 1})


@emits("pick")
def _pick(emitter: FormulaEmitter, part: Expression) -> Emission:
    return Emission("GatherElements", emitter.operands(part), {"axis": INPUTS_AXIS})


@emits("lowest")
def _lowest(emitter: FormulaEmitter, part: Expression) -> Emission:
    """TopK of the smallest inputs of a neuron, sorted."""
    data, count = part.args
    wanted = emitter.ctx.shared_integers("lowest", [int(count.value)])
    attributes = {"axis": INPUTS_AXIS, "largest": 0, "sorted": 1}
    return Emission("TopK", [emitter.operand(data), wanted], attributes, ("", "_places"))
