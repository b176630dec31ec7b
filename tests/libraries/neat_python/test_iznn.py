"""neat-python's spiking networks."""

import numpy as np
import pytest
from neat.iznn import IZNN, IZNeuron
from support.examples.cases import cases
from support.harness.playing import played

from neat_onnx import export, import_model, load_model
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries import load_network

CASES = cases("np-iznn")


def live() -> IZNN:
    """A neuron that bursts, one that it drives, and one without inputs that fires by its bias."""
    neurons = {
        0: IZNeuron(4.0, 0.02, 0.2, -55.0, 4.0, [(-1, 9.0), (2, 15.0)]),
        2: IZNeuron(-1.0, 0.1, 0.2, -65.0, 2.0, [(0, 40.0), (-1, 3.0), (5, -2.0)]),
        5: IZNeuron(12.0, 0.02, 0.25, -65.0, 0.05, []),
    }
    return IZNN(neurons, [-1], [0, 2, 5])


@pytest.mark.parametrize(("step", "advances"), [(1.0, 1), (0.5, 2), (0.1, 3)])
def test_a_live_network(step: float, advances: int):
    x = np.linspace(0.0, 2.0, 60)[:, None]
    net, want = live(), []
    net.reset()
    for row in x.tolist():
        net.set_inputs(row)
        want.append([net.advance(step) for _ in range(advances)][-1])
    network = load_network(live(), time_step=step, advance_time=step * advances)
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
    source = dict(CASES[0].source)
    if "from" in change:
        source["connections"] = [*source["connections"], {**change, "weight": 1.0}]
    elif change:
        topology = {"input_keys": source["topology"]["input_keys"]}
        source["topology"] = topology | change
    with pytest.raises((NetworkError, OptionError)) as caught:
        load_network(source, **times)
    assert caught.value.where == where.replace("-", str(len(source["connections"]) - 1))
