"""Networks written for the libraries in list order, and read again."""

import json
import random
import warnings
from typing import Any

import numpy as np
import pytest
from support.examples.cases import cases

from neat_onnx import NeatOnnxWarning, Network, NetworkError, load_network

LIBRARIES = ("neataptic-ts", "neataptic")
ACTIVATIONS = ("sigmoid", "tanh", "identity", "relu", "neat_sigmoid", "neat_tanh", "hat")


def again(net: Network, library: str) -> tuple[Network, list[str]]:
    """The network after a round trip through the library's JSON, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", NeatOnnxWarning)
        back = load_network(json.loads(json.dumps(net.to_library(library))))
    return back, [str(warning.message) for warning in caught]


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("case", cases("nts-net"), ids=lambda case: case.name)
def test_networks_of_neataptic_ts_come_back_gene_by_gene(case):
    net = load_network(case.source)
    assert again(net, "neataptic-ts")[0] == net


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("case", cases("nap-net"), ids=lambda case: case.name)
def test_networks_of_neataptic_come_back_and_compute_the_same_bits(case):
    net = load_network(case.source)
    back, _ = again(net, "neataptic")
    steps = np.asarray(case.inputs)
    assert np.array_equal(back.run(steps), net.run(steps))


def drawn(r: random.Random) -> Network:
    """A random network with delays, gates, loops, shared outputs and disabled genes."""
    inputs, outputs = r.randint(1, 3), r.randint(1, 3)
    ids = list(range(inputs + outputs + r.randint(0, 6)))
    order = r.sample(ids[inputs:], len(ids) - inputs)
    place = {id: position for position, id in enumerate(ids[:inputs] + order)}
    neurons = [
        {
            "id": id,
            "activation": r.choice(ACTIVATIONS),
            "bias": r.gauss(0, 1),
            "response": r.choice([1.0] * 5 + [2.0, 1.3]),
            "aggregation": r.choice(["sum"] * 8 + ["mean"]),
        }
        for id in order
    ]
    return Network.build(
        inputs=inputs,
        outputs=[r.choice(ids) for _ in range(outputs)],
        neurons=neurons,
        connections=[connection(r, ids, order, place) for _ in range(r.randint(1, 3 * len(ids)))],
    )


def connection(
    r: random.Random, ids: list[int], order: list[int], place: dict[int, int]
) -> dict[str, Any]:
    source, target, gater = r.choice(ids), r.choice(order), r.choice(ids)
    forward = place[source] < place[target] and r.random() < 0.8
    gene: dict[str, Any] = {"source": source, "target": target, "weight": r.gauss(0, 0.5)}
    gene["delay"] = 0 if forward else r.choice([1, 1, 1, 2, 3])
    gene["reads_state"] = r.random() < 0.25
    gene["enabled"] = r.random() < 0.9
    if r.random() < 0.2:
        gene["gater"] = gater
        gene["gate_delay"] = 0 if place[gater] < place[target] else r.choice([1, 1, 2])
    return gene


@pytest.mark.parametrize("library", LIBRARIES)
def test_networks_that_no_library_made_compute_the_same(library):
    r = random.Random(5)
    for _ in range(60):
        net = drawn(r)
        steps = np.array([[r.gauss(0, 1) for _ in net.input_neurons] for _ in range(9)])
        back, _ = again(net, library)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(back.run(steps), net.run(steps), rtol=1e-9, atol=1e-12)


def test_added_nodes_are_told():
    neurons = [{"id": 1, "activation": "tanh", "response": 2.0}]
    connections = [{"source": 0, "target": 1, "weight": 1.0, "delay": 2}]
    net = Network.build(inputs=1, outputs=[1], neurons=neurons, connections=connections)
    _, reply = again(net, "neataptic-ts")
    assert any("a response or a mean is a weight" in text for text in reply)
    assert any("3 nodes were added that hold a value" in text for text in reply)


@pytest.mark.parametrize("gain", [0.5, 1.0])
def test_gates_that_start_open_are_refused(gain):
    gene = {"source": 0, "target": 1, "weight": 1.0, "gater": 2, "gate_delay": 1}
    net = Network.build(
        inputs=1, outputs=[1], neurons=[1, 2], connections=[{**gene, "initial_gain": gain}]
    )
    with pytest.raises(NetworkError, match=f"an initial gain of {gain:g}"):
        net.to_library("neataptic")
