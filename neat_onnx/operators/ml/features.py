"""Scaler, Normalizer, Binarizer, Imputer, ArrayFeatureExtractor, FeatureVectorizer: features."""

import math
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.lifting.feature_counts import Tensors, counts_features, keeps_features
from neat_onnx.lifting.followed_axes import (
    FEATURE,
    FIRST,
    UNKNOWN,
    AxisFollower,
    FollowedAxes,
    FollowedAxis,
    elements_before,
    follows,
)
from neat_onnx.model import Attributes
from neat_onnx.network.expression import VARIABLE, call, greater
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped
from neat_onnx.operators.formulas.choice import applied
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.inner_tensors import as_neurons
from neat_onnx.operators.ml.nodes import MlNode, features_of


class ScalerAttributes(Attributes):
    """Attributes of Scaler: offset and scale, one for all features or for each."""

    offset: tuple[float, ...] = (0.0,)
    scale: tuple[float, ...] = (1.0,)


class Scaler(MlNode):
    """(X - offset) · scale, one of each for all features or for each."""

    single = True
    attributes: ScalerAttributes = ScalerAttributes.defaults()


class NormalizerAttributes(Attributes):
    """Attributes of Normalizer: the norm."""

    norm: Literal["MAX", "L1", "L2"] = "MAX"


class Normalizer(MlNode):
    """Each sample divided by a norm of it, unless that is 0."""

    single = True
    attributes: NormalizerAttributes = NormalizerAttributes.defaults()


class BinarizerAttributes(Attributes):
    """Attributes of Binarizer: the threshold."""

    threshold: float = 0.0


class Binarizer(MlNode):
    """1 where x is larger than the threshold, else 0."""

    attributes: BinarizerAttributes = BinarizerAttributes.defaults()


class ArrayFeatureExtractor(MlNode):
    """Elements of the last axis at constant indices; of a constant at computed ones, too."""

    inputs = (2, 2)
    picks = True


class FeatureVectorizerAttributes(Attributes):
    """Attributes of FeatureVectorizer: how many features each input has."""

    inputdimensions: tuple[int, ...] | None = None


class FeatureVectorizer(MlNode):
    """The features of all inputs beside each other."""

    inputs = (1, None)
    single = True
    attributes: FeatureVectorizerAttributes = FeatureVectorizerAttributes.defaults()


keeps_features(Normalizer, Binarizer)


@counts_features(Scaler)
def features_of_scaler(node: Scaler, tensors: Tensors) -> int | None:
    """Count the offsets, or the scales."""
    return features_of(node.attributes.offset, node.attributes.scale)


@counts_features(ArrayFeatureExtractor)
def features_to_choose_from(node: ArrayFeatureExtractor, tensors: Tensors) -> int | None:
    """Count up to the last index that is read, if it is constant."""
    indices = tensors.get(node.input[1])
    return int(np.max(indices.values)) + 1 if indices is not None and indices.size else None


@lifts(Scaler)
def lift_scaler(ctx: LiftingContext, node: Scaler) -> None:
    """Lift Scaler, an affine function of each feature: a neuron for each, as for Sub and Mul."""
    given = node.attributes
    x = Algebra(ctx, node).input(0)
    offset, scale = (np.asarray(values) for values in (given.offset, given.scale))
    features = x.shape[-1]
    if {offset.size, scale.size} - {1, features}:
        ctx.fail(node, f"it has {offset.size} offsets and {scale.size} scales for {features}")
    if np.any(offset):
        x = applied(ctx, node, "sub", [x, offset])
    ctx.bind(node, applied(ctx, node, "mul", [x, scale]) if np.any(scale != 1.0) else x)


@lifts(Normalizer)
def lift_normalizer(ctx: LiftingContext, node: Normalizer) -> None:
    """Lift Normalizer: each sample times the reciprocal of its norm.

    Where the norm is 0, all elements are, but for the largest of them; a factor of 0 does as well.
    """
    tensors, norm = Algebra(ctx, node), node.attributes.norm
    if norm == "L1" and ctx.facts[node.input[0]].adds_up_to_one:
        ctx.bind(node, tensors.input(0))
        return
    x = as_neurons(ctx, tensors.input(0))
    ctx.refuse_along(node, (len(x.shape) - 1,))  # a vector is one sample for runtimes
    if norm == "MAX":
        size = tensors.reduced("max", x, (-1,))
    else:
        part = tensors("abs", x) if norm == "L1" else tensors("mul", x, x)
        size = tensors.reduced("sum", part, (-1,))
        size = tensors("sqrt", size) if norm == "L2" else size
    is_zero = tensors("equal", size, 0.0)
    inverse = tensors("where", is_zero, float(norm == "MAX"), tensors("reciprocal", size))
    ctx.bind(node, tensors("mul", x, inverse))


