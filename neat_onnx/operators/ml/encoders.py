"""Imputer, OneHotEncoder, LabelEncoder: numbers in place of other numbers, by comparisons."""

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.lifting.feature_counts import Tensors, counts_features
from neat_onnx.model import Attributes
from neat_onnx.model.numbers import AnyFloat
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, rearranged
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.formulas.integers import towards_zero
from neat_onnx.operators.ml.nodes import MlNode, features_of


class ImputerAttributes(Attributes):
    """Attributes of Imputer: the number that is replaced, and one for all features or for each."""

    imputed_value_floats: tuple[float, ...] | None = None
    imputed_value_int64s: tuple[int, ...] | None = None
    replaced_value_float: AnyFloat = 0.0
    replaced_value_int64: int = 0


class Imputer(MlNode):
    """X, with other numbers in place of one, that may be NaN."""

    attributes: ImputerAttributes = ImputerAttributes.defaults()


class OneHotEncoderAttributes(Attributes):
    """Attributes of OneHotEncoder: the categories; any other is an error, or no 1 with `zeros`."""

    cats_int64s: tuple[int, ...]
    zeros: int = 1


class OneHotEncoder(MlNode):
    """A last axis with a 1 for the category that a number is, and 0 for the others."""

    attributes: OneHotEncoderAttributes


class LabelEncoderAttributes(Attributes):
    """Attributes of LabelEncoder: numbers, the numbers that take their places, and any other's."""

    default_float: float = 0.0
    default_int64: int = -1
    keys_floats: tuple[float, ...] | None = None
    keys_int64s: tuple[int, ...] | None = None
    values_floats: tuple[float, ...] | None = None
    values_int64s: tuple[int, ...] | None = None


class LabelEncoder(MlNode):
    """The number that belongs to each number of a table; one and the same for all others."""

    attributes: LabelEncoderAttributes = LabelEncoderAttributes.defaults()


@counts_features(Imputer)
def features_of_imputer(node: Imputer, tensors: Tensors) -> int | None:
    """Count the numbers that take the place of another."""
    return features_of(node.attributes.imputed_value_floats, node.attributes.imputed_value_int64s)


@lifts(Imputer)
def lift_imputer(ctx: LiftingContext, node: Imputer) -> None:
    """Lift Imputer: a choice for each element."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = tensors.input(0)
    floats, integers = given.imputed_value_floats, given.imputed_value_int64s
    if bool(floats) == bool(integers):
        ctx.fail(node, "expected imputed_value_floats or imputed_value_int64s")
    replaced = given.replaced_value_float if floats else float(given.replaced_value_int64)
    values = np.asarray(floats or integers, np.float64)
    if values.size not in (1, x.shape[-1]):
        ctx.fail(node, f"it has {values.size} numbers for {x.shape[-1]} features")
    missing = tensors("is_nan", x) if np.isnan(replaced) else tensors("equal", x, replaced)
    if len({*values.tolist()}) == 1:
        ctx.bind(node, tensors("where", missing, values[0], x))
        return
    # A choice between two values is a sum of products, and 0 · NaN is no 0.
    kept = tensors("where", missing, 0.0, x)
    put = tensors("mul", tensors("number", missing), values)
    ctx.bind(node, tensors("add", kept, put))


@lifts(OneHotEncoder)
def lift_one_hot_encoder(ctx: LiftingContext, node: OneHotEncoder) -> None:
    """Lift OneHotEncoder: a comparison with each category, of numbers cut off to integers."""
    tensors, given = Algebra(ctx, node), node.attributes
    numbers = tensors.input(0)
    if isinstance(numbers, Value) and not ctx.has_integers(node):
        numbers = formula_of(ctx, numbers, towards_zero())
    hits = _hits(tensors, numbers, np.asarray(given.cats_int64s, np.float64))
    ctx.bind(node, hits)


@lifts(LabelEncoder)
def lift_label_encoder(ctx: LiftingContext, node: LabelEncoder) -> None:
    """Lift LabelEncoder: the sum of the values whose key it is, from the default on."""
    tensors, given = Algebra(ctx, node), node.attributes
    keys = np.asarray(given.keys_floats or given.keys_int64s or (), np.float64)
    values = np.asarray(given.values_floats or given.values_int64s or (), np.float64)
    other = given.default_float if given.values_floats else float(given.default_int64)
    if not keys.size or keys.size != values.size or not np.isfinite([*keys, *values, other]).all():
        ctx.fail(node, f"it has {keys.size} finite keys for {values.size} values")
    if len(np.unique(keys)) < keys.size:
        ctx.fail(node, "a key stands twice among its keys")
    x = tensors.input(0)
    hits = _hits(tensors, x, keys)
    found = tensors.along(hits, len(x.shape), (values - other)[None, :])
    ctx.bind(node, tensors("add", rearranged(found, lambda array: array[..., 0]), other))
    if given.values_int64s:
        ctx.integer.add(node.output[0])


def _hits(tensors: Algebra, x: Operand, numbers: Floats) -> Operand:
    """1 where an element is one of the numbers, along a new last axis, else 0."""
    spread = rearranged(x, lambda array: array[..., None])
    return tensors("number", tensors("equal", spread, numbers))
