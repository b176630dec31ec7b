"""Models of ai.onnx.ml, as scikit-learn's converter writes them, against onnxruntime."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model, load_model, verify

X = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
X[0] = 0.0
WEIGHTS = np.random.default_rng(1).normal(size=12).round(2).tolist()
TREES: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1],
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [0, 2, 0, 0, 0, 3, 0, 0],
    "nodes_values": [0.25, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "BRANCH_LEQ",
                    "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 2, 0, 0, 0, 1, 0, 0],
    "nodes_falsenodeids": [4, 3, 0, 0, 0, 2, 0, 0],
}  # fmt: skip
LEAVES = {"treeids": [0, 0, 0, 1, 1], "nodeids": [2, 3, 4, 1, 2], "ids": [0, 1, 1, 2, 0],
          "weights": [0.5, 1.5, -1.0, 2.0, 0.75]}  # fmt: skip


VECTORS: dict[str, Any] = {"support_vectors": WEIGHTS, "kernel_params": [0.25, 0.5, 3.0]}


def leaves(stem: str) -> dict[str, Any]:
    return {f"{stem}_{key}": values for key, values in LEAVES.items()}


def model(operator: str, outputs: int = 1, **attributes: Any) -> Any:
    names = ["label", "y"][-outputs:]
    made = helper.make_node(operator, ["x"], names, domain="ai.onnx.ml", **attributes)
    types = {"label": TensorProto.INT64, "y": TensorProto.FLOAT}
    graph = helper.make_graph(
        [made], "graph", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info(name, types[name], None) for name in names],
    )  # fmt: skip
    ids = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=ids, ir_version=8)


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [
        ("Scaler", {"offset": [1.0, 0.0, -2.0, 0.5], "scale": [0.5, 2.0, 1.0, -1.0]}),
        ("Scaler", {"offset": [1.0], "scale": [0.5]}),
        ("Normalizer", {"norm": "L1"}),
        ("Normalizer", {"norm": "L2"}),
        ("Normalizer", {"norm": "MAX"}),
        ("Binarizer", {"threshold": 0.25}),
        ("LinearRegressor", {"coefficients": WEIGHTS[:4], "intercepts": [0.5]}),
        ("LinearRegressor", {"coefficients": WEIGHTS, "targets": 3}),
        ("LinearRegressor",
         {"coefficients": WEIGHTS, "targets": 3, "post_transform": "SOFTMAX"}),
        (
            "LinearRegressor",
            {"coefficients": WEIGHTS, "targets": 3, "post_transform": "LOGISTIC"},
        ),
        ("LinearClassifier",
         {"coefficients": WEIGHTS, "intercepts": [0.1, 0.2, 0.3], "multi_class": 1,
          "classlabels_ints": [7, -1, 4]}),
        ("LinearClassifier",
         {"coefficients": WEIGHTS, "intercepts": [0.1, 0.2, 0.3], "classlabels_ints": [0, 1, 2],
          "post_transform": "SOFTMAX"}),
        ("LinearClassifier",
         {"coefficients": WEIGHTS[:8], "intercepts": [0.1, 0.2], "classlabels_ints": [0, 1],
          "post_transform": "LOGISTIC"}),
        ("TreeEnsembleRegressor", TREES | leaves("target") | {"n_targets": 3}),
        ("TreeEnsembleRegressor",
         TREES | leaves("target") | {"n_targets": 1, "aggregate_function": "AVERAGE",
                                     "base_values": [1.5], "target_ids": [0] * 5}),
        ("TreeEnsembleClassifier",
         TREES | leaves("class") | {"classlabels_int64s": [3, 5, 9]}),
        ("TreeEnsembleClassifier",
         TREES | leaves("class") | {"classlabels_int64s": [3, 5, 9],
                                    "post_transform": "SOFTMAX"}),
        *(
            ("SVMRegressor", VECTORS | {"kernel_type": kernel, "n_supports": 3,
                                        "coefficients": [0.5, -1.0, 0.25], "rho": [0.1]})
            for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID")
        ),
        ("SVMRegressor", {"kernel_type": "LINEAR", "kernel_params": [0.0] * 3, "n_supports": 0,
                          "coefficients": WEIGHTS[:4], "rho": [0.5]}),
        ("SVMRegressor", VECTORS | {"kernel_type": "RBF", "n_supports": 3, "one_class": 1,
                                    "coefficients": [0.5, -1.0, 0.25], "rho": [0.1]}),
        ("SVMClassifier", VECTORS | {"kernel_type": "RBF", "classlabels_ints": [4, 2],
                                     "vectors_per_class": [1, 2], "rho": [0.1],
                                     "coefficients": [0.5, -1.0, 0.25]}),
        *(
            ("SVMClassifier",
             VECTORS | {"kernel_type": "POLY", "classlabels_ints": [4, 2, 9], "rho": [0.1, 0.2, 0],
                        "vectors_per_class": [1, 1, 1], "coefficients": WEIGHTS[:6],
                        "post_transform": transform})
            for transform in ("NONE", "LOGISTIC")
        ),
        ("Imputer", {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": 0.0}),
        ("LabelEncoder", {"keys_floats": [0.0, 1.0], "values_floats": [2.5, 1.0],
                          "default_float": -3.0}),
        *(
            ("TreeEnsembleClassifier",
             TREES | leaves("class")
             | {"classlabels_int64s": [3, 5], "class_ids": [0] * 5, "post_transform": transform,
                "class_weights": [scale * weight for weight in (0.1, -0.4, 0.3, 0.25, -0.2)]})
            for transform in ("NONE", "LOGISTIC") for scale in (1.0, -1.0)
        ),
        *(
            ("TreeEnsembleClassifier",
             TREES | leaves("class")
             | {"classlabels_int64s": [3, 5], "class_ids": [0] * 5, "post_transform": transform,
                "class_weights": [0.1, 0.4, 0.3, 0.25, 0.35]})
            for transform in ("NONE", "LOGISTIC")
        ),
    ],
)  # fmt: skip
def test_computes_what_onnxruntime_does(operator, attributes):
    whole = model(operator, 2 if operator.endswith("Classifier") else 1, **attributes)
    session = open_session(whole)
    got = import_model(whole).activate({"x": X})
    for name, want in zip(got, session.run(None, {"x": X}), strict=True):
        np.testing.assert_allclose(got[name], want, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_a_normalizer_comes_back_in_few_nodes_with_its_genome(norm):
    net = import_model(model("Normalizer", norm=norm))
    again = export(net)
    assert len(again.graph.node) <= 12
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    (y,) = open_session(again.to_proto()).run(None, {"x": X})
    np.testing.assert_allclose(y, import_model(again).activate({"x": X})["y"], atol=1e-6)
    assert import_model(again.to_json()) == net


def test_probabilities_that_add_up_to_1_are_not_normalized_again():
    made = model("LinearClassifier", 2, coefficients=WEIGHTS, intercepts=[0.1, 0.2, 0.3],
                 classlabels_ints=[0, 1, 2], post_transform="SOFTMAX")  # fmt: skip
    made.graph.node.append(
        helper.make_node("Normalizer", ["y"], ["z"], domain="ai.onnx.ml", norm="L1")
    )
    made.graph.output[1].name = "z"
    net = import_model(made)
    written = export(net)
    assert [each.op_type for each in written.graph.node].count("Softmax") == 1
    assert len(written.graph.node) == 4
    assert verify(net, made, runtime="onnxruntime").passed
    assert import_model(written.to_bytes()).neurons.id.tolist() == net.neurons.id.tolist()


def test_a_scaler_is_written_element_by_element():
    made = model("Scaler", offset=[1.0, 0.0, -2.0, 0.5] * 2, scale=[0.5, 2.0, 1.0, -1.0] * 2)
    made.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 8
    net = import_model(made)
    assert len(net) == 16
    written = export(net)
    assert "Gemm" not in [each.op_type for each in written.graph.node]
    assert verify(net, written, runtime="onnxruntime").passed


@pytest.mark.parametrize(
    ("labels", "most"), [([0, 1, 2, 3], 4), ([5, 3, 1, -1], 4), ([0, 2, 1, 3], 12)]
)
def test_labels_in_even_steps_are_made_of_the_place_itself(labels, most):
    """And an integer that was a float in between is one still: nothing is cut off."""
    nodes = [
        helper.make_node("ArgMax", ["x"], ["place"], axis=1),
        helper.make_node("ArrayFeatureExtractor", ["l", "place"], ["f"], domain="ai.onnx.ml"),
        helper.make_node("Cast", ["f"], ["c"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["c", "s"], ["r"]),
        helper.make_node("Cast", ["r"], ["label"], to=TensorProto.INT64),
    ]
    whole = model("Scaler", offset=[0.0], scale=[1.0])
    del whole.graph.node[:], whole.graph.output[:]
    whole.graph.node.extend(nodes)
    whole.graph.output.append(helper.make_tensor_value_info("label", TensorProto.INT64, None))
    whole.graph.initializer.extend(
        [helper.make_tensor("l", TensorProto.INT32, [1, 4], labels),
         helper.make_tensor("s", TensorProto.INT64, [1], [-1])]
    )  # fmt: skip
    net = import_model(whole)
    (want,) = open_session(whole).run(None, {"x": X})
    np.testing.assert_array_equal(net.activate({"x": X})["label"].ravel(), want)
    assert len(net) <= 4 + 1 + 4 + 3 + most
    assert not any("floor" in name for name in net.activations)
    assert import_model(export(net).to_json()) == net


def test_models_of_an_older_opset():
    whole = model("Scaler", offset=[1.0], scale=[0.5])
    whole.opset_import[0].version = 9
    np.testing.assert_allclose(import_model(whole).activate({"x": X})["y"], (X - 1) * 0.5)


@pytest.mark.parametrize("opset", [9, 18])
def test_an_imputer_puts_numbers_for_nan(opset: int):
    x = X.copy()
    x[::3, 0] = x[1::3, 3] = np.nan
    attributes = {"imputed_value_floats": [2.5, 0, 0, -1.5], "replaced_value_float": np.nan}
    whole = model("Imputer", **attributes)
    whole.opset_import[0].version = opset
    (want,) = open_session(whole).run(None, {"x": x})
    text = load_model(whole).to_json()
    assert '"f":"NaN"' in text.replace(" ", "")
    for given in (whole, load_model(text), load_model(load_model(text).to_bytes())):
        net = import_model(given)
        np.testing.assert_array_equal(net.activate({"x": x})["y"], want)
    (back,) = open_session(export(net)).run(None, {"x": x})
    np.testing.assert_array_equal(back, want)


def test_an_imputer_puts_a_number_for_infinity():
    x = X.copy()
    x[::3, 1] = np.inf
    x[1::3, 2] = -np.inf
    whole = model("Imputer", imputed_value_floats=[2.5], replaced_value_float=np.inf)
    (want,) = open_session(whole).run(None, {"x": x})
    net = import_model(whole)
    np.testing.assert_array_equal(net.activate({"x": x})["y"], want)
    (back,) = open_session(export(net)).run(None, {"x": x})
    np.testing.assert_array_equal(back, want)


def test_other_attributes_are_numbers():
    with pytest.raises(ModelError, match="default_float is not a finite number"):
        import_model(
            model("LabelEncoder", keys_floats=[1.0], values_floats=[2.0], default_float=np.nan)
        )


@pytest.mark.parametrize(
    ("operator", "attributes", "reason"),
    [
        ("TreeEnsembleRegressor",
         TREES | leaves("target") | {"n_targets": 1, "target_ids": [0] * 5,
                                     "post_transform": "LOGISTIC"}, "LOGISTIC of one target"),
        ("TreeEnsembleClassifier",
         TREES | leaves("class") | {"class_ids": [0] * 5, "classlabels_int64s": [3]}, "one label"),
        ("TreeEnsembleRegressor",
         TREES | {f"target_{key}": 2 * values for key, values in LEAVES.items()}
         | {"n_targets": 1, "target_ids": [0] * 10}, "several weights"),
        ("LinearClassifier", {"coefficients": WEIGHTS, "classlabels_ints": [7, -1, 4]},
         "no intercepts"),
        ("LinearClassifier", {"coefficients": WEIGHTS[:4], "intercepts": [0.5],
                              "classlabels_ints": [7]}, "one label"),
    ],
)  # fmt: skip
def test_what_runtimes_take_differently_is_refused(operator, attributes, reason):
    whole = model(operator, 2 if operator.endswith("Classifier") else 1, **attributes)
    with pytest.raises(ModelError, match=reason):
        import_model(whole, check=False)


def test_vectors_of_a_radial_kernel_share_one_square():
    vectors = np.random.default_rng(2).normal(size=(60, 4)).round(2)
    whole = model("SVMRegressor", kernel_type="RBF", kernel_params=[0.25, 0.0, 3.0], rho=[0.5],
                  support_vectors=vectors.ravel().tolist(), n_supports=60,
                  coefficients=vectors[:, 0].tolist())  # fmt: skip
    net = import_model(whole)
    assert len(net.connections) <= 60 * (4 + 1 + 1) + 2 * 4
    small = export(net).to_proto().SerializeToString()
    assert len(small) <= 2 * len(whole.SerializeToString()) + 2000


def test_a_model_that_computes_in_float32_inside_is_verified_as_such():
    whole = model("Scaler", offset=[0.1, 0.2, 0.3, 0.7], scale=[0.3, 0.1, 0.7, 0.9])
    cast = helper.make_node("Cast", ["y"], ["z"], to=TensorProto.DOUBLE)
    whole.graph.node.append(cast)
    whole.graph.input[0].CopyFrom(
        helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["N", 4])
    )  # fmt: skip
    whole.graph.output[0].CopyFrom(
        helper.make_tensor_value_info("z", TensorProto.DOUBLE, ["N", 4])
    )  # fmt: skip
    assert verify(import_model(whole), whole, runtime="onnxruntime").passed


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


def test_categories_alone_are_drawn_for_an_encoder_that_takes_no_others():
    made = model("OneHotEncoder", cats_int64s=[2, 0, 1], zeros=0)
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    net = import_model(made)
    report = verify(net, made, runtime="onnxruntime")
    assert report.passed
    assert verify(net, export(net), runtime="onnxruntime").passed


@pytest.mark.parametrize(("labels", "fits"), [([1, 2, 3], True), ([0, -1, 3], False)])
def test_labels_that_a_narrow_type_holds_are_cast_to_it(labels: list[int], fits: bool):
    """As ML.NET gives the labels that it predicts."""
    made = model("LinearClassifier", 2, coefficients=WEIGHTS, intercepts=[0.1, 0.2, 0.3],
                 classlabels_ints=labels)  # fmt: skip
    made.graph.node.append(helper.make_node("Cast", ["label"], ["key"], to=TensorProto.UINT32))
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("key", TensorProto.UINT32, None))
    if fits:
        assert verify(import_model(made), made, runtime="onnxruntime").passed
        return
    with pytest.raises(ModelError, match="cut off to the bits of UINT32"):
        import_model(made)


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


@pytest.mark.parametrize(
    ("operator", "attributes", "message"),
    [
        ("LinearRegressor", {"coefficients": WEIGHTS[:3]}, "3 coefficients"),
        ("LinearRegressor", {"coefficients": WEIGHTS[:4], "post_transform": "PROBIT"}, "PROBIT"),
        ("LinearClassifier", {"coefficients": WEIGHTS[:4], "classlabels_ints": [0, 1],
                              "intercepts": [0.0]}, "1 scores for 2 labels"),
        ("LinearRegressor", {"coefficients": WEIGHTS[:4], "post_transform": "LOGISTIC"}, "one"),
        ("TreeEnsembleRegressor", TREES | leaves("target")
         | {"n_targets": 3, "base_values": [1.0, 2.0, 3.0]}, "base_values"),
        ("Scaler", {"offset": [1.0, 2.0], "scale": [1.0]}, "2 offsets"),
        ("SVMRegressor", VECTORS | {"n_supports": 2, "coefficients": [1.0, 2.0], "rho": [0.0]},
         "12 numbers for 2 vectors"),
        ("SVMClassifier", VECTORS | {"classlabels_ints": [4, 2, 9], "vectors_per_class": [1] * 3,
                                     "rho": [0.1] * 3, "coefficients": WEIGHTS[:6],
                                     "prob_a": [1.0] * 3, "prob_b": [0.0]},
         "1 prob_b, expected 3"),
        ("SVMClassifier", VECTORS | {"classlabels_ints": [4, 2], "vectors_per_class": [1, 2],
                                     "rho": [0.1], "coefficients": [0.5, -1.0, 0.25],
                                     "prob_a": [1.0]}, "0 prob_b, expected 1"),
        ("LabelEncoder", {"keys_floats": [0.0, 0.0], "values_floats": [2.5, 1.0]}, "twice"),
        ("TreeEnsembleRegressor", TREES | leaves("target") | {"nodes_truenodeids": [0] * 8},
         "met twice"),
        ("TreeEnsembleRegressor",
         TREES | leaves("target") | {"nodes_modes": ["BRANCH_MEMBER", *TREES["nodes_modes"][1:]]},
         "nodes_modes"),
    ],
)  # fmt: skip
def test_refused_by_name(operator, attributes, message):
    outputs = 2 if operator.endswith("Classifier") else 1
    with pytest.raises(ModelError, match=message):
        import_model(model(operator, outputs, **attributes))


def test_a_vector_is_not_normalized_over_the_samples():
    """Of labels, that have no second axis, a Normalizer makes one row."""
    whole = model("LinearClassifier", 2, coefficients=WEIGHTS[:8], classlabels_ints=[3, 5],
                  intercepts=[0.0, 0.1])  # fmt: skip
    made = helper.make_node("Normalizer", ["label"], ["z"], domain="ai.onnx.ml", norm="L1")
    whole.graph.node.append(made)
    whole.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, None))
    with pytest.raises(ModelError, match=r"\(Normalizer\): it works along the batch"):
        import_model(whole, check=False)


def test_categories_of_numbers_are_found_by_their_integers():
    """As Core ML's converter writes them: a Scaler of integers gives numbers before."""
    whole = model("OneHotEncoder", 1, cats_int64s=[-1, 0, 1, 3])
    x = np.float32([[-1.5, -0.5, 0.5, 1.0], [3.9, 4.0, 0.0, -1.0]])
    (want,) = open_session(whole).run(None, {"x": x})
    net = import_model(whole)
    (got,) = net.activate({"x": x}).values()
    np.testing.assert_array_equal(got, want)
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_the_label_of_support_vectors_with_probabilities():
    whole = model("SVMClassifier", 2, **VECTORS, classlabels_ints=[4, 2], vectors_per_class=[1, 2],
                  rho=[0.1], coefficients=[0.5, -1.0, 0.25],
                  prob_a=[1.0], prob_b=[0.0])  # fmt: skip
    want, _ = open_session(whole).run(None, {"x": X})
    got = import_model(whole, outputs=["label"]).activate({"x": X})
    np.testing.assert_array_equal(got["label"], want)


