"""Connections with the same ends, layers with a slope, and products of lines, in a genome."""

import pytest
from support.examples.networks import BUILTIN_AGGREGATIONS

from neat_onnx import Network, export, import_model


def comes_back(net: Network, dtype: str) -> None:
    """Import of an export, as JSON that keeps every bit, gives the network, without a warning."""
    assert import_model(export(net, dtype=dtype).to_json()) == net


def gated(weight: float, gain: float, gater: int = 1) -> dict:
    gate = {"gater": gater, "gate_delay": 1, "initial_gain": gain}
    return {"source": 0, "target": 2, "weight": weight, **gate}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("aggregation", BUILTIN_AGGREGATIONS)
@pytest.mark.parametrize("pair", [[(0.5, -1.1), (0.5, 0.3)], [(-1.25, 0.3), (0.5, -1.1)]])
@pytest.mark.parametrize("turn", [1, -1])
def test_parallel_connections_keep_their_weights_and_gains(pair, turn, aggregation, dtype):
    neurons = [
        {"id": 1, "activation": "tanh"},
        {"id": 2, "activation": "tanh", "aggregation": aggregation},
    ]
    edges = [(0, 1, 0.75), *(gated(*each) for each in pair[::turn])]
    edges.append({"source": 2, "target": 2, "weight": 0.5, "delay": 1})
    for gater in (1, 2):
        edges += [gated(*pair[0], gater), gated(0.25, 0.0, gater)]
    net = Network.build(inputs=1, outputs=[2], neurons=neurons, connections=edges)
    comes_back(net, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("activation", ["complement", "gelu", "neat_lelu"])
def test_means_of_a_layer_stay_apart_from_its_activation(activation, dtype):
    neurons = [{"id": k, "activation": activation, "aggregation": "mean"} for k in (5, 6)]
    edges = [(source, target, 1.0) for source in range(5) for target in (5, 6)]
    comes_back(Network.build(inputs=5, outputs=[5, 6], neurons=neurons, connections=edges), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inputs", [[], [(0, 1, 0.3)]])
@pytest.mark.parametrize("bias", [0.0, 0.3])
@pytest.mark.parametrize(
    "activation", ["neat_tanh", "neat_sigmoid", "neat_sin", "neat_softplus", "bipolar_sigmoid"]
)
def test_the_slope_of_a_recurrent_layer_is_its_activations(activation, bias, inputs, dtype):
    neurons = [{"id": 1, "activation": activation, "bias": bias}]
    edges = [*inputs, {"source": 1, "target": 1, "weight": 0.7, "delay": 1}]
    net = Network.build(inputs=1, outputs=[1], neurons=neurons, connections=edges)
    comes_back(net, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("outputs", [[3], [3, 2, 2]])
@pytest.mark.parametrize("activation", ["identity", "tanh", "neat_gauss"])
@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize("bias", [0.0, 0.4])
def test_a_line_in_a_product_stays_a_neuron(bias, state, activation, outputs, dtype):
    if state and not bias:
        pytest.skip("the factor of a state is one of the connection's weight in the graph")
    hidden = {"id": 2, "activation": activation, "bias": bias, "response": -1.118}
    product = {"source": 2, "target": 3, "weight": 1.5, "gater": 1, "reads_state": state}
    edges = [(0, 2, 1.25), product]
    net = Network.build(inputs=2, outputs=outputs, neurons=[hidden, 3], connections=edges)
    comes_back(net, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("gate_delay", [1, 2])
@pytest.mark.parametrize("delay", [1, 2, 3])
@pytest.mark.parametrize("state", [False, True])
def test_a_late_gain_that_begins_by_itself_is_its_neurons(state, delay, gate_delay, dtype):
    gate = {"gater": 1, "gate_delay": gate_delay, "initial_gain": -1.25}
    edges = [
        (0, 1, 0.75),
        {"source": 0, "target": 2, "weight": 0.5, "delay": delay},
        {"source": 1, "target": 2, "weight": 0.5, "delay": delay, "reads_state": state},
        {"source": 2, "target": 2, "weight": 0.5, "delay": 2},
        {"source": 2, "target": 2, "weight": -1.5, "delay": 1, **gate},
    ]
    neurons = [{"id": 1, "activation": "sigmoid"}, {"id": 2, "activation": "tanh"}]
    net = Network.build(inputs=1, outputs=[2], neurons=neurons, connections=edges)
    comes_back(net, dtype)


@pytest.mark.parametrize("aggregation", ["sum", "max", "mean"])
@pytest.mark.parametrize(("bias", "response"), [(0.25, 1.0), (0.0, 2.0), (0.25, -0.5)])
def test_many_equal_numbers_that_are_written_as_one_are_genes(
    aggregation: str, bias: float, response: float
):
    names = ["tanh", "step", "neat_sigmoid", "complement"]
    genes = {"aggregation": aggregation, "bias": bias, "response": response}
    ids = [*range(2, 35)]
    neurons = [{"id": each, "activation": names[each % 4], **genes} for each in ids]
    links = [(source, each, 0.5 + each / 50) for source in (0, 1) for each in ids]
    net = Network.build(inputs=2, outputs=ids, neurons=neurons, connections=links)
    assert import_model(export(net)) == net
