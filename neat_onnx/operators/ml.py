"""Operators of ai.onnx.ml that scikit-learn's models are made of: features, labels, linear models.

A label that is text is its place among the labels.
"""

from typing import Literal

import numpy as np

from neat_onnx.lifting import neurons as n
from neat_onnx.lifting.neurons import Neurons, Tensor, formula, is_neurons, matmul, sigmoid, take
from neat_onnx.lifting.operator import Array, Floats, Ints, Texts, operator, refuse
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.operators.normalization import _not_zero, lp_normalization
from neat_onnx.operators.ordering import firsts, hits_of, integer, real
from neat_onnx.operators.reductions import softmax

ML = "ai.onnx.ml"
Transform = Literal["NONE", "LOGISTIC", "SOFTMAX"]


# --- features -------------------------------------------------------------------------------------


@operator("Scaler", domain=ML)
def scaler(x: Tensor, *, offset: Floats = (0.0,), scale: Floats = (1.0,)) -> Tensor:
    return (real(x) - np.array(offset)) * np.array(scale)


@operator("Normalizer", domain=ML)
def normalizer(x: Tensor, *, norm: Literal["MAX", "L1", "L2"] = "MAX") -> Tensor:
    """Each sample divided by a norm of it, unless that is 0; MAX is the largest element."""
    x = real(x)
    if norm == "MAX":
        return x / _not_zero(x.max(axis=-1, keepdims=True))
    return lp_normalization(x, p=1 if norm == "L1" else 2)


@operator("Binarizer", domain=ML)
def binarizer(x: Tensor, *, threshold: float = 0.0) -> Tensor:
    return formula(e.number(e.greater(z, threshold)))(x)


def _is(number: float) -> e.Expression:
    """Whether z is a number, or no number, or infinite."""
    if np.isinf(number):
        return e.call("both", e.is_infinite(z), e.greater(z * float(np.sign(number)), 0.0))
    return e.is_nan(z) if np.isnan(number) else e.equal(z, number)


@operator("Imputer", domain=ML)
def imputer(
    x: Tensor, *, imputed_value_floats: Floats = (), imputed_value_int64s: Ints = (),
    replaced_value_float: float = 0.0, replaced_value_int64: int = 0,
) -> Tensor:  # fmt: skip
    """Other numbers in place of one, which may be NaN: one for all features or for each."""
    replaced = replaced_value_float if imputed_value_floats else float(replaced_value_int64)
    missing = _is(replaced)
    values = np.broadcast_to(imputed_value_floats or imputed_value_int64s, x.shape[-1:]).tolist()
    columns = (x[..., k : k + 1] for k in range(len(values)))
    put = (formula(e.where(missing, float(value), z)) for value in values)
    return n.concat([each(part) for each, part in zip(put, columns, strict=True)], -1)


@operator("OneHotEncoder", domain=ML)
def one_hot_encoder(x: Tensor, *, cats_int64s: Ints, zeros: bool = True) -> Tensor:
    """1 for the category that a number is, cut off to an integer, along a new last axis."""
    return _hits(real(x.astype(np.int64)), np.array(cats_int64s, float))


def _hits(x: Tensor, numbers: Array) -> Tensor:
    found = x[..., None] == numbers
    return found.astype(float)


