"""Elements at the places of the largest ones, which need no comparison with each place."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import export, import_model


def test_slices_at_the_largest_elements_need_no_comparison():
    nodes = [
        node("TopK", "x two", "best at", axis=1),
        node("Unsqueeze", "at last", "rows"),
        node("Tanh", "x", "wave"),
        node("GatherND", "wave rows", "y", batch_dims=1),
    ]
    net = assert_lifts(graph(nodes, two=np.array([2]), last=np.array([2])))
    assert not any("either" in name for name in net.activation_names)


AT_THE_LARGEST = {
    "of the same": [node("GatherElements", "x i", "y", axis=1)],
    "of another": [node("Sin", "x", "s"), node("GatherElements", "s i", "y", axis=-1)],
    "of two": [
        node("Sin", "x", "s"), node("GatherElements", "s i", "a", axis=1),
        node("GatherElements", "x i", "b", axis=1), node("Add", "a b", "y"),
    ],
    "of more": [node("Concat", "x x", "c", axis=1), node("GatherElements", "c i", "y", axis=1)],
    "reduced": [
        node("Sin", "x", "s"), node("GatherElements", "s i", "a", axis=1),
        node("ReduceMax", "a axes", "y"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("largest", [{"axis": 1}, {"axis": -1, "select_last_index": 1}], ids=str)
@pytest.mark.parametrize("name", AT_THE_LARGEST)
def test_the_element_at_the_place_of_the_largest(name: str, largest: dict[str, int]):
    nodes = [node("ArgMax", "x", "i", **largest), *AT_THE_LARGEST[name]]
    net = assert_lifts(graph(nodes, x=("N", 4), axes=np.array([1])))
    assert import_model(export(net).to_json()) == net


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Sin", "x", "s"), node("GatherElements", "s i", "y", axis=1)],
        [node("Gather", "table i", "y")],
        [node("Gather", "table i", "rows"), node("ReduceMax", "rows axes", "y", keepdims=0)],
    ],
    ids=["elements", "rows of a table", "the largest of rows"],
)
def test_elements_at_the_places_of_the_largest_need_no_comparison_with_each_place(nodes):
    given = {"table": np.arange(8.0).reshape(4, 2) % 3.0, "axes": np.array([1])}
    used = {
        name: value for name, value in given.items() if any(name in each.input for each in nodes)
    }
    whole = graph([node("TopK", "x k", "v i"), *nodes], x=("N", 4), k=np.array([2]), **used)
    net = assert_lifts(whole)
    again = export(net)
    assert [each.op_type for each in again.graph.node].count("Or") == 0
    assert import_model(again.to_json()) == net


@pytest.mark.parametrize("constant", [np.arange(16), np.arange(16)[::-1].copy()])
def test_which_places_are_the_largest_needs_no_place(constant):
    nodes = [
        node("TopK", "x k", "v i"), node("Reshape", "i column", "c"),
        node("Equal", "each c", "e"), node("Cast", "e", "y", to=1),
    ]  # fmt: skip
    whole = graph(nodes, x=("N", 16), k=np.array([2]), column=np.array([-1, 2, 1]), each=constant)
    net = assert_lifts(whole)
    again = export(net)
    {each.op_type for each in again.graph.node}
    assert import_model(again.to_json()) == net


def test_rows_at_the_place_of_the_largest_along_another_axis():
    nodes = [
        node("ArgMax", "x", "i", axis=1),
        node("Sin", "x", "s"),
        node("GatherElements", "s i", "y", axis=1),
    ]
    assert_lifts(graph(nodes, x=("N", 3, 2)))


TAKEN = {
    "elements": [node("GatherElements", "l a", "y", axis=1)],
    "places": [node("GatherND", "l a", "y", batch_dims=1)],
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", TAKEN)
def test_the_logarithm_of_the_largest_probability(form: str, dtype: str):
    """Of other probabilities it may be infinite, and 0 · ∞ must not come into the sum."""
    nodes = [
        node("Mul", "x far", "logits"),
        node("Softmax", "logits", "p"),
        node("Log", "p", "l"),
        node("ArgMax", "p", "a", axis=1),
        *TAKEN[form],
    ]
    model = graph(nodes, far=1e4, x=("N", 3))
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    net = import_model(model)
    written = export(net, dtype=dtype)
    (got,) = open_session(written).run(None, {"x": x.astype(dtype)})
    for each in (net.activate({"x": x})["y"], got):
        np.testing.assert_allclose(each, want, atol=1e-6)
    assert import_model(written) == net
