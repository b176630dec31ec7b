"""neat-python's continuous-time and spiking networks: live ones, documents, and refusals."""

import json
import math
from typing import Any

import neat
import numpy as np
import pytest
from neat.activations import relu_activation, sigmoid_activation, tanh_activation
from neat.aggregations import max_aggregation, sum_aggregation
from neat.ctrnn import CTRNN, CTRNNNodeEval
from neat.export import export_network_json
from neat.iznn import IZNN, IZNeuron
from support.examples.cases import cases
from support.harness.playing import played
from timed import quietly

from neat_onnx import export, import_model, load_model
from neat_onnx.errors import NeatOnnxWarning, NetworkError, OptionError
from neat_onnx.libraries import load_network
from neat_onnx.network.genes import Floats

ODD = 0.0625 * (1.0 + 2.0**-44)
WRITER = "metadata.neat_python_version"

pytestmark = pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow:DeprecationWarning")
TIMES = [
    (0.125, 0.125),
    (0.125, 0.3125),
    (0.3, 0.1),
    (0.1, 0.1),
    (0.1, 0.2),
    (0.1, 0.3),
    (0.1, 0.5),
    (1.0 / 3.0, 1.0),
    (0.05, 0.0),  # the advance is not given: one step
]


def live() -> CTRNN:
    """Two inputs and two outputs; node 4 has no node, and so is 0."""
    links = {
        0: [(-1, 0.7), (3, -1.3), (0, 0.4)],
        1: [(0, 1.1), (1, 0.9), (4, 2.0)],
        3: [(-2, -0.8), (1, 1.7), (-1, 0.2)],
    }
    functions = {
        0: (0.7, tanh_activation, sum_aggregation, 0.1, 0.9),
        1: (1.9, sigmoid_activation, max_aggregation, -0.2, 1.2),
        3: (0.4, relu_activation, sum_aggregation, 0.3, 0.5),
    }
    nodes = {key: CTRNNNodeEval(*functions[key], links[key]) for key in links}
    return CTRNN([-1, -2], [0, 1], nodes)


def advanced(net: CTRNN, x: Floats, step: float, advance: float) -> Floats:
    net.reset()
    return np.array([net.advance(row, advance, step) for row in x.tolist()])


@pytest.mark.parametrize(("step", "advance"), TIMES)
def test_a_live_network(step: float, advance: float):
    x = np.random.default_rng(0).normal(size=(260, 2))
    net = quietly(live(), step, advance or None)
    want = advanced(live(), x, step, advance or step)
    np.testing.assert_allclose(net.run(x), want, rtol=1e-12, atol=1e-12)
    assert net.library.startswith("neat-python ctrnn 2.")


@pytest.mark.skipif(neat.__version__ >= "2.1", reason="its integrator has one buffer")
def test_rounding_of_the_time_is_followed_over_thousands_of_steps():
    x = np.random.default_rng(1).normal(size=(4000, 2))  # these times swap seven times in it
    with pytest.warns(NeatOnnxWarning, match=r"the first of them step 14, .* 100000 steps"):
        net = load_network(live(), time_step=0.1, advance_time=0.3)
    want = advanced(live(), x, 0.1, 0.3)
    np.testing.assert_allclose(net.run(x), want, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("version", ["2.1.3", "3.0"])
def test_versions_after_2_1_integrate_as_it_does(version: str):
    times = {"time_step": 0.1, "advance_time": 0.25}
    net = load_network(document(version), **times)
    assert net == load_network(document("2.1.0"), **times)


def document(version: str | None = "2.1.0") -> dict[str, Any]:
    """The document of `live()`."""
    found = json.loads(export_network_json(live()))
    return found | {"metadata": {"neat_python_version": version} if version else {}}


def test_disabled_connections_are_genes():
    source = document()
    x = np.random.default_rng(0).normal(size=(5, 2))
    want = load_network(source, time_step=0.1, advance_time=0.3).run(x)
    source["connections"] += [
        {"from": 3, "to": 1, "weight": 5.0, "enabled": False},
        {"from": 1, "to": 4, "weight": 6.0, "enabled": False},
    ]
    net = load_network(source, time_step=0.1, advance_time=0.3)
    np.testing.assert_array_equal(net.run(x), want)
    genes = net.connections
    assert sorted(genes.weight[~genes.enabled]) == [5.0, 6.0]


@pytest.mark.parametrize(
    ("version", "times", "what", "where"),
    [
        ("2.0.0", {"advance_time": 0.1}, "does not say their time step", "time_step"),
        *[
            ("2.0.0", {"time_step": 0.1, name: wrong}, "should be a positive number", name)
            for name in ("time_step", "advance_time")
            for wrong in (0.0, -1.0, math.nan, math.inf, 10**400, True, "0.1")
        ],
        ("2.0.0", {"time_step": 1e-6, "advance_time": 1.0}, "more than 1000", "advance_time"),
        ("2.0.0", {"time_step": ODD, "advance_time": 2.0 * ODD}, "rounds the time", "time_step"),
        *[
            (version, {"time_step": 0.1}, "which neat-python wrote it", WRITER)
            for version in (None, "", "two", "9" * 5000 + ".0")
        ],
    ],
)
def test_times_and_versions_that_are_none_are_refused(version, times, what, where):
    with pytest.raises((OptionError, NetworkError), match=what) as caught:
        load_network(document(version), **times)
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("version", "constant"),
    [("2.0.0", 0.0), ("2.0.0", 1e-320), ("2.1.0", 0.0), ("2.1.0", -1e-320), ("2.1.0", None)],
)
def test_a_time_constant_too_small_or_missing(version, constant):
    source = document(version)
    source["nodes"][2]["time_constant"] = constant
    if constant is None:
        del source["nodes"][2]["time_constant"]
    what = r"time_constant .* of node 3 is too small|time_constant is missing"
    with pytest.raises(NetworkError, match=what) as caught:
        load_network(source, time_step=0.1)
    assert caught.value.where == "nodes[2].time_constant"


