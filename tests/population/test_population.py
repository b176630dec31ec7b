"""Populations: every member computes what it computes alone, in numpy and in onnxruntime."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.cases import cases
from support.harness.sessions import open_session
from support.harness.sweep import count

from neat_onnx import Network, NetworkError, OptionError, Population, export_population, validate
from neat_onnx.network.genes import Floats

ACTIVATIONS = ["tanh", "sigmoid", "relu", "identity", "gaussian", "abs", "step"]
BOUNDED = ["tanh", "sigmoid", "gaussian", "step", "hard_tanh"]
AGGREGATIONS = ["sum", "mean", "max", "min", "maxabs", "median"]


def evolved(seed: int, *, memory: bool = False, mixed: bool = True) -> Network:
    """A random network of 3 inputs and 2 outputs: skips, delays, gates, reads of states."""
    random = np.random.default_rng(seed)
    hidden = int(random.integers(0, 9))
    ids = list(range(3, 5 + hidden))
    order = [*ids[2:], 3, 4]
    activations = (BOUNDED if memory else ACTIVATIONS) if mixed else ["tanh"]
    neurons = [
        {
            "id": j,
            "activation": str(random.choice(activations)),
            "aggregation": str(random.choice(AGGREGATIONS)) if mixed else "sum",
            "bias": float(random.normal()),
            "response": float(random.choice([1.0, 0.7])),
        }
        for j in ids
    ]
    connections: list[dict[str, Any]] = []
    for place, j in enumerate(order):
        before = [0, 1, 2, *order[:place]]
        count = int(random.integers(0, min(5, len(before)) + 1))
        for i in random.choice(before, count, replace=False).tolist():
            connections.append({"source": i, "target": j, "weight": float(random.normal())})
        if memory:
            again = {"source": int(random.choice(order)), "target": j, "delay": 1}
            connections.append(again | {"weight": float(random.normal() / 2)})
            connections[-1]["reads_state"] = again["source"] != j and bool(random.random() < 0.3)
            if place and random.random() < 0.5:
                connections[-1]["gater"] = int(random.choice(order[:place]))
    return Network.build(inputs=3, outputs=[3, 4], neurons=neurons, connections=connections)


def played(model: Any, population: Population, x: Floats) -> Floats:
    """Run steps (T, P, N, I) or (T, N, I) in onnxruntime, the memory fed back."""
    session = open_session(model)
    kind = np.float32 if "float)" in session.get_inputs()[0].type else np.float64
    state, results = population.initial_state(x.shape[-2]).astype(kind), []
    for row in x.astype(kind):
        feed = {"input": row}
        if population.layout.registers:
            feed["hidden_prev"] = state
        found = session.run(None, feed)
        results.append(found[0])
        state = found[-1]
    return np.stack(results)


@settings(max_examples=count(10, 25), deadline=None)
@given(seed=st.integers(0, 10_000), memory=st.booleans(), members=st.integers(1, 6))
def test_every_member_computes_what_it_computes_alone(seed: int, memory: bool, members: int):
    nets = [evolved(seed + k, memory=memory) for k in range(members)]
    population = Population(nets)
    x = np.random.default_rng(seed).normal(size=(5, members, 3, 3))
    want = np.stack([net.run(x[:, k]) for k, net in enumerate(nets)], axis=1)
    np.testing.assert_allclose(population.run(x), want, rtol=1e-9, atol=1e-12)
    model = export_population(population, dtype="float64")
    assert validate(model) == []
    np.testing.assert_allclose(played(model, population, x), want, rtol=1e-9, atol=1e-12)


def test_shared_samples_and_float32():
    nets = [evolved(k, mixed=False) for k in range(20)]
    population = Population(nets)
    x = np.random.default_rng(0).normal(size=(4, 3))
    want = np.stack([net.activate(x) for net in nets])
    np.testing.assert_allclose(population.activate(x), want, rtol=1e-12, atol=1e-12)
    model = export_population(nets, shared_input=True)
    onnx.checker.check_model(model.to_proto(), full_check=True)
    np.testing.assert_allclose(played(model, population, x[None])[0], want, atol=1e-5)


def test_libraries_networks_together():
    """Networks that libraries wrote, those with as many inputs and outputs; the rest is refused."""
    groups: dict[tuple[int, int], list[Network]] = {}
    for case in cases("np-rec", "np-ff", "nts-net-gate", "nts-net-gru", "nts-net-dag"):
        net = case.network()
        try:
            Population([net])
        except NetworkError as error:
            assert "overflow" in error.message
        else:
            groups.setdefault((len(net.input_neurons), len(net.output_neurons)), []).append(net)
    together = max(groups.values(), key=len)
    assert len(together) >= 3
    x = np.random.default_rng(1).normal(size=(6, 2, len(together[0].input_neurons)))
    want = np.stack([net.run(x) for net in together], axis=1)
    np.testing.assert_allclose(Population(together).run(x), want, rtol=1e-9, atol=1e-12)


def test_a_step_continues_the_one_before():
    nets = [evolved(k, memory=True, mixed=False) for k in range(3)]
    population = Population(nets)
    x = np.random.default_rng(2).normal(size=(4, 2, 3))
    state, got = population.initial_state(2), []
    for row in x:
        outputs, state = population.step(row, state)
        got.append(outputs)
    np.testing.assert_array_equal(np.stack(got), population.run(x))


def test_what_is_no_population_is_refused():
    one, other = Network.mlp([2, 1], seed=0), Network.mlp([3, 1], seed=0)
    with pytest.raises(NetworkError, match="one network or more"):
        Population([])
    with pytest.raises(NetworkError, match=r"differ.*member 1"):
        Population([one, other])
    with pytest.raises(NetworkError, match=r"may overflow.*member 0"):
        export_population([Network.mlp([2, 3, 1], activation="cube", seed=0)])
    with pytest.raises(NetworkError, match="shape"):
        Population([one]).activate([[1.0, 2.0, 3.0]])
    with pytest.raises(NetworkError, match="state"):
        Population([one]).step([[1.0, 2.0]], np.zeros((2, 1, 0)))
    with pytest.raises(OptionError, match="no opset 3"):
        export_population([one], opset=3)
    with pytest.raises(OptionError, match="dtype is 'int8', expected"):
        export_population([one], dtype="int8")  # type: ignore[arg-type]
