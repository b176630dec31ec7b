"""Support vectors, against onnxruntime: their labels, and the size of radial kernels."""

import numpy as np
from support.examples.ml_models import VECTORS, X, model
from support.harness.sessions import open_session

from neat_onnx import export, import_model


def test_vectors_of_a_radial_kernel_share_one_square():
    vectors = np.random.default_rng(2).normal(size=(60, 4)).round(2)
    whole = model("SVMRegressor", kernel_type="RBF", kernel_params=[0.25, 0.0, 3.0], rho=[0.5],
                  support_vectors=vectors.ravel().tolist(), n_supports=60,
                  coefficients=vectors[:, 0].tolist())  # fmt: skip
    net = import_model(whole)
    assert len(net.connections) <= 60 * (4 + 1 + 1) + 2 * 4
    small = export(net).to_proto().SerializeToString()
    assert len(small) <= 2 * len(whole.SerializeToString()) + 2000


def test_the_label_of_support_vectors_with_probabilities():
    whole = model("SVMClassifier", 2, **VECTORS, classlabels_ints=[4, 2], vectors_per_class=[1, 2],
                  rho=[0.1], coefficients=[0.5, -1.0, 0.25],
                  prob_a=[1.0], prob_b=[0.0])  # fmt: skip
    want, _ = open_session(whole).run(None, {"x": X})
    got = import_model(whole, outputs=["label"]).activate({"x": X})
    np.testing.assert_array_equal(got["label"], want)
