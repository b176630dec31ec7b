"""Formulas to nodes: a node for each primitive of an expression."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

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
_WITH_AXIS: dict[str, tuple[str, dict[str, int]]] = {
    "where_largest": ("ArgMax", {"axis": INPUTS_AXIS, "keepdims": 1}),
    "pick": ("GatherElements", {"axis": INPUTS_AXIS}),
    "mod": ("Mod", {"fmod": 1}),  # the only form for floats
}


def reduction(
    ctx: GraphBuilder, operator: str, tensor: str, axis: int, keepdims: int = 1
) -> Emission:
    """The reduction of a tensor along an axis: an input or an attribute, by the opset."""
    if ctx.opset >= _AXES_ARE_INPUTS_SINCE.get(operator, 18):
        inputs = [tensor, ctx.shared_integers("axes", [axis])]
        return Emission(operator, inputs, {"keepdims": keepdims})
    return Emission(operator, [tensor], {"axes": (axis,), "keepdims": keepdims})


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

    def _emission(self, part: Expression) -> Emission:
        """The node of a primitive."""
        op, args, ctx = part.op, part.args, self.ctx
        if op in _SAME:
            return Emission(_SAME[op], self.operands(part))
        if op in _WITH_ATTRIBUTES:
            operator, names = _WITH_ATTRIBUTES[op]
            given = {name: arg.value for name, arg in zip(names, args[1:], strict=True)}
            return Emission(operator, [self.operand(args[0])], given)
        if op in _REDUCTIONS:
            return reduction(ctx, _REDUCTIONS[op], self.operand(args[0]), INPUTS_AXIS)
        if op in _WITH_AXIS:
            return Emission(_WITH_AXIS[op][0], self.operands(part), _WITH_AXIS[op][1])
        if op == "number":  # truth values
            return Emission("Cast", self.operands(part), {"to": int(ctx.data_type)})
        if op == "lowest":  # of the inputs of a neuron, sorted
            inputs = [self.operand(args[0]), ctx.shared_integers("lowest", [int(args[1].value)])]
            order = {"axis": INPUTS_AXIS, "largest": 0, "sorted": 1}
            return Emission("TopK", inputs, order, ("", "_places"))
        if op != "clip":
            raise AssertionError(f"no node computes the primitive {op}")
        ends = zip(args[1:], (-np.inf, np.inf), strict=True)
        bounds = ["" if arg.value == infinite else self.operand(arg) for arg, infinite in ends]
        while bounds and not bounds[-1]:  # that bounds nothing
            bounds.pop()
        return Emission("Clip", [self.operand(args[0]), *bounds])

    def _node(self, part: Expression, suffix: str) -> str:
        operator, inputs, attributes, outputs = self._emission(part)
        names = [self._output + suffix + each for each in outputs]
        return self.ctx.emit_all(operator, inputs, names, self._name + suffix, **attributes)[0]