@lifts(Binarizer)
def lift_binarizer(ctx: LiftingContext, node: Binarizer) -> None:
    """Lift Binarizer, a comparison."""
    above = call("number", greater(VARIABLE, node.attributes.threshold))
    ctx.bind(node, formula_of(ctx, ctx.operand(node, 0), above))


@lifts(ArrayFeatureExtractor)
def lift_array_feature_extractor(ctx: LiftingContext, node: ArrayFeatureExtractor) -> None:
    """At a computed index of constants, as of labels: the sum of those that the index equals."""
    tensors = Algebra(ctx, node)
    x, index = tensors.input(0), tensors.input(1)
    if isinstance(index, Value):
        ctx.bind(node, _labels(ctx, node, tensors, x, index))
        if not isinstance(x, Value) and x.dtype.kind == "i":
            ctx.integer.add(node.output[0])
        return
    flat, size = index.ravel(), x.shape[-1]
    if index.dtype.kind != "i" or np.any(flat < 0) or np.any(flat >= size):
        ctx.fail(node, f"an index is outside of the {size} features")
    if len(x.shape) == 1 and not isinstance(x, Value):
        x = x[None]
    ctx.bind(node, rearranged(x, lambda array: array[..., flat]))


@follows(ArrayFeatureExtractor)
def extracted(axes: AxisFollower, node: ArrayFeatureExtractor) -> list[FollowedAxes]:
    """All computed indices stand in a row, the last axis, and the batch is a part of it."""
    name, index = node.input
    found = axes.operands.get(index)
    if not isinstance(found, Value):
        return [axes.of(name)]
    leading = (FEATURE,) * (axes.rank(node.output[0]) - 1)
    before = elements_before(axes.of(index), found.shape)
    if before is None:
        return [(*leading, UNKNOWN)]
    is_single = math.prod(found.shape) == 1
    return [(*leading, FIRST if is_single else FollowedAxis.around(before))]


def _labels(
    ctx: LiftingContext,
    node: ArrayFeatureExtractor,
    tensors: Algebra,
    labels: Operand,
    index: Operand,
) -> Operand:
    if isinstance(labels, Value) or not labels.size:
        ctx.fail(node, "computed places in something else than constants")
    table = labels.reshape(-1, labels.shape[-1]).astype(np.float64)
    shape = (*(labels.shape[:-1] or (1,)), -1)
    numbers, given = np.arange(table.shape[1], dtype=np.float64), table[0]
    step = given[1] - given[0] if given.size > 1 else 0.0
    even = len(table) == 1 and np.array_equal(given, given[0] + step * numbers)
    if even:  # whatever index there is, this holds
        scaled = index if step == 1.0 else tensors("mul", index, step)
        return reshaped(scaled if given[0] == 0.0 else tensors("add", scaled, given[0]), shape)
    hits, least = ctx.facts[node.input[1]].chosen, 0.0
    if hits is None or hits.shape[-1] != given.size:
        hits = tensors("number", tensors("equal", reshaped(index, (-1, 1)), numbers))
    elif labels.dtype.kind == "i" and len(table) == 1 and not np.all(given):
        least = float(given.min()) - 1.0  # so that each index is read
    found = tensors.along(reshaped(hits, (-1, given.size)), 1, table - least)
    if least:
        found = tensors("add", found, least)
    return reshaped(rearranged(found, np.transpose), shape)


@lifts(FeatureVectorizer)
def lift_feature_vectorizer(ctx: LiftingContext, node: FeatureVectorizer) -> None:
    """Lift FeatureVectorizer: signals beside each other."""
    values = [ctx.as_value(node, ctx.operand(node, k)) for k in range(len(node.input))]
    found = [value.shape[-1] for value in values]
    if node.attributes.inputdimensions not in (None, tuple(found)):
        ctx.fail(node, f"inputdimensions: expected {found}")
    ctx.bind(node, Value(np.concatenate([ctx.materialize(value) for value in values], axis=-1)))
