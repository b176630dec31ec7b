"""HyperNEAT: substrates against what pureples computed (recorded), and updates within a step."""

import json
from itertools import product
from pathlib import Path

import neat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples.strategies import networks

import neat_onnx
from neat_onnx import Network, OptionError
from neat_onnx.network.side_by_side import repeated

RECORDED = json.loads((Path(__file__).parent / "pureples.json").read_text())
CASES = {f"{k}-{case['kind']}": case for k, case in enumerate(RECORDED["cases"])}
INPUTS, OUTPUTS = RECORDED["inputs"], RECORDED["outputs"]


def cppn(axes=2, constant=True, activation="neat_sin"):
    """A CPPN of three neurons, with a random weight for each input."""
    count = 2 * axes + constant
    random = np.random.default_rng(axes)
    edges = [(i, j, float(random.normal())) for i in range(count) for j in (20, 21)]
    neurons = [{"id": 20, "activation": activation}, {"id": 21}, {"id": 22}]
    connections = [*edges, (20, 22, 0.7), (21, 22, 0.3)]
    return Network.build(inputs=count, outputs=[22], neurons=neurons, connections=connections)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_pureples_computes(case):
    net = Network.from_document(case["cppn"])
    if case["kind"] == "hyperneat":
        found = neat_onnx.substrate_network(net, [INPUTS, *case["hidden"], OUTPUTS])
    else:
        names = ("initial_depth", "max_depth", "iterations")
        found = neat_onnx.es_substrate_network(
            net, INPUTS, OUTPUTS, activation="neat_tanh", **{name: case[name] for name in names}
        )
    assert len(found.connections) == case["connections"]
    assert not found.has_memory
    np.testing.assert_allclose(found.activate(RECORDED["x"]), case["outputs"], atol=1e-12)
    assert neat_onnx.verify(found, neat_onnx.export(found), samples=8).passed


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("constant", [False, True])
def test_each_weight_is_the_cppns(axes, constant):
    net = cppn(axes, constant)
    random = np.random.default_rng(0)
    layers = [random.uniform(-1, 1, (n, axes)) for n in (4, 5, 3)]
    found = neat_onnx.substrate_network(
        net, layers, activation="tanh", max_weight=3.0, threshold=0.3, bias=0.25
    )
    points = np.concatenate(layers)
    weights = np.zeros((12, 12))
    for a, b in [*product(range(4), range(4, 9)), *product(range(4, 9), range(9, 12))]:
        (w,) = net.activate([*points[a], *points[b], *[1.0] * constant])
        weights[a, b] = 0.0 if abs(w) <= 0.3 else (w - np.sign(w) * 0.3) / 0.7 * 3.0
    got = np.zeros_like(weights)
    got[found.connections.source, found.connections.target] = found.connections.weight
    np.testing.assert_allclose(got, weights, atol=1e-13)
    fed = weights.any(axis=0)
    assert found.neurons.bias.tolist() == np.where(fed, 0.25, 0.0).tolist()
    assert set(found.activation_names[~fed]) <= {"identity"}


def test_a_cppn_of_a_library_is_read():
    net = cppn(activation="neat_gauss")
    layers = [INPUTS, OUTPUTS]
    want = neat_onnx.substrate_network(net, layers)
    assert neat_onnx.substrate_network(net.to_json(), layers) == want


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": [INPUTS]}, "an input and an output layer"),
        ({"layers": [INPUTS, [[0.0]]]}, "in one space"),
        ({"layers": [INPUTS, 3]}, r"layers\[1\] has shape"),
        ({"layers": [[[0.0] * 3], [[0.0] * 3]]}, "the CPPN has 5 inputs, expected 6"),
        ({"threshold": 1.0}, "threshold is 1.0"),
        ({"max_weight": "much"}, "max_weight is 'much'"),
    ],
)
def test_what_is_no_substrate_is_refused(change, message):
    given = {"layers": [INPUTS, OUTPUTS]} | change
    with pytest.raises(OptionError, match=message):
        neat_onnx.substrate_network(cppn(), **given)


def test_what_is_no_search_is_refused():
    for change, message in (
        ({"inputs": [[0.0]]}, "pairs"),
        ({"max_depth": 40}, "depths"),
        ({"variance_threshold": -1.0}, "negative"),
        ({"outputs": INPUTS}, "the same coordinates"),
    ):
        given = {"inputs": INPUTS, "outputs": OUTPUTS} | change
        with pytest.raises(OptionError, match=message):
            neat_onnx.es_substrate_network(cppn(), **given)


# --- updates within a step ------------------------------------------------------------------------


@given(networks(), st.integers(1, 4))
def test_a_repeated_step_is_several_steps_on_one_input(net, times):
    if not net.has_memory:
        assert repeated(net, times) is net
        return
    x = np.random.default_rng(0).normal(size=(4, len(net.input_neurons)))
    want = net.run(np.repeat(x, times, axis=0))[times - 1 :: times]
    np.testing.assert_allclose(repeated(net, times).run(x), want, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:the custom aggregation")
def test_a_recurrent_network_is_activated_several_times_an_input():
    tanh = neat.activations.tanh_activation
    nodes = [(1, tanh, sum, 0.1, 1.0, [(0, 0.5), (2, -1.0)]), (2, tanh, sum, 0.2, 1.0, [(1, 2.0)])]
    peer = neat.nn.RecurrentNetwork([0], [2], nodes)
    net = neat_onnx.load_network(peer, activations=3)
    want = []
    for x in (0.5, -1.0, 0.25):
        for _ in range(3):
            (y,) = peer.activate([x])
        want.append([y])
    np.testing.assert_allclose(net.run([[0.5], [-1.0], [0.25]]), want, rtol=1e-13)
    assert neat_onnx.load_network(peer, cycles=3) == net
    with pytest.raises(OptionError, match="positive integer"):
        neat_onnx.load_network(peer, activations=0)
    with pytest.raises(OptionError, match="cycles is for"):
        neat_onnx.load_network('{"neurons": [], "connections": []}', activations=2)
