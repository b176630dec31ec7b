"""Integer inputs are drawn where runtimes take them: places that are there."""

import pytest
from onnx import TensorProto, helper
from support.examples.graphs import graph, node

from neat_onnx import ModelError, import_model, load_model, verify
from neat_onnx.runtimes.ports import as_read
from neat_onnx.verification.samples import short_sequences

NUMBERS = {"one": [1], "zero": [0], "four": [4]}
LABELS = {
    "labels that do not count": [
        node("Equal", "at one", "left_out"),
        node("Where", "left_out zero at", "places"),
        node("Unsqueeze", "places one", "columns"),
        node("GatherElements", "x columns", "y", axis=1),
    ],
    "places from the end by masks": [  # as tf2onnx writes Keras's Embedding
        node("Add", "at four", "turned"),
        node("Less", "at zero", "below"),
        node("Not", "below", "above"),
        node("Cast", "below", "mask", to=TensorProto.INT64),
        node("Cast", "above", "rest", to=TensorProto.INT64),
        node("Mul", "mask turned", "negative"),
        node("Mul", "at rest", "positive"),
        node("Add", "negative positive", "place"),
        node("Unsqueeze", "place one", "places"),
        node("GatherElements", "x places", "y", axis=1),
    ],
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_are_drawn_among_the_classes(name: str):
    read = {each for made in LABELS[name] for each in made.input}
    constants = {each: value for each, value in NUMBERS.items() if each in read}
    model = graph(LABELS[name], x=("N", 4), **constants)
    model.graph.input.append(helper.make_tensor_value_info("at", TensorProto.INT64, ["N"]))
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    drawn = as_read(net, load_model(model), short_sequences(net, 256, 0))[..., 4:]
    assert {*drawn.ravel()} == {0.0, 1.0, 2.0, 3.0}


def test_places_that_are_set_are_refused_by_name():
    nodes = [
        node("Unsqueeze", "at one", "places"),
        node("Neg", "places", "less"),
        node("Cast", "less", "numbers", to=TensorProto.FLOAT),
        node("ScatterElements", "x places numbers", "y", axis=1),
    ]
    model = graph(nodes, x=("N", 4), one=[1])
    model.graph.input.append(helper.make_tensor_value_info("at", TensorProto.INT64, ["N"]))
    with pytest.raises(ModelError, match=r"ScatterElements\): indices is computed from inputs"):
        import_model(model)


@pytest.mark.parametrize(("operator", "shifts"), [("Add", [0, 4, 8]), ("Sub", [0, -4, -8])])
def test_places_of_several_tables_in_one(operator: str, shifts: list[int]):
    """Factorization machines have the categories of each column in rows of their own."""
    table = [[row / 10] for row in range(12)]
    nodes = [node(operator, "x shifts", "rows"), node("Gather", "table rows", "y")]
    model = graph(nodes, shifts=shifts, table=table)
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    drawn = as_read(net, load_model(model), short_sequences(net, 256, 0))
    assert {*drawn.ravel()} == {0.0, 1.0, 2.0, 3.0}
