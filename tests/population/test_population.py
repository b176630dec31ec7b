"""Populations: every member computes what it computes alone, in numpy and in onnxruntime."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.strategies import networks
from support.harness.sessions import open_session
from support.harness.sweep import count

from neat_onnx import Model, Network, NetworkError, Population, export, validate
from neat_onnx.network.genes import Floats


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


@settings(max_examples=count(20, 60), deadline=None)
@given(st.lists(networks(ports=(3, 2)), min_size=1, max_size=5), st.integers(0, 9))
def test_every_member_computes_what_it_computes_alone(nets: list[Network], seed: int):
    population = Population(nets)
    x = np.random.default_rng(seed).normal(size=(5, len(nets), 3, 3))
    want = np.stack([net.run(x[:, k]) for k, net in enumerate(nets)], axis=1)
    np.testing.assert_allclose(population.run(x), want, rtol=1e-9, atol=1e-9)
    model = export(population.network, dtype="float64")
    assert validate(model) == []
    got = played(model, x.swapaxes(1, 2)).swapaxes(1, 2)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def test_samples_that_all_members_share():
    nets = [Network.mlp([3, k + 1, 2], seed=k) for k in range(20)]
    x = np.random.default_rng(0).normal(size=(4, 3))
    want = np.stack([net.activate(x) for net in nets])
    np.testing.assert_allclose(Population(nets).activate(x), want, rtol=1e-12, atol=1e-12)


def test_a_step_continues_the_one_before():
    nets = [Network.gru(3, k, 2, seed=k) for k in range(1, 4)]
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
