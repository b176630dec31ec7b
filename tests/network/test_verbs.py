"""Small verbs: pruning, other numbers, networks of arrays, levels, differences, states."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.strategies import networks
from support.harness.sessions import open_session
from support.harness.sweep import count

import neat_onnx
from neat_onnx import Network, NetworkError, OptionError
from neat_onnx.cli import main
from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.schedule import contributing


def sequence(net, steps=5, seed=0):
    return np.random.default_rng(seed).normal(size=(steps, len(net.input_neurons)))


def genes(net):
    """The connections by the ids of their ends."""
    ids, edges = net.neurons.id, net.connections
    return set(zip(ids[edges.source], ids[edges.target], edges.weight, edges.delay, strict=True))


# --- pruned ---------------------------------------------------------------------------------------


@given(networks())
def test_a_pruned_network_computes_the_same_with_what_matters_alone(net):
    small = net.pruned()
    x = sequence(net)
    np.testing.assert_array_equal(evaluate(small, x), evaluate(net, x))
    assert small.connections.enabled.all()
    assert (contributing(small) | small.is_input).all()
    assert set(small.neurons.id) <= set(net.neurons.id)
    assert genes(small) <= genes(net)
    assert small.pruned() == small


def test_weights_below_a_bound_go_and_their_cost_is_measured():
    net = Network.build(
        inputs=2,
        outputs=[5],
        neurons=[{"id": 4, "name": "bump"}, 5, {"id": 6, "aggregation": "product"}],
        connections=[(0, 4, 0.001), (4, 5, 1.0), (1, 5, 0.5), (0, 6, 0.001), (6, 5, 2.0)],
    )
    small = net.pruned(below=0.01)
    assert small.neurons.id.tolist() == [0, 1, 4, 5, 6]  # 4 is a constant now, 6 is no sum
    assert small.neuron_names[2] == "bump"
    found = neat_onnx.diff(net, small)
    assert found.genes.connections_gone == ["0 → 4"]
    assert 0.001 <= found.max_error <= 0.1
    for wrong in (-1.0, "much", None):
        with pytest.raises(OptionError, match="below"):
            net.pruned(below=wrong)


# --- arrays ---------------------------------------------------------------------------------------


def test_other_numbers_in_the_same_structure():
    net = Network.lstm(2, 3, 1, seed=1)
    weight = np.arange(len(net.connections)) / 100
    bias = np.linspace(-1, 1, len(net))
    other = net.with_parameters(weight=weight, bias=bias, response=np.full(len(net), 0.5))
    assert other.connections.weight.tolist() == weight.tolist()
    assert other.neurons.bias.tolist() == bias.tolist()
    assert (
        other.with_parameters(weight=net.connections.weight, bias=net.neurons.bias, response=1.0)
        == net
    )
    for wrong in ({"weight": weight[1:]}, {"bias": [np.nan] * len(net)}, {"bias": ["a"]}):
        with pytest.raises(NetworkError):
            net.with_parameters(**wrong)


def test_a_network_of_arrays():
    net = Network.from_arrays(
        inputs=[0, 1],
        outputs=[4],
        source=[0, 1, 2, 3, 3],
        target=[2, 3, 4, 4, 3],
        weight=[0.5, -1.0, 2.0, 1.5, 0.25],
        activation=["identity", "identity", "tanh", "relu", "sigmoid"],
        bias=[0, 0, 0.1, 0.2, 0.3],
        id=[7, 8, 20, 21, 9],
        delay=[0, 0, 0, 0, 1],
    )
    built = Network.build(
        inputs=[7, 8],
        outputs=[9],
        neurons=[
            {"id": 20, "activation": "tanh", "bias": 0.1},
            {"id": 21, "activation": "relu", "bias": 0.2},
            {"id": 9, "activation": "sigmoid", "bias": 0.3},
        ],
        connections=[
            (7, 20, 0.5),
            (8, 21, -1.0),
            (20, 9, 2.0),
            (21, 9, 1.5),
            {"source": 21, "target": 21, "weight": 0.25, "delay": 1},
        ],
    )
    assert neat_onnx.diff(net, built).is_empty
    np.testing.assert_array_equal(net.run(sequence(net)), built.run(sequence(net)))
    plain = Network.from_arrays(inputs=[0], outputs=[1], source=[0], target=[1], weight=[3.0])
    assert plain.activate([0.5]) == pytest.approx(np.tanh(1.5), rel=1e-15)
    for wrong in (
        {"weight": [1.0, 2.0]},
        {"target": [7], "id": [0, 1]},
        {"activation": ["tanh"]},
        {"activation": "?"},
        {"source": [0.5]},
        {"bias": [1.0]},
        {"target": [2**60]},
        {"weight": None},
    ):
        given = {"inputs": [0], "outputs": [1], "source": [0], "target": [1], "weight": [3.0]}
        with pytest.raises(NetworkError):
            Network.from_arrays(**(given | wrong))


def test_levels():
    net = Network.mlp([2, 3, 1])
    assert [level.tolist() for level in net.levels] == [[0, 1], [2, 3, 4], [5]]


def test_an_activation_by_its_name():
    z = np.linspace(-2, 2, 5)
    np.testing.assert_array_equal(neat_onnx.activation("neat_tanh")(z), np.tanh(2.5 * z))
    assert neat_onnx.activation("formula: z * z").linear_growth is False
    with pytest.raises(NetworkError, match="unknown activation 'nope'"):
        neat_onnx.activation("nope")


# --- differences ----------------------------------------------------------------------------------


def test_genes_and_function_are_compared(tmp_path, capsys):
    net = Network.mlp([2, 3, 1], seed=0)
    other = net.with_parameters(bias=net.neurons.bias + 0.5)
    found = neat_onnx.diff(net, other)
    assert len(found.genes.others) == 6 and found.max_error > 0.01 and found.mse > 0
    assert neat_onnx.diff(net, net).max_error == 0.0
    assert neat_onnx.diff(net, Network.mlp([3, 1])).max_error is None
    assert "bias" in str(found) and "apart on 256 samples" in str(found)
    paths = [str(tmp_path / name) for name in ("a.json", "b.json", "a.onnx")]
    net.save(paths[0])
    other.save(paths[1])
    neat_onnx.export(net, embed_network=True).save(paths[2])
    assert main(["diff", paths[0], paths[1], "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["max_error"] == found.max_error
    assert main(["diff", paths[0], paths[2]]) == 0
    assert "the same genes\noutputs: the same" in capsys.readouterr().out
    assert main(["diff", paths[0], str(tmp_path / "none.json")]) == 2


# --- states ---------------------------------------------------------------------------------------


@settings(max_examples=count(30, 100), deadline=None)
@given(networks(), st.booleans())
def test_the_states_of_a_model_are_enough_to_run_it(net, joined):
    state = "joined" if joined else "separate"
    model = neat_onnx.export(net, dtype="float64", state=state)
    x = sequence(net)
    session = open_session(model)
    feed = {each.input: each.initial for each in model.states}
    names = [each.name for each in session.get_outputs()]
    got = []
    for row in x:
        found = dict(zip(names, session.run(None, {"input": row[None]} | feed), strict=True))
        feed = {each.input: found[each.output] for each in model.states}
        got.append(found["output"][0])
    np.testing.assert_allclose(got, evaluate(net, x), rtol=1e-9, atol=1e-9)
    if joined and model.states:
        (each,) = model.states
        assert (each.input, each.output) == ("hidden_prev", "hidden_next")
        np.testing.assert_array_equal(each.initial, net.initial_state())


def test_joined_is_of_a_single_step():
    with pytest.raises(OptionError, match="memory of a sequence"):
        neat_onnx.export(Network.gru(1, 2), sequence=True, state="joined")
    with pytest.raises(OptionError, match="state cannot be"):
        neat_onnx.export(Network.mlp([1, 1]), dialect="neataptic", state="joined")
    assert neat_onnx.export(Network.mlp([1, 1]), state="joined").states == ()
