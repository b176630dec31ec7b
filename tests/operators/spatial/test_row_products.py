"""Rows with the same weights come back as one MatMul, along whichever axis they were weighed."""

from dataclasses import replace

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node, operators
from support.harness.usual_form import usual_form

from neat_onnx import NeatOnnxWarning, export, import_model, verify
from neat_onnx.network.genes import owned

SCALES = {"scales": np.array([1.0, 1.0, 2.0, 2.0])}
W = np.random.default_rng(0).normal(size=(6, 5))
FORMS = {
    "rows": ([node("MatMul", "x W", "y")], ("N", 8, 6), {"W": W}, 1),
    "columns": ([node("MatMul", "V x", "y")], ("N", 3, 6, 4), {"V": W.T}, 1),
    "with biases and a function": (
        [node("MatMul", "x W", "p"), node("Add", "p b", "z"), node("Tanh", "z", "y")],
        ("N", 8, 6),
        {"W": W, "b": W[0]},
        1,
    ),
    "linear": ([node("Resize", "x _ scales", "y", mode="linear")], ("N", 3, 5, 4), SCALES, 2),
    "cubic": ([node("Resize", "x _ scales", "y", mode="cubic")], ("N", 2, 4, 4), SCALES, 2),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", FORMS)
def test_one_matmul_an_axis_in_both_types(form, dtype):
    nodes, x, constants, axes = FORMS[form]
    net = assert_lifts(graph(nodes, x=x, **constants))
    model = export(net, dtype=dtype)
    plain = usual_form(net, dtype=dtype)
    assert operators(plain).count("MatMul") == axes
    nodes[0].op_type == "Resize" and dtype == "float32"  # runtimes have no other
    assert not {"Gemm", "Gather", "Transpose"} & {*operators(plain)}
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    plain = usual_form(net, dtype=dtype)
    again = usual_form(import_model(plain.to_json()), dtype=dtype)
    assert again.to_json() == plain.to_json()


@pytest.mark.parametrize("first", ["own", "common"])
def test_rows_may_read_values_in_common(first):
    """As a policy weighs each entity that it sees together with itself."""
    parts = "x many" if first == "own" else "many x"
    nodes = [
        node("ReduceMax", "x axis", "whole", keepdims=1),
        node("Tile", "whole times", "many"),
        node("Concat", parts, "both", axis=2),
        node("MatMul", "both W", "p"),
        node("Tanh", "p", "y"),
    ]
    weights = np.random.default_rng(1).normal(size=(12, 5))
    constants = {"axis": [1], "times": [1, 8, 1], "W": weights}
    net = assert_lifts(graph(nodes, x=("N", 8, 6), **constants))
    model = export(net)
    assert operators(model).count("MatMul") == 1
    assert max(tensor.values.size for tensor in model.graph.initializer) <= 8 * 12
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    plain = usual_form(net)
    again = usual_form(import_model(plain.to_json()))
    assert again.to_json() == plain.to_json()


@pytest.mark.parametrize("form", ["rows", "columns"])
def test_a_neuron_with_a_weight_of_its_own_is_written_apart_from_the_rows(form):
    nodes, x, constants, _ = FORMS[form]
    net = import_model(graph(nodes, x=x, **constants))
    weight = net.connections.weight.copy()
    weight[len(weight) // 2] += 0.125
    other = replace(net, connections=replace(net.connections, weight=owned(weight)))
    model = export(other)
    assert operators(model).count("MatMul") == 1
    assert verify(other, model, samples=8, runtime="onnxruntime").passed
    back = import_model(model.to_json())
    assert back == other
    assert export(back).to_json() == model.to_json()


@pytest.mark.parametrize("form", ["rows", "columns"])
def test_rows_whose_weights_differ_are_no_product_of_rows(form):
    nodes, x, constants, _ = FORMS[form]
    net = import_model(graph(nodes, x=x, **constants))
    weight = net.connections.weight.copy()
    weight += np.arange(len(weight)) / 64
    other = replace(net, connections=replace(net.connections, weight=owned(weight)))
    with pytest.warns(NeatOnnxWarning, match="where the first neuron of its channel has"):
        model = export(other)
    assert "MatMul" not in operators(model)
    assert verify(other, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == other


def test_rows_of_a_matrix_with_zeros_come_back_as_a_product():
    """Its zeros are no connections, but a window has one for each of its weights."""
    random = np.random.default_rng(0)
    neighbours = np.where(np.tri(5, k=1) * np.tri(5, k=1).T, random.normal(size=(5, 5)), 0.0)
    nodes = [node("MatMul", "x w", "h"), node("MatMul", "a h", "m"), node("Relu", "m", "y")]
    model = graph(nodes, x=("N", 5, 3), w=random.normal(size=(3, 8)), a=neighbours)
    net = import_model(model)
    written = export(net)
    assert "neat_onnx.genome" not in written.metadata
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=32, runtime="onnxruntime").passed
