"""One sample by straight-line Python, against the plain evaluator."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.strategies import FORMULAS, networks

from neat_onnx import Network, NetworkError, register_activation, unregister_activation
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.expression import PRIMITIVES, REDUCING, cos, sin
from neat_onnx.network.schedule import schedule
from neat_onnx.network.straight_line import _FUNCTIONS, _WRITTEN, straight_line

BUILTIN = sorted(name for name, function in ACTIVATIONS.items() if function.builtin)
EXTREME = [0.0, -0.0, 1e-300, 30.0, -1e3, 1e200, -1e308, np.inf, -np.inf, np.nan]


def test_every_elementwise_primitive_has_a_form():
    assert _FUNCTIONS.keys() | _WRITTEN.keys() == PRIMITIVES.keys() - REDUCING


@settings(max_examples=200)
@given(networks(activations=[*BUILTIN, *FORMULAS]), st.integers(0, 5))
def test_a_sequence_of_steps(net, seed):
    x = np.random.default_rng(seed).normal(size=(5, len(net.input_neurons)))
    want = evaluate(net, x)
    np.testing.assert_allclose(net.run(x), want, rtol=1e-8, atol=1e-8)
    state, got = net.initial_state(), []
    for row in x:
        y, state = net.step(row, state)
        got.append(y)
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("activation", [*BUILTIN, *FORMULAS])
def test_every_activation_of_every_size_of_number(activation):
    """The statements themselves, without arrays behind them, wherever numbers are ordinary."""
    neurons = [{"id": 1, "activation": activation}]
    net = Network.build(inputs=1, outputs=[1], neurons=neurons, connections=[(0, 1, 1.0)])
    step = straight_line(net, schedule(net).levels)
    for z in np.linspace(-4.1, 4.1, 60).tolist():
        want = evaluate(net, np.array([[z]]))[0]
        np.testing.assert_allclose(step([z], [])[0], want, rtol=1e-13, atol=1e-15)
    for z in EXTREME:
        np.testing.assert_allclose(net.activate([z]), evaluate(net, np.array([[z]]))[0], rtol=1e-12)


@pytest.mark.parametrize(
    "aggregation", ["sum", "mean", "product", "max", "min", "maxabs", "median"]
)
def test_every_aggregation_with_values_that_are_not_finite(aggregation):
    neuron = {"id": 3, "aggregation": aggregation, "bias": 0.5, "response": 2.0}
    edges = [(0, 3, -1.0), (1, 3, 2.0), (2, 3, 0.5)]
    net = Network.build(inputs=3, outputs=[3], neurons=[neuron], connections=edges)
    for row in [
        [1.0, 0.5, 3.0],
        [-2.0, 1.0, 4.0],
        *np.random.default_rng(0).choice(EXTREME, (30, 3)),
    ]:
        want = evaluate(net, np.array([row]))[0]
        np.testing.assert_allclose(net.activate(list(row)), want, rtol=1e-12)


def test_what_one_sample_may_be_given_as():
    net = Network.mlp([3, 4, 2], seed=1)
    x = [1.0, -2.0, 0.5]
    want = evaluate(net, np.array([x]))[0]
    outputs = net.compile()
    for given_as in (x, tuple(x), np.array(x), np.array(x, np.float32), [1, -2, np.float64(0.5)]):
        np.testing.assert_allclose(net.activate(given_as), want, rtol=1e-14)
        np.testing.assert_allclose(outputs(given_as), want, rtol=1e-14)
    assert [type(value) for value in outputs(x)] == [float, float]
    assert net.activate(x).dtype == np.float64
    for wrong in (
        [1.0, 2.0],
        [1.0, 2.0, 3.0, 4.0],
        [1.0, 2.0, "?"],
        [1.0, 2.0, [3.0]],
        [1.0, 2.0, 10**400],
    ):
        with pytest.raises(NetworkError):
            net.activate(wrong)
        with pytest.raises(NetworkError):
            outputs(wrong)


def test_wide_sums_and_deep_formulas():
    wide = Network.mlp([2000, 1, 1], seed=0)
    x = np.random.default_rng(0).normal(size=2000)
    step = straight_line(wide, schedule(wide).levels)
    np.testing.assert_allclose(step(x, [])[0], wide.activate(x[None])[0], rtol=1e-12)
    formula = "z"
    for _ in range(49):
        formula = f"sin({formula} + 0.1)"
    deep = Network.mlp([1, 1], activation=f"formula: {formula}", seed=0)
    np.testing.assert_allclose(deep.activate([0.3]), deep.activate([[0.3]])[0], rtol=1e-13)


def test_a_name_that_stands_for_another_function_now():
    try:
        register_activation("own", lambda z: sin(z) + 1.0)
        net = Network.mlp([1, 1], activation="own", seed=0)
        first = net.activate([0.7])
        unregister_activation("own")
        register_activation("own", lambda z: cos(z) + 2.0)
        assert not np.allclose(net.activate([0.7]), first)
        np.testing.assert_allclose(net.activate([0.7]), evaluate(net, np.array([[0.7]]))[0])
        unregister_activation("own")
        with pytest.raises(NetworkError, match="unknown activation 'own'"):
            net.activate([0.7])
    finally:
        ACTIVATIONS.pop("own", None)


def test_a_large_dense_network_is_left_to_arrays():
    net = Network.mlp([300, 300, 10], seed=0)
    x = np.random.default_rng(0).normal(size=300)
    np.testing.assert_allclose(net.compile()(x), net.activate(x[None])[0], rtol=1e-12)
