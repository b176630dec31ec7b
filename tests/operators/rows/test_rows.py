"""Softmax and normalizations: imported as neurons, found again, and written as the operator."""

import numpy as np
import pytest
from neat_onnx.operators.rows.find import RowFinder
from row_forms import COMPOSED, FORMS, NORM, OPERATORS, kinds
from support.examples.graphs import assert_lifts, graph, node
from support.harness.routes import run_onnxruntime
from support.harness.usual_form import usual_form

from neat_onnx import export, import_model, validate, verify


@pytest.mark.parametrize("form", FORMS)
def test_it_comes_back_as_the_operator_and_the_genome_with_it(form):
    nodes, x, constants, opset = FORMS[form]
    model = graph(nodes, x=x, opset=opset, **constants)
    net = assert_lifts(model)
    again = export(net, opset=max(opset, 18))
    assert kinds(again) == sorted(each.op_type for each in nodes if each.op_type in OPERATORS)
    assert validate(again) == []
    assert verify(net, again, samples=16, runtime="onnxruntime").passed
    assert import_model(again.to_json()) == net
    assert import_model(again.model_copy(update={"metadata_props": []})).activate(
        np.ones(net.input_neurons.size)
    ) == pytest.approx(net.activate(np.ones(net.input_neurons.size)), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", COMPOSED)
def test_its_parts_are_written_where_no_runtime_has_the_operator(form, dtype):
    nodes, x, constants, opset = COMPOSED[form]
    net = assert_lifts(graph(nodes, x=x, opset=opset, **constants))
    model = export(net, dtype=dtype)
    assert kinds(model) == []
    assert len(model.graph.node) <= 16
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    plain = usual_form(net, dtype=dtype)
    again = usual_form(import_model(plain.to_json()), dtype=dtype)
    assert again.to_json() == plain.to_json()


def test_groups_without_weights_are_instances_before_the_operator_is_there():
    nodes, x, _, opset = FORMS["group norm"]
    net = assert_lifts(graph(nodes, x=x, opset=opset, s=np.ones(4), b=np.zeros(4)))
    for dtype, wanted in (("float32", ["InstanceNormalization"]), ("float64", [])):
        model = export(net, dtype=dtype, opset=18)
        assert kinds(model) == wanted
        assert verify(net, model, samples=16, runtime="onnxruntime").passed
        assert import_model(model.to_json()) == net


def test_weights_of_ones_are_neurons_in_float64_too():
    """A layer norm that was not trained: its parts would be the same values without them."""
    nodes = [node("LayerNormalization", "x s b", "n"), node("Tanh", "n", "y")]
    for bias in (np.zeros(3), np.array([0.0, 0.5, 0.0])):
        net = assert_lifts(graph(nodes, x=("N", 3), s=np.ones(3), b=bias))
        model = export(net, dtype="float64")
        assert kinds(model) == []
        assert verify(net, model, samples=16, runtime="onnxruntime").passed
        assert import_model(model.to_json()) == net


MASKING = [node("Cast", "there", "t", to=9), node("Where", "t x none", "m")]
MASKED = {  # whether elements are there
    "causal": np.tri(4),
    "of two heads": np.tri(3)[None].repeat(2, axis=0),
    "with a hole": np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1]]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", MASKED)