@operator("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(x: Tensor, y: Tensor) -> Tensor:
    """Elements of the last axis at places; computed ones, as of labels, are those of numbers."""
    size = x.shape[-1]
    if not isinstance(y, Neurons):
        if y.size and (y.min() < 0 or y.max() >= size):
            raise refuse("Y", f"{y.min()} to {y.max()}", f"0 to {size - 1}")
        return take(x[None] if x.ndim == 1 else x, y.ravel(), -1)
    at, table = y.reshape(-1), x.reshape(-1, size)
    step = 0 if size == 1 or is_neurons(x) else table[0, 1] - table[0, 0]
    if step and len(table) == 1 and np.array_equal(table[0], table[0, 0] + step * np.arange(size)):
        found = at * step + table[0, 0]
    else:
        found = matmul(hits_of(at, size), table.T).T
    found = found.reshape(*(x.shape[:-1] or (1,)), -1)
    return found if x.dtype.kind == "f" else integer(found)


# --- labels ---------------------------------------------------------------------------------------


@operator("LabelEncoder", domain=ML)
def label_encoder(
    x: Tensor, *, keys_floats: Floats = (), keys_int64s: Ints = (), values_floats: Floats = (),
    values_int64s: Ints = (), default_float: float = 0.0, default_int64: int = -1,
    keys_tensor: Array | None = None, values_tensor: Array | None = None,
    default_tensor: Array | None = None,
) -> Tensor:  # fmt: skip
    """The number that belongs to each number of a table; one and the same for all others."""
    given = keys_floats or keys_int64s if keys_tensor is None else keys_tensor
    keys = np.array(given, float).ravel()
    table = values_floats or values_int64s if values_tensor is None else values_tensor
    values, whole = np.array(table, float).ravel(), np.asarray(table).dtype.kind != "f"
    other = float(default_int64 if whole else default_float)
    other = other if default_tensor is None else float(default_tensor.item())
    if not keys.size or len(np.unique(keys)) < len(values) or not np.isfinite(keys).all():
        raise refuse("keys", f"{len(keys)} numbers", f"{len(values)} different ones")
    found = matmul(_hits(real(x), keys), values - other) + other
    return integer(found) if whole else found


def label_numbers(integers: Ints, texts: Texts) -> Array:
    """The number of each label: itself, or its place where labels are text."""
    labels = np.array(integers or range(len(texts)), float)
    if len(labels) < 2:
        raise refuse("classlabels", f"{len(labels)} labels", "two or more")
    return labels


def best_label(scores: Tensor, labels: Array) -> Tensor:
    """The label of the first of the largest scores, [N]."""
    return integer(matmul(firsts(scores), labels))


def label_of_two(wins: Tensor, labels: Array) -> Tensor:
    """The second of two labels where a truth value holds, else the first, [N]."""
    return integer(wins.astype(float).reshape(-1) * (labels[1] - labels[0]) + labels[0])


def transformed(scores: Tensor, transform: Transform) -> Tensor:
    """Scores as probabilities, where that is asked for."""
    if transform == "NONE":
        return scores
    return sigmoid(scores) if transform == "LOGISTIC" else softmax(scores)


def of_targets(scores: Tensor, transform: Transform) -> Tensor:
    """The output of a regressor."""
    if scores.shape[-1] == 1 and transform != "NONE":
        raise refuse("post_transform", f"{transform} of one target", "NONE: runtimes differ")
    return transformed(scores, transform)


# --- linear models --------------------------------------------------------------------------------


def _scores(x: Tensor, coefficients: Floats, intercepts: Floats, count: int) -> Tensor:
    """X · coefficientsᵀ + intercepts, [N, count]."""
    x = real(x if x.ndim > 1 else x[None])
    weights = np.array(coefficients).reshape(count, -1)
    return matmul(x, weights.T, np.array(intercepts) if intercepts else None)


@operator("LinearRegressor", domain=ML)
def linear_regressor(
    x: Tensor, *, coefficients: Floats, intercepts: Floats = (), targets: int = 1,
    post_transform: Transform = "NONE",
) -> Tensor:  # fmt: skip
    return of_targets(_scores(x, coefficients, intercepts, targets), post_transform)


@operator("LinearClassifier", domain=ML)
def linear_classifier(
    x: Tensor, *, coefficients: Floats, intercepts: Floats = (), classlabels_ints: Ints = (),
    classlabels_strings: Texts = (), multi_class: int = 0, post_transform: Transform = "NONE",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The label of the best score, and the scores; multi_class has no meaning, in runtimes too."""
    labels = label_numbers(classlabels_ints, classlabels_strings)
    if len(intercepts) != len(labels):
        raise refuse("intercepts", f"{len(intercepts)} numbers", f"{len(labels)}, one a label")
    scores = _scores(x, coefficients, intercepts, len(labels))
    return best_label(scores, labels), transformed(scores, post_transform)


@operator("ZipMap", domain=ML)
def zip_map(
    x: Tensor, *, classlabels_int64s: Ints = (), classlabels_strings: Texts = ()
) -> Tensor:  # fmt: skip
    """The table of numbers that a list of maps holds."""
    return x
