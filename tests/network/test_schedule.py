"""Levels, cycles, and what the outputs depend on."""

import numpy as np
import pytest
from hypothesis import given
from support.examples.strategies import networks

from neat_onnx.errors import NetworkError
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import Edges, contributing, immediate_edges, schedule


def net(connections, count=5, outputs=(4,)):
    return Network.build(
        inputs=1, outputs=outputs, neurons=range(1, count), connections=connections
    )


@given(networks())
def test_every_neuron_is_on_a_level_above_all_it_reads_in_the_step(network):
    plan = schedule(network)
    source, target = immediate_edges(network)
    assert np.all(plan.level[target] > plan.level[source])
    for number, level in enumerate(plan.levels):
        np.testing.assert_array_equal(level, np.flatnonzero(plan.level == number))
    assert np.all((plan.level == 0) == network.is_input)
    for neuron in np.flatnonzero(~network.is_input):
        below = plan.level[source[target == neuron]]
        assert plan.level[neuron] == 1 + max(below, default=0)


def test_levels_of_a_skip_connection():
    plan = schedule(net([(0, 1, 1), (1, 2, 1), (0, 3, 1), (2, 4, 1), (3, 4, 1)]))
    assert plan.level.tolist() == [0, 1, 2, 1, 3]
    assert plan.depth == 3


CYCLE = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 1, 1), (3, 4, 1)]


def test_a_cycle_is_told_by_its_neurons_and_nothing_else():
    with pytest.raises(NetworkError, match="form a cycle") as caught:
        schedule(net(CYCLE))
    named = caught.value.message.partition("cycle: ")[2].split(", ")
    assert sorted(named) == ["neuron 1", "neuron 2", "neuron 3"]


def test_a_long_cycle_is_not_told_whole():
    count = 100
    edges = [(k, k % (count - 1) + 1, 1.0) for k in range(1, count)]
    with pytest.raises(NetworkError, match="…") as caught:
        schedule(net(edges, count))
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("change", [{"delay": 1}, {"enabled": False}])
def test_a_delay_or_a_disabled_gene_breaks_a_cycle(change):
    back = {"source": 3, "target": 1, "weight": 1.0, **change}
    assert schedule(net([*CYCLE[:3], back, CYCLE[4]])).level.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("gate_delay", "level"), [(0, 3), (1, 1)])
def test_a_gate_is_read_in_its_step(gate_delay, level):
    gated = {"source": 0, "target": 4, "weight": 1.0, "gater": 2, "gate_delay": gate_delay}
    assert schedule(net([(0, 1, 1), (1, 2, 1), gated])).level[4] == level


def test_a_gate_can_close_a_cycle():
    gated = {"source": 0, "target": 1, "weight": 1.0, "gater": 2}
    with pytest.raises(NetworkError, match="cycle"):
        schedule(net([(1, 2, 1), gated]))


def test_what_the_outputs_depend_on():
    gated = {"source": 0, "target": 4, "weight": 1.0, "gater": 2, "gate_delay": 1}
    late = {"source": 5, "target": 4, "weight": 1.0, "delay": 1}
    gene = {"source": 3, "target": 4, "weight": 1.0, "enabled": False}
    network = net([(1, 2, 1), gated, late, gene, (4, 6, 1)], 7)
    assert np.flatnonzero(contributing(network)).tolist() == [0, 1, 2, 4, 5]


def test_nothing_but_inputs():
    network = Network.build(inputs=2, outputs=[1, 0, 1], neurons=[], connections=[])
    assert schedule(network).depth == 0
    np.testing.assert_array_equal(network.activate([3.0, 4.0]), [4.0, 3.0, 4.0])


@pytest.mark.parametrize("neurons", [[], [2], [2, 3, 4], [4, 2], [0, 2, 4], [5, 6]])
def test_edges_that_leave_neurons_are_those_that_start_there(neurons):
    source, target = np.array([4, 2, 0, 2, 3, 0]), np.array([1, 5, 5, 0, 6, 2])
    found = Edges(source, target, 7).leaving(np.array(neurons, np.int64))
    assert found.tolist() == [int(end) for each in neurons for end in target[source == each]]
