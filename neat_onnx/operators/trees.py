"""Tree ensembles: each split is a step neuron, each leaf one for the conjunction on its way.

A leaf is reached where all conditions on the way to it hold: their sum, a condition that has to
fail counted as -1, is then the number of those that hold, and smaller everywhere else.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from neat_onnx.lifting.neurons import Tensor, concat, formula, matmul, moved
from neat_onnx.lifting.operator import Array, Floats, Ints, Texts, operator, refuse
from neat_onnx.network import expression as e
from neat_onnx.network.expression import VARIABLE as z
from neat_onnx.operators.ml import (
    ML,
    Transform,
    best_label,
    label_numbers,
    label_of_two,
    of_targets,
    transformed,
)
from neat_onnx.operators.ordering import integer

_EQUAL, _OTHER = e.equal(z, 0.0), e.call("either", e.less(z, 0.0), e.greater(z, 0.0))
_SPLITS = {
    "BRANCH_LEQ": (e.less_or_equal(z, 0.0), e.greater(z, 0.0)),
    "BRANCH_LT": (e.less(z, 0.0), e.greater_or_equal(z, 0.0)),
    "BRANCH_GT": (e.greater(z, 0.0), e.less_or_equal(z, 0.0)),
    "BRANCH_GTE": (e.greater_or_equal(z, 0.0), e.less(z, 0.0)),
    "BRANCH_EQ": (_EQUAL, _OTHER), "BRANCH_NEQ": (e.negated(_EQUAL), _EQUAL),
}  # fmt: skip
"""The comparison of each split, of z = x - value, and its opposite, which fails for NaN as well."""


class Nodes(NamedTuple):
    """The nodes of all trees: the positions of roots, and for each node what is below it, the
    feature and the value of its split, and whether NaN takes the true branch.
    """

    roots: Sequence[int]
    true: Sequence[int]
    false: Sequence[int]
    features: Sequence[int]
    values: Sequence[float]
    modes: Sequence[str]
    missing: Sequence[int]


class Reached(NamedTuple):
    """Leaves: their position among the nodes, tree, and 1 where they are reached, [N, leaves]."""

    row: dict[int, int]
    trees: Array
    hits: Tensor

    def sums(self, entries: Sequence[tuple[int, int, float]], count: int) -> Tensor:
        """The sum of weights, (leaf, score, weight), of leaves that are reached, [N, count]."""
        matrix = np.zeros((len(self.row), count))
        for leaf, score, weight in entries:
            if leaf not in self.row or not 0 <= score < count:
                raise refuse("a weight", f"of node {leaf} and score {score}", "one of a leaf")
            matrix[self.row[leaf], score] += weight
        return matmul(self.hits, matrix)

    def always_scored(self, entries: Sequence[tuple[int, int, float]]) -> set[int]:
        """The scores that every leaf of some tree adds to, so that each sample has them."""
        given = {(self.trees[self.row[leaf]], score, leaf) for leaf, score, _ in entries}
        sizes = np.bincount(self.trees)
        found = [(tree, score) for tree, score, _ in given]
        return {score for tree, score in found if found.count((tree, score)) == sizes[tree]}


def reached(x: Tensor, nodes: Nodes) -> Reached:
    """Walk down all trees, and compare."""
    rows: dict[int, int] = {}
    trees, ways, seen = [], [], set()
    stack: list[tuple[int, int, tuple[tuple[int, float], ...]]] = [
        (root, tree, ()) for tree, root in enumerate(nodes.roots)
    ]
    while stack:
        at, tree, way = stack.pop()
        if at in seen or not 0 <= at < len(nodes.modes):
            raise refuse("a node", "met twice, or none", "trees")
        seen.add(at)
        if nodes.modes[at] == "LEAF":
            rows[at] = len(rows)
            trees.append(tree)
            ways.append(way)
        else:
            stack.append((nodes.false[at], tree, (*way, (at, -1.0))))
            stack.append((nodes.true[at], tree, (*way, (at, 1.0))))
    splits = sorted({split for way in ways for split, _ in way})
    column = {split: k for k, split in enumerate(splits)}
    matrix = np.zeros((len(splits), len(rows)))
    for k, way in enumerate(ways):
        for split, sign in way:
            matrix[column[split], k] = sign
    if not splits:
        return Reached(rows, np.array(trees), np.ones((x.shape[0], len(rows))))
    hold = (matmul(_conditions(x, nodes, splits), matrix) - (matrix > 0).sum(axis=0)) > -0.5
    return Reached(rows, np.array(trees), hold.astype(float))


def _conditions(x: Tensor, nodes: Nodes, splits: list[int]) -> Tensor:
    """1 for each split whose condition holds, [N, splits]."""
    features = np.array([nodes.features[k] for k in splits])
    if x.ndim != 2 or features.min() < 0 or features.max() >= x.shape[1]:
        raise refuse("nodes_featureids", f"up to {features.max()}", f"places in {list(x.shape)}")
    above = x[:, features] - np.array([nodes.values[k] for k in splits])
    kinds = [(nodes.modes[k], bool(nodes.missing[k])) for k in splits]
    places = [np.flatnonzero([kind == each for kind in kinds]) for each in sorted({*kinds})]
    parts = [_holds(*each)(above[:, at]) for each, at in zip(sorted({*kinds}), places, strict=True)]
    back = np.argsort(np.concatenate(places))
    return moved(concat(parts, 1), lambda array: array[:, back])


def _holds(mode: str, missing: bool) -> Any:
    """Whether x - value takes the true branch; `missing`: NaN does so as well."""
    if mode not in _SPLITS:
        raise refuse("nodes_modes", repr(mode), " or ".join(_SPLITS))
    plain, opposite = _SPLITS[mode]
    return formula(e.number(e.negated(opposite) if missing else plain))


def _nodes(
    *, nodes_treeids: Ints, nodes_nodeids: Ints, nodes_truenodeids: Ints, nodes_falsenodeids: Ints,
    nodes_featureids: Ints, nodes_values: Floats, nodes_modes: Texts,
    nodes_missing_value_tracks_true: Ints = (), nodes_hitrates: Floats = (),
) -> tuple[Nodes, dict[tuple[int, int], int]]:  # fmt: skip
    """Nodes by tree and id as positions; the first node of a tree is its root."""
    keys = list(zip(nodes_treeids, nodes_nodeids, strict=True))
    place = {key: k for k, key in enumerate(keys)}
    if len(place) < len(keys):
        raise refuse("nodes_nodeids", "one of two nodes of a tree", "different ones")
    roots = {tree: place[tree, node] for tree, node in reversed(keys)}
    true, false = (
        [place.get(key, -1) for key in zip(nodes_treeids, ids, strict=True)]
        for ids in (nodes_truenodeids, nodes_falsenodeids)
    )
    missing = nodes_missing_value_tracks_true or (0,) * len(keys)
    every = [*roots.values()], true, false, nodes_featureids, nodes_values, nodes_modes, missing
    return Nodes(*every), place


def _plus_base(
    scores: Tensor, base: Floats, at: Reached, entries: Sequence[tuple[int, int, float]]
) -> Tensor:
    if not any(base):
        return scores
    if len(base) != scores.shape[1] or len(at.always_scored(entries)) < len(base):
        raise refuse("base_values", list(base), "0 of scores that no tree always gives")
    return scores + np.array(base)


@operator("TreeEnsembleRegressor", domain=ML, like=_nodes)
def tree_ensemble_regressor(
    x: Tensor, *, target_ids: Ints, target_nodeids: Ints, target_treeids: Ints,
    target_weights: Floats, n_targets: int = 1, base_values: Floats = (),
    aggregate_function: Literal["SUM", "AVERAGE"] = "SUM", post_transform: Transform = "NONE",
    **given: Any,
) -> Tensor:  # fmt: skip
    nodes, place = _nodes(**given)
    leaves = [place.get(key, -1) for key in zip(target_treeids, target_nodeids, strict=True)]
    if n_targets == 1 and len({*leaves}) < len(leaves):
        raise refuse("target_nodeids", "a leaf twice", "one weight: runtimes differ")
    scale = 1.0 / len(nodes.roots) if aggregate_function == "AVERAGE" else 1.0
    weights = [weight * scale for weight in target_weights]
    entries = list(zip(leaves, target_ids, weights, strict=True))
    at = reached(x, nodes)
    scores = _plus_base(at.sums(entries, n_targets), base_values, at, entries)
    return of_targets(scores, post_transform)


@operator("TreeEnsembleClassifier", domain=ML, like=_nodes)
def tree_ensemble_classifier(
    x: Tensor, *, class_ids: Ints, class_nodeids: Ints, class_treeids: Ints, class_weights: Floats,
    base_values: Floats = (), classlabels_int64s: Ints = (), classlabels_strings: Texts = (),
    post_transform: Transform = "NONE", **given: Any,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The label of the best score, and the scores."""
    nodes, place = _nodes(**given)
    labels = label_numbers(classlabels_int64s, classlabels_strings)
    leaves = [place.get(key, -1) for key in zip(class_treeids, class_nodeids, strict=True)]
    at, entries = reached(x, nodes), list(zip(leaves, class_ids, class_weights, strict=True))
    if len(labels) == 2 and {*class_ids} == {0}:
        score = _plus_base(at.sums(entries, 1), base_values, at, entries)
        return _of_one_score(score, labels, min(class_weights) >= 0.0, post_transform)
    scores = at.sums(entries, len(labels))
    if len(labels) == 2 and (any(base_values) or len({*class_ids}) < 2):
        raise refuse("class_ids", "two classes with base_values, or one score of the second",
                     "a score for each, or one of the first: runtimes differ")  # fmt: skip
    scores = _plus_base(scores, base_values, at, entries)
    return _label(scores, labels, at, entries), transformed(scores, post_transform)


