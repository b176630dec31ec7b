"""Formulas to nodes and back: the code that all operators which are primitives of expressions
share.

A family's file says which of its operators a primitive is, by `emits`. `emit_formula` walks an
expression and adds a node for each primitive; `apply_formula` is its mirror for lifting.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from neat_onnx.errors import ModelError
from neat_onnx.lowering.builder import GraphBuilder
from neat_onnx.model import DataType, Node
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    parts_of,
)
from neat_onnx.network.runtime_formulas import writable
from neat_onnx.operators.export.layout.shaping import Identity


class Emission(NamedTuple):
    """The node that computes a primitive; the first of its outputs is the result."""

    operator: type[Node]
    inputs: list[str]
    attributes: dict[str, Any]
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


Shortening = Callable[[Expression], Expression | None]
SHORTENINGS: list[tuple[int, DataType, Shortening]] = []


def shortens(since: int, data_type: DataType) -> Callable[[Shortening], Shortening]:
    """Register the decorated function to write a part of a formula as one primitive with a rule.

    Args:
        since: the opset from which the nodes are there.
        data_type: the float type that they are for.
    """

    def register(shortening: Shortening) -> Shortening:
        SHORTENINGS.append((since, data_type, shortening))
        return shortening

    return register


def _shortened(ctx: GraphBuilder, formula: Expression) -> Expression:
    """The formula with one primitive in place of each part that a node or two compute."""
    known = [
        shortening
        for since, data_type, shortening in SHORTENINGS
        if since <= ctx.opset and data_type is ctx.data_type
    ]
    done: dict[Expression, Expression] = {}
    for part in parts_of(formula):
        found = filter(None, (shortening(part) for shortening in known))
        short = next(found, part)
        done[part] = short.over([done.get(arg, arg) for arg in short.args])  # it may add constants
    return done[formula]


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
        return ctx.emit(Identity, [tensor], output, name)
    return FormulaEmitter(ctx, tensor, output, name).emit(formula)


class FormulaEmitter:
    """Adds the nodes of one formula to a graph; equal parts become one node.

    Args:
        ctx: the export.
        tensor: tensor for the variable.
        output: the name of the result's tensor; intermediate tensors get a number.
        name: the name of the node that produces the result.
        given: tensors of parts that are there already.
    """

    def __init__(
        self,
        ctx: GraphBuilder,
        tensor: str,
        output: str,
        name: str,
        given: Mapping[Expression, str] | None = None,
    ) -> None:
        self.ctx = ctx
        self._output, self._name = output, name
        self._done: dict[Expression, str] = {**(given or {}), VARIABLE: tensor}
        self._given = len(self._done) - 1

    def emit(self, formula: Expression) -> str:
        """The name of the tensor that holds `formula`."""
        formula = writable(formula, self.ctx.data_type.dtype, far_from_zero=self.ctx.far_from_zero)
        formula = _shortened(self.ctx, formula)
        for part in parts_of(formula):
            if part not in self._done and not part.is_constant:
                last, count = part == formula, len(self._done) - self._given
                self._done[part] = self._node(part, "" if last else f"_{count}")
        return self._done[formula]

    def wished(self, operator: type[Node], inputs: list[str], suffix: str) -> str:
        """Add a node before that of a primitive; the result and the node get this suffix."""
        return self.ctx.emit(operator, inputs, self._output + suffix, self._name + suffix)

    def operand(self, part: Expression) -> str:
        """The tensor that holds a part which a rule reads."""
        return self.ctx.scalar(part.value) if part.is_constant else self._done[part]

    def _node(self, part: Expression, suffix: str) -> str:
        operator, inputs, attributes, outputs = RULES[part.op](self, part)
        names = [self._output + suffix + each for each in outputs]
        return self.ctx.emit(operator, inputs, names, self._name + suffix, **attributes)


# --- recognition ---------------------------------------------------------------------------------
