"""The genome comes back from files that optimizers rewrote: single steps and sequences."""

import numpy as np
import pytest
from support.examples.cases import cases
from support.examples.made import aggregating
from support.harness.rewriting import (
    by_converter,
    by_onnxruntime,
    extended,
    with_merged_factors,
    without_copies,
    without_twins,
    without_zeros,
)
from support.harness.sweep import WHOLE, each

from neat_onnx import NeatOnnxWarning, Network, export, import_model

GROUPS = ("nts-net", "nap-net", "np-rec", "np-ff")
NETWORKS = {case.name: case.network() for case in cases(*GROUPS)}
LOST = NETWORKS.pop("np-ff-29")  # two of its neurons are one in a graph without copies


def _trips() -> list[tuple[str, bool, str]]:
    """Every sequence, in one type or the other, and a few single steps."""
    named = [
        (name, sequence)
        for name, net in NETWORKS.items()
        for sequence in ((True, False) if net.has_memory else (False,))
    ]
    return [
        (name, sequence, dtype)
        for k, (name, sequence) in enumerate(named)
        for turn, dtype in enumerate(("float32", "float64"))
        if WHOLE or (turn == k % 2 and (sequence or k % 5 == 0))
    ]


@pytest.mark.parametrize(("name", "sequence", "dtype"), _trips())
def test_the_genome_comes_back(name: str, sequence: bool, dtype: str):
    model = export(NETWORKS[name], dtype=dtype, sequence=sequence)
    want = import_model(model.to_bytes())
    others = each(4, [by_onnxruntime, by_converter, extended])
    for rewritten in (without_copies, without_zeros, with_merged_factors, *others):
        assert import_model(rewritten(model)) == want


def test_a_genome_that_does_not_fit_any_more_is_told():
    model = without_copies(export(LOST, dtype="float64"))
    with pytest.warns(NeatOnnxWarning, match="its structure is another"):
        net = import_model(model)
    x = np.random.default_rng(0).normal(size=(9, len(LOST.input_neurons)))
    np.testing.assert_allclose(net.activate(x), LOST.activate(x), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_neurons_that_are_copies_stay_copies(dtype: str):
    model = export(modulated(), dtype=dtype)
    want = import_model(model.to_bytes())
    assert import_model(without_twins(without_zeros(model))) == want


def modulated() -> Network:
    """Neurons that add a gated input to another one."""
    count, random = 8, np.random.default_rng(0)
    hidden = [
        {"id": first + k, "activation": "tanh", "bias": random.normal()}
        for first in (10, 20)
        for k in range(count)
    ]
    connections: list[object] = [
        (k, each["id"], random.normal()) for each in hidden for k in range(count)
    ]
    for k in range(count):
        gated = {"source": 10 + k, "target": 30 + k, "weight": 1.0, "gater": 20 + k}
        connections += [(k, 30 + k, 1.0), gated]
    ends = [*range(30, 30 + count)]
    neurons = [*hidden, *ends]
    return Network.build(inputs=count, outputs=ends, neurons=neurons, connections=connections)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("activation", ["neat_tanh", "neat_sin", "bipolar_sigmoid"])
@pytest.mark.parametrize("aggregation", ["sum", "mean", "max", "median"])
def test_a_response_and_a_slope_stay_two_factors(aggregation: str, activation: str, dtype: str):
    net = aggregating(aggregation, 3, activation=activation, bias=0.0, response=1.0133074060098266)
    model = export(net, dtype=dtype)
    want = import_model(model.to_bytes())
    assert import_model(with_merged_factors(model)) == want


def test_weights_that_import_adds_are_those_of_the_file():
    """Of a neuron whose value is its state, too, so that connections to it are parallel."""
    weights = (-0.961, {}), (-0.363, {}), (0.896, {"reads_state": True})
    parallel = [
        {"source": 1, "target": 2, "weight": weight, "delay": 1, **genes}
        for weight, genes in weights
    ]
    connections = [(0, 1, 0.5), *parallel]
    net = Network.build(inputs=1, outputs=[2], neurons=[1, 2], connections=connections)
    assert np.float32(-0.961 - 0.363 + 0.896) != sum(np.float32([-0.961, -0.363, 0.896]))
    model = export(net)
    want = import_model(model.to_bytes())
    assert len(want.connections) == len(net.connections)
    assert import_model(extended(model)) == want


def test_a_slope_before_the_response_counts():
    """An edited one is the graph's, with the genome."""
    net = aggregating("sum", 3, activation="neat_tanh", bias=0.0, response=1.5)
    proto = export(net, dtype="float64").to_proto()
    (alpha,) = [each for each in proto.graph.node[0].attribute if each.name == "alpha"]
    alpha.f = 2.25
    edited = import_model(proto)
    assert edited.neurons.id.tolist() == net.neurons.id.tolist()
    factor = edited.neurons.response[-1] * edited.connections.weight
    np.testing.assert_allclose(factor, 1.5 * net.connections.weight * 2.25 / 2.5, rtol=1e-14)
