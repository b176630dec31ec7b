"""Support vectors (ai.onnx.ml): kernels with each vector, and their sums.

A radial kernel exp(-gamma · |x - s|²) is exp of one sum over the features and |x|².
"""

from itertools import combinations
from typing import Literal

import numpy as np

from neat_onnx.lifting.formulas import exp, formula, square, tanh
from neat_onnx.lifting.neurons import Neurons, Tensor, matmul, power
from neat_onnx.lifting.operator import Array, Floats, Ints, Texts, operator, refuse
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.operators.ml import (
    ML,
    Transform,
    best_label,
    label_numbers,
    label_of_two,
    transformed,
)

Kernel = Literal["LINEAR", "POLY", "RBF", "SIGMOID"]


def _kernels(x: Tensor, kind: str, parameters: Floats, vectors: Floats, count: int) -> Tensor:
    """The kernel of each sample with each of `count` vectors, [N, count]."""
    table = np.array(vectors).reshape(count, -1)
    gamma, start, degree = (*parameters, 0.0, 0.0, 0.0)[:3]
    if kind == "LINEAR":
        return matmul(x, table.T)
    if kind == "RBF":
        squares = square(x).sum(axis=-1, keepdims=True) * gamma
        bias = -gamma * square(table).sum(axis=1)
        return exp(matmul(x, 2.0 * gamma * table.T, bias) - squares)
    inner = matmul(x, gamma * table.T) + start
    return tanh(inner) if kind == "SIGMOID" else power(inner, degree)


@operator("SVMRegressor", domain=ML)
def svm_regressor(
    x: Tensor, *, coefficients: Floats, rho: Floats, kernel_type: Kernel = "LINEAR",
    kernel_params: Floats = (), support_vectors: Floats = (), n_supports: int = 0,
    one_class: bool = False, post_transform: Literal["NONE"] = "NONE",
) -> Tensor:  # fmt: skip
    """The sum of the kernels times coefficients, and rho, [N, 1]; or its sign, 1 and -1."""
    kernels = x
    if x.ndim > 2:
        raise refuse("X", f"of {x.ndim} axes", "1 or 2")
    if n_supports:
        kernels = _kernels(x, kernel_type, kernel_params, support_vectors, n_supports)
    found = matmul(kernels, np.array(coefficients)[:, None]) + rho[0]
    return (found > 0.0).astype(float) * 2.0 - 1.0 if one_class else found


@operator("SVMClassifier", domain=ML)
def svm_classifier(
    x: Tensor, *, coefficients: Floats, rho: Floats, support_vectors: Floats,
    vectors_per_class: Ints, kernel_type: Kernel = "LINEAR", kernel_params: Floats = (),
    classlabels_ints: Ints = (), classlabels_strings: Texts = (), prob_a: Floats = (),
    prob_b: Floats = (), post_transform: Transform = "NONE",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The label that wins the most pairs, and the score of each pair; of two labels -s and s, or
    their probabilities.
    """
    labels = label_numbers(classlabels_ints, classlabels_strings)
    pairs = list(combinations(range(len(labels)), 2))
    kernels = _kernels(x, kernel_type, kernel_params, support_vectors, sum(vectors_per_class))
    factors = _pair_factors(coefficients, vectors_per_class, pairs)
    scores = matmul(kernels, factors) + np.array(rho[: len(pairs)])
    if len(labels) > 2:
        if prob_a:
            raise refuse("prob_a", "given for more than two labels", "none",
                         "Train with probability=False, and import the scores")  # fmt: skip
        return best_label(_votes(scores, pairs), labels), transformed(scores, post_transform)
    if post_transform != "NONE":
        raise refuse("post_transform", f"{post_transform} of two labels", "NONE")
    label = label_of_two(scores > 0.0, labels[::-1])
    if not prob_a:
        return label, scores * np.array([-1.0, 1.0])
    gap = formula(_GAP)(scores * (0.5 * prob_a[0]) + 0.5 * prob_b[0])
    first = formula(_FIRST_OF_TWO)(gap.plain() if isinstance(gap, Neurons) else gap)
    return label, first * np.array([1.0, -1.0]) + np.array([0.0, 1.0])


def _pair_factors(coefficients: Floats, sizes: Ints, pairs: list[tuple[int, int]]) -> Array:
    """For each pair of labels the factors of the vectors of both, (vectors, pairs)."""
    stops = np.cumsum(sizes)
    table = np.array(coefficients).reshape(len(sizes) - 1, stops[-1])
    factors = np.zeros((stops[-1], len(pairs)))
    for column, (one, other) in enumerate(pairs):
        for label, against in ((one, other - 1), (other, one)):
            part = slice(stops[label] - sizes[label], stops[label])
            factors[part, column] = table[against, part]
    return factors


def _votes(scores: Tensor, pairs: list[tuple[int, int]]) -> Tensor:
    """How many pairs each label wins: the first of a pair where its score is above 0."""
    count = max(other for _, other in pairs) + 1
    signs, lost = np.zeros((len(pairs), count)), np.zeros(count)
    for row, (one, other) in zip(signs, pairs, strict=True):
        row[one], row[other] = 1.0, -1.0
        lost[other] += 1.0
    return matmul((scores > 0.0).astype(float), signs) + lost


_MOST = float(np.float32(np.arctanh(1.0 - 2e-7)))  # probabilities of a pair are 1e-7 or more
_GAP = e.tanh(e.clip(z, -_MOST, _MOST))
"""The difference of both probabilities of a pair, of half the log odds of the second."""


def _coupling() -> e.Expression:
    """The probability of the first of two labels, of that difference t.

    Pairwise coupling (Wu, Lin and Weng, 2004) minimizes a quadratic form by sweeps over the labels,
    and onnxruntime stops before a sweep once no gradient exceeds 0.005 / 2. Two labels need two at
    most; with a = (1 - t) / 2, b = 1 - a and k = 2(1 + t)t⁴ / (1 - t³)(1 + t²) they give

        before the first sweep    1/2                 gradient |t| / 4
        after one                 p = a / (1 + bk)    gradient (a - p) · max(p, 1 - p)
        after two                 a / (1 + (abk²)² / ((r + ak²)(r + a²k²)))    r = (1 + k)(1 + bk)

    Twice of each has fewer operations: of 2a, 2b and k/2.
    """
    near = float(np.float32(4.0 * 0.005 / 2))
    square = e.power(z, 2.0)
    a, b = 1.0 - z, 1.0 + z
    k = b * e.power(square, 2.0) / ((1.0 - z * square) * (1.0 + square))
    divisor = 1.0 + b * k
    once = a / divisor
    product, others = a * e.power(k, 2.0), (1.0 + 2.0 * k) * divisor
    divisors = (others + 2.0 * product) * (others + a * product)
    twice = a / (1.0 + e.power(b * product, 2.0) / divisors)
    gradient = (a - once) * e.maximum(once, 2.0 - once)
    later = e.where(e.less(gradient, near), once, twice)
    return 0.5 * e.where(e.less(abs(z), near), 1.0, later)


_FIRST_OF_TWO = _coupling()
