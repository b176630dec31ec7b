"""Neurons of a layer that read less than the others are computed with them."""

import numpy as np

from neat_onnx import Network, export
from neat_onnx.network.even_levels import with_even_levels
from neat_onnx.network.schedule import schedule

SIZE = 20


def two_layers(*, early=7, read_early=False, others="tanh"):
    """Two inputs, a layer of them, and one of both; one of the second reads the inputs alone."""
    first = [{"id": 2 + k, "activation": "tanh"} for k in range(SIZE)]
    second = [
        {"id": 2 + SIZE + k, "activation": others if k == early else "tanh"} for k in range(SIZE)
    ]
    joined = {"id": 2 + 2 * SIZE, "activation": "sin"}
    connections = [(source, 2 + k, 1.0 + k) for k in range(SIZE) for source in (0, 1)]
    for k in range(SIZE):
        target = 2 + SIZE + k
        connections += [(0, target, 1.0), (1, target, 2.0), (target, joined["id"], 0.5)]
        connections += [(2 + k, target, 3.0)] if k != early else []
    if read_early:
        connections.append((2 + SIZE + early, 2 + SIZE, 1.0))
    neurons = [*first, {"id": 99, "activation": "identity"}, *second, joined]
    connections += [(0, 99, 1.0), (99, joined["id"], 1.0)]
    return Network.build(inputs=2, outputs=[joined["id"]], neurons=neurons, connections=connections)


def levels(net):
    plan = schedule(net)
    moved = with_even_levels(plan, net)
    assert all(np.array_equal(moved.level[each], [k] * len(each)) for k, each in
               enumerate(moved.levels))  # fmt: skip
    place = np.flatnonzero(net.neurons.id == 2 + SIZE + 7)[0]
    return int(plan.level[place]), int(moved.level[place])


def test_a_neuron_that_reads_less_waits_for_the_others():
    assert levels(two_layers()) == (1, 2)
    kinds = [each.op_type for each in export(two_layers()).graph.node]
    assert kinds.count("Tanh") == 2


def test_it_does_not_where_one_of_them_reads_it_or_it_is_of_another_kind():
    assert levels(two_layers(read_early=True)) == (1, 1)
    assert levels(two_layers(others="sin")) == (1, 1)
