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

from neat_onnx.errors import DocumentError, NeatOnnxWarning, NetworkError, OptionError
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


def test_feed_forward_is_what_it_computes_and_its_own_json():
    live = feed_forward()
    net = load_network(live)
    x = np.random.default_rng(1).normal(size=(20, 2))
    want = np.array([live.activate(row) for row in x])
    np.testing.assert_allclose(net.activate(x), want, rtol=1e-12)
    assert net == load_network(export_network_json(live))
    assert net.library == "neat-python feed-forward"


def test_recurrent_is_what_it_computes_and_its_own_json():
    live = recurrent()
    net = load_network(live)
    x = np.random.default_rng(2).normal(size=(20, 1))
    live.reset()
    want = np.array([live.activate(row) for row in x])
    np.testing.assert_allclose(net.run(x), want, rtol=1e-12)
    assert net == load_network(export_network_json(live))
    assert net.library == "neat-python recurrent"


def test_an_output_that_no_node_computes_is_0_and_told():
    live = FeedForwardNetwork([-1], [0, 7], [(0, TANH, SUM, 0.0, 1.0, [(-1, 1.0)])])
    with pytest.warns(NeatOnnxWarning, match="no node computes the output 7: neat-python gives 0"):
        net = load_network(live)
    np.testing.assert_allclose(net.activate([0.5]), live.activate([0.5]))


def test_a_class_of_the_users_that_is_derived_from_one_of_theirs():
    class Mine(FeedForwardNetwork):
        pass

    live = feed_forward()
    assert load_network(Mine(live.input_nodes, live.output_nodes, live.node_evals)) == load_network(
        live
    )


def test_numpy_numbers_in_a_network():
    live = FeedForwardNetwork([-1], [0], [(0, TANH, SUM, np.float32(0.5), 1, [(-1, np.int64(2))])])
    np.testing.assert_allclose(load_network(live).activate([0.25]), live.activate([0.25]))


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
    with pytest.raises(NetworkError, match="of node 0 is custom: its formula is unknown") as caught:
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


def test_a_custom_function_is_the_formula_that_it_computes():
    def tanh_activation(z):
        return math.tanh(z)

    live = custom(activation=tanh_activation)
    with pytest.warns(NeatOnnxWarning, match="'tanh' computes what neat_onnx calls tanh"):
        net = load_network(live)
    assert net.activations == ("identity", "tanh")
    np.testing.assert_allclose(net.activate([0.3, 0.2]), live.activate([0.3, 0.2]), rtol=1e-14)


def test_a_custom_function_does_not_pass_for_a_builtin_of_the_same_name():
    def tanh_activation(z):
        return z / 7.0

    with pytest.raises(NetworkError, match="'tanh' of node 0 is custom"):
        load_network(custom(activation=tanh_activation))


def test_a_function_without_a_name():
    class Callable:
        __hash__ = None

        def __call__(self, z):
            return z / 7.0

    with pytest.raises(NetworkError, match="'Callable' of node 0 is custom"):
        load_network(custom(activation=Callable()))


def test_a_weight_that_is_no_number():
    live = FeedForwardNetwork([-1], [0], [(0, TANH, SUM, 0.0, 1.0, [(-1, float("nan"))])])
    with pytest.raises(NetworkError, match="not a finite number") as caught:
        load_network(live)
    assert caught.value.where == "connections[0]"


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


# --- their JSON, where it says more than their exporter writes ------------------------------------


def document(kind="feedforward", **others):
    return json.loads(
        export_network_json(recurrent() if kind == "recurrent" else feed_forward())
    ) | {
        "network_type": kind,
        **others,
    }


def test_disabled_connections_are_genes():
    source = document()
    source["connections"].append({"from": 0, "to": 5, "weight": 3.0, "enabled": False})
    net = load_network(source)
    x = [0.3, -0.4]
    np.testing.assert_array_equal(net.activate(x), load_network(document()).activate(x))
    assert (~net.connections.enabled).sum() == 1


def test_in_a_recurrent_network_an_absent_node_may_have_disabled_connections():
    source = document("recurrent")
    source["connections"].append({"from": 0, "to": 7, "weight": 3.0, "enabled": False})
    x = [[0.3], [-0.4], [1.0]]
    want = load_network(document("recurrent")).run(x)
    np.testing.assert_array_equal(load_network(source).run(x), want)


@pytest.mark.parametrize("kind", ["feedforward", "recurrent"])
@pytest.mark.parametrize(
    ("gene", "end"), [({"from": 5, "to": 77}, "to"), ({"from": 0, "to": -1}, "to")]
)
def test_connections_that_end_nowhere_are_refused(kind, gene, end):
    source = document(kind)
    source["connections"].append({**gene, "weight": 1.0})
    with pytest.raises(NetworkError) as caught:
        load_network(source)
    assert caught.value.where == f"connections[{len(source['connections']) - 1}].{end}"


@pytest.mark.parametrize(
    ("key", "value"),
    [("num_inputs", 3), ("num_outputs", 0), ("input_keys", [-1, -1]), ("input_keys", [-1, -2, 5])],
)
def test_a_topology_that_contradicts_the_nodes_is_refused(key, value):
    source = document()
    source["topology"][key] = value
    with pytest.raises(NetworkError):
        load_network(source)


def test_an_id_that_occurs_twice_is_refused():
    source = document()
    source["nodes"].append(source["nodes"][0])
    with pytest.raises(NetworkError, match="the id 5 occurs twice"):
        load_network(source)
