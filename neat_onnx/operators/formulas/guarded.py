"""Values that a choice may leave out, and that are infinite or NaN there, as x / y at y = 0 may be,
or an exponential.

A choice by a computed condition is a sum of two products, and 0 · ∞ is NaN. So operands of such a
value give way to other numbers where it is left out: y to 1. Where it is chosen nothing changes.
Where many neurons lie between these operands and the choice, and each would be there once more, the
value itself gives way to 0 wherever it is not finite, and a second choice says where it was chosen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from neat_onnx.lifting.context import MATERIALIZED, PRE_ACTIVATION, LiftingContext
from neat_onnx.lifting.finiteness import Finiteness
from neat_onnx.lifting.overflow import Overflow
from neat_onnx.lifting.values import NewNeurons, Operand, Value
from neat_onnx.model import Node
from neat_onnx.network.domains import ANY, may_overflow, stays_finite, stays_finite_at_zero
from neat_onnx.network.expression import (
    VARIABLE,
    Expression,
    atanh,
    call,
    is_infinite,
    is_nan,
    sign,
    where,
)
from neat_onnx.network.genes import Bools, Ints, distinct
from neat_onnx.network.schedule import Edges
from neat_onnx.operators.formulas.arithmetic import neurons_of, subtract
from neat_onnx.operators.formulas.formula import formula_of

_SAFE = (1.0, 0.5, 2.0, 0.0, -1.0)
_MAX_COPIES = 8  # of neurons, for each element that a choice may leave out
_MAX_NEURONS_BACK = 64  # from the value to the operands that give way
_FINITE = where(call("either", is_nan(VARIABLE), is_infinite(VARIABLE)), 0.0, VARIABLE)
# of a number, of ±∞ and of NaN: 0, ±1 and 2, the atanh of which is 0, ±∞ and NaN
_KIND = where(is_infinite(VARIABLE), sign(VARIABLE), where(is_nan(VARIABLE), 2.0, 0.0))

Choose = Callable[[Sequence[Operand]], Operand]
"""Gives the choice of finite operands."""


@dataclass(frozen=True)
class _Choice:
    """Signals of a condition, for some elements: 1 where they are chosen, and 1 where not."""

    chosen: Ints
    rest: Ints

    def take(self, at: Ints) -> "_Choice":
        return _Choice(self.chosen[at], self.rest[at])


def chosen_of_both(
    ctx: LiftingContext,
    node: Node,
    operands: tuple[Operand, Operand],
    chosen: Ints,
    rest: Ints,
    choose: Choose,
) -> Operand:
    """A choice of two operands, of which the one that is left out may be infinite or NaN.

    Args:
        ctx: the import.
        node: the node that chooses.
        operands: the one where `chosen` is 1, and the one where `rest` is.
        chosen, rest: activations of neurons, 1 or 0, that broadcast with the operands.
        choose: gives the choice of operands that are finite where they are left out.

    Raises:
        ModelError: an operand cannot give way.
    """
    known = [_activations(ctx, each) for each in operands]
    if not any(_matters(formula) for formula in ctx.formulas):
        return choose(operands)
    guard = _Guard(ctx, node)
    if any(isinstance(each, Value) and guard.is_far(each.signals) for each in known):
        return _chosen_apart(ctx, node, guard, known, choose)
    choices = ((chosen, rest), (rest, chosen))
    return choose([
        Value(guard.finite(each.signals, *choice))
        if isinstance(each, Value) and not guard.is_finite(each.signals)
        else operand
        for operand, each, choice in zip(operands, known, choices, strict=True)
    ])  # fmt: skip


def chosen_of_several(
    ctx: LiftingContext, node: Node, operand: Operand, taken: Operand, choose: Choose
) -> Operand:
    """A choice of elements of an operand, some of which may be infinite or NaN.

    Args:
        ctx: the import.
        node: the node that takes elements.
        operand: the elements.
        taken: 1 for those that are taken, else 0, that broadcasts with the operand.
        choose: gives the choice of elements that are finite where they are not taken.

    Raises:
        ModelError: the operand cannot give way.
    """
    if not isinstance(operand, Value) or not isinstance(taken, Value):
        return choose([operand])
    if not any(_matters(formula) for formula in ctx.formulas):
        return choose([operand])
    signals, guard = ctx.materialize(operand), _Guard(ctx, node)
    if guard.is_finite(signals):
        return choose([operand])
    if guard.is_far(signals):
        return _chosen_apart(ctx, node, guard, [Value(signals)], choose)
    chosen = ctx.materialize(taken)
    rest = ctx.materialize(subtract(ctx, node, np.ones(()), Value(chosen)))
    return choose([Value(guard.finite(signals, chosen, rest))])


def _activations(ctx: LiftingContext, operand: Operand) -> Operand:
    return Value(ctx.materialize(operand)) if isinstance(operand, Value) else operand


def _chosen_apart(
    ctx: LiftingContext,
    node: Node,
    guard: "_Guard",
    operands: Sequence[Operand],
    choose: Choose,
) -> Operand:
    """The choice of the finite elements, plus the atanh of 1, -1 or 2 where another is chosen."""
    finite, kinds = [*operands], list[Operand]([np.zeros(())] * len(operands))
    for at, each in enumerate(operands):
        if isinstance(each, Value) and not guard.is_finite(each.signals):
            finite[at], kinds[at] = (formula_of(ctx, each, part) for part in (_FINITE, _KIND))
    kind = Value(ctx.materialize(ctx.as_value(node, choose(kinds))), atanh(VARIABLE))
    return neurons_of(ctx, node, [ctx.as_value(node, choose(finite)), kind], "sum", (1.0, 1.0))


def are_finite(ctx: LiftingContext, operand: Operand) -> bool:
    """Whether all elements of an operand are finite for certain, if numbers are moderate."""
    if not isinstance(operand, Value):
        return bool(np.all(np.isfinite(operand)))
    if all(stays_finite(formula, ANY) for formula in ctx.formulas):
        return True
    signals = ctx.materialize(operand)
    return bool(np.all(Finiteness(ctx).finite[signals]))


def _matters(formula: Expression) -> bool:
    return not stays_finite(formula, ANY) or may_overflow(formula, ANY)


class _Guard:
    """Makes neurons in place of those that may not be finite."""

    def __init__(self, ctx: LiftingContext, node: Node) -> None:
        self._ctx, self._node = ctx, node
        self._known = Finiteness(ctx)
        self._overflow = Overflow(ctx, self._known)
        self._owners = [each for each in ctx.neurons if not each.merged]
        self._starts = np.array([each.signals[0] for each in self._owners], np.int64)

    def is_finite(self, signals: Ints) -> bool:
        """Whether all signals are finite for certain."""
        return not bool(np.any(self._is_unsafe(signals)))

    def _is_unsafe(self, signals: Ints) -> Bools:
        unsafe: Bools = ~self._known.finite[signals] | self._overflow.reached[signals]
        return unsafe

    def finite(self, signals: Ints, chosen: Ints, rest: Ints) -> Ints:
        """Signals that equal others where `chosen` is 1, and are finite where `rest` is 1."""
        flat, *choice = (each.ravel() for each in np.broadcast_arrays(signals, chosen, rest))
        self._ctx.check_size(self._node, flat.size)
        shape = np.broadcast_shapes(signals.shape, chosen.shape, rest.shape)
        return self._kept(flat, _Choice(*choice)).reshape(shape)

    def is_far(self, signals: Ints) -> bool:
        """Whether many neurons lie between signals and the operands that may have to give way.

        A neuron counts once for each path to it.
        """
        front, paths = np.unique(signals, return_counts=True)
        left = _MAX_COPIES * signals.size
        for _ in range(_MAX_NEURONS_BACK):
            unsafe = self._is_unsafe(front)
            front, paths = front[unsafe], paths[unsafe]
            left -= paths.sum()
            if left < 0 or not front.size:
                return bool(left < 0)
            front, paths = self._known.read_by(front, paths)
        return True

    def _refuse(self) -> NoReturn:
        self._ctx.fail(self._node, "a value that it may leave out is not finite")

    def _kept(self, signals: Ints, choice: _Choice) -> Ints:
        """Signals in place of `signals`, flat; the same where they are finite for certain."""
        result = signals.copy()
        unsafe = np.flatnonzero(self._is_unsafe(signals))
        pairs = np.stack([signals[unsafe], choice.chosen[unsafe]], axis=1)
        _, first, again = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        at = unsafe[first]
        if at.size:
            result[unsafe] = self._replaced(signals[at], choice.take(at))[again.ravel()]
        return result

    def _replaced(self, signals: Ints, choice: _Choice) -> Ints:
        kind = self._ctx.kind[signals]
        if not np.all(np.isin(kind, (MATERIALIZED, PRE_ACTIVATION))):
            self._refuse()
        result = signals.copy()
        formula = np.where(kind == MATERIALIZED, self._ctx.formula_of[signals], -1)
        for number in distinct(formula[formula >= 0]).tolist():
            at = np.flatnonzero(formula == number)
            expression = self._known.formulas[number]
            result[at] = self._applied(expression, signals[at], choice.take(at))
        owners = np.searchsorted(self._starts, signals, "right") - 1
        owner = np.where(kind == PRE_ACTIVATION, owners, -1)
        for number in distinct(owner[owner >= 0]).tolist():
            at = np.flatnonzero(owner == number)
            result[at] = self._copied(self._owners[number], signals[at], choice.take(at))
        return result

    def _applied(self, formula: Expression, signals: Ints, choice: _Choice) -> Ints:
        """The formula of an operand that gives way to a number for which it is finite."""
        origin = self._ctx.origin[signals]
        facts = self._known.sign, self._overflow.unbounded, self._overflow.vanishing
        known = np.stack([each[origin] for each in facts])
        origin = self._kept(origin, choice)
        if any(
            not stays_finite(formula, sign)
            or (unbounded and may_overflow(formula, sign))
            or (vanishing and not stays_finite_at_zero(formula, sign))
            for sign, unbounded, vanishing in np.unique(known, axis=1).T.tolist()
        ):
            origin = self._gives_way(formula, origin, choice)
        return self._ctx.materialized_from(origin, formula)

    def _gives_way(self, formula: Expression, origin: Ints, choice: _Choice) -> Ints:
        """Neurons that hand on a signal where it is chosen, and give a number where not."""
        found = [each for each in _SAFE if np.isfinite(formula.evaluate(np.array(each)))]
        if not found:
            self._refuse()
        ctx, count = self._ctx, len(origin)
        made, position = ctx.add_neurons(count), np.arange(count)
        ctx.connect(made, self._activations(origin), position, np.ones(count), choice.chosen)
        if found[0]:
            ctx.connect(made, choice.rest, position, np.full(count, found[0]))
        return made.signals

    def _copied(self, owner: NewNeurons, signals: Ints, choice: _Choice) -> Ints:
        """Neurons like others, that read operands which give way."""
        ctx, rows = self._ctx, signals - owner.signals[0]
        made = ctx.add_neurons(
            len(rows),
            aggregation=owner.aggregation,
            bias=owner.bias[rows],
            response=owner.response[rows],
        )
        for link in list(owner.connections):
            size, edges = len(owner.signals), np.arange(len(link.position))
            counts = np.bincount(link.position, minlength=size)[rows]
            row = np.repeat(np.arange(len(rows)), counts)
            edge = Edges(link.position, edges, size).leaving(rows)
            each = choice.take(row)
            source = self._activations(self._kept(link.source[edge], each))
            gate = link.gate[edge].copy()
            gated = np.flatnonzero(gate >= 0)
            gains = self._kept(gate[gated], each.take(gated))
            gate[gated] = self._activations(gains)
            ctx.connect(made, source, row, link.weight[edge], gate)
        return made.signals

    def _activations(self, signals: Ints) -> Ints:
        """The same signals for connections to read: of neurons their activations."""
        return self._ctx.materialize(Value(signals))
