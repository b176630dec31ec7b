"""Levels with several activations, as the JSON ONNX of NeatapticTS has them."""

import numpy as np
import pytest
from support.examples.made import layered
from support.examples.networks import NETWORKS

from neat_onnx import OptionError, export


def test_each_neuron_has_a_gemm_and_an_activation_by_the_known_names():
    net = layered([2, 3, 1], [["tanh", "relu", "identity"], "sigmoid"])
    graph = export(net, mixed_activations="per_neuron").graph
    assert [(each.op_type, each.name, each.output[0]) for each in graph.node] == [
        ("Gemm", "gemm_l1_n0", "Gemm_1_n0"),
        ("Tanh", "act_l1_n0", "Layer_1_n0"),
        ("Gemm", "gemm_l1_n1", "Gemm_1_n1"),
        ("Relu", "act_l1_n1", "Layer_1_n1"),
        ("Gemm", "gemm_l1_n2", "Gemm_1_n2"),
        ("Identity", "act_l1_n2", "Layer_1_n2"),
        ("Concat", "concat_l1", "Layer_1"),
        ("Gemm", "gemm_l2", "Gemm_2"),
        ("Sigmoid", "act_l2", "output"),
    ]
    assert graph.node[2].input == ["input", "W0_n1", "B0_n1"]
    weights = net.connections.weight[:6].reshape(3, 2)
    for k in range(3):
        np.testing.assert_array_equal(graph.tensors[f"W0_n{k}"].values, weights[k : k + 1])
        np.testing.assert_array_equal(
            graph.tensors[f"B0_n{k}"].values, net.neurons.bias[2 + k : 3 + k]
        )


def test_grouped_is_one_gemm_split_by_activation():
    net = layered([2, 4, 1], [["tanh", "relu", "tanh", "identity"], "sigmoid"])
    graph = export(net).graph
    assert [each.op_type for each in graph.node] == [
        "Gemm", "Split", "Tanh", "Relu", "Concat", "Gemm", "Sigmoid",
    ]  # fmt: skip
    assert graph.node[1].output == ["Gemm_1_tanh", "Gemm_1_relu", "Gemm_1_identity"]
    weights = net.connections.weight[:8].reshape(4, 2)
    np.testing.assert_array_equal(graph.tensors["W0"].values, weights[[0, 2, 1, 3]])
    # what the columns' order changes is in the weights of the next level
    np.testing.assert_array_equal(
        graph.tensors["W1"].values[0], net.connections.weight[8:][[0, 2, 1, 3]]
    )


def test_folded_slopes_make_one_group():
    net = layered([2, 2], [["neat_tanh", "tanh"]])
    assert [each.op_type for each in export(net).graph.node].count("Tanh") == 2
    assert [each.op_type for each in export(net, fold=True).graph.node] == ["Gemm", "Tanh"]


@pytest.mark.parametrize("mixed", ["grouped", "per_neuron"])
def test_mixed_activations_may_be_refused(mixed):
    options = {"allow_mixed_activations": False, "mixed_activations": mixed}
    with pytest.raises(OptionError, match="level 1 has several activations") as caught:
        export(NETWORKS["mixed_layers"], options=options)
    assert caught.value.where == "allow_mixed_activations"
    export(NETWORKS["deep_mlp"], options=options)
