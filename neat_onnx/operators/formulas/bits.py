"""Operators on the bits of integers, with a constant: shifts, and masks.

A run of bits from a up to b of an integer z is floor(z / 2^a) · 2^a − floor(z / 2^b) · 2^b, with
the sign as bits without end. It is exact as long as the numbers themselves are.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.model import Attributes, DataType, Node
from neat_onnx.model.inference import inferred_facts
from neat_onnx.network.expression import VARIABLE, Expression, floor
from neat_onnx.network.formula_text import fits
from neat_onnx.operators.formulas.choice import formula_of_each
from neat_onnx.operators.formulas.formula import formula_of

_Formula = Callable[[Expression, int], Expression]


class BitShiftAttributes(Attributes):
    """Attributes of BitShift: the direction."""

    direction: Literal["LEFT", "RIGHT"]


class BitShift(Node):
    """Integers whose bits are moved by constant numbers of places."""

    inputs = (2, 2)
    since = 11
    elementwise = True
    exact = True
    attributes: BitShiftAttributes


class _Bitwise(Node, abstract=True):
    inputs = (2, 2)
    since = 18
    elementwise = True
    exact = True


class BitwiseAnd(_Bitwise):
    """The bits that two integers have both; one of them is constant."""


class BitwiseOr(_Bitwise):
    """The bits that one of two integers has, or both; one of them is constant."""


class BitwiseXor(_Bitwise):
    """The bits that exactly one of two integers has; one of them is constant."""


class BitwiseNot(Node):
    """The bits that an integer does not have."""

    since = 18
    elementwise = True
    exact = True


@lifts(BitShift)
def lift_bit_shift(ctx: LiftingContext, node: BitShift) -> None:
    """A quotient, or a product without the bits beyond the type."""
    value, places = ctx.operand(node, 0), ctx.constant(node, 1)
    bits, signed = _type(ctx, node)
    if np.any(places < 0):
        ctx.fail(node, f"it shifts {bits} bits by {places.ravel().tolist()} places")
    if node.attributes.direction == "RIGHT":
        ctx.bind(node, _each(ctx, node, value, places, lambda z, n: floor(z * 0.5**n)))
        return

    def shifted(z: Expression, count: int) -> Expression:
        size = 2.0 ** (bits - count)  # of the numbers that keep their bits, around 0 or from it on
        least = z + 0.5 * size if signed else z
        return (z - floor(least / size) * size) * 2.0**count

    ctx.bind(node, _each(ctx, node, value, places, shifted))


@lifts(BitwiseAnd, BitwiseOr, BitwiseXor)
def lift_bitwise(ctx: LiftingContext, node: _Bitwise) -> None:
    """All by the bits that both have: a | b is a + b − (a & b), a ^ b is a + b − 2 (a & b)."""
    one, other = ctx.operand(node, 0), ctx.operand(node, 1)
    value, mask = (one, other) if isinstance(one, Value) else (other, one)
    if isinstance(mask, Value):
        ctx.fail(node, "both of its inputs are computed: no neuron combines their bits")
    bits, _ = _type(ctx, node)

    def formula(z: Expression, number: int) -> Expression:
        both = _common(z, number, bits)
        if node.op_type == "BitwiseAnd":
            return both
        return z + float(number) - (both if node.op_type == "BitwiseOr" else 2.0 * both)

    ctx.bind(node, _each(ctx, node, value, mask, formula))


@lifts(BitwiseNot)
def lift_bitwise_not(ctx: LiftingContext, node: BitwiseNot) -> None:
    """−1 − z of an integer with a sign, the largest of its type less z without one."""
    bits, signed = _type(ctx, node)
    largest = -1.0 if signed else 2.0**bits - 1.0
    ctx.bind(node, formula_of(ctx, ctx.operand(node, 0), largest - VARIABLE))


def _common(z: Expression, mask: int, bits: int) -> Expression:
    """The bits that an integer has in common with a mask, a run of them after the other."""
    total: Expression | None = None
    places = [place for place in range(bits + 1) if (mask >> place) & 1]
    for start in places:
        if start - 1 in places:
            continue
        stop = next(place for place in range(start, bits + 2) if place not in places)
        run = _from(z, start) if stop > bits else _from(z, start) - _from(z, stop)
        total = run if total is None else total + run
    return 0.0 * z if total is None else total


def _from(z: Expression, place: int) -> Expression:
    """An integer with 0 for its bits before a place."""
    return floor(z * 0.5**place) * 2.0**place if place else z


def _each(
    ctx: LiftingContext, node: Node, operand: Operand, constants: np.ndarray, formula: _Formula
) -> Operand:
    """A formula of each element and its constant, which are integers."""
    if not isinstance(operand, Value):
        ctx.value(node, 0)
        return operand
    numbers = {int(each) for each in np.unique(constants)}
    if not all(fits(formula(VARIABLE, each)) for each in numbers):
        ctx.fail(node, "its constants have so many runs of bits that no formula holds them")
    return formula_of_each(ctx, node, operand, constants, lambda z, n: formula(z, int(n)))


def _type(ctx: LiftingContext, node: Node) -> tuple[int, bool]:
    """The bits of the integers that a node gives, and whether they have a sign."""
    found = inferred_facts(ctx.model).get(node.output[0])
    kind = None if found is None else found.elem_type
    if kind is None:
        ctx.fail(node, "the type of its integers is not known")
    name = DataType(kind).name
    return int("".join(each for each in name if each.isdigit())), not name.startswith("U")
