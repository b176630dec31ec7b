"""Which neurons may overflow although what they read is moderate."""

import numpy as np
import pytest

from neat_onnx.network.growth import overflowing
from neat_onnx.network.network import Network


def may_overflow(neurons, connections):
    net = Network.build(
        inputs=1, outputs=[neurons[-1]["id"]], neurons=neurons, connections=connections
    )
    return net.neurons.id[overflowing(net).activation].tolist()


CHAIN = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)]


@pytest.mark.parametrize("activation", ["cube", "square", "neat_exp", "neat_inv"])
def test_what_grows_fast_is_wild_up_to_where_it_is_bounded(activation):
    names = [activation, "relu", "tanh", "identity"]
    neurons = [{"id": k + 1, "activation": name} for k, name in enumerate(names)]
    assert may_overflow(neurons, CHAIN) == [1, 2]


def test_a_bounded_network_is_not():
    assert may_overflow([{"id": k, "activation": "softplus"} for k in range(1, 5)], CHAIN) == []


@pytest.mark.parametrize(
    ("formula", "wild"),
    [
        ("clip(round(z / 0.25) + -128, -128, 127)", False),
        ("clip(round(z), 0, 65535)", False),
        ("clip(z, -1000000, 1000000)", True),
    ],
)
def test_steps_of_integers_are_bounded_although_none_of_them_is_small(formula, wild):
    neurons = [{"id": 1, "activation": f"formula: {formula}"}, {"id": 2, "aggregation": "product"}]
    twice = [(0, 1, 1.0), (1, 2, 1.0), (1, 2, 2.0)]
    assert may_overflow(neurons, twice) == ([2] if wild else [])


def test_a_product_of_unbounded_values_is_wild_and_of_inputs_it_is_not():
    neurons = [{"id": 1}, {"id": 2, "aggregation": "product"}, {"id": 3, "aggregation": "product"}]
    twice = [(0, 1, 1.0), (1, 2, 1.0), (1, 2, 2.0), (0, 3, 1.0), (0, 3, 1.0)]
    assert may_overflow(neurons, twice) == [2]


def test_a_gated_connection_is_a_product():
    gated = {"source": 1, "target": 2, "weight": 1.0, "gater": 1}
    assert may_overflow([{"id": 1}, {"id": 2}], [(0, 1, 1.0), gated]) == [2]
    bounded = [{"id": 1, "activation": "tanh"}, {"id": 2}]
    assert may_overflow(bounded, [(0, 1, 1.0), gated]) == []


def test_a_maximum_is_no_product():
    neurons = [{"id": 1}, {"id": 2, "aggregation": "max"}]
    assert may_overflow(neurons, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)]) == []


def test_what_it_is_for():
    """An overflowing neighbour does not reach over the weight 0 of a missing connection."""
    net = Network.build(
        inputs=2,
        outputs=[4, 5],
        neurons=[{"id": 2, "activation": "cube"}, {"id": 3, "activation": "cube"}, 4, 5],
        connections=[(0, 2, 1.0), (1, 3, 1.0), (2, 4, 1.0), (3, 5, 1.0)],
    )
    np.testing.assert_array_equal(net.activate([1e200, 2.0]), [np.inf, 8.0])


# --- from step to step ----------------------------------------------------------------------------


def later(source, target, weight, **more):
    return {"source": source, "target": target, "weight": weight, "delay": 1, **more}


@pytest.mark.parametrize(
    ("weight", "grows"), [(0.5, False), (-1.0, False), (1.0, False), (-1.01, True), (1.5, True)]
)
@pytest.mark.parametrize("activation", ["identity", "relu", "tanh"])
def test_a_state_that_reads_itself_grows_above_one(weight, grows, activation):
    net = Network.build(
        inputs=1,
        outputs=[1],
        neurons=[{"id": 1, "activation": activation}],
        connections=[(0, 1, 1.0), later(1, 1, weight, reads_state=True)],
    )
    found = overflowing(net)
    assert found.pre_activation.tolist() == [False, grows]
    assert found.activation.tolist() == [False, grows and activation != "tanh"]


@pytest.mark.parametrize(("there", "back", "grows"), [(4.0, 0.2, False), (4.0, 0.26, True)])
def test_a_cycle_counts_as_a_whole(there, back, grows):
    neurons = [{"id": 1, "activation": "relu"}, {"id": 2, "activation": "softplus"}]
    connections = [(0, 1, 1.0), (1, 2, there), later(2, 1, back)]
    assert may_overflow(neurons, connections) == ([1, 2] if grows else [])


def test_a_gate_bounds_what_it_multiplies():
    neurons = [{"id": 1, "activation": "sigmoid"}, {"id": 2}]
    kept = later(2, 2, 1.0, gater=1)
    assert may_overflow(neurons, [(0, 1, 1.0), (0, 2, 1.0), kept]) == []
    assert may_overflow(neurons, [(0, 1, 1.0), (0, 2, 1.0), kept | {"weight": 1.1}]) == [2]


def test_an_input_that_gates_a_cycle_may_be_large():
    assert may_overflow([{"id": 2}], [(0, 2, 1.0), later(2, 2, 0.1, gater=0)]) == [2]


