"""Products of tensors: MatMul, Gemm and Einsum of any operands.

Two computed tensors gate each other; a constant one is weights.
"""

import itertools
import math
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, Operand, Value, lifts
from neat_onnx.lifting.followed_axes import FEATURE, FIRST, UNKNOWN
from neat_onnx.lifting.rows import SumRows, are_worth_a_matrix
from neat_onnx.model import Attributes, Node
from neat_onnx.operators.algebra import Algebra, rearranged
from neat_onnx.operators.formulas.arithmetic import has_powers_of_two, value_of

_MAX_WEIGHTS_COMPARED = 1 << 16  # of a matrix that several products may have in common
_ELLIPSIS = "".join(map(chr, range(0x3400, 0x3440)))
"""Labels of the axes that an ellipsis stands for: letters that no equation has."""


class EinsumAttributes(Attributes):
    """Attributes of Einsum: the equation."""

    equation: str


class Einsum(Node):
    """Sums of products by Einstein's convention, as numpy's einsum."""

    inputs = (1, None)
    since = 12
    attributes: EinsumAttributes


@lifts(Einsum)
def lift_einsum(ctx: LiftingContext, node: Einsum) -> None:
    """Lift Einsum: products of elements, summed over the indices that the result lacks."""
    _refuse_sums_over_samples(ctx, node)
    if _is_product_of_rows(ctx, node):
        weights = ctx.constant(node, 1).T
        ctx.bind(node, lift_product(ctx, node, weights, np.zeros(len(weights))))
        return
    tensors = Algebra(ctx, node)
    operands = [tensors.input(position) for position in range(len(node.input))]
    ctx.bind(node, einsum(ctx, node, tensors, node.attributes.equation, operands))


def _refuse_sums_over_samples(ctx: LiftingContext, node: Einsum) -> None:
    operands = [ctx.operand(node, position) for position in range(len(node.input))]
    terms, result = _parsed(ctx, node, node.attributes.equation, operands)
    for name, term in zip(node.input, terms, strict=True):
        mixed = (axis not in (FEATURE, UNKNOWN) for axis in ctx.followed.of(name))
        if not {*itertools.compress(term, mixed)} <= {*result}:
            ctx.refuse_batch(node)


def _is_product_of_rows(ctx: LiftingContext, node: Einsum) -> bool:
    """Whether it is the product of the last axis and a constant matrix: `abc,cd->abd`."""
    operands = [ctx.operand(node, position) for position in range(len(node.input))]
    given = [isinstance(operand, Value) for operand in operands]
    if given != [True, False] or len(operands[1].shape) != 2:
        return False
    terms, result = _parsed(ctx, node, node.attributes.equation, operands)
    (one, other), letters = terms, "".join(terms)
    return (
        len({*one, *other}) == len(letters) - 1
        and one[-1:] == other[0]
        and result == one[:-1] + other[1]
    )


def einsum(
    ctx: LiftingContext, node: Node, tensors: Algebra, equation: str, operands: Sequence[Operand]
) -> Operand:
    """The sum of products that an equation such as `ij,jk->ik` says."""
    terms, result = _parsed(ctx, node, equation, operands)
    labels = result + "".join(sorted({*"".join(terms)} - {*result}))
    sizes: dict[str, int] = {}
    for term, operand in zip(terms, operands, strict=True):
        for label, size in zip(term, operand.shape, strict=True):
            known = sizes.setdefault(label, size)
            if label in _ELLIPSIS and 1 in (known, size):
                sizes[label] = known * size
            elif known != size:
                name = "..." if label in _ELLIPSIS else label
                ctx.fail(node, f"'{name}' has the sizes {known} and {size}")
    shape = tuple(sizes[label] for label in labels)
    ctx.check_size(node, int(np.prod(shape, dtype=object)))
    product: Operand = np.ones(())
    for position, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        spread = _spread(_as_factor(ctx, operand), term, labels)
        product = spread if position == 0 else tensors("mul", product, spread)
    product = rearranged(product, lambda array: np.broadcast_to(array, shape))
    summed = tuple(range(len(result), len(labels)))
    return tensors.reduced("sum", product, summed, keepdims=False) if summed else product


