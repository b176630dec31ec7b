"""SVMRegressor and SVMClassifier: a kernel neuron for each support vector, and their sums.

A radial kernel exp(-gamma · |x - s|²) is exp of one sum over the features and |x|², a neuron.
"""

from itertools import combinations
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, lifts
from neat_onnx.lifting.feature_counts import Tensors, counts_features
from neat_onnx.model import Attributes
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, rearranged
from neat_onnx.operators.layout.arranging import combined
from neat_onnx.operators.ml.coupling import coupled_twice
from neat_onnx.operators.ml.coupling_sweeps import coupled
from neat_onnx.operators.ml.linear import best_label, label_numbers, label_of_two
from neat_onnx.operators.ml.nodes import MlNode, Transform, quotient, transformed

_BINARY = 2


class KernelAttributes(Attributes):
    """Attributes of both: the kernel with gamma, coef0 and degree, vectors, and their factors."""

    coefficients: tuple[float, ...]
    kernel_params: tuple[float, ...] | None = None
    kernel_type: Literal["LINEAR", "POLY", "RBF", "SIGMOID"] = "LINEAR"
    rho: tuple[float, ...]
    support_vectors: tuple[float, ...] | None = None


class SVMRegressorAttributes(KernelAttributes):
    """Attributes of SVMRegressor: without supports, a coefficient for each feature."""

    n_supports: int = 0
    one_class: int = 0
    post_transform: Literal["NONE"] = "NONE"


class SVMRegressor(MlNode):
    """The sum of the kernels times coefficients, and rho, [N, 1]; or its sign, 1 and -1."""

    single = True
    attributes: SVMRegressorAttributes


class SVMClassifierAttributes(KernelAttributes):
    """Attributes of SVMClassifier: labels, how many vectors are of each, and probabilities."""

    classlabels_ints: tuple[int, ...] | None = None
    classlabels_strings: tuple[str, ...] | None = None
    post_transform: Transform = "NONE"
    prob_a: tuple[float, ...] | None = None
    prob_b: tuple[float, ...] | None = None
    vectors_per_class: tuple[int, ...]


class SVMClassifier(MlNode):
    """The label that wins the most pairs, and the score of each pair, of two labels -s and s; or
    the probability of each label.
    """

    outputs = (2, 2)
    single = True
    attributes: SVMClassifierAttributes


@counts_features(SVMRegressor)
def features_of_supports(node: SVMRegressor, tensors: Tensors) -> int | None:
    """Count the numbers of each support vector; without them there are coefficients alone."""
    return quotient(len(node.attributes.support_vectors or ()), node.attributes.n_supports)


@counts_features(SVMClassifier)
def features_of_vectors(node: SVMClassifier, tensors: Tensors) -> int | None:
    """Count the numbers of each support vector, of all classes."""
    given = node.attributes
    return quotient(len(given.support_vectors or ()), sum(given.vectors_per_class))


@lifts(SVMRegressor)
def lift_svm_regressor(ctx: LiftingContext, node: SVMRegressor) -> None:
    """Lift SVMRegressor: kernels, and one sum of them."""
    tensors, given = Algebra(ctx, node), node.attributes
    x = _samples(tensors)
    coefficients = np.asarray(given.coefficients, np.float64)
    kernels = _kernels(ctx, node, x, given.n_supports) if given.n_supports > 0 else x
    if coefficients.size != kernels.shape[-1] or not given.rho:
        ctx.fail(node, f"it has {coefficients.size} coefficients for {kernels.shape[-1]}")
    found = tensors("add", tensors.along(kernels, 1, coefficients[None, :]), given.rho[0])
    if given.one_class:
        inside = tensors("number", tensors("greater", found, 0.0))
        found = tensors("sub", tensors("mul", inside, 2.0), 1.0)
    ctx.bind(node, found)


@lifts(SVMClassifier)
def lift_svm_classifier(ctx: LiftingContext, node: SVMClassifier) -> None:
    """Lift SVMClassifier: kernels, a sum for each pair of labels, and the votes of the pairs."""
    tensors, given = Algebra(ctx, node), node.attributes
    labels = label_numbers(ctx, node, given.classlabels_ints, given.classlabels_strings)
    classes, sizes = len(labels), given.vectors_per_class
    is_probable = bool(given.prob_a) and ctx.wiring.is_read(node.output[1])
    if len(sizes) != classes or classes < _BINARY or min(sizes) < 0:
        ctx.fail(node, f"vectors_per_class has {len(sizes)} numbers for {classes} labels")
    if classes == _BINARY and given.post_transform != "NONE":
        ctx.fail(node, f"post_transform: {given.post_transform} of two labels, expected NONE")
    kernels = _kernels(ctx, node, _samples(tensors), sum(sizes))
    factors = _pairs(ctx, node, classes)
    if len(given.rho) < len(factors):
        ctx.fail(node, f"it has {len(given.rho)} rho for {len(factors)} pairs")
    sums = tensors.along(kernels, 1, factors)
    scores = tensors("add", sums, np.asarray(given.rho[: len(factors)]))
    if classes == _BINARY:
        label = label_of_two(tensors, tensors("greater", scores, 0.0), labels[::-1])
    else:
        label = best_label(tensors, _votes(tensors, scores, classes), labels)
    if is_probable:
        scores = _probabilities(ctx, node, scores, classes)
    elif classes == _BINARY:
        scores = tensors.along(scores, 1, np.array([[-1.0], [1.0]]))
    ctx.bind(node, label, transformed(ctx, node, scores, given.post_transform))
    ctx.integer.add(node.output[0])


