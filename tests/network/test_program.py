"""The compiled evaluator against the plain one, and against sums written out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples.strategies import BOUNDED, GROWING, networks

from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.network import Network


def sequences(net, steps, seed, scale=1.0):
    return np.random.default_rng(seed).normal(size=(steps, 3, len(net.input_neurons))) * scale


@given(networks(), st.integers(0, 5))
def test_sequences_side_by_side_are_what_each_is_alone(net, seed):
    x = sequences(net, 6, seed)
    got = net.run(x)
    for sample in range(x.shape[1]):
        want = evaluate(net, x[:, sample])
        np.testing.assert_allclose(got[:, sample], want, rtol=1e-9, atol=1e-9)


@given(networks(), st.integers(0, 5))
def test_samples_start_from_the_reset_state(net, seed):
    x = sequences(net, 4, seed)[:, 0]
    want = [evaluate(net, row[None])[0] for row in x]
    np.testing.assert_allclose(net.activate(x), want, rtol=1e-9, atol=1e-9)


@given(
    networks(
        activations=[*BOUNDED, *GROWING], weights=st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e150])
    ),
    st.integers(0, 5),
)
def test_infinities_stay_where_they_arise(net, seed):
    """Nothing is negative, so nothing cancels and order of summation does not matter."""
    x = np.abs(sequences(net, 6, seed, 100.0))
    x[3, 0] = np.inf
    got = net.run(x)
    for sample in range(x.shape[1]):
        want = evaluate(net, x[:, sample])
        np.testing.assert_array_equal(np.isnan(got[:, sample]), np.isnan(want))
        np.testing.assert_array_equal(np.isinf(got[:, sample]), np.isinf(want))


def test_a_diverging_loop_leaves_its_neighbours_alone():
    net = Network.build(
        inputs=1,
        outputs=[2, 3],
        neurons=[1, 2, 3],
        connections=[
            (0, 1, 1.0),
            {"source": 1, "target": 1, "weight": 1e200, "delay": 1},
            (1, 2, 1.0),
            (0, 3, 1.0),
        ],
    )
    for x in (np.ones((5, 1)), np.ones((5, 2, 1))):  # by straight-line code, and by arrays
        got = net.run(x)
        assert np.all(got[..., 1] == 1.0) and np.all(got[-1, ..., 0] == np.inf)
    state = net.initial_state(2)
    for row in x:
        y, state = net.step(row, state)
        assert np.all(y[:, 1] == 1.0)


def test_more_samples_than_are_computed_at_once():
    net = Network.mlp([3, 5, 2], seed=4)
    x = np.random.default_rng(0).normal(size=(2500, 3))
    got = net.activate(x)
    for row in (0, 1023, 1024, 2499):
        np.testing.assert_allclose(got[row], net.activate(x[row]), rtol=1e-13)


def test_delays_initial_values_and_states():
    net = Network.build(
        inputs=1,
        outputs=[2, 3],
        neurons=[{"id": 1, "activation": "square", "initial": 7.0}, 2, 3],
        connections=[
            (0, 1, 1.0),
            {"source": 1, "target": 2, "weight": 1.0, "delay": 2},
            {"source": 1, "target": 3, "weight": 1.0, "delay": 1, "reads_state": True},
        ],
    )
    got = net.run([[2.0], [-3.0], [4.0], [5.0]])
    np.testing.assert_array_equal(got, [[7.0, 7.0], [7.0, 2.0], [4.0, -3.0], [9.0, 4.0]])
    assert net.has_memory


@pytest.mark.parametrize(("delay", "expected"), [(0, [6.0, 20.0]), (1, [0.5, 12.0])])
def test_a_gate_multiplies_the_weight(delay, expected):
    net = Network.build(
        inputs=2,
        outputs=[3],
        neurons=[2, 3],
        connections=[
            (1, 2, 1.0),
            {
                "source": 0,
                "target": 3,
                "weight": 1.0,
                "gater": 2,
                "gate_delay": delay,
                "initial_gain": 0.25,
            },
        ],
    )
    got = net.run([[2.0, 3.0], [4.0, 5.0]])
    np.testing.assert_array_equal(got[:, 0], expected)


def test_a_long_delay():
    gene = {"source": 0, "target": 1, "weight": 1.0, "delay": 1000}
    net = Network.build(inputs=1, outputs=[1], neurons=[1], connections=[gene])
    x = np.arange(1.0, 1006.0)[:, None]
    np.testing.assert_array_equal(net.run(x)[998:, 0], [0, 0, 1, 2, 3, 4, 5])


def test_response_is_outside_the_aggregation_and_weights_are_inside():
    neuron = {"id": 2, "aggregation": "max", "bias": 0.5, "response": -2.0}
    net = Network.build(
        inputs=2, outputs=[2], neurons=[neuron], connections=[(0, 2, 3.0), (1, 2, -1.0)]
    )
    np.testing.assert_array_equal(net.activate([1.0, 5.0]), [0.5 - 2.0 * 3.0])


@pytest.mark.parametrize(
    ("aggregation", "want"),
    [("product", 3.5), *((name, 0.5) for name in ("sum", "mean", "max", "maxabs", "median"))],
)
def test_nothing_comes_in(aggregation, want):
    neuron = {"id": 1, "aggregation": aggregation, "bias": 0.5, "response": 3.0}
    net = Network.build(inputs=1, outputs=[1], neurons=[neuron], connections=[])
    np.testing.assert_array_equal(net.activate([9.0]), [want])
