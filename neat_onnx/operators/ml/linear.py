"""LinearRegressor and LinearClassifier: a matrix product, and labels of the best scores."""

import numpy as np

from neat_onnx.errors import ImportAdvice
from neat_onnx.lifting.context import LiftingContext, Operand, lifts
from neat_onnx.lifting.feature_counts import Tensors, counts_features
from neat_onnx.lifting.outputs import choice_hint
from neat_onnx.model import Attributes, Node
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, rearranged, reshaped
from neat_onnx.operators.ml.nodes import MlNode, Transform, quotient, transformed
from neat_onnx.operators.rows.selection import first_hit, hits_of


class LinearRegressorAttributes(Attributes):
    """Attributes of LinearRegressor: coefficients by target, intercepts, the transform."""

    coefficients: tuple[float, ...]
    intercepts: tuple[float, ...] | None = None
    post_transform: Transform = "NONE"
    targets: int = 1


class LinearRegressor(MlNode):
    """X · coefficientsᵀ + intercepts, [N, targets], then its transform."""

    single = True
    attributes: LinearRegressorAttributes


class LinearClassifierAttributes(Attributes):
    """Attributes of LinearClassifier: coefficients by class, intercepts, labels, the transform."""

    classlabels_ints: tuple[int, ...] | None = None
    classlabels_strings: tuple[str, ...] | None = None
    coefficients: tuple[float, ...]
    intercepts: tuple[float, ...] | None = None
    multi_class: int = 0
    post_transform: Transform = "NONE"


class LinearClassifier(MlNode):
    """The label of the best score, and the scores; multi_class has no meaning, in runtimes too."""

    outputs = (2, 2)
    single = True
    attributes: LinearClassifierAttributes


@counts_features(LinearRegressor)
def features_of_targets(node: LinearRegressor, tensors: Tensors) -> int | None:
    """Count the coefficients of each target."""
    return quotient(len(node.attributes.coefficients), node.attributes.targets)


@counts_features(LinearClassifier)
def features_of_classes(node: LinearClassifier, tensors: Tensors) -> int | None:
    """Count the coefficients of each class, which has an intercept."""
    return quotient(len(node.attributes.coefficients), len(node.attributes.intercepts or ()))


@lifts(LinearRegressor)
def lift_linear_regressor(ctx: LiftingContext, node: LinearRegressor) -> None:
    """Lift LinearRegressor: sum neurons, then the transform of the scores."""
    tensors, given = Algebra(ctx, node), node.attributes
    scores = _scores(ctx, node, tensors, given.targets, given)
    bind_targets(ctx, node, scores, given.targets, given.post_transform)


@lifts(LinearClassifier)
def lift_linear_classifier(ctx: LiftingContext, node: LinearClassifier) -> None:
    """Lift LinearClassifier: scores as sum neurons, and the label of the largest."""
    tensors, given = Algebra(ctx, node), node.attributes
    labels = label_numbers(ctx, node, given.classlabels_ints, given.classlabels_strings)
    if not given.intercepts:
        ctx.fail(node, "it has no intercepts, without which runtimes give no scores")
    if len(given.intercepts) != len(labels):
        ctx.fail(node, f"it has {len(given.intercepts)} scores for {len(labels)} labels")
    scores = _scores(ctx, node, tensors, len(labels), given)
    label = best_label(tensors, scores, labels)
    bind_classes(ctx, node, label, scores, given.post_transform)


def _scores(
    ctx: LiftingContext,
    node: Node,
    tensors: Algebra,
    count: int,
    given: LinearRegressorAttributes | LinearClassifierAttributes,
) -> Operand:
    """X [N, F] times the coefficients, and the intercepts, [N, count]."""
    x = tensors.input(0)
    if len(x.shape) == 1:
        x = rearranged(x, lambda array: array[None])
    weights = np.asarray(given.coefficients, np.float64)
    if count < 1 or weights.size != count * x.shape[-1]:
        ctx.fail(node, f"{weights.size} coefficients for {count} scores of {x.shape[-1]} features")
    found = tensors.along(x, len(x.shape) - 1, weights.reshape(count, -1))
    intercepts = given.intercepts
    if not intercepts:
        return found
    if len(intercepts) != count:
        ctx.fail(node, f"it has {len(intercepts)} intercepts, expected {count}")
    return tensors("add", found, np.asarray(intercepts))


def bind_targets(
    ctx: LiftingContext, node: Node, scores: Operand, targets: int, transform: Transform
) -> None:
    """Bind the output of a regressor: its scores, transformed where they are several."""
    if targets == 1 and transform != "NONE":
        ctx.fail(node, f"post_transform: {transform} of one target is not the same in all "
                 "runtimes, expected NONE")  # fmt: skip
    ctx.bind(node, transformed(ctx, node, scores, transform))
    _note_shares(ctx, node.output[0], transform)


def _note_shares(ctx: LiftingContext, name: str, transform: Transform) -> None:
    if transform == "SOFTMAX":
        ctx.facts[name].adds_up_to_one = True


def label_numbers(
    ctx: LiftingContext,
    node: Node,
    integers: tuple[int, ...] | None,
    strings: tuple[str, ...] | None,
) -> Floats:
    """The number of each label: itself, or its place where labels are text."""
    if bool(integers) == bool(strings):
        ctx.fail(node, "expected labels as classlabels_ints or as strings")
    if len(integers or strings or ()) == 1:
        ctx.fail(node, "it has one label, of which runtimes make others, expected two or more")
    numbers = np.asarray(integers or range(len(strings or ())), np.float64)
    ctx.facts[node.output[0]].bounds = numbers.min(), numbers.max()
    return numbers


def bind_classes(
    ctx: LiftingContext, node: Node, label: Operand, scores: Operand, transform: Transform
) -> None:
    """Bind the outputs of a classifier: the label of each sample, an integer, and its scores."""
    ctx.bind(node, label, transformed(ctx, node, scores, transform))
    ctx.integer.add(node.output[0])
    _note_shares(ctx, node.output[1], transform)


def label_of_two(tensors: Algebra, wins: Operand, labels: Floats) -> Operand:
    """The second of two labels where a truth value holds, else the first, [N]."""
    first, second = labels.tolist()
    if (first, second) == (1.0, 0.0):
        wins, first, second = tensors("negated", wins), 0.0, 1.0
    label = tensors("number", wins)
    if second - first != 1.0:
        label = tensors("mul", label, second - first)
    return reshaped(tensors("add", label, first) if first else label, (-1,))


def best_label(tensors: Algebra, scores: Operand, labels: Floats) -> Operand:
    """The label of the first of the largest scores, [N]."""
    _, hits = hits_of(tensors, scores, (-1,))
    choice = first_hit(tensors, hits, len(scores.shape) - 1)
    found = tensors.along(choice, len(scores.shape) - 1, labels[None, :])
    return reshaped(found, scores.shape[:-1])


def refuse_labels_of_two_scores(ctx: LiftingContext, node: Node) -> None:
    """Refuse labels of two classes with a score each: onnxruntime's is 1 if the second is above 0,
    though the first one may be larger.
    """
    if ctx.wiring.is_read(node.output[0]):
        scores = ImportAdvice("Import the scores alone: {}", {"outputs": [node.output[1]]})
        hint = choice_hint(ctx.model.graph, node.output[:1]) or scores
        ctx.fail(node, "runtimes choose other labels of two classes with a score each", hint)
