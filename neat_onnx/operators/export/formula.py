"""Formulas to nodes: a node for each primitive of an expression."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.lowering.builder import GraphBuilder, Operator
from neat_onnx.model import DataType, node_class
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.expression import VARIABLE, Expression, erf, parts_of
from neat_onnx.network.runtime_formulas import writable

WHOLE = {(0.5 * VARIABLE) * (1.0 + erf(0.7071067811865476 * VARIABLE)): "Gelu"}
"""Formulas without a name that are one operator, of which runtimes have kernels in float32."""

Whole = tuple[Operator, Mapping[str, Any]]
"""An operator that computes a formula, and its attributes."""
OWN: list[Callable[[Expression], Whole | None]] = []
"""Operators of users' own: each gives itself for a formula that it computes."""

INPUTS_AXIS = 2  # the inputs of a neuron, in [N, neurons, k]
_AXES_ARE_INPUTS_SINCE = {"ReduceSum": 13}


class Emission(NamedTuple):
    """The node that computes a primitive; the first of its outputs is the result."""

    operator: str
    inputs: list[str]
    attributes: Mapping[str, Any] = MappingProxyType({})
    outputs: tuple[str, ...] = ("",)


def whole_operator(ctx: GraphBuilder, formula: Expression) -> Whole | None:
    """The operator that an activation is: a user's own; or ONNX's, of a formula without a name, if
    the opset and runtimes have it.
    """
    for own in OWN:
        if found := own(formula):
            return found
    if formula not in WHOLE or ctx.data_type is not DataType.FLOAT:
        return None
    named = any(formula == each.expression for each in ACTIVATIONS.values())
    operator = WHOLE[formula]
    return None if named or node_class(operator).since > ctx.opset else (operator, {})


_CALLED = {
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
"""Operators of other names than those of the primitives."""
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


def emit_formula(
    ctx: GraphBuilder, formula: Expression, tensor: str, output: str, name: str
) -> str:
    """Add the nodes that apply `formula` to a tensor, or the operator that it is; an Identity for z
    itself. Equal parts become one node.

    Args:
        tensor: stands for the variable.
        output, name: wished names of the result and of the node that produces it; intermediate ones
            get a number.

    Returns:
        The name of the result.
    """
    if whole := whole_operator(ctx, formula):
        operator, given = whole
        return ctx.emit(operator, [tensor], output, name, **given)
    if formula == VARIABLE:
        return ctx.emit("Identity", [tensor], output, name)
    formula = writable(formula, ctx.data_type.dtype, far_from_zero=ctx.far_from_zero)
    done = {VARIABLE: tensor}
    for part in parts_of(formula):
        if part not in done and not part.is_constant:
            suffix = "" if part == formula else f"_{len(done)}"
            operator, inputs, attributes, outputs = _emission(ctx, part, done)
            names = [output + suffix + each for each in outputs]
            done[part] = ctx.emit_all(operator, inputs, names, name + suffix, **attributes)[0]
    return done[formula]


def _emission(ctx: GraphBuilder, part: Expression, done: Mapping[Expression, str]) -> Emission:
    """The node of a primitive, of tensors that hold other parts."""

    def read(arg: Expression) -> str:
        return ctx.scalar(arg.value) if arg.is_constant else done[arg]

    op, args = part.op, part.args
    if op in _WITH_ATTRIBUTES:
        operator, names = _WITH_ATTRIBUTES[op]
        given = {name: arg.value for name, arg in zip(names, args[1:], strict=True)}
        return Emission(operator, [read(args[0])], given)
    if op in _REDUCTIONS:
        return reduction(ctx, _REDUCTIONS[op], read(args[0]), INPUTS_AXIS)
    if op in _WITH_AXIS:
        return Emission(_WITH_AXIS[op][0], [*map(read, args)], _WITH_AXIS[op][1])
    if op == "number":  # truth values
        return Emission("Cast", [read(args[0])], {"to": int(ctx.data_type)})
    if op == "lowest":  # of the inputs of a neuron, sorted
        inputs = [read(args[0]), ctx.shared_integers("lowest", [int(args[1].value)])]
        order = {"axis": INPUTS_AXIS, "largest": 0, "sorted": 1}
        return Emission("TopK", inputs, order, ("", "_places"))
    if op != "clip":
        return Emission(_CALLED.get(op, op.capitalize()), [*map(read, args)])
    ends = zip(args[1:], (-np.inf, np.inf), strict=True)
    bounds = ["" if arg.value == infinite else read(arg) for arg, infinite in ends]
    while bounds and not bounds[-1]:  # that bounds nothing
        bounds.pop()
    return Emission("Clip", [read(args[0]), *bounds])
