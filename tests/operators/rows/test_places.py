"""ArgMax, ArgMin and Hardmax: imported as hits and first hits, found again, and written small."""

import json
from dataclasses import replace

import numpy as np
import pytest
from neat_onnx.operators.rows.places import PlaceFinder
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session
from support.harness.sweep import pairs

from neat_onnx import Network, export, import_model, validate, verify

LABELS = {"l": np.array([[3.0], [-1.0], [7.5]])}
FORMS = {
    "hardmax": ([node("Hardmax", "x", "y")], ("N", 4), {}, ["Hardmax"]),
    "of rows": ([node("Hardmax", "x", "y")], ("N", 2, 3), {}, ["Hardmax"]),
    "along channels": ([node("Hardmax", "x", "y", axis=1)], ("N", 3, 2), {}, ["Hardmax"]),
    "labels": (
        [node("Hardmax", "x", "h"), node("MatMul", "h l", "y")],
        ("N", 3),
        LABELS,
        ["Hardmax"],
    ),
    "argmax": (
        [node("ArgMax", "x", "p", axis=1), node("Cast", "p", "y", to=1)],
        ("N", 5),
        {},
        ["ArgMax"],
    ),
    "argmin": (
        [node("ArgMin", "x", "p", axis=1), node("Cast", "p", "y", to=1)],
        ("N", 5),
        {},
        ["ArgMin"],
    ),
    "argmax of rows": (
        [node("ArgMax", "x", "p", axis=2, keepdims=0), node("Cast", "p", "y", to=1)],
        ("N", 2, 3),
        {},
        ["ArgMax"],
    ),
    "a place that is read, along a middle axis": (
        [
            node("ArgMax", "x", "p", axis=2),
            node("Cast", "p", "f", to=1),
            node("ReduceSum", "f a", "y", keepdims=0),
        ],
        ("N", 2, 3, 2),
        {"a": np.array([1])},
        ["ArgMax"],
    ),
    "a function of the place along a middle axis": (
        [
            node("ArgMin", "x", "p", axis=2),
            node("Cast", "p", "f", to=1),
            node("Tanh", "f", "t"),
            node("ReduceSum", "t a", "y", keepdims=0),
        ],
        ("N", 2, 3, 2),
        {"a": np.array([1])},
        ["ArgMin"],
    ),
    "the last of equal ones": (
        [
            node("ArgMax", "x", "p", axis=1, select_last_index=1),
            node("Cast", "p", "y", to=1),
        ],
        ("N", 5),
        {},
        ["ArgMax"],
    ),
    "the last of equal ones, along a middle axis": (
        [
            node("ArgMin", "x", "p", axis=2, keepdims=0, select_last_index=1),
            node("Cast", "p", "y", to=1),
        ],
        ("N", 2, 3, 2),
        {},
        ["ArgMin"],
    ),
    "a label": (
        [node("ArgMax", "x", "p", axis=1, keepdims=0), node("Cast", "p", "y", to=1)],
        ("N", 3),
        {},
        ["ArgMax"],
    ),
    "a function of the place": (
        [
            node("ArgMin", "x", "p", axis=1),
            node("Cast", "p", "f", to=1),
            node("Tanh", "f", "y"),
        ],
        ("N", 3),
        {},
        ["ArgMin"],
    ),
    "a place that is read": (
        [
            node("ArgMax", "x", "p", axis=1, keepdims=0),
            node("Cast", "p", "f", to=1),
            node("Unsqueeze", "f axes", "g"),
            node("Mul", "g x", "y"),
        ],
        ("N", 3),
        {"axes": [1]},
        ["ArgMax"],
    ),
    "of shares": (
        [
            node("Softmax", "x", "s"),
            node("Hardmax", "s", "h"),
            node("Add", "h s", "y"),
        ],
        ("N", 3),
        {},
        ["Hardmax", "Softmax"],
    ),
}
WRITTEN = ("ArgMax", "ArgMin", "Hardmax", "ReduceMax", "ReduceMin", "Softmax")


def kinds(model):
    return sorted(each.op_type for each in model.graph.node if each.op_type in WRITTEN)


@pytest.mark.parametrize("form", FORMS)
def test_it_comes_back_as_one_operator_and_the_genome_with_it(form):
    nodes, x, constants, wanted = FORMS[form]
    net = assert_lifts(graph(nodes, x=x, **constants))
    model = export(net)
    assert kinds(model) == wanted
    assert len(model.graph.node) <= len(nodes) + 10
    assert validate(model) == []
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


@pytest.mark.parametrize("form", ["hardmax", "of rows"])
@pytest.mark.parametrize("opset", [13, 18])
def test_float64_has_a_comparison_instead(form, opset):
    nodes, x, constants, _ = FORMS[form]
    net = assert_lifts(graph(nodes, x=x, **constants))
    model = export(net, dtype="float64", opset=opset)
    assert kinds(model) == ["ReduceMax"]
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


@pytest.mark.parametrize("form", ["argmax", "argmin", "a label"])
@pytest.mark.parametrize(
    "options", [{"dtype": "float64"}, {"sequence": True}, {"opset": 13}], ids=str
)
def test_places_are_one_operator_in_every_form_of_a_file(form, options):
    nodes, x, constants, wanted = FORMS[form]
    net = assert_lifts(graph(nodes, x=x, **constants))
    model = export(net, **options)
    if "sequence" not in options:
        assert kinds(model) == wanted
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


