"""Elements of a batch in one row, as scikit-learn's converter writes a QuantileTransformer."""

import numpy as np
import pytest
from onnx import helper
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import canonicalize, export, import_model, verify

X = np.random.default_rng(2).normal(size=(9, 3)).astype(np.float32)
CONSTANTS = {
    "zero": 0.0, "two": 2.0, "back": np.array([-1, 3]), "three": np.arange(3.0),
    "table": np.array([0.25, -1.5]), "other": np.array([3, -1]),
}  # fmt: skip
ROW = node("Flatten", "x", "r", axis=0)
BACK = node("Reshape", "w back", "y")
CHOICE = [node("Greater", "r zero", "c"), node("Mul", "r two", "d"), node("Where", "c d r", "w")]
LOOKED_UP = [node("Greater", "r zero", "c"), node("Cast", "c", "i", to=7),
             node("Gather", "table i", "t"), node("Add", "t r", "w")]  # fmt: skip
SAME = {
    "a choice": [ROW, *CHOICE, BACK],
    "a table": [ROW, *LOOKED_UP, BACK],
    "of another": [ROW, *CHOICE, node("Sin", "x", "s"), node("Shape", "s", "n"),
                   node("Reshape", "w n", "y")],
    "twice": [ROW, *CHOICE[:-1], node("Where", "c d r", "v"), node("Flatten", "v", "w"), BACK],
}  # fmt: skip
OTHER = {
    "a constant along the features": [ROW, node("Add", "r three", "w"), BACK],
    "a sum over samples": [ROW, node("ReduceSum", "r", "w"), BACK],
    "another shape": [ROW, *CHOICE, node("Reshape", "w other", "y")],
    "a column": [ROW, *CHOICE[:-1], node("Where", "c d r", "v"),
                 node("Flatten", "v", "w", axis=2), BACK],
}  # fmt: skip


def model_of(nodes):
    used = {name for each in nodes for name in each.input}
    given = {name: value for name, value in CONSTANTS.items() if name in used}
    return graph(nodes, x=("N", 3), **given)


@pytest.mark.parametrize("nodes", SAME.values(), ids=SAME.keys())
def test_elements_stay_where_they_are(nodes):
    model = model_of(nodes)
    (want,) = open_session(model).run(None, {"x": X})
    simple = canonicalize(model)
    assert not {"Flatten", "Reshape"} & {each.op_type for each in simple.graph.node}
    assert canonicalize(simple).to_json() == simple.to_json()
    np.testing.assert_allclose(open_session(simple.to_proto()).run(None, {"x": X})[0], want)
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(export(net).to_json()) == net


@pytest.mark.parametrize("nodes", OTHER.values(), ids=OTHER.keys())
def test_what_reads_the_row_itself_keeps_it(nodes):
    simple = canonicalize(model_of(nodes))
    assert "Flatten" in [each.op_type for each in simple.graph.node]


@pytest.mark.parametrize(
    ("operator", "attributes"),
    [
        ("Scaler", {"offset": [0.5, -0.25, 1.0], "scale": [2.0, 0.5, 1.0]}),
        ("Normalizer", {"norm": "L1"}),
        ("Imputer", {"imputed_value_floats": [1.0], "replaced_value_float": 0.0}),
    ],
)
def test_features_may_come_from_an_operator_of_ai_onnx_ml(operator, attributes):
    """The shape of its result is that of its input, which onnx's shape inference does not say."""
    first = helper.make_node(operator, ["x"], ["f"], domain="ai.onnx.ml", **attributes)
    model = model_of([node("Flatten", "f", "r", axis=0), *CHOICE, BACK])
    model.graph.node.insert(0, first)
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    net = assert_lifts(model)
    assert verify(net, export(net), runtime="onnxruntime").passed
