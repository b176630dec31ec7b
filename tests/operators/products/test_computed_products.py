"""Products of two computed matrices come back as one MatMul, element by element or in part."""

from dataclasses import replace

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import ModelError, export, import_model, load_model, verify
from neat_onnx.network.genes import owned

TURNED = node("Transpose", "x", "t", perm=[0, 2, 1])
SCALE = {"c": np.array([0.3])}
FORMS = {
    "of a matrix and its transpose": ([TURNED, node("MatMul", "x t", "y")], ("N", 4, 3), {}),
    "in planes": (
        [node("Transpose", "x", "t", perm=[0, 1, 3, 2]), node("MatMul", "x t", "y")],
        ("N", 2, 4, 3),
        {},
    ),
    "with a function and biases": (
        [TURNED, node("MatMul", "x t", "p"), node("Add", "p b", "z"), node("Tanh", "z", "y")],
        ("N", 4, 3),
        {"b": np.arange(4.0)},
    ),
    "the lower triangle": (
        [TURNED, node("MatMul", "x t", "p"), node("Trilu", "p", "y", upper=0)],
        ("N", 4, 3),
        {},
    ),
    "of scaled factors": (
        [node("Mul", "x c", "s"), node("Transpose", "s", "t", perm=[0, 2, 1]),
         node("MatMul", "s t", "y")],
        ("N", 4, 3),
        SCALE,
    ),
    "scaled and squashed": (
        [TURNED, node("MatMul", "x t", "p"), node("Mul", "p c", "z"), node("Tanh", "z", "y")],
        ("N", 4, 3),
        {"c": np.array(0.5)},
    ),
    "of shares": (
        [TURNED, node("MatMul", "x t", "p"), node("Softmax", "p", "s"), node("MatMul", "s x", "y")],
        ("N", 4, 3),
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", FORMS)
def test_it_comes_back_as_a_product_with_the_genome(form, dtype):
    nodes, x, constants = FORMS[form]
    net = assert_lifts(graph(nodes, x=x, **constants))
    model = export(net, dtype=dtype)
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    assert "connections" not in model.metadata.get("neat_onnx.genome", "")


@pytest.mark.parametrize("largest", [0, 1])
def test_sorted_elements_are_few_neurons_and_few_bytes(largest):
    """Each pair is compared once, equal elements and all; the choice by rank is a product."""
    sort = [node("TopK", "x k", "y i", largest=largest)]
    net = assert_lifts(graph(sort, x=("N", 6), k=np.array([6])))
    assert len(net) == 6 + 15 + 6 + 36 + 6
    ties = np.array([2.0, 1.0, 2.0, 3.0, 1.0, 2.0])
    np.testing.assert_array_equal(net.activate(ties), np.sort(ties)[:: -1 if largest else 1])
    model = export(net)
    assert model.to_proto().ByteSize() < 4000
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


def test_scaled_factors_are_neurons_once_and_not_in_every_term():
    nodes, x, constants = FORMS["of scaled factors"]
    net = import_model(graph(nodes, x=x, **constants))
    assert len(net) == 12 + 2 * 12 + 16


@pytest.mark.parametrize("gene", ["weight", "source", "gater"])
def test_a_changed_gene_changes_the_model_and_comes_back(gene):
    nodes, x, constants = FORMS["of a matrix and its transpose"]
    net = import_model(graph(nodes, x=x, **constants))
    values = getattr(net.connections, gene).copy()
    values[7] = 0.5 if gene == "weight" else (values[7] + 1) % 12
    other = replace(net, connections=replace(net.connections, **{gene: owned(values)}))
    model = export(other)
    assert verify(other, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == other


def test_a_product_of_no_elements_is_no_traceback():
    nodes = [node("MatMul", "v x", "h"), node("MatMul", "w h", "m"), node("Add", "m b", "y")]
    tensors = {"v": np.eye(3), "w": np.zeros((0, 3)), "b": np.zeros(5)}
    with pytest.raises(ModelError, match="cannot be broadcast"):
        import_model(graph(nodes, x=(3,), **tensors))


@pytest.mark.parametrize("shapes", [((2, 2), (2, 2)), ((2, 3), (3, 1)), ((1, 2), (2, 2))])
def test_a_product_of_a_few_factors_is_one_node(shapes):
    left, right = shapes
    text = f"""
        <ir_version: 8, opset_import: ["": 18]>
        g (float[N, {left[0]}, {left[1]}] a, float[N, {right[0]}, {right[1]}] b)
            => (float[N, {left[0]}, {right[1]}] y) {{ y = MatMul (a, b) }}
    """
    net = import_model(load_model(text.encode()))
    model = export(net)
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model) == net