def _parsed(
    ctx: LiftingContext, node: Node, equation: str, operands: Sequence[Operand]
) -> tuple[list[str], str]:
    ranks = [len(operand.shape) for operand in operands]
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms, shared = _without_ellipses(left.split(","), ranks)
    result = result.replace("...", shared, 1)
    if not arrow:
        letters = "".join(terms)
        once = {each for each in letters if letters.count(each) == 1}
        result = shared + "".join(sorted(once - {*shared}))
    if not all(each.isalpha() or not each for each in (*terms, result)):
        ctx.fail(node, f"equation: '{equation}' has more than letters, ellipses, commas, an arrow")
    if [len(term) for term in terms] != ranks:
        ctx.fail(node, f"equation: '{equation}' does not fit inputs of {ranks} axes")
    known = {*"".join(terms)}
    if len({*result}) != len(result) or not {*shared} <= {*result} <= known:
        ctx.fail(node, f"equation: '{equation}' has a wrong result")
    return terms, result


def _without_ellipses(terms: Sequence[str], ranks: Sequence[int]) -> tuple[list[str], str]:
    """The terms with labels for the axes that an ellipsis stands for, and all of these labels.

    An ellipsis stands for as many axes in each term; where it does not, terms do not fit.
    """
    counts = [
        max(0, rank - len(term.replace("...", "", 1)))
        for term, rank in zip(terms, ranks, strict=False)
        if "..." in term
    ]
    shared = _ELLIPSIS[: max(counts, default=0)]
    return [term.replace("...", shared, 1) for term in terms], shared


def _spread(operand: Operand, term: str, labels: str) -> Operand:
    """An operand with an axis for each label, of length 1 where it has none; its diagonals."""

    def change(array: Array) -> Array:
        different = "".join(dict.fromkeys(term))
        diagonal: Array = np.einsum(array, [labels.index(each) for each in term],
                                    [labels.index(each) for each in different])  # fmt: skip
        wanted = [each for each in labels if each in different]
        ordered = diagonal.transpose([different.index(each) for each in wanted])
        return ordered.reshape([
            ordered.shape[wanted.index(each)] if each in wanted else 1 for each in labels
        ])  # fmt: skip

    return rearranged(operand, change)


def matrix_product(
    ctx: LiftingContext,
    node: Node,
    tensors: Algebra,
    one: Operand,
    other: Operand,
    places: tuple[Sequence[int], Sequence[int]] = ((0,), (1,)),
) -> Operand:
    """The product as numpy's `matmul` has it: vectors, and matrices in leading axes that broadcast.

    Args:
        ctx, node, tensors: the node that multiplies.
        one, other: the factors.
        places: the positions of the node's inputs that each of them is made of.

    Raises:
        ModelError: their shapes do not fit.
    """
    if not one.shape or not other.shape:
        ctx.fail(node, "it multiplies a number, expected vectors or matrices")
    if not isinstance(other, Value) and _are_rows_of(one, other):
        return _times_matrix(ctx, node, one, other.T, np.zeros(other.shape[1]))
    vectors = len(one.shape) == 1, len(other.shape) == 1
    firsts = vectors[0], len(other.shape) <= 2
    for operand, each, first in zip((one, other), places, firsts, strict=True):
        names = {name for at in each for name in node.input[at : at + 1]}
        computed = {name for name in names if isinstance(ctx.operands.get(name), Value)}
        is_shared = bool(computed) and computed <= ctx.followed.shared
        if isinstance(operand, Value) and first and not is_shared:
            ctx.refuse_batch(node)
    if vectors[0]:
        one = rearranged(one, lambda array: array[None])
    if vectors[1]:
        other = rearranged(other, lambda array: array[:, None])
    found = product_of_rows(ctx, node, tensors, one, other)
    if vectors[0]:
        found = rearranged(found, lambda array: array[..., 0, :])
    return rearranged(found, lambda array: array[..., 0]) if vectors[1] else found


def _are_rows_of(operand: Operand, matrix: Array) -> TypeGuard[Value]:
    """Whether an operand is computed, and several rows that a matrix may be multiplied with."""
    if not isinstance(operand, Value) or len(operand.shape) < 2:
        return False
    return matrix.ndim == 2 and operand.shape[-1] == len(matrix)


