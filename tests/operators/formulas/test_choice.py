"""Choices between values by a comparison: one neuron compares, and one minus it is the rest."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.usual_form import usual_form

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(0)
UNITS = 40


def chosen(operator, *nodes):
    layers = [node("Gemm", f"x w{each}", each) for each in "abc"]
    weights = {f"w{each}": RANDOM.normal(size=(4, UNITS)) for each in "abc"}
    return graph([*layers, node(operator, "a b", "k"), *nodes], x=("N", 4), **weights)


def assert_comes_back(net):
    written = export(net)
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_json()) == net
    return written


@pytest.mark.parametrize("operator", ["Greater", "LessOrEqual", "Equal"])
def test_a_comparison_of_two_values_is_one_neuron(operator):
    net = assert_lifts(chosen(operator, node("Cast", "k", "t", to=1), node("Add", "t c", "y")))
    assert len(net) == 4 + 5 * UNITS
    assert_comes_back(net)


@pytest.mark.parametrize(("operator", "compared"), [("Greater", 1), ("GreaterOrEqual", 2)])
def test_the_rest_of_a_choice_needs_no_comparison_of_its_own(operator, compared):
    """Import would take one minus a function without a name for another such function."""
    net = assert_lifts(chosen(operator, node("Where", "k a c", "y")))
    written = assert_comes_back(net)
    usual = usual_form(net)
    assert [each.op_type for each in usual.graph.node].count(operator) == compared
    assert '"added"' not in written.metadata.get("neat_onnx.genome", "")


@pytest.mark.parametrize(
    ("ones", "exact"), [(np.arange(UNITS), True), (RANDOM.random(UNITS), False)]
)
def test_a_choice_of_constants_needs_no_rest_where_their_difference_is_exact(ones, exact):
    model = chosen("Greater", node("Where", "k one other", "y"))
    for name, values in (("one", ones), ("other", np.arange(UNITS) % 3 - 1)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(values), name))
    net = assert_lifts(model)
    assert (len(net) == 4 + 4 * UNITS) == exact
    assert_comes_back(net)
