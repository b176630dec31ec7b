"""Tree ensembles: each split is a step neuron, each leaf one for the conjunction on its way.

A leaf is reached where all conditions on the way to it hold: their sum, a condition that has to
fail counted as 1 minus it, is then the depth of the leaf, and smaller everywhere else.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from neat_onnx.lifting.context import LiftingContext, Operand, Value, lifts
from neat_onnx.lifting.feature_counts import Tensors, counts_features
from neat_onnx.model import Attributes, Node
from neat_onnx.network.expression import VARIABLE, Expression, call, equal, negated
from neat_onnx.network.genes import Floats
from neat_onnx.operators.algebra import Algebra, rearranged
from neat_onnx.operators.formulas.formula import formula_of
from neat_onnx.operators.layout.arranging import combined
from neat_onnx.operators.ml.linear import (
    best_label,
    bind_classes,
    bind_targets,
    label_numbers,
    label_of_two,
    refuse_labels_of_two_scores,
)
from neat_onnx.operators.ml.nodes import MlNode, Transform, transformed


def _than(comparison: str) -> Expression:
    """A comparison with 0."""
    return call(comparison, VARIABLE, 0.0)


_EQUAL = equal(VARIABLE, 0.0)
_SPLITS = {
    "BRANCH_LEQ": (_than("less_or_equal"), _than("greater")),
    "BRANCH_LT": (_than("less"), _than("greater_or_equal")),
    "BRANCH_GT": (_than("greater"), _than("less_or_equal")),
    "BRANCH_GTE": (_than("greater_or_equal"), _than("less")),
    "BRANCH_EQ": (_EQUAL, call("either", _than("less"), _than("greater"))),
    "BRANCH_NEQ": (negated(_EQUAL), _EQUAL),
}
"""The comparison of each split, of z = x - value, and its opposite, which fails for NaN as well."""
_BINARY = 2


class TreeAttributes(Attributes):
    """Attributes of tree ensembles: the nodes of all trees as lists of one length."""

    base_values: tuple[float, ...] | None = None
    nodes_falsenodeids: tuple[int, ...]
    nodes_featureids: tuple[int, ...]
    nodes_hitrates: tuple[float, ...] | None = None
    nodes_missing_value_tracks_true: tuple[int, ...] | None = None
    nodes_modes: tuple[str, ...]
    nodes_nodeids: tuple[int, ...]
    nodes_treeids: tuple[int, ...]
    nodes_truenodeids: tuple[int, ...]
    nodes_values: tuple[float, ...]
    post_transform: Transform = "NONE"


class TreeEnsembleRegressorAttributes(TreeAttributes):
    """Attributes of TreeEnsembleRegressor: trees, and the weights of their leaves by target."""

    aggregate_function: Literal["SUM", "AVERAGE"] = "SUM"
    n_targets: int = 1
    target_ids: tuple[int, ...]
    target_nodeids: tuple[int, ...]
    target_treeids: tuple[int, ...]
    target_weights: tuple[float, ...]


class TreeEnsembleRegressor(MlNode):
    """The hit rates of nodes have no meaning."""

    single = True
    attributes: TreeEnsembleRegressorAttributes


class TreeEnsembleClassifierAttributes(TreeAttributes):
    """Attributes of TreeEnsembleClassifier: trees, and the weights of their leaves by class."""

    class_ids: tuple[int, ...]
    class_nodeids: tuple[int, ...]
    class_treeids: tuple[int, ...]
    class_weights: tuple[float, ...]
    classlabels_int64s: tuple[int, ...] | None = None
    classlabels_strings: tuple[str, ...] | None = None


class TreeEnsembleClassifier(MlNode):
    """The label of the best score, and the scores; the hit rates of nodes have no meaning."""

    outputs = (2, 2)
    single = True
    attributes: TreeEnsembleClassifierAttributes


@dataclass(frozen=True)
class _Leaf:
    """A leaf: (tree, node), and the splits on the way to it with the side that was taken."""

    key: tuple[int, int]
    way: tuple[tuple[int, bool], ...]


@dataclass(frozen=True)
class _Reached:
    """All leaves, and 1 for each one that is reached, [N, leaves]."""

    leaves: list[_Leaf]
    hits: Operand


_Entry = tuple[int, int, int, float]
"""A tree, a leaf of it, a score, and the weight that the leaf adds to it."""


@counts_features(TreeEnsembleClassifier, TreeEnsembleRegressor)
def features_of_trees(
    node: TreeEnsembleClassifier | TreeEnsembleRegressor, tensors: Tensors
) -> int | None:
    """Count up to the last feature that a node which is no leaf reads."""
    nodes = zip(node.attributes.nodes_featureids, node.attributes.nodes_modes, strict=False)
    return max((feature + 1 for feature, mode in nodes if mode != "LEAF"), default=None)


@lifts(TreeEnsembleRegressor)
def lift_tree_regressor(ctx: LiftingContext, node: TreeEnsembleRegressor) -> None:
    """Lift TreeEnsembleRegressor: comparisons, leaves reached, sums of their weights."""
    given = node.attributes
    weights = zip(given.target_treeids, given.target_nodeids, given.target_ids,
                  given.target_weights, strict=True)  # fmt: skip
    placed = list(zip(given.target_treeids, given.target_nodeids, strict=True))
    if given.n_targets == 1 and len({*placed}) < len(placed):
        ctx.fail(node, "a leaf has several weights for its one target: runtimes add them, or take "
                 "the first")  # fmt: skip
    scale = 1.0 / len({*given.nodes_treeids}) if given.aggregate_function == "AVERAGE" else 1.0
    entries = [(tree, at, target, weight * scale) for tree, at, target, weight in weights]
    scores = _scores(ctx, node, _reached_leaves(ctx, node), entries, given.n_targets)
    bind_targets(ctx, node, scores, given.n_targets, given.post_transform)
    numbers = (*(entry[3] for entry in entries), *(given.base_values or ()))
    if given.post_transform == "NONE" and all(map(float.is_integer, numbers)):
        ctx.facts[node.output[0]].is_whole = True  # such as the numbers of leaves


@lifts(TreeEnsembleClassifier)
def lift_tree_classifier(ctx: LiftingContext, node: TreeEnsembleClassifier) -> None:
    """Lift TreeEnsembleClassifier: as a regressor of scores, and the label of the largest."""
    given, tensors = node.attributes, Algebra(ctx, node)
    labels = label_numbers(ctx, node, given.classlabels_int64s, given.classlabels_strings)
    entries = list(zip(given.class_treeids, given.class_nodeids, given.class_ids,
                       given.class_weights, strict=True))  # fmt: skip
    if len(labels) == _BINARY and len({*given.class_ids}) == 1:
        entries = [(tree, at, 0, weight) for tree, at, _, weight in entries]
        score = _scores(ctx, node, _reached_leaves(ctx, node), entries, 1)
        _bind_two_classes(ctx, node, score, labels)
        return
    reached = _reached_leaves(ctx, node)
    scores = _scores(ctx, node, reached, entries, len(labels))
    if len(labels) == _BINARY:
        if any(given.base_values or ()):
            ctx.fail(node, "base_values of two classes with a score each: runtimes differ")
        if labels.tolist() != [0, 1] or not _are_opposite(entries):
            refuse_labels_of_two_scores(ctx, node)
    scored = sorted({score for _, _, score, _ in entries})
    ranked = _label_scores(ctx, node, reached, entries, scores)
    label = best_label(tensors, rearranged(ranked, partial(np.take, indices=scored, axis=1)),
                       labels[scored])  # fmt: skip
    bind_classes(ctx, node, label, scores, given.post_transform)


def _are_opposite(entries: list[_Entry]) -> bool:
    """Whether the second of two scores is the first one's negative, and above 0 if the larger."""
    first, second = ({(*leaf, -weight) for *leaf, at, weight in entries if at == k} for k in (0, 1))
    return len(entries) == 2 * len(first) and first == {(*leaf, -w) for *leaf, w in second}