@pytest.mark.parametrize("weights", [{1: 1.0, 2: 3.0}, {1: 2.0, 2: 1.0}, {0: 1.0, 1: 2.0}], ids=str)
def test_other_weights_of_first_hits_are_no_number_of_a_place(weights):
    table = np.array([[weights.get(place, 0.0)] for place in range(3)])
    nodes = [node("Hardmax", "x", "h"), node("MatMul", "h t", "y")]
    net = assert_lifts(graph(nodes, t=table))
    model = export(net)
    assert "ArgMax" not in kinds(model)
    assert import_model(model.to_json()) == net


def test_of_equal_elements_it_is_the_first():
    net = import_model(graph([node("Hardmax", "x", "y")], x=("N", 3)))
    x = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    (y,) = open_session(export(net).to_proto()).run(None, {"x": x.astype(np.float32)})
    np.testing.assert_array_equal(y, net.activate(x))


REPEATS = {"next": [0, 1, 1], "apart": [0, 1, 0, 1], "first": [1, 1, 0], "only": [1, 1]}
OF_REPEATS = {
    "argmax": [node("ArgMax", "g", "p", axis=-1, keepdims=0), node("Cast", "p", "y", to=1)],
    "the last": [
        node("ArgMin", "g", "p", axis=-1, keepdims=0, select_last_index=1),
        node("Cast", "p", "y", to=1),
    ],
    "hardmax": [node("Hardmax", "g", "y")],
    "equals the least": [
        node("ReduceMin", "g last", "m"),
        node("Equal", "g m", "e"),
        node("Cast", "e", "y", to=1),
    ],
}


@pytest.mark.parametrize(
    ("repeats", "form", "x", "dtype"),
    pairs(REPEATS, OF_REPEATS, [("N", 2), ("N", 2, 2)], ["float32", "float64"]),
)
def test_a_neuron_that_a_row_reads_twice_has_two_places(repeats, form, x, dtype):
    nodes = [node("Gather", "x index", "g", axis=-1), *OF_REPEATS[form]]
    model = graph(nodes, x=x, index=REPEATS[repeats], last=[-1])
    net = import_model(model)
    rows = np.random.default_rng(0).integers(-1, 2, (12, *x[1:])).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": rows})
    np.testing.assert_array_equal(net.activate({"x": rows})["y"], want)
    again = export(net, dtype=dtype)
    (got,) = open_session(again.to_proto()).run(None, {"x": rows.astype(dtype)})
    np.testing.assert_array_equal(got, want)
    assert import_model(again.to_json()) == net


HIT, FIRST = "formula: number(equal(z, 0))", "formula: number(greater(z, 0.5))"


def changed(**gene):
    """A Hardmax of two with a change: of the extreme (2), a hit (3, 4) or a first hit (5, 6)."""
    neurons = {
        2: {"activation": "identity", "aggregation": gene.pop("aggregation", "max")},
        3: {"activation": HIT, "bias": gene.pop("bias", 0.0)},
        4: {"activation": HIT},
        5: {"activation": gene.pop("first", FIRST)},
        6: {"activation": FIRST},
    }
    weights = {(0, 2): 1.0, (1, 2): 1.0, (0, 3): 1.0, (2, 3): -1.0, (1, 4): 1.0, (2, 4): -1.0,
               (3, 5): 1.0, (3, 6): -1.0, (4, 6): 1.0}  # fmt: skip
    weights |= gene.pop("weights", {})
    outputs = gene.pop("outputs", [5, 6])
    return Network.build(
        inputs=2,
        outputs=outputs,
        neurons=[{"id": number, **each} for number, each in neurons.items()],
        connections=[(*pair, weight) for pair, weight in weights.items() if weight],
    )


def test_built_by_hand_it_is_a_hardmax():
    assert kinds(export(changed())) == ["Hardmax"]


@pytest.mark.parametrize(
    "change",
    [
        {"bias": 0.5},
        {"first": HIT},
        {"weights": {(0, 3): 2.0}},
        {"weights": {(0, 2): 0.5}},
        {"weights": {(3, 6): 1.0}},
        {"weights": {(3, 6): 0.0}},
        {"weights": {(4, 5): 1.0}},
        {"weights": {(0, 4): 1.0}},
        {"outputs": [3, 5, 6]},
        {"outputs": [2, 5, 6]},
        {"aggregation": "mean"},
    ],
    ids=str,
)
def test_any_other_gene_and_it_is_none(change):
    net = changed(**change)
    model = export(net)
    assert "Hardmax" not in kinds(model)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


@pytest.mark.parametrize("outputs", [[3, 5, 6], [2, 5, 6]], ids=str)
def test_no_column_is_read_of_a_neuron_inside_of_a_node(outputs, monkeypatch):
    monkeypatch.setattr(PlaceFinder, "_is_hidden", lambda self, neuron: True)  # a planner's mistake
    with pytest.raises(AssertionError, match="in no tensor so far"):
        export(changed(outputs=outputs))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_first_hits_of_some_rows_may_have_evolved_on(dtype):
    """Of two rows, one first hit of the last is another function: that row has none, then."""
    net = import_model(graph([node("Hardmax", "x", "y")], x=("N", 2, 3)))
    response = net.neurons.response.copy()
    response[net.output_neurons[-1]] = 2.0
    net = replace(net, neurons=replace(net.neurons, response=response))
    model = export(net, dtype=dtype)
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(model) == net


@pytest.mark.parametrize("source", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_states_of_a_row_may_be_read_in_the_next_step(source, dtype):
    document = json.loads(changed(outputs=[3, 4, 5, 6]).to_json())
    read = {"source": source, "target": 7, "weight": 0.5, "delay": 1, "reads_state": True}
    document["neurons"].append({"id": 7})
    document["connections"].append(read)
    document["outputs"].append({"name": "state", "shape": [1], "neurons": [7]})
    net = Network.from_document(document)
    model = export(net, dtype=dtype)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model) == net
