"""Tensors of a short form that have the names which others had in the usual form."""

import json

import onnx
from support.examples.graphs import graph, node

from neat_onnx import Network, export, import_model, verify


def norms_of_windows() -> onnx.ModelProto:
    """Norms over windows of a picture, as PyTorch writes them."""
    nodes = [
        node("Pow", "x two", "squares"),
        node("AveragePool", "squares", "mean", kernel_shape=[2, 2], strides=[2, 2]),
        node("Sign", "mean", "sign"),
        node("Abs", "mean", "size"),
        node("Relu", "size", "above"),
        node("Mul", "sign above", "signed"),
        node("Mul", "signed four", "sum"),
        node("Pow", "sum half", "y"),
    ]
    return graph(nodes, x=("N", 3, 8, 8), two=2.0, four=4.0, half=0.5)


def test_the_neurons_of_a_tensor_are_not_those_of_another_of_its_name():
    whole = json.loads(import_model(norms_of_windows()).to_json())
    whole["neurons"][380]["activation"] = "sigmoid"
    for at, weight in ((70, 0.875), (412, 0.9375)):
        whole["connections"][at]["weight"] = weight
    net = Network.from_document(whole)
    model = export(net)
    assert import_model(model.to_bytes()) == net
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
