"""neat-python's spiking networks."""

import numpy as np
import pytest
from neat.iznn import IZNN, IZNeuron
from support.examples.cases import Case, assert_within, cases
from support.harness.playing import played
from support.harness.sweep import WHOLE
from timed import assert_comes_back, assert_exports, ran, read

from neat_onnx import export, import_model, load_model
from neat_onnx.errors import NetworkError, OptionError
from neat_onnx.libraries import load_network
from neat_onnx.network.evaluate import evaluate
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network

CASES = cases("np-iznn")
each_case = pytest.mark.parametrize("one", CASES, ids=lambda one: one.name)
# twenty advances a row take seconds; two and three are exported in test_a_live_network
each_short = pytest.mark.parametrize(
    "one", [one for one in CASES if WHOLE or len(read(one)) < 500], ids=lambda one: one.name
)


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


@each_short
def test_onnxruntime_computes_it_too(one: Case):
    assert_exports(one)


@each_short
def test_comes_back(one: Case):
    assert_comes_back(one)


@each_case
def test_genes_stay_what_they_were(one: Case):
    net = read(one)
    topology = one.source["topology"]
    assert net.library == "neat-python iznn"
    assert net.neurons.id[net.input_neurons].tolist() == topology["input_keys"]
    assert net.neurons.id[net.output_neurons].tolist() == topology["output_keys"]
    assert {node["id"] for node in one.source["nodes"]} <= set(net.neurons.id.tolist())
    assert {gene["weight"] for gene in one.source["connections"]} <= set(net.connections.weight)


# --- live networks --------------------------------------------------------------------------------


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


def test_the_start_is_at_the_reset_values():
    net = load_network(live(), time_step=1.0)
    names = list(net.neuron_names)
    assert net.neurons.initial[names.index("node 2 potential")] == -65.0
    assert net.neurons.initial[names.index("node 2 recovery")] == 0.2 * -65.0


# --- what is refused ------------------------------------------------------------------------------


def test_without_a_time_step_it_says_what_to_give():
    for source in (CASES[0].source, live()):
        with pytest.raises(OptionError, match="iznn networks does not say their time step"):
            load_network(source)


def test_only_whole_time_steps():
    with pytest.raises(OptionError, match="no whole number of time steps") as caught:
        load_network(live(), time_step=0.5, advance_time=1.25)
    assert caught.value.where == "advance_time"


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"from": 77, "to": 0}, "connections[-].from"),
        ({"from": 0, "to": 77}, "connections[-].to"),
        ({"from": 0, "to": -1}, "connections[-].to"),
    ],
)
def test_connections_that_end_nowhere(change: dict[str, int], where: str):
    source = CASES[0].source
    genes = [*source["connections"], {**change, "weight": 1.0}]
    with pytest.raises(NetworkError) as caught:
        load_network(source | {"connections": genes}, time_step=1.0)
    assert caught.value.where == where.replace("-", str(len(genes) - 1))


def test_an_output_without_a_neuron():
    topology = {"input_keys": CASES[0].source["topology"]["input_keys"], "output_keys": [0, 77]}
    with pytest.raises(NetworkError, match="no node 77") as caught:
        load_network(CASES[0].source | {"topology": topology}, time_step=1.0)
    assert caught.value.where == "topology.output_keys[1]"
