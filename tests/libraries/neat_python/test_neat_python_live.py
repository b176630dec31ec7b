"""Live neat-python networks: the same as their JSON, and as what they compute themselves."""

import base64
import json
import math
import pickle
from pathlib import Path

import neat
import numpy as np
import pytest
from neat import activations, aggregations
from neat.export import export_network_json
from neat.nn import FeedForwardNetwork, RecurrentNetwork

from neat_onnx.errors import DocumentError, NetworkError, OptionError
from neat_onnx.libraries import load_network
from neat_onnx.libraries.neat_python.functions import ACTIVATION_NAMES, AGGREGATION_NAMES
from neat_onnx.network.activations import ACTIVATIONS, register_activation
from neat_onnx.network.aggregations import (
    AGGREGATIONS,
    register_aggregation,
    unregister_aggregation,
)
from neat_onnx.network.expression import largest, smallest, tanh

pytestmark = [
    pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:no node computes the output 9"),
]

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())
CASE = next(case for case in RECORDED["cases"] if case["name"] == "ff-messy0-2.0.0")
SIGMOID, TANH = activations.sigmoid_activation, activations.tanh_activation
SUM, PRODUCT = aggregations.sum_aggregation, aggregations.product_aggregation


def feed_forward():
    """Two inputs, a skip connection, a node without inputs, an output without a node."""
    return FeedForwardNetwork(
        [-1, -2],
        [0, 1, 9],
        [
            (5, TANH, aggregations.maxabs_aggregation, 0.25, 1.5, [(-1, 2.0), (-2, -2.0)]),
            (6, activations.gauss_activation, PRODUCT, 0.5, -2.0, []),
            (0, SIGMOID, SUM, -0.5, 1.0, [(5, 0.3), (6, 0.7), (-2, -0.1), (9, 4.0)]),
            (1, activations.identity_activation, PRODUCT, 0.0, 1.0, [(6, 0.5), (5, 3.0)]),
        ],
    )


def recurrent():
    """A self-connection, a cycle, and node 7, which has no inputs: the constant 0."""
    return RecurrentNetwork(
        [-1],
        [0, 3],
        [
            (0, TANH, SUM, 0.1, 1.0, [(-1, 1.0), (0, -0.5), (4, 2.0)]),
            (4, SIGMOID, aggregations.max_aggregation, 0.0, 0.5, [(0, 1.5), (7, 1.0), (-1, 0.2)]),
        ],
    )


@pytest.mark.parametrize("make", [feed_forward, recurrent])
def test_a_live_network_is_what_it_computes_and_its_own_json(make):
    class Mine(type(make())):
        """One of the user's."""

    live, net = make(), load_network(make())
    x = np.random.default_rng(1).normal(size=(20, len(live.input_nodes)))
    want = np.array([live.activate(row) for row in x])
    np.testing.assert_allclose(net.run(x), want, rtol=1e-12)
    assert net == load_network(export_network_json(live))
    assert net == load_network(Mine(live.input_nodes, live.output_nodes, live.node_evals))


def test_numbers_of_a_live_network():
    def live(weight):
        node = (0, TANH, SUM, np.float32(0.5), 1, [(-1, weight)])
        return FeedForwardNetwork([-1], [0, 9], [node])

    two = live(np.int64(2))
    np.testing.assert_allclose(load_network(two).activate([0.25]), two.activate([0.25]))
    with pytest.raises(NetworkError, match="not a finite number"):
        load_network(live(math.nan))


def test_all_their_functions_are_known():
    assert set(ACTIVATION_NAMES) == set(activations.ActivationFunctionSet().functions)
    assert set(AGGREGATION_NAMES) == set(aggregations.AggregationFunctionSet().functions)