def _label_scores(
    ctx: LiftingContext,
    node: TreeEnsembleClassifier,
    reached: _Reached,
    entries: list[_Entry],
    scores: Operand,
) -> Operand:
    """The scores of which the largest gives the label, [N, classes].

    onnxruntime chooses among the classes that are scored by a leaf which the sample reaches. Any
    other has the score 0, which loses if all weights are positive; else it is put below them all.
    """
    tensors, count = Algebra(ctx, node), scores.shape[-1]
    always = sorted(_always_scored(entries, reached.leaves))
    if len(always) == count or all(weight > 0.0 for *_, weight in entries):
        return scores
    given = [(tree, at, score, 1.0) for tree, at, score, _ in entries]
    which = np.minimum(_weights(ctx, node, reached, given, count), 1.0)
    which[always, :] = 1.0
    unscored = tensors("less", tensors.along(reached.hits, 1, which), 0.5)
    below = 2.0 * sum(abs(weight) for *_, weight in entries) + 1.0
    return tensors("sub", scores, tensors("mul", tensors("number", unscored), below))


def _always_scored(entries: list[_Entry], leaves: list[_Leaf]) -> set[int]:
    """The scores that every leaf of some tree adds to, so that each sample has them."""
    count = Counter(leaf.key[0] for leaf in leaves)
    given = {(tree, score, at) for tree, at, score, _ in entries}
    scored = Counter((tree, score) for tree, score, _ in given)
    return {score for (tree, score), times in scored.items() if times == count[tree]}


