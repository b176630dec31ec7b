"""Rounding that moves one of thousands of outputs in one of hundreds of samples is rounding."""

from functools import cache

import numpy as np
import pytest
from support.harness.sweep import count, every

from neat_onnx import Model, Network, export, verify


@cache
def steps(height: float, wrong: float = 0.0) -> Network:
    """2,000 outputs that are steps of a sum; the first weight into one of them may be wrong."""
    genes = Network.mlp([8, 24, 2000], activation="tanh", seed=1).to_document().model_dump()
    outputs = set(genes["outputs"][0]["neurons"])
    for gene in genes["neurons"]:
        if gene["id"] in outputs:
            gene["activation"] = f"formula: floor({height:g} * z)"
    into = [gene for gene in genes["connections"] if gene["target"] in outputs]
    into[24 * 777]["weight"] *= 1.0 + wrong
    return Network.from_document(genes)


@cache
def exported_steps(height: float, wrong: float = 0.0) -> Model:
    return export(steps(height, wrong))


@pytest.mark.parametrize(("height", "samples"), every([300.0, 2000.0], [16, 64, 256]))
def test_steps_that_rounding_moves_are_equal(height, samples):
    net, model = steps(height), exported_steps(height)
    reports = [verify(net, model, samples=samples, seed=seed) for seed in range(count(1, 3))]
    assert all(report.passed for report in reports)
    assert height < 1000.0 or any(report.verdict == "equal within float32" for report in reports)


def test_one_weight_that_is_wrong_is_found_among_them():
    for height, wrong in ((300.0, 0.1), (2000.0, 0.01)):
        report = verify(steps(height), exported_steps(height, wrong))
        assert report.verdict == "different"


def test_one_sample_at_a_step_does_not_excuse_the_others():
    """Rounding decides at x = 0 alone, where 3 · 0.1 − 0.3 is a rounding error."""

    def step(bias: float) -> Network:
        neurons = [{"id": 1, "bias": 0.1}, {"id": 2, "activation": "step", "bias": bias}]
        connections = [(1, 2, 3.0), (0, 2, 1.0)]
        return Network.build(inputs=[0], outputs=[2], neurons=neurons, connections=connections)

    assert verify(step(-0.3), export(step(-0.3))).passed
    assert verify(step(-0.3), export(step(1.2))).verdict == "different"


def test_a_network_that_rounding_moves_nowhere_has_no_such_slack():
    net = Network.mlp([8, 24, 2000], activation="tanh", seed=1)
    weights = net.connections.weight.copy()
    weights[-1] *= 1.0 + 1e-4
    genes = net.to_document().model_dump()
    genes["connections"][-1]["weight"] = float(weights[-1])
    other = export(Network.from_document(genes))
    for samples in (16, 256):
        assert verify(net, other, samples=samples).verdict == "different"
    assert np.isclose(weights[-1], net.connections.weight[-1], rtol=1e-3)


def test_an_output_that_is_near_0_in_the_large_one_of_four_samples_is_equal():
    """Of so many terms, rounding is large there beside the output in just these samples."""
    net = Network.mlp([1024, 256], activation="identity", seed=1)
    assert verify(net, export(net), samples=4, seed=7, runtime="onnxruntime").passed


@pytest.mark.parametrize("samples", [4, 8])
def test_a_weight_that_is_slightly_wrong_is_found_in_few_samples(samples):
    genes = Network.mlp([8, 64], activation="identity", seed=1).to_document().model_dump()
    net = Network.from_document(genes)
    genes["connections"][100]["weight"] *= 1.0 + 1e-4
    other = export(Network.from_document(genes))
    for seed in range(3):
        report = verify(net, other, samples=samples, seed=seed, runtime="onnxruntime")
        assert report.verdict == "different"