def test_rows_that_a_mask_shortens_are_one_softmax(form, dtype):
    there = MASKED[form]
    nodes = [*MASKING, node("Softmax", "m", "s"), node("Mul", "s w", "y")]
    constants = {"there": there, "none": np.array(-np.inf), "w": np.arange(1.0, 1 + there.size)}
    constants["w"] = constants["w"].reshape(there.shape)
    net = assert_lifts(graph(nodes, x=("N", *there.shape), **constants))
    model = export(net, dtype=dtype)
    assert kinds(model) == ["Softmax"]
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    assert "connections" not in model.metadata.get("neat_onnx.genome", "")
    plain = usual_form(net, dtype=dtype)
    assert kinds(export(import_model(plain.to_json()), dtype=dtype)) == ["Softmax"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_shares_that_nobody_reads_may_be_missing(dtype):
    """The mean of a distribution over values, of which one is 0, as distributional critics have."""
    nodes = [node("Softmax", "x", "s"), node("Mul", "s at", "w"),
             node("ReduceSum", "w axis", "y", keepdims=0)]  # fmt: skip
    values = np.array([-1.0, 0.0, 0.5, 2.0])
    net = assert_lifts(graph(nodes, x=("N", 3, 4), at=values, axis=np.array([2])))
    model = export(net, dtype=dtype)
    assert kinds(model) == ["Softmax"]
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    assert "connections" not in model.metadata.get("neat_onnx.genome", "")


def test_neurons_that_read_a_row_each_stay_neurons_of_their_own():
    """Import would take a function of a normalization's result for the result's own."""
    nodes = [node("InstanceNormalization", "x s b", "n"), node("Mul", "n g", "w"),
             node("Add", "w h", "v"), node("Relu", "v", "y")]  # fmt: skip
    constants = {"s": np.ones(2), "b": np.zeros(2), "g": np.ones((2, 1)), "h": np.zeros((2, 1))}
    net = assert_lifts(graph(nodes, x=("N", 2, 8), **constants))
    model = export(net)
    assert "connections" not in model.metadata.get("neat_onnx.genome", "")
    assert import_model(model.to_json()) == net


def test_a_vector_of_zeros_and_a_row_of_equal_elements_stay_finite():
    for name in ("unit vectors", "by absolute values", "mean and variance"):
        nodes, x, constants, opset = (FORMS | COMPOSED)[name]
        net = import_model(graph(nodes, x=x, opset=opset, **constants))
        model = export(net)
        for row in (np.zeros((1, 6)), np.ones((1, 6))):
            np.testing.assert_allclose(run_onnxruntime(model, net, row), net.activate(row),
                                       atol=1e-6)  # fmt: skip


def test_float64_has_the_softmax_and_no_normalization():
    net = import_model(graph([node("Softmax", "x", "y")], x=("N", 3)))
    model = export(net, dtype="float64")
    assert kinds(model) == ["Softmax"]
    assert verify(net, model, runtime="onnxruntime").normalised_mse <= 1e-24
    norm = import_model(graph([node("LayerNormalization", "x s b", "y")], x=("N", 3), **NORM))
    assert kinds(export(norm, dtype="float64")) == []
    assert kinds(export(norm, opset=16)) == []


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("axis", [1, 2, 3])
def test_along_any_axis_it_is_one_node_and_the_genome_keeps_its_order(operator, axis):
    model = graph([node(operator, "x", "y", axis=axis)], x=("N", 3, 4, 5))
    net = assert_lifts(model)
    written = export(net)
    assert [each.op_type for each in written.graph.node] == [operator]
    assert "neat_onnx.genome" not in written.metadata
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net


def test_shares_of_a_product_are_computed_where_it_stands():
    nodes = [
        node("Transpose", "x", "t", perm=[0, 1, 3, 2]),
        node("MatMul", "x t", "scores"),
        node("Softmax", "scores", "shares", axis=-1),
        node("MatMul", "shares x", "y"),
    ]
    net = assert_lifts(graph(nodes, x=("N", 2, 6, 4)))
    written = export(net)
    assert [each.op_type for each in written.graph.node].count("Reshape") == 0
    assert verify(net, written, runtime="onnxruntime").passed


@pytest.mark.parametrize(("axes", "keepdims"), [([1], 0), ([2], 1), ([2, 3], 0), ([-1], 0)])
@pytest.mark.parametrize("opset", [13, 18])
def test_the_logarithm_of_the_sum_of_exponentials_is_one_node(axes, keepdims, opset):
    given = {"axes": axes} if opset == 18 else {}
    attributes = {"keepdims": keepdims} | ({} if given else {"axes": axes})
    reduced = node("ReduceLogSumExp", "x axes" if given else "x", "y", **attributes)
    net = assert_lifts(graph([reduced], x=("N", 3, 4, 5), opset=opset, **given))
    for made in (export(net), export(net, opset=opset), export(net, dtype="float64")):
        found = [each.op_type for each in made.graph.node]
        assert found.count("ReduceLogSumExp") == 1
        assert {*found} <= {"ReduceLogSumExp", "Flatten", "Reshape"}
        assert verify(net, made, runtime="onnxruntime").passed
        assert import_model(made.to_json()) == net


def test_a_row_may_have_one_element_repeatedly_and_others_may_read_it():
    """As masks have it that are no infinities."""
    mask = np.array([[0, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 0]])
    nodes = [
        node("Cast", "mask", "b", to=9),
        node("Where", "b low x", "m"),
        node("Softmax", "m", "s"),
        node("Sin", "x", "t"),
        node("Add", "s t", "y"),
    ]
    net = assert_lifts(graph(nodes, x=("N", 4, 4), mask=mask, low=np.array(-1e9)))
    written = export(net)
    assert kinds(written) == ["Softmax"]
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net


def test_no_neuron_reads_another_inside_of_a_node(monkeypatch):
    monkeypatch.setattr(RowFinder, "_is_closed", lambda *_: True)  # a planner's mistake
    nodes = [
        node("ReduceMax", "x last", "m"),
        node("Sub", "x m", "d"),
        node("Exp", "d", "e"),
        node("ReduceSum", "e last", "t"),
        node("Div", "e t", "s"),
        node("MatMul", "e w", "p"),
        node("Concat", "s p", "y", axis=1),
    ]
    net = assert_lifts(graph(nodes, last=[1], w=np.array([[1.0], [2.0], [3.0]])))
    with pytest.raises(AssertionError, match="in no tensor so far"):
        export(net)
