"""Softmax and normalizations: imported as neurons, found again, and written as the operator."""

from dataclasses import replace

import numpy as np
import pytest
from graphs import assert_lifts, graph, node
from routes import run_onnxruntime

from neat_onnx import Network, export, import_model, validate, verify
from neat_onnx.network.genes import Port, owned

SCALE, SHIFT = np.array([2.0, -3.0, 0.5]), np.array([0.5, 0.25, -1.0])
NORM = {"s": SCALE, "b": SHIFT}
FORMS = {
    "softmax": ([node("Softmax", "x", "y")], ("N", 3), {}, 18),
    "log softmax": ([node("LogSoftmax", "x", "y")], ("N", 3), {}, 18),
    "of rows": ([node("Softmax", "x", "y")], ("N", 4, 3), {}, 18),
    "along the channels": ([node("Softmax", "x", "y", axis=1)], ("N", 3, 2, 2), {}, 18),
    "from an old opset": ([node("Softmax", "x", "y", axis=1)], ("N", 2, 3), {}, 11),
    "layer norm": ([node("LayerNormalization", "x s b", "y")], ("N", 3), NORM, 18),
    "layer norm of rows": ([node("LayerNormalization", "x s b", "y")], ("N", 4, 3), NORM, 18),
    "with an activation": (
        [node("LayerNormalization", "x s b", "n"), node("Relu", "n", "y")],
        ("N", 3),
        NORM,
        18,
    ),
    "without a shift": ([node("LayerNormalization", "x s", "y")], ("N", 3), {"s": SCALE}, 18),
    "of ones": (
        [node("LayerNormalization", "x s b", "y")],
        ("N", 3),
        {"s": np.ones(3), "b": np.zeros(3)},
        18,
    ),
    "between layers": (
        [
            node("Gemm", "x w", "h"),
            node("Tanh", "h", "t"),
            node("LayerNormalization", "t s b", "n"),
            node("Gemm", "n w", "g"),
            node("Softmax", "g", "y"),
        ],
        ("N", 3),
        NORM | {"w": np.arange(9.0).reshape(3, 3) / 8 - 0.5},
        18,
    ),
    "two of one width": (
        [
            node("Softmax", "x", "a"),
            node("Neg", "x", "m"),
            node("LogSoftmax", "m", "b"),
            node("Add", "a b", "y"),
        ],
        ("N", 3),
        {},
        18,
    ),
}
OPERATORS = ("Softmax", "LogSoftmax", "LayerNormalization")


def kinds(model):
    return sorted(each.op_type for each in model.graph.node if each.op_type in OPERATORS)


@pytest.mark.parametrize("form", FORMS)
def test_it_comes_back_as_the_operator_and_the_genome_with_it(form):
    nodes, x, constants, opset = FORMS[form]
    model = graph(nodes, x=x, opset=opset, **constants)
    net = assert_lifts(model)
    again = export(net)
    assert kinds(again) == sorted(each.op_type for each in nodes if each.op_type in OPERATORS)
    assert validate(again) == []
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    assert import_model(again.to_json()) == net
    assert import_model(again.model_copy(update={"metadata_props": []})).activate(
        np.ones(net.input_neurons.size)
    ) == pytest.approx(net.activate(np.ones(net.input_neurons.size)), rel=1e-6, abs=1e-6)


def changed(net: Network, edge: int, by: float) -> Network:
    weight = net.connections.weight.copy()
    weight[edge] += by
    return replace(net, connections=replace(net.connections, weight=owned(weight)))


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "LayerNormalization"])
def test_any_gene_that_the_operator_cannot_say_is_written_neuron_by_neuron(operator):
    reads, constants = ("x s b", NORM) if operator == "LayerNormalization" else ("x", {})
    net = import_model(graph([node(operator, reads, "y")], x=("N", 3), **constants))
    x = np.random.default_rng(0).normal(size=(5, 3))
    kept = 0
    for edge in range(len(net.connections)):
        other = changed(net, edge, 0.125)
        model = export(other, include_metadata=False)
        kept += kinds(model) == [operator]
        np.testing.assert_allclose(
            run_onnxruntime(model, other, x), other.activate(x), rtol=1e-4, atol=1e-5
        )
    # its scale, and the weight of one, which can be taken for a neuron after an unshifted one
    assert kept == (6 if operator == "LayerNormalization" else 0)


def test_a_row_whose_inside_is_read_from_outside_is_no_row():
    nodes = [node("Softmax", "x", "y"), node("Neg", "x", "m")]
    net = import_model(graph(nodes, outputs=("y", "m")))
    assert kinds(export(net)) == ["Softmax"]
    genes = net.connections
    largest = int(np.flatnonzero(net.aggregation_names == "max")[0])
    source = np.where(genes.target == net.outputs[1].neurons[0], largest, genes.source)
    reader = replace(net, connections=replace(genes, source=owned(source)))
    assert kinds(export(reader)) == []
    shown = replace(net, outputs=(*net.outputs, Port("largest", (1,), np.array([largest]))))
    assert kinds(export(shown)) == []


def test_float64_has_the_softmax_and_no_normalization():
    net = import_model(graph([node("Softmax", "x", "y")], x=("N", 3)))
    model = export(net, dtype="float64")
    assert kinds(model) == ["Softmax"]
    assert verify(net, model, runtime="onnxruntime").normalised_mse <= 1e-24
    norm = import_model(graph([node("LayerNormalization", "x s b", "y")], x=("N", 3), **NORM))
    assert kinds(export(norm, dtype="float64")) == []
    assert kinds(export(norm, opset=16)) == []