def _bind_two_classes(
    ctx: LiftingContext, node: TreeEnsembleClassifier, score: Operand, labels: Floats
) -> None:
    """Bind two classes that share one score: a probability if no leaf has a negative weight."""
    given, tensors = node.attributes, Algebra(ctx, node)
    is_probability = min(given.class_weights) >= 0.0
    if given.post_transform == "SOFTMAX":
        ctx.fail(node, "post_transform: SOFTMAX of one score is not the same in all runtimes")
    if {*given.class_ids} != {0}:
        ctx.fail(node, "two classes share one score, which has to be of the class id 0")
    score = Value(ctx.materialize(ctx.as_value(node, score)))
    wins = tensors("greater", score, 0.5 if is_probability else 0.0)
    both = tensors.along(score, 1, np.array([[-1.0], [1.0]]))
    if is_probability and given.post_transform == "NONE":
        both = tensors("add", both, np.array([1.0, 0.0]))
    label = label_of_two(tensors, wins, labels)
    ctx.bind(node, label, transformed(ctx, node, both, given.post_transform))
    ctx.integer.add(node.output[0])


def _scores(
    ctx: LiftingContext,
    node: TreeEnsembleRegressor | TreeEnsembleClassifier,
    reached: _Reached,
    entries: list[_Entry],
    count: int,
) -> Operand:
    """The sum of the weights of all leaves that are reached, for each of `count` scores."""
    given, tensors = node.attributes, Algebra(ctx, node)
    scores = tensors.along(reached.hits, 1, _weights(ctx, node, reached, entries, count))
    if not given.base_values or not any(given.base_values):
        return scores
    if len(_always_scored(entries, reached.leaves)) < count:
        ctx.fail(node, "base_values of a score that no tree always gives: runtimes leave them out")
    if len(given.base_values) != count:
        ctx.fail(node, f"it has {len(given.base_values)} base_values, expected {count}")
    return tensors("add", scores, np.asarray(given.base_values))


def _weights(
    ctx: LiftingContext, node: Node, reached: _Reached, entries: list[_Entry], count: int
) -> Floats:
    """The weight of each leaf for each score, (count, leaves)."""
    row = {leaf.key: k for k, leaf in enumerate(reached.leaves)}
    matrix = np.zeros((count, len(reached.leaves)))
    for tree, at, score, weight in entries:
        if (tree, at) not in row or not 0 <= score < count:
            ctx.fail(node, f"a weight for the node {at} of the tree {tree}, which is no leaf")
        matrix[score, row[tree, at]] += weight
    return matrix


