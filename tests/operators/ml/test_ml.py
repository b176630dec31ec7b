"""Each operator of ai.onnx.ml computes what onnxruntime does, or is refused by name."""

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.examples.ml_models import LEAVES, TREES, VECTORS, WEIGHTS, X, leaves, model
from support.harness.sessions import open_session

from neat_onnx import ModelError, import_model, verify


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


def test_models_of_an_older_opset():
    whole = model("Scaler", offset=[1.0], scale=[0.5])
    whole.opset_import[0].version = 9
    np.testing.assert_allclose(import_model(whole).activate({"x": X})["y"], (X - 1) * 0.5)


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
