"""Errors that larger outputs, larger samples, or samples that are left out would hide."""

import numpy as np
import pytest

from neat_onnx import Network, export, import_model, load_model, verify
from neat_onnx.verification.left_out import unordered
from neat_onnx.verification.rounding import within_range

RUNTIMES = pytest.mark.parametrize("runtime", ["reference", "onnxruntime"])


def built(activations, connections, outputs, inputs=2):
    neurons = [{"id": key, "activation": name} for key, name in activations.items()]
    return Network.build(inputs=inputs, outputs=outputs, neurons=neurons, connections=connections)


def two_outputs(weight):
    """One output of large values, and one of small ones."""
    return built({10: "cube", 11: "tanh"}, [(0, 10, 100.0), (1, 11, weight)], [10, 11])


def one_output(weight):
    """An output that is large for a few samples: exp(1.5 x) and a number below 1."""
    activations = {5: "formula: exp(z)", 6: "tanh", 10: "identity"}
    return built(activations, [(0, 5, 1.5), (1, 6, 1.0), (5, 10, 1.0), (6, 10, weight)], [10])


@RUNTIMES
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("make", [two_outputs, one_output])
def test_what_is_large_hides_no_error(make, dtype, runtime):
    assert verify(make(1.0), export(make(1.0), dtype=dtype), runtime=runtime).passed
    report = verify(make(1.0), export(make(-1.0), dtype=dtype), runtime=runtime)
    assert report.verdict == "different"
    assert "others are off by" in str(report) or report.normalised_mse > report.bound


def test_a_few_samples_that_the_type_holds_are_no_proof():
    def tower(weight):
        activations = dict.fromkeys([5, 6, 10], "cube")
        return built(activations, [(0, 5, 1e4), (5, 6, 1.0), (6, 10, weight)], [10], inputs=1)

    assert verify(tower(1.0), export(tower(-1.0))).verdict == "different"
    assert verify(tower(1.0), export(tower(1.0), dtype="float64")).passed


def test_nan_that_nothing_orders_is_compared():
    def answering(number):
        chosen = f"formula: where(is_nan(z), {number}, z)"
        return built({5: "formula: sqrt(z)", 10: chosen}, [(0, 5, 1.0), (5, 10, 1.0)], [10], 1)

    assert verify(answering(0), export(answering(0))).unordered == 0
    assert verify(answering(0), export(answering(7))).verdict == "different"


def test_a_sample_whose_output_is_nan_itself_is_compared():
    net = built({5: "formula: sqrt(z)", 10: "relu"}, [(0, 5, 1.0), (5, 10, 1.0)], [10], 1)
    x = np.array([[[-1.0], [1.0]]])
    assert not unordered(net, x, net.run(x)).any()


def test_a_long_sequence_is_compared_up_to_some_steps_before_it_overflows():
    run = np.ones((40, 2, 1))
    run[30, 1] = np.inf
    held, first = within_range([run])
    assert first == 30
    assert held[:, 0].all()
    assert held[:, 1].sum() == 30 - 16


def test_the_first_difference_is_told_by_the_ids_of_the_network_that_is_compared():
    """The network is that of a file in which a weight was edited."""
    activations = {2: "tanh", 0: "sigmoid", 1: "relu"}
    connections = [(7, 2, 1.0), (3, 2, 0.5), (2, 0, 1.0), (2, 1, 2.0)]
    net = built(activations, connections, [0, 1], inputs=[7, 3])
    document = export(net, dtype="float64").to_document()
    weights = {each["name"]: each for each in document["graph"]["initializer"]}
    weights["W0"]["double_data"][0] = 1.25
    imported = import_model(load_model(document))
    weights["W1"]["double_data"][0] += 1.0
    report = verify(imported, load_model(document))
    assert "(sigmoid, level 2)" in report.first_error