def test_labels_at_places_that_were_moved():
    nodes = [
        helper.make_node("TopK", ["x", "two"], ["best", "at"], axis=1),
        helper.make_node("Reshape", ["at", "flat"], ["places"]),
        helper.make_node("ArrayFeatureExtractor", ["labels", "places"], ["each"],
                         domain="ai.onnx.ml"),
        helper.make_node("Reshape", ["each", "pairs"], ["y"]),
    ]  # fmt: skip
    whole = model("Scaler", offset=[0.0], scale=[1.0])
    del whole.graph.node[:]
    whole.graph.node.extend(nodes)
    constants = {"two": np.array([2]), "flat": np.array([-1]), "pairs": np.array([-1, 2]),
                 "labels": np.array([[2.5, 7.0, 1.0, 4.0]], np.float32)}  # fmt: skip
    whole.graph.initializer.extend(
        numpy_helper.from_array(values, name) for name, values in constants.items()
    )
    (want,) = open_session(whole).run(None, {"x": X})
    got = import_model(whole).activate({"x": X})
    np.testing.assert_array_equal(got["y"], want)


def test_categories_become_places():
    whole = model("OneHotEncoder", cats_int64s=[2, 0, 7])
    whole.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    x = np.random.default_rng(2).integers(0, 9, (30, 4))
    (want,) = open_session(whole).run(None, {"x": x})
    np.testing.assert_array_equal(import_model(whole).activate({"x": x})["y"], want)
