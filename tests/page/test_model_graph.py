"""A model beside its network: every node with its weights, its shape and its neurons."""

import onnx
from support.examples.cases import case

import neat_onnx
from neat_onnx.page.model_graph import model_graph


def test_nodes_tell_their_weights_shapes_and_neurons():
    net = neat_onnx.Network.mlp([2, 3, 1], activation="tanh", seed=0)
    model = neat_onnx.export(net)
    found = model_graph(net, model)
    gemm, tanh, last, *_ = found["nodes"]
    assert (gemm["op"], gemm["initializers"], gemm["shape"]) == ("Gemm", ["W0 3×2", "B0 3"], "N×3")
    assert gemm["neurons"] == tanh["neurons"] == [2, 3, 4]
    assert last["reads"] == [1] and last["neurons"] == [5]
    assert found["elements"] == 13 and found["omitted"] == 0
    onnx.checker.check_model(onnx.parser.parse_model(found["text"]))
    assert found["json"] == model.to_json()


def test_a_node_that_is_split_computes_the_neurons_of_all_parts():
    net = case("nts-net-dag-24").network()
    nodes = model_graph(net, neat_onnx.export(net))["nodes"]
    gemm, split = nodes[:2]
    assert (gemm["op"], split["op"]) == ("Gemm", "Split")
    assert f"N×{len(gemm['neurons'])}" == gemm["shape"] and len(gemm["neurons"]) > 1
    assert split["neurons"] == gemm["neurons"]


def test_every_neuron_is_computed_by_a_node():
    for name in ("nts-net-dag-24", "np-ff-19", "nts-net-lstm-2", "np-rec-10"):
        net = case(name).network()
        nodes = model_graph(net, neat_onnx.export(net))["nodes"]
        seen = {neuron for node in nodes for neuron in node["neurons"]}
        assert seen >= {*range(len(net))} - {*net.input_neurons.tolist()}, name


def test_a_large_model_is_drawn_but_not_written_out():
    net = neat_onnx.Network.mlp([150, 150, 1], activation="tanh", seed=0)
    found = model_graph(net, neat_onnx.export(net, include_metadata=False))
    assert found["text"] is None and found["json"] is None
    assert found["nodes"][0]["neurons"] == []
