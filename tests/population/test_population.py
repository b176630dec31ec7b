"""Populations: every member computes what it computes alone, in numpy and in onnxruntime."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.cases import cases
from support.harness.sessions import open_session
from support.harness.sweep import count

from neat_onnx import Model, Network, NetworkError, Population, export, validate
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


def played(model: Model, x: Floats) -> Floats:
    """Run steps (T, N, P, I) in onnxruntime, the memory fed back."""
    session = open_session(model)
    kind = np.float32 if "float)" in session.get_inputs()[0].type else np.float64
    held = {s.input: np.broadcast_to(s.initial, (x.shape[1], *s.shape[1:])) for s in model.states}
    held = {name: each.astype(kind) for name, each in held.items()}
    names, results = [port.name for port in session.get_outputs()], []
    for row in x.astype(kind):
        found = dict(zip(names, session.run(None, {"input": row} | held), strict=True))
        held = {state.input: found[state.output] for state in model.states}
        results.append(found["output"])
    return np.stack(results)


@settings(max_examples=count(10, 25), deadline=None)
@given(seed=st.integers(0, 10_000), memory=st.booleans(), members=st.integers(1, 6))
def test_every_member_computes_what_it_computes_alone(seed: int, memory: bool, members: int):
    nets = [evolved(seed + k, memory=memory) for k in range(members)]
    population = Population(nets)
    x = np.random.default_rng(seed).normal(size=(5, members, 3, 3))
    want = np.stack([net.run(x[:, k]) for k, net in enumerate(nets)], axis=1)
    np.testing.assert_allclose(population.run(x), want, rtol=1e-9, atol=1e-12)
    model = export(population.network, dtype="float64")
    assert validate(model) == []
    got = played(model, x.swapaxes(1, 2)).swapaxes(1, 2)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_samples_that_all_members_share():
    nets = [evolved(k, mixed=False) for k in range(20)]
    x = np.random.default_rng(0).normal(size=(4, 3))
    want = np.stack([net.activate(x) for net in nets])
    np.testing.assert_allclose(Population(nets).activate(x), want, rtol=1e-12, atol=1e-12)


def test_libraries_networks_together():
    """Networks that libraries wrote, those with as many inputs and outputs."""
    groups: dict[tuple[int, int], list[Network]] = {}
    for case in cases("np-rec", "np-ff", "nts-net-gate", "nts-net-gru", "nts-net-dag"):
        net = case.network()
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
    with pytest.raises(NetworkError, match="shape"):
        Population([one]).activate([[1.0, 2.0, 3.0]])
    with pytest.raises(NetworkError, match="state"):
        Population([one]).step([[1.0, 2.0]], np.zeros((2, 1)))