def _probabilities(
    ctx: LiftingContext, node: SVMClassifier, scores: Operand, classes: int
) -> Operand:
    """The probabilities of the labels, of the scores of their pairs."""
    tensors, given, pairs = Algebra(ctx, node), node.attributes, scores.shape[-1]
    slope, shift = (np.array(each or ()) for each in (given.prob_a, given.prob_b))
    if slope.shape != (pairs,) or shift.shape != (pairs,):
        ctx.fail(node, f"it has {slope.size} prob_a and {shift.size} prob_b, expected {pairs} each")
    if classes > _BINARY:
        odds = tensors("add", tensors("mul", scores, slope), shift)
        return coupled(ctx, node, odds, classes)
    half = tensors("add", tensors("mul", scores, 0.5 * slope), 0.5 * shift)
    twice = tensors.activations(coupled_twice(ctx, node, half))
    both = tensors.along(twice, 1, np.array([[0.5], [-0.5]]))
    return tensors("add", both, np.array([0.0, 1.0]))


def _samples(tensors: Algebra) -> Operand:
    """The input [N, F]."""
    x = tensors.input(0)
    return x if len(x.shape) > 1 else rearranged(x, lambda array: array[None])


def _kernels(
    ctx: LiftingContext, node: SVMRegressor | SVMClassifier, x: Operand, count: int
) -> Operand:
    """The kernel of each sample with each of `count` support vectors, [N, count]."""
    tensors, given = Algebra(ctx, node), node.attributes
    vectors = np.asarray(given.support_vectors or (), np.float64)
    if count < 1 or vectors.size != count * x.shape[-1]:
        ctx.fail(node, f"{vectors.size} numbers for {count} vectors of {x.shape[-1]} features")
    vectors = vectors.reshape(count, -1)
    gamma, start, degree = (*(given.kernel_params or ()), 0.0, 0.0, 0.0)[:3]
    if given.kernel_type == "LINEAR":
        return tensors.along(x, 1, vectors)
    if given.kernel_type == "RBF":
        square = tensors.along(tensors("mul", x, x), 1, np.ones((1, x.shape[-1])))
        both = combined(ctx, node, [x, square], lambda *parts: np.concatenate(parts, axis=1))
        weights = gamma * np.hstack([2.0 * vectors, np.full((count, 1), -1.0)])
        bias = -gamma * np.sum(vectors * vectors, axis=1)
        return tensors("exp", tensors("add", tensors.along(both, 1, weights), bias))
    inner = tensors("add", tensors.along(x, 1, gamma * vectors), start)
    return tensors("tanh", inner) if given.kernel_type == "SIGMOID" else tensors(
        "pow", inner, degree
    )  # fmt: skip


def _pairs(ctx: LiftingContext, node: SVMClassifier, classes: int) -> Floats:
    """For each pair of labels the factors of the vectors of both, (pairs, vectors)."""
    sizes, given = node.attributes.vectors_per_class, node.attributes.coefficients
    stops = np.cumsum(sizes)
    if len(given) != (classes - 1) * stops[-1]:
        ctx.fail(node, f"it has {len(given)} coefficients, expected {(classes - 1) * stops[-1]}")
    table = np.asarray(given, np.float64).reshape(classes - 1, -1)
    pairs = list(combinations(range(classes), 2))
    factors = np.zeros((len(pairs), table.shape[1]))
    for row, (one, other) in zip(factors, pairs, strict=True):
        for label, against in ((one, other - 1), (other, one)):
            part = slice(stops[label] - sizes[label], stops[label])
            row[part] = table[against, part]
    return factors


def _votes(tensors: Algebra, scores: Operand, classes: int) -> Operand:
    """How many pairs each label wins: the first of a pair where its score is above 0."""
    wins = tensors("number", tensors("greater", scores, 0.0))
    signs, lost = np.zeros((classes, scores.shape[-1])), np.zeros(classes)
    for pair, (one, other) in enumerate(combinations(range(classes), 2)):
        signs[one, pair], signs[other, pair] = 1.0, -1.0
        lost[other] += 1.0
    return tensors("add", tensors.along(wins, 1, signs), lost)
