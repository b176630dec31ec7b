"""Ensembles of trees, against onnxruntime: their branches, and the size of their leaves."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.ml_models import TREES, X, leaves, model
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify


def grown(leaves: int) -> dict[str, Any]:
    """A tree whose leaves are at many depths: each split falls to a leaf drawn at random."""
    random = np.random.default_rng(3)
    true, false, edge = [0], [0], [0]
    while len(edge) < leaves:
        at = edge.pop(int(random.integers(len(edge)) ** 2 // len(edge)))
        true[at], false[at] = len(true), len(true) + 1
        edge += [len(true), len(true) + 1]
        true += [0, 0]
        false += [0, 0]
    count, ends = len(true), sorted(edge)
    return {
        "nodes_treeids": [0] * count, "nodes_nodeids": list(range(count)),
        "nodes_featureids": (np.arange(count) % 4).tolist(),
        "nodes_values": random.normal(size=count).round(2).tolist(),
        "nodes_modes": ["BRANCH_LEQ" if each else "LEAF" for each in true],
        "nodes_truenodeids": true, "nodes_falsenodeids": false,
        "target_treeids": [0] * leaves, "target_nodeids": ends, "target_ids": [0] * leaves,
        "target_weights": random.normal(size=leaves).round(2).tolist(), "n_targets": 1,
    }  # fmt: skip


def test_numbers_of_leaves_are_integers_that_nothing_cuts_off():
    numbers = leaves("target") | {"target_weights": [3.0, 4.0, 6.0, 9.0, 8.0], "n_targets": 3}
    made = model("TreeEnsembleRegressor", **TREES | numbers)
    made.graph.node.append(helper.make_node("Cast", ["y"], ["z"], to=TensorProto.INT64))
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("z", TensorProto.INT64, None))
    net = import_model(made)
    written = export(net)
    assert "Floor" not in [each.op_type for each in written.graph.node]
    assert verify(net, made, runtime="onnxruntime").passed
    assert verify(net, written, runtime="onnxruntime").passed


def test_leaves_of_many_depths_are_no_matrix_of_zeros():
    whole = model("TreeEnsembleRegressor", **grown(120))
    net = import_model(whole)
    small = export(net)
    assert verify(net, small, samples=16, runtime="onnxruntime").passed
    assert import_model(small.to_json()) == net
    written, given = (len(each.SerializeToString()) for each in (small.to_proto(), whole))
    assert written <= 2 * given + 2000


def test_missing_values_take_the_branch_that_the_tree_says():
    x = X.copy()
    x[::3, 0] = x[1::3, 3] = np.nan
    modes = TREES["nodes_modes"]
    for tracks, first in (([0] * 8, "LEQ"), ([1] * 8, "LEQ"), ([1, 0] * 4, "LEQ"),
                          ([0, 1] * 4, "GT")):  # fmt: skip
        attributes = TREES | leaves("target") | {"nodes_missing_value_tracks_true": tracks}
        attributes["nodes_modes"] = [f"BRANCH_{first}", *modes[1:]]
        whole = model("TreeEnsembleRegressor", n_targets=3, **attributes)
        (want,) = open_session(whole).run(None, {"x": x})
        np.testing.assert_allclose(import_model(whole).activate({"x": x})["y"], want, rtol=1e-6)


@pytest.mark.parametrize("tracks", [[0] * 8, [1] * 8])
@pytest.mark.parametrize("mode", ["BRANCH_EQ", "BRANCH_NEQ"])
def test_branches_where_a_feature_is_a_number(mode: str, tracks: list[int]):
    x = np.random.default_rng(3).integers(-2, 3, (60, 4)).astype(np.float32) / 4
    x[::4, 0] = x[1::5, 3] = np.nan
    modes = [mode if each != "LEAF" else each for each in TREES["nodes_modes"]]
    attributes = TREES | {"nodes_modes": modes, "nodes_missing_value_tracks_true": tracks}
    whole = model("TreeEnsembleRegressor", n_targets=3, **attributes, **leaves("target"))
    (want,) = open_session(whole).run(None, {"x": x})
    net = import_model(whole)
    np.testing.assert_allclose(net.activate({"x": x})["y"], want, rtol=1e-6)
    there = np.isfinite(x).all(axis=1)
    (written,) = open_session(export(net)).run(None, {"x": x[there]})
    np.testing.assert_allclose(written, want[there], rtol=1e-6)


@pytest.mark.parametrize("aggregate", [0, 1])
def test_trees_with_leaves_apart(aggregate: int):
    """The second tree is a split with two leaves, and the first tree's root is not its first."""

    def tensor(kind: int, values: list[float]) -> onnx.TensorProto:
        return helper.make_tensor("", kind, [len(values)], values)

    whole = model(
        "TreeEnsemble", aggregate_function=aggregate, n_targets=2, tree_roots=[1, 2],
        nodes_featureids=[0, 2, 3], nodes_modes=tensor(TensorProto.UINT8, [1, 4, 3]),
        nodes_splits=tensor(TensorProto.FLOAT, [0.25, 0.5, -0.25]),
        nodes_truenodeids=[0, 0, 4], nodes_trueleafs=[1, 0, 1],
        nodes_falsenodeids=[1, 2, 3], nodes_falseleafs=[1, 1, 1],
        leaf_targetids=[0, 1, 1, 0, 1],
        leaf_weights=tensor(TensorProto.FLOAT, [0.5, 1.5, -1.0, 2.0, 0.75]),
    )  # fmt: skip
    whole.opset_import[1].version = 5
    x = np.random.default_rng(3).integers(-2, 3, (60, 4)).astype(np.float32) / 4
    (want,) = open_session(whole).run(None, {"x": x})
    net = import_model(whole)
    np.testing.assert_allclose(net.activate({"x": x})["y"], want, rtol=1e-6)
    assert len({*map(tuple, want)}) == 6
    assert verify(net, export(net), runtime="onnxruntime").passed
