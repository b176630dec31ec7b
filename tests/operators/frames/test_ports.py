"""The graph's inputs and outputs, and the tensors that levels read."""

import numpy as np
import pytest
from support.examples.made import evolved
from support.examples.networks import NETWORKS
from support.harness.routes import Trip, is_valid, onnxruntime_agrees

from neat_onnx import Network, export, load_network


def shapes(entries) -> dict[str, list]:
    return {entry.name: list(entry.shape) for entry in entries}


def operators(net: Network) -> list[str]:
    return [each.op_type for each in export(net.without_source()).graph.node]


def test_an_output_that_is_an_input_is_a_node_of_its_own():
    assert operators(NETWORKS["the_input_itself"]) == ["Identity"]
    assert operators(NETWORKS["only_inputs"]) == ["Gather"]


def test_outputs_in_any_order_are_gathered():
    found = operators(NETWORKS["repeated_outputs"])
    assert found[-1] == "Gather"
    assert "Gather" not in operators(NETWORKS["evolved_small"])


def port(name: str, *neurons: int) -> dict:
    return {"name": name, "shape": [len(neurons)], "neurons": list(neurons)}


@pytest.mark.parametrize("aggregation", ["sum", "product", "mean", None])
def test_a_port_that_nothing_reads_is_read_to_no_effect(aggregation):
    """ONNX wants every graph input to be used: also where no matrix is there to use it in."""
    genes = [{"id": j} for j in range(4)]
    edges = []
    if aggregation:
        genes.append({"id": 4, "aggregation": aggregation, "activation": "tanh"})
        edges = [{"source": j, "target": 4, "weight": 0.5} for j in (0, 1)]
    document = {
        "format": "neat-onnx",
        "version": 1,
        "inputs": [port("a", 0, 1), port("b", 2, 3)],
        "outputs": [port("y", 4 if aggregation else 1)],
        "neurons": genes,
        "connections": edges,
    }
    trip = Trip(load_network(document))
    assert set(shapes(trip.model.graph.inputs)) == {"a", "b"}
    is_valid(trip)
    onnxruntime_agrees(trip)


def test_a_port_that_dead_neurons_read_only_is_used_too():
    document = NETWORKS["a_port_that_nothing_reads"].to_document().model_dump()
    document["neurons"].append({"id": 77, "activation": "tanh"})
    document["connections"].append({"source": 2, "target": 77, "weight": 1.0})
    trip = Trip(load_network(document))
    is_valid(trip)
    onnxruntime_agrees(trip)


def test_a_level_reads_one_tensor_as_it_is_or_joins_few():
    graph = export(evolved(60, seed=9)).graph
    joins = [each for each in graph.node if each.op_type == "Concat"]
    assert 0 < len(joins) <= sum(each.op_type == "Gemm" for each in graph.node)
    assert operators(Network.mlp([4, 4, 4])) == ["Gemm", "Tanh", "Gemm", "Tanh"]


def test_few_columns_out_of_very_many_are_gathered():
    """A neuron that reads two of ten thousand does not multiply the others by zero."""
    wide = 20_000
    genes = [{"id": wide + k, "activation": "tanh"} for k in range(3)]
    edges = [(7, wide, 1.0), (wide - 1, wide, -1.0), (3, wide + 1, 2.0), (wide + 1, wide + 2, 1.0)]
    net = Network.build(
        inputs=wide,
        outputs=[wide, wide + 2],
        neurons=genes,
        connections=[*edges, (wide, wide + 2, 1)],
    )
    graph = export(net.without_source()).graph
    assert graph.node[0].op_type == "Gather"
    assert sum(tensor.values.size for tensor in graph.initializer) < 50
    x = np.zeros((2, wide))
    x[:, [3, 7, wide - 1]] = [[0.5, 0.25, 0.125], [1.0, -1.0, 0.5]]
    assert Trip(net).net.activate(x).shape == (2, 2)
