"""neat-python's spiking networks."""

import numpy as np
import pytest
from neat.iznn import IZNN, IZNeuron
from support.examples.cases import Case, assert_within, cases
from support.harness.playing import played
from support.harness.sweep import WHOLE
from timed import ran, read

from neat_onnx import export, import_model, load_model
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries import load_network
from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network

CASES = cases("np-iznn")
each_case = pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)


@each_case
def test_computes_what_the_peer_computes(one: Case):
    net = read(one)
    assert_within(ran(one), one.outputs, one.tolerance64)
    assert np.sum(ran(one)) == sum(one.document["spikes"]) > 0
    steps = slice(0, 60 if len(net) < 500 or WHOLE else 12)  # it computes neuron by neuron
    assert_within(evaluate(net, one.inputs[steps]), one.outputs[steps], one.tolerance64[steps])


@each_case
def test_potentials_and_recoveries_are_the_peers(one: Case):
    """The traces of every tenth step; in what the neurons hold after it."""
    net = read(one)
    names = list(net.neuron_names)
    last = one.document["advance"]["advances_per_row"]
    suffix = f", advance {last}" if last > 1 else ""
    found = [
        names.index(f"node {key} {what}{suffix}")
        for what in ("potential", "recovery")
        for key in one.document["neuron_order"]
    ]
    got = values_of(net, found, one.inputs)[::10]
    want = np.hstack([one.document["trace_v_every10"], one.document["trace_u_every10"]])
    np.testing.assert_allclose(got[: len(want)], want, rtol=1e-6)


def values_of(net: Network, neurons: list[int], x: Floats) -> Floats:
    """What these neurons are after each step, (T, neurons)."""
    document = net.to_document().model_copy(deep=True)
    ids = net.neurons.id[neurons].tolist()
    port = document.outputs[0].model_copy(update={"shape": [len(ids)], "neurons": ids})
    probe = Network.from_document(document.model_copy(update={"outputs": [port]}))
    return probe.run(x)


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