@pytest.mark.parametrize("name", ACTIVATION_NAMES)
def test_each_activation(name):
    live = activations.ActivationFunctionSet().get(name)
    z = np.concatenate([np.linspace(-15, 15, 301), [0.0, 1e-9, -1e-9]])
    net = load_network(FeedForwardNetwork([-1], [0], [(0, live, SUM, 0.0, 1.0, [(-1, 1.0)])]))
    want = [live(value) for value in z.tolist()]
    np.testing.assert_allclose(net.activate(z[:, None])[:, 0], want, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", AGGREGATION_NAMES)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_each_aggregation(name, count):
    live = aggregations.AggregationFunctionSet().get(name)
    weights = [(-1 - k, 1.0 if k % 2 else -1.0) for k in range(count)]
    identity = activations.identity_activation
    network = FeedForwardNetwork([-1, -2, -3, -4], [0], [(0, identity, live, 0.0, 1.0, weights)])
    x = np.array([[1.0, -1.0, 2.0, 2.0], [3.0, 3.0, 3.0, -3.0], [0.0, 0.0, 0.5, 0.25]])
    want = np.array([network.activate(row) for row in x])
    np.testing.assert_allclose(load_network(network).activate(x), want, rtol=1e-12)


def wave(z):
    return np.tanh(3.0 * z)


def spread_aggregation(values):
    return max(values) - min(values) if values else 0.0


def custom(activation=TANH, aggregation=SUM):
    return FeedForwardNetwork(
        [-1, -2], [0], [(0, activation, aggregation, 0.0, 1.0, [(-1, 1.0), (-2, 2.0)])]
    )


@pytest.mark.parametrize(
    "source", [custom, lambda **f: json.loads(export_network_json(custom(**f)))]
)
@pytest.mark.parametrize("function", ["activation", "aggregation"])
def test_a_function_of_the_users_is_refused_until_it_is_registered(source, function):
    one = {"activation": wave, "aggregation": spread_aggregation}[function]
    with pytest.raises(NetworkError, match="is custom: its formula is unknown") as caught:
        load_network(source(**{function: one}))
    assert f"register_{function}" in str(caught.value.hint)
    assert caught.value.where in (f"nodes[0].{function}", f"node 0.{function}")
    try:
        register_activation("wave", lambda z: tanh(3.0 * z))
        register_aggregation("spread", lambda v, k: largest(v) - smallest(v))
        x = np.array([[0.1, -0.3], [2.0, 1.0]])
        live = custom(**{function: one})
        want = np.array([live.activate(row) for row in x])
        np.testing.assert_allclose(load_network(source(**{function: one})).activate(x), want)
    finally:
        ACTIVATIONS.pop("wave", None)
        AGGREGATIONS.pop("spread", None)


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_an_aggregation_of_the_library_is_registered_for_it_and_written_again():
    live = custom(aggregation=spread_aggregation)
    register_aggregation("spread", lambda v, k: largest(v) - smallest(v), library="neat-python")
    try:
        net = load_network(json.loads(export_network_json(live)))
        x = [[0.1, -0.3], [2.0, 1.0]]
        np.testing.assert_allclose(net.activate(x), [live.activate(row) for row in x])
        document = net.to_library("neat-python")
        written = [node["aggregation"] for node in document["nodes"] if node["id"] == 0]
        assert written == [{"name": "spread", "custom": True}]
        assert load_network(document) == net
    finally:
        unregister_aggregation("spread", library="neat-python")


def test_a_custom_function_does_not_pass_for_a_builtin_of_the_same_name():
    def tanh_activation(z):
        return z / 7.0

    with pytest.raises(NetworkError, match="'tanh' is custom"):
        load_network(custom(activation=tanh_activation))


def test_what_of_theirs_is_no_network():
    with pytest.raises(DocumentError, match="not a network"):
        load_network(neat.StdOutReporter(False))
    with pytest.raises(OptionError, match="its configuration is needed"):
        load_network(neat.DefaultGenome(3))


def test_a_genome_with_its_config(tmp_path):
    (tmp_path / "config").write_text(RECORDED["configs"][CASE["config"]])
    kinds = neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation
    config = neat.Config(neat.DefaultGenome, *kinds, str(tmp_path / "config"))
    genome = pickle.loads(base64.b64decode(CASE["file"]))
    net = load_network((genome, config))
    assert net == load_network(genome, config)
    assert net == load_network(genome, tmp_path / "config")
    live = FeedForwardNetwork.create(genome, config)
    x = np.random.default_rng(1).normal(size=(5, len(config.genome_config.input_keys)))
    want = [live.activate(row) for row in x]
    np.testing.assert_allclose(net.activate(x), want, rtol=1e-12, atol=1e-12)


def document(kind="feedforward", **others):
    return json.loads(
        export_network_json(recurrent() if kind == "recurrent" else feed_forward())
    ) | {"network_type": kind, **others}


def test_disabled_connections_are_genes():
    source = document()
    source["connections"].append({"from": 0, "to": 5, "weight": 3.0, "enabled": False})
    net = load_network(source)
    x = [0.3, -0.4]
    np.testing.assert_array_equal(net.activate(x), load_network(document()).activate(x))
    assert (~net.connections.enabled).sum() == 1


@pytest.mark.parametrize(
    ("kind", "change", "where"),
    [
        *[
            (kind, {"from": source, "to": target}, "connections[-].to")
            for kind in ("feedforward", "recurrent")
            for source, target in ((5, 77), (0, -1))
        ],
        ("feedforward", {"input_keys": [-1, -1]}, None),
        ("feedforward", {"input_keys": [-1, -2, 5]}, None),
        ("feedforward", {"nodes": 2}, "nodes[2].id"),
    ],
)
def test_json_that_contradicts_itself_is_refused(kind, change, where):
    source = document(kind)
    if "from" in change:
        source["connections"].append({**change, "weight": 1.0})
    elif "nodes" in change:
        source["nodes"] = [node for node in source["nodes"] if node["type"] != "input"]
        source["nodes"].insert(2, source["nodes"][0])
    else:
        source["topology"] |= change
    with pytest.raises(NetworkError) as caught:
        load_network(source)
    expected = where and where.replace("-", str(len(source["connections"]) - 1))
    assert where is None or caught.value.where == expected