def _of_one_score(
    score: Tensor, labels: Array, is_probability: bool, transform: Transform
) -> tuple[Tensor, Tensor]:
    """Two classes that share one score: a probability if no leaf has a negative weight."""
    if transform == "SOFTMAX":
        raise refuse("post_transform", "SOFTMAX of one score", "NONE or LOGISTIC: runtimes differ")
    label = label_of_two(score > (0.5 if is_probability else 0.0), labels)
    both = score * np.array([-1.0, 1.0])
    if is_probability and transform == "NONE":
        both = both + np.array([1.0, 0.0])
    return label, transformed(both, transform)


def _label(
    scores: Tensor, labels: Array, at: Reached, entries: Sequence[tuple[int, int, float]]
) -> Tensor:
    """As onnxruntime chooses it: among the classes that a leaf scores which the sample reaches.

    Of two classes it is 1 where the second score is above 0, though the first may be larger.
    """
    always = sorted(at.always_scored(entries))
    if len(labels) == 2:
        if 1 not in always:
            raise refuse("class_ids", "leaves without a score of the second class", "one in each")
        return integer((scores[:, 1] > 0.0).astype(float))
    if len(always) < len(labels) and any(weight <= 0.0 for *_, weight in entries):
        counts = at.sums([(leaf, score, 1.0) for leaf, score, _ in entries], len(labels))
        counts = counts + np.isin(np.arange(len(labels)), always)
        below = 2.0 * sum(abs(weight) for *_, weight in entries) + 1.0
        scores = scores - (counts < 0.5).astype(float) * below
    scored = sorted({score for _, score, _ in entries})
    return best_label(scores[:, scored], labels[scored])