def product_of_rows(
    ctx: LiftingContext, node: Node, tensors: Algebra, one: Operand, other: Operand
) -> Operand:
    """The product of matrices in leading axes that broadcast.

    Raises:
        ModelError: their shapes do not fit.
    """
    if one.shape[-1] != other.shape[-2]:
        ctx.fail(node, f"its inputs have {one.shape[-1]} columns and {other.shape[-2]} rows")
    ctx.broadcast(node, one.shape[:-2], other.shape[:-2])
    left = rearranged(_as_factor(ctx, one), lambda array: array[..., None])
    right = rearranged(_as_factor(ctx, other), lambda array: array[..., None, :, :])
    shape = np.broadcast_shapes(left.shape, right.shape)
    ctx.check_size(node, int(np.prod(shape, dtype=object)))
    left, right = (
        rearranged(each, lambda array: np.broadcast_to(array, shape)) for each in (left, right)
    )
    return tensors.reduced("sum", tensors("mul", left, right), (len(shape) - 2,), keepdims=False)


def _as_factor(ctx: LiftingContext, operand: Operand) -> Operand:
    """The operand with neurons for its weights and gates, before each element is in many products.

    A product keeps weights that are powers of two.
    """
    if not isinstance(operand, Value) or operand.elementwise or has_powers_of_two(operand):
        return operand
    return Value(ctx.materialize(operand))


def lift_product(ctx: LiftingContext, node: Node, weights: Array, bias: Array) -> Value:
    """Neurons that sum the last axis of the first input with `weights` (out, in)."""
    value = ctx.value(node, 0)
    size = value.shape[-1] if value.shape else 0
    if size != weights.shape[1]:
        ctx.fail(node, f"its input has {size} columns, {node.input[1]} expects {weights.shape[1]}")
    return _times_matrix(ctx, node, value, weights, bias)


def _times_matrix(
    ctx: LiftingContext, node: Node, value: Value, weights: Array, bias: Array
) -> Value:
    """Neurons that sum the last axis of a value with `weights` (out, in)."""
    size = math.prod(value.shape[:-1]), weights.shape[1]
    if not _keeps_factors(value, weights):
        value = Value(ctx.materialize(value))
    signals = ctx.materialize(Value(value.signals)).reshape(size)
    gates = None if value.gate is None else value.gate.reshape(size)
    factors = None if value.weight is None else value.weight.reshape(size)
    ctx.check_size(node, len(signals) * len(weights))
    made = ctx.add_neurons(len(signals) * len(weights), bias=np.tile(bias, len(signals)))
    row, column = np.nonzero(weights)
    weight = weights[row, column].astype(np.float64, copy=False)
    for sample in range(len(signals)):
        position = sample * len(weights) + row
        each = weight if factors is None else weight * factors[sample][column]
        gate = None if gates is None else gates[sample][column]
        ctx.connect(made, signals[sample][column], position, each, gate)
    same = hash((weights.shape, weights.tobytes())) if weights.size <= _MAX_WEIGHTS_COMPARED else 0
    ctx.add_rows(SumRows(signals, made.signals.reshape(len(signals), -1), same), made)
    return value_of(made, (*value.shape[:-1], len(weights)))


def _keeps_factors(value: Value, weights: Array) -> bool:
    """Whether the sums may read a product's factors, not the product.

    Rows of sums that are worth a matrix of their own must read signals alone.
    """
    if value.gate is None:
        return value.unweighted
    return value.linear and not are_worth_a_matrix(math.prod(value.shape[:-1]), weights.size)


def is_matrix_of(ctx: LiftingContext, name: str, operand: Operand, rows: int) -> bool:
    """Whether a tensor is a computed matrix of so many rows, or several, for each sample.

    Its columns may be the batch, as after a transposition.
    """
    if not isinstance(operand, Value) or not operand.elementwise:
        return False
    if operand.shape == (rows, 1) and not ctx.features_only:
        return ctx.followed.of(name) == (FEATURE, FIRST)
    shape = operand.shape if ctx.features_only else operand.shape[1:]
    return shape[-2:-1] == (rows,)