def test_times_are_for_these_networks_only():
    net = load_network(document(), time_step=0.1)
    for source in (net, net.to_json(), cases("np-rec")[0].source):
        with pytest.raises(OptionError, match="for ctrnn and iznn networks"):
            load_network(source, time_step=0.1)
        with pytest.raises(OptionError, match="for ctrnn and iznn networks") as caught:
            load_network(source, advance_time=0.1)
        assert caught.value.where == "advance_time"


def spiking() -> IZNN:
    """A neuron that bursts, one that it drives, and one without inputs that fires by its bias."""
    neurons = {
        0: IZNeuron(4.0, 0.02, 0.2, -55.0, 4.0, [(-1, 9.0), (2, 15.0)]),
        2: IZNeuron(-1.0, 0.1, 0.2, -65.0, 2.0, [(0, 40.0), (-1, 3.0), (5, -2.0)]),
        5: IZNeuron(12.0, 0.02, 0.25, -65.0, 0.05, []),
    }
    return IZNN(neurons, [-1], [0, 2, 5])


@pytest.mark.parametrize(("step", "advances"), [(1.0, 1), (0.5, 2), (0.1, 3)])
def test_a_live_spiking_network(step: float, advances: int):
    x = np.linspace(0.0, 2.0, 60)[:, None]
    net, want = spiking(), []
    net.reset()
    for row in x.tolist():
        net.set_inputs(row)
        want.append([net.advance(step) for _ in range(advances)][-1])
    network = load_network(spiking(), time_step=step, advance_time=step * advances)
    np.testing.assert_array_equal(network.run(x), want)
    assert np.sum(want) > 0
    for sequence in (False, True):
        model = export(network, dtype="float64", sequence=sequence)
        np.testing.assert_array_equal(played(model, x[:, None])[:, 0], want)
        assert import_model(load_model(model.to_json())) == network


@pytest.mark.parametrize(
    ("change", "times", "where"),
    [
        ({}, {}, "time_step"),
        ({}, {"time_step": 0.5, "advance_time": 1.25}, "advance_time"),
        ({"from": 77, "to": 0}, {"time_step": 1.0}, "connections[-].from"),
        ({"from": 0, "to": 77}, {"time_step": 1.0}, "connections[-].to"),
        ({"from": 0, "to": -1}, {"time_step": 1.0}, "connections[-].to"),
        ({"output_keys": [0, 77]}, {"time_step": 1.0}, "topology.output_keys[1]"),
    ],
)
def test_what_is_no_spiking_network_is_refused(change, times, where):
    source = dict(cases("np-iznn")[0].source)
    if "from" in change:
        source["connections"] = [*source["connections"], {**change, "weight": 1.0}]
    elif change:
        topology = {"input_keys": source["topology"]["input_keys"]}
        source["topology"] = topology | change
    with pytest.raises((NetworkError, OptionError)) as caught:
        load_network(source, **times)
    assert caught.value.where == where.replace("-", str(len(source["connections"]) - 1))
