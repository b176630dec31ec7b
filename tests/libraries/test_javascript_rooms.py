"""synaptic, carrot and brain.js: cases recorded by the libraries' own code, read and written."""

import json

import numpy as np
import pytest
from support.examples.recorded import outputs, recorded_cases
from support.peers.judging import Task, computed

from neat_onnx import Network, NetworkError, OptionError, load_network, load_networks

ROOMS = {"synaptic": "synaptic", "carrot": "carrot", "brain_js": "brain.js"}
BOUNDS = {"brain.js": 4 * 2.0**-24}  # it keeps weights and activations in float32
CASES = recorded_cases(ROOMS)


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize(("library", "path"), CASES, ids=lambda part: getattr(part, "stem", part))
def test_recorded_networks_compute_what_the_library_computed(library, path):
    case = json.loads(path.read_text("utf-8"))
    net = load_network(case["source"])
    assert net.library == library
    bound = BOUNDS.get(library, 1e-12)
    np.testing.assert_allclose(outputs(net, case), case["outputs"], rtol=bound, atol=bound)
    again = load_network(json.loads(json.dumps(net.to_library(library))))
    np.testing.assert_allclose(outputs(again, case), outputs(net, case), rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(
    ("genes", "outputs"),
    [
        ([(0, 1, 1.0), (1, 2, 1.0), (2, 1, 0.5), (2, 1, 0.25), (2, 3, 1.0)], [1.0, 0.75, 0.5625]),
        ([(0, 1, 1.0), (1, 2, 1.0), (1, 2, 0.25), (2, 3, 1.0)], [0.25, 0.0, 0.0]),
        (
            [(0, 1, 1.0), (1, 2, 1.0), (1, 2, 0.25), (2, 1, 0.5), (2, 3, 1.0)],
            [0.25, 1 / 32, 1 / 256],
        ),
    ],
    ids=["behind one in the other direction", "alone", "before one in the other direction"],
)
@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
def test_synaptic_adds_a_second_connection_or_replaces_the_weight(genes, outputs):
    neurons = [{"layer": layer, "bias": 0, "squash": "IDENTITY"} for layer in ("input", 0, 1)]
    neurons.append({**neurons[0], "layer": "output"})
    connections = [{"from": a, "to": b, "weight": weight} for a, b, weight in genes]
    net = load_network({"neurons": neurons, "connections": connections})
    assert net.run([[1.0], [0.0], [0.0]]).ravel().tolist() == outputs  # by synaptic 1.1.4


def test_a_synaptic_connection_with_two_gaters_is_refused():
    neurons = [{"layer": layer, "bias": 0} for layer in ("input", 0, 0, "output")]
    connections = [{"from": 0, "to": 3, "weight": 1, "gater": gater} for gater in (None, 1, 1, 2)]
    with pytest.raises(NetworkError, match="from 0 to 3, with another gater") as refused:
        load_network({"neurons": neurons, "connections": connections})
    assert refused.value.where == "connections[3]"
    with pytest.warns(UserWarning, match="as one, with the last weight: 2 left out"):
        net = load_network({"neurons": neurons, "connections": connections[:3]})
    assert net.activate([3.0]).tolist() == [1 / (1 + np.exp(-1.5))]


def test_version_2_of_brain_js_is_read():
    document = {
        "type": "NeuralNetwork",
        "sizes": [2, 1],
        "layers": [{"weights": [], "biases": []}, {"weights": [[0.5, -2.0]], "biases": [0.25]}],
        "inputLookup": None,
        "options": {},
        "trainOpts": {"activation": "relu"},
    }
    assert load_network(document).activate([3.0, 0.5]).tolist() == [0.75]
    document["trainOpts"] = {"activation": "leaky-relu", "leakyReluAlpha": 0.125}
    leaky = load_network(document)
    assert leaky.activate([[3.0, 0.5], [3.0, 1.0]]).tolist() == [[0.75], [-0.03125]]
    with pytest.raises(NetworkError, match="the activation formula: maximum"):
        leaky.to_library("brain.js")


def test_names_of_inputs_and_outputs_are_written_for_brain_js():
    neuron = {"bias": 0.5, "weights": {"r": 1.0, "g": -2.0}}
    layers = [{"r": {}, "g": {}}, {"dark": neuron}]
    document = {"layers": layers, "inputLookup": True, "outputLookup": True}
    with pytest.warns(UserWarning, match="float32"):
        back = load_network(document).to_library("brain.js")
    assert [list(layer) for layer in back["layers"]] == [["r", "g"], ["dark"]]
    assert (back["sizes"], back["inputLookup"], back["outputLookup"]) == ([2, 1], True, True)
    numbered = {"layers": [{"1": {}, "g": {}}, {"0": neuron}], "inputLookup": True}
    with pytest.warns(UserWarning, match="float32"):
        back = load_network(numbered).to_library("brain.js")
    assert (list(back["layers"][0]), back["inputLookup"]) == (["0", "1"], False)


def test_recurrent_kinds_of_brain_js_are_refused():
    with pytest.raises(NetworkError, match="LSTMTimeStep of brain"):
        load_network({"type": "LSTMTimeStep", "options": {}, "hiddenLayers": []})
    with pytest.raises(NetworkError, match="LSTM of brain"):
        load_network({"type": "LSTM", "sizes": [1, 1], "layers": []})


def test_the_precision_of_brain_js_is_told():
    with pytest.warns(UserWarning, match="in float32"):
        Network.mlp([2, 1]).to_library("brain.js")


def test_a_gater_that_is_gone_is_ignored_with_a_warning():
    nodes = [
        {"type": kind, "bias": 0.0, "squash": "identity", "index": at, "geneId": at}
        for at, kind in enumerate(("input", "output"))
    ]
    gene = {"from": 0, "to": 1, "weight": 2.0, "gater": 7, "enabled": True}
    document = {"formatVersion": 2, "nodes": nodes, "connections": [gene]}
    with pytest.warns(UserWarning, match="a node that does not exist"):
        assert load_network(document).activate([3.0]).tolist() == [6.0]
    nodes[1] |= {"index": 0}
    with pytest.warns(UserWarning, match=r"an index other than their position"):
        load_network({**document, "connections": [{**gene, "gater": None}]})


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("library", ["neataptic-ts", "neataptic", "carrot"])
def test_populations_are_read_by_position(library):
    nets = [Network.mlp([2, 3, 1], seed=seed) for seed in range(3)]
    exported = [net.to_library(library) for net in nets]
    for source in (exported, {"neat": {"generation": 4}, "population": exported}):
        found = load_networks(source)
        assert list(found) == [0, 1, 2]
        for net, back in zip(nets, found.values(), strict=True):
            assert np.array_equal(back.activate([0.5, -1.0]), net.activate([0.5, -1.0]))
        assert load_network(source, genome=2) == found[2]
        with pytest.raises(NetworkError, match="a population of 3 networks"):
            load_network(source)
        with pytest.raises(OptionError, match="no genome 7"):
            load_network(source, genome=7)


def test_a_broken_member_of_a_population_is_named():
    good = Network.mlp([2, 1]).to_library("neataptic")
    with pytest.raises(NetworkError) as refused:
        load_networks([good, {**good, "output": 5}])
    assert refused.value.where == "[1].output"


def test_a_network_that_crossover_left_with_more_outputs_than_it_states_is_read_with_a_warning():
    document = Network.mlp([2, 3], seed=0).to_library("neataptic-ts") | {"output": 1}
    with pytest.warns(UserWarning, match="output is 1 but 3 nodes have type output"):
        net = load_network(document)
    [own] = computed("neataptic-ts", [Task(document, [[0.5, 3.0]], False)])
    np.testing.assert_allclose(net.activate([0.5, 3.0]), own[0], rtol=1e-15)
    with pytest.raises(NetworkError, match="output is 5 but 3 nodes have type output"):
        load_network(document | {"output": 5})


def test_neurons_of_brain_js_come_in_the_order_of_their_numbers():
    neurons = {str(k): {"bias": float(k), "weights": {"0": 1.0}} for k in range(12)}
    net = load_network({"sizes": [1, 12], "layers": [{"0": {}}, neurons]})
    assert net.neurons.bias[1:].tolist() == list(range(12))
