"""TreeEnsemble, of version 5 of ai.onnx.ml: the trees of a TreeEnsembleRegressor, leaves apart."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from neat_onnx.lifting.context import Array, LiftingContext, lifts
from neat_onnx.lifting.feature_counts import Tensors, counts_features
from neat_onnx.model import Attributes, Tensor
from neat_onnx.network.genes import Ints
from neat_onnx.operators.ml.nodes import MlNode
from neat_onnx.operators.ml.trees import (
    TreeEnsembleRegressor,
    TreeEnsembleRegressorAttributes,
    lift_tree_regressor,
)

_MODES = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
_AGGREGATIONS: tuple[Literal["AVERAGE", "SUM"], ...] = ("AVERAGE", "SUM")
_TRANSFORMS: tuple[Literal["NONE", "SOFTMAX", "LOGISTIC"], ...] = ("NONE", "SOFTMAX", "LOGISTIC")


class TreeEnsembleAttributes(Attributes):
    """Attributes of TreeEnsemble: the splits of all trees, and the leaves, as lists."""

    aggregate_function: Literal[0, 1] = 1
    leaf_targetids: tuple[int, ...]
    leaf_weights: Tensor
    n_targets: int = 1
    nodes_falseleafs: tuple[int, ...]
    nodes_falsenodeids: tuple[int, ...]
    nodes_featureids: tuple[int, ...]
    nodes_hitrates: Tensor | None = None
    nodes_missing_value_tracks_true: tuple[int, ...] | None = None
    nodes_modes: Tensor
    nodes_splits: Tensor
    nodes_trueleafs: tuple[int, ...]
    nodes_truenodeids: tuple[int, ...]
    post_transform: Literal[0, 1, 2] = 0
    tree_roots: tuple[int, ...]


class TreeEnsemble(MlNode):
    """The hit rates of nodes have no meaning."""

    attributes: TreeEnsembleAttributes


@counts_features(TreeEnsemble)
def features_of_splits(node: TreeEnsemble, tensors: Tensors) -> int | None:
    """Count up to the last feature that a split reads."""
    return max(node.attributes.nodes_featureids, default=-1) + 1


@lifts(TreeEnsemble)
def lift_trees(ctx: LiftingContext, node: TreeEnsemble) -> None:
    """Lift TreeEnsemble: as a TreeEnsembleRegressor, whose leaves are nodes behind the splits."""
    given = node.attributes
    splits = (given.nodes_featureids, given.nodes_trueleafs, given.nodes_truenodeids,
              given.nodes_falseleafs, given.nodes_falsenodeids)  # fmt: skip
    if len({*map(len, splits)}) > 1:
        ctx.fail(node, f"its lists of splits have {[*map(len, splits)]} numbers")
    count, leaves = len(given.nodes_featureids), len(given.leaf_targetids)
    true = count * np.array(given.nodes_trueleafs) + np.array(given.nodes_truenodeids)
    false = count * np.array(given.nodes_falseleafs) + np.array(given.nodes_falsenodeids)
    tree = _tree_of_each(given.tree_roots, true, false, count + leaves)
    tracks = given.nodes_missing_value_tracks_true or (0,) * count
    modes = [f"BRANCH_{_MODES[mode]}" for mode in given.nodes_modes.values.ravel()]
    roots_first = np.argsort(~np.isin(np.arange(count + leaves), given.tree_roots), kind="stable")

    def of_nodes(splits: Sequence[Any] | Array, leaf: Any) -> tuple[Any, ...]:
        return tuple(np.array([*splits, *[leaf] * leaves])[roots_first].tolist())

    attributes = TreeEnsembleRegressorAttributes(
        aggregate_function=_AGGREGATIONS[given.aggregate_function],
        n_targets=given.n_targets,
        nodes_falsenodeids=of_nodes(false, 0),
        nodes_featureids=of_nodes(given.nodes_featureids, 0),
        nodes_missing_value_tracks_true=of_nodes(tracks, 0),
        nodes_modes=of_nodes(modes, "LEAF"),
        nodes_nodeids=tuple(roots_first.tolist()),
        nodes_treeids=tuple(tree[roots_first].tolist()),
        nodes_truenodeids=of_nodes(true, 0),
        nodes_values=of_nodes(given.nodes_splits.values.ravel(), 0.0),
        post_transform=_TRANSFORMS[given.post_transform],
        target_ids=given.leaf_targetids,
        target_nodeids=tuple(range(count, count + leaves)),
        target_treeids=tuple(tree[count:].tolist()),
        target_weights=tuple(given.leaf_weights.values.ravel().tolist()),
    )
    same = {"name": node.name, "input": node.input, "output": node.output}
    lift_tree_regressor(ctx, TreeEnsembleRegressor(**same, attributes=attributes))


def _tree_of_each(roots: Sequence[int], true: Ints, false: Ints, count: int) -> Ints:
    """The number of the tree that each split and leaf is in; -1 where no root leads to it."""
    tree = np.full(count, -1)
    for number, root in enumerate(roots):
        found = [root]
        while found:
            at = found.pop()
            if tree[at] == -1 and at < len(true):
                found += [int(true[at]), int(false[at])]
            tree[at] = number
    return tree