def _leaves(
    ctx: LiftingContext, node: TreeEnsembleRegressor | TreeEnsembleClassifier
) -> Iterator[_Leaf]:
    """All leaves that a root leads to; the first node of a tree is its root."""
    given = node.attributes
    keys = list(zip(given.nodes_treeids, given.nodes_nodeids, strict=True))
    place = {key: k for k, key in enumerate(keys)}
    if len(place) != len(keys):
        ctx.fail(node, "two nodes of a tree have one id")
    roots = {tree: (tree, at) for tree, at in reversed(keys)}
    seen: set[tuple[int, int]] = set()
    stack = [_Leaf(key, ()) for key in reversed(roots.values())]
    while stack:
        here = stack.pop()
        if here.key in seen or here.key not in place:
            ctx.fail(
                node, f"the node {here.key[1]} of the tree {here.key[0]} is none, or met twice"
            )
        seen.add(here.key)
        k = place[here.key]
        if given.nodes_modes[k] == "LEAF":
            yield here
            continue
        for side, child in (
            (False, given.nodes_falsenodeids[k]),
            (True, given.nodes_truenodeids[k]),
        ):
            stack.append(_Leaf((here.key[0], child), (*here.way, (k, side))))


def _reached_leaves(
    ctx: LiftingContext, node: TreeEnsembleRegressor | TreeEnsembleClassifier
) -> _Reached:
    tensors, leaves = Algebra(ctx, node), list(_leaves(ctx, node))
    splits = sorted({split for leaf in leaves for split, _ in leaf.way})
    column = {split: k for k, split in enumerate(splits)}
    matrix, depth = np.zeros((len(leaves), len(splits))), np.zeros(len(leaves))
    for k, leaf in enumerate(leaves):
        for split, side in leaf.way:
            matrix[k, column[split]] = 1.0 if side else -1.0
            depth[k] += side
    if not splits:
        ctx.fail(node, "its trees are single leaves: it depends on no input")
    conditions = _conditions(ctx, node, tensors, splits)
    found = tensors.along(conditions, 1, matrix)
    hits = tensors("number", tensors("greater", tensors("sub", found, depth), -0.5))
    return _Reached(leaves, hits)


def _conditions(
    ctx: LiftingContext,
    node: TreeEnsembleRegressor | TreeEnsembleClassifier,
    tensors: Algebra,
    splits: list[int],
) -> Operand:
    """1 for each split whose condition holds, [N, splits]."""
    given, x = node.attributes, tensors.input(0)
    features = np.array([given.nodes_featureids[k] for k in splits])
    if len(x.shape) != _BINARY or np.any(features < 0) or np.any(features >= x.shape[1]):
        ctx.fail(node, f"its splits read features that an input of {list(x.shape)} has not")
    tracks = given.nodes_missing_value_tracks_true or (0,) * len(given.nodes_modes)
    kinds = [(given.nodes_modes[k], bool(tracks[k])) for k in splits]
    unknown = sorted({mode for mode, _ in kinds} - {*_SPLITS})
    if unknown:
        ctx.fail(node, f"nodes_modes: expected {', '.join(_SPLITS)}, got {', '.join(unknown)}")
    values = np.array([given.nodes_values[k] for k in splits])
    read = rearranged(x, lambda array: array[:, features])
    above = tensors("sub", read, values)
    different = sorted({*kinds})
    places = [np.flatnonzero([kind == each for kind in kinds]) for each in different]
    parts = (rearranged(above, partial(np.take, indices=at, axis=1)) for at in places)
    found = [
        formula_of(ctx, part, _holds(*each)) for part, each in zip(parts, different, strict=True)
    ]
    back = np.argsort(np.concatenate(places))
    return combined(ctx, node, found, lambda *parts: np.concatenate(parts, axis=1)[:, back])


def _holds(mode: str, missing: bool) -> Expression:
    """Whether x - value, as z, takes the true branch; `missing`: NaN does so as well."""
    plain, opposite = _SPLITS[mode]
    return call("number", negated(opposite) if missing else plain)