def test_integrators_in_a_row_grow_by_powers_of_time():
    ids = range(1, 5)
    links = [(k - 1, k, 1.0) for k in ids] + [later(k, k, 1.0) for k in ids]
    assert may_overflow([{"id": k} for k in ids], links) == []
    assert may_overflow([{"id": k} for k in ids], [*links, later(3, 3, 0.1)]) == [3, 4]


def test_growth_goes_on_through_delays():
    neurons = [{"id": 1}, {"id": 2}, {"id": 3, "activation": "tanh"}]
    connections = [(0, 1, 1.0), later(1, 1, 2.0), later(1, 2, 1.0), later(2, 3, 1.0)]
    assert may_overflow(neurons, connections) == [1, 2]


def test_what_infinities_make_undefined_passes_every_bound():
    grows = [(0, 1, 1.0), later(1, 1, 2.0)]
    read_on = [{"id": 3, "activation": "tanh"}, {"id": 4, "activation": "tanh"}]
    sine = [{"id": 1}, {"id": 2, "activation": "sin"}, *read_on]
    assert may_overflow(sine, [*grows, (1, 2, 1.0), (2, 3, 1.0), (0, 4, 1.0)]) == [1, 2, 3]
    difference = [{"id": 1}, {"id": 2}, *read_on]
    both = [*grows, (0, 2, 1.0), later(2, 2, 2.0), (1, 3, 1.0), (2, 3, -1.0), (1, 4, 1.0)]
    assert may_overflow(difference, both) == [1, 2, 3]
    gated = [{"id": 1}, {"id": 2, "activation": "tanh"}, {"id": 3, "activation": "tanh"}]
    gate = {"source": 1, "target": 2, "weight": 1.0, "gater": 3}
    assert may_overflow(gated, [*grows, (0, 3, 1.0), gate]) == [1, 2]


@pytest.mark.parametrize(
    ("weight", "response", "undefined"),
    [(0.5, 1.0, False), (0.0, 1.0, True), (-0.0, 1.0, True), (0.5, 0.0, True)],
)
def test_zero_times_infinity_is_undefined(weight, response, undefined):
    neurons = [{"id": 1}, {"id": 2, "activation": "tanh", "response": response}]
    links = [(0, 1, 1.0), later(1, 1, 2.0), (0, 2, 1.0), (1, 2, weight)]
    assert may_overflow(neurons, links) == ([1, 2] if undefined else [1])


@pytest.mark.parametrize(
    ("formula", "decides"),
    [("number(greater(z, 0))", True), ("number(negated(equal(z, 0)))", True),
     ("2 * number(greater(z, 0))", False), ("tanh(z)", False)],
)  # fmt: skip
def test_a_truth_value_ends_what_infinities_make_undefined(formula, decides):
    neurons = [{"id": 1, "activation": "square"}, {"id": 2, "activation": "square"},
               {"id": 3, "activation": f"formula: {formula}"}, {"id": 4}]  # fmt: skip
    links = [(0, 1, 2.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, -1.0), (3, 4, 1.0)]
    links += [later(1, 1, 2.0), later(2, 2, 2.0)]
    assert may_overflow(neurons, links) == ([1, 2] if decides else [1, 2, 3, 4])


@pytest.mark.parametrize(
    ("formula", "before", "bias", "wild"),
    [
        ("sqrt(z)", "tanh", 0.0, [2, 3, 4]),
        ("sqrt(z)", "abs", 0.0, [2]),
        ("sqrt(z)", "abs", -0.5, [2, 3, 4]),
        ("log(z)", "sigmoid", 0.0, [2, 3, 4]),
        ("log(z)", "sigmoid", 0.5, [2]),
        ("pow(z, 0.5)", "identity", 0.0, [2, 3, 4]),
        ("asin(z)", "identity", 0.0, [2, 3, 4]),
    ],
)
def test_a_function_that_is_nan_for_some_numbers(formula, before, bias, wild):
    neurons = [
        {"id": 1, "activation": before},
        {"id": 2, "activation": f"formula: {formula}", "bias": bias},
        {"id": 3, "activation": "tanh"},
        {"id": 4},
    ]
    assert may_overflow(neurons, CHAIN) == wild


def test_a_value_that_is_nan_does_not_reach_its_neighbours():
    from support.harness.sessions import open_session

    from neat_onnx import export

    neurons = [{"id": k, "activation": "formula: sqrt(z)"} for k in (3, 4, 5)]
    neurons += [{"id": k, "activation": "tanh"} for k in (6, 7, 8, 9, 10, 11)]
    links = [(k, 3 + k, 1.0) for k in range(3)]
    links += [(3 + k, 6 + k, 0.5 + k) for k in range(6)]
    net = Network.build(inputs=3, outputs=[9, 10, 11], neurons=neurons, connections=links)
    x = np.array([[-1.0, 4.0, 9.0], [1.0, -2.0, 4.0]])
    want = net.activate(x)
    assert np.isnan(want).sum() == 2
    for dtype in ("float32", "float64"):
        session = open_session(export(net, dtype=dtype))
        (got,) = session.run(None, {"input": x.astype(dtype)})
        np.testing.assert_allclose(got, want, rtol=1e-6)
