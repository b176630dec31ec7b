from typing import Literal

import pytest
from sample_models import node

from neat_onnx.errors import ModelError
from neat_onnx.model import Attributes, Graph, Node, Tensor, load_model, node_class, node_classes
from neat_onnx.model.graph import parse_node


class ProbeAttributes(Attributes):
    rate: float = 0.5
    order: Literal[0] = 0
    mode: Literal["NOTSET", "VALID"] = "NOTSET"
    pads: tuple[int, ...] | None = None
    scales: tuple[float, ...] = ()
    value: Tensor | None = None
    body: Graph | None = None


class Probe(Node):
    inputs = (1, None)
    outputs = (1, 2)
    attributes: ProbeAttributes = ProbeAttributes.defaults()


@pytest.fixture(autouse=True, scope="module")
def only_here():
    yield
    del node_classes.__globals__["_REGISTRY"]["Probe"]


def probe(*attributes, **keys):
    return {
        "op_type": "Probe",
        "input": ["x"],
        "output": ["y"],
        "attributes": [*attributes],
        **keys,
    }


def said(document) -> str:
    with pytest.raises(ModelError) as refused:
        load_model({"graph": {"outputs": [], "node": [document]}})
    return str(refused.value)


def test_attributes_are_written_as_ONNX_lists_them_those_set_only_in_declared_order():
    inner = Graph(outputs=[], node=[node("Tanh", ["x"], ["h"])])
    one = Probe(
        input=["x"],
        output=["y"],
        attributes=ProbeAttributes(
            body=inner, value=Tensor.of("", [1.0]), pads=[1, 2], mode="VALID", rate=2
        ),
    )
    assert one.model_dump()["attributes"] == [
        {"name": "rate", "type": "FLOAT", "f": 2.0},
        {"name": "mode", "type": "STRING", "s": "VALID"},
        {"name": "pads", "type": "INTS", "ints": [1, 2]},
        {
            "name": "value",
            "type": "TENSOR",
            "t": {"data_type": 1, "dims": [1], "float_data": [1.0]},
        },
        {"name": "body", "type": "GRAPH", "g": inner.model_dump()},
    ]
    assert parse_node(one.model_dump()) == one


def test_types_may_be_names_numbers_or_left_out_and_integers_decimal_strings():
    entries = [
        {"name": "rate", "type": 1, "f": 3},
        {"name": "order", "i": "0"},
        {"name": "pads", "type": "INTS", "ints": ["1", 2]},
        {"name": "scales", "type": "FLOATS"},
    ]
    attributes = Probe.model_validate(probe(*entries)).attributes
    assert (attributes.rate, attributes.order, attributes.pads) == (3.0, 0, (1, 2))
    assert attributes.scales == ()


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"name": "foo", "i": 1}, "node y (Probe): unknown attribute 'foo'"),
        ({"name": "foo", "i": 1}, "Known: rate, order, mode, pads, scales, value, body"),
        ({"name": "\ud800", "i": 1}, "unknown attribute '\\ud800'"),
        ({"name": "order", "i": 2**70}, "order is out of range"),
        ({"name": "order", "i": 1}, "node y (Probe): order is 1, expected 0"),
        ({"name": "order", "i": 0.0}, "node y (Probe): order is not an integer"),
        ({"name": "order", "f": 0.0}, "order is of type FLOAT, expected INT"),
        ({"name": "order", "type": "FLOAT", "i": 0}, "order has a wrong key 'i'"),
        ({"name": "order", "type": "INTEGER", "i": 0}, "order has the unsupported type 'INTEGER'"),
        ({"name": "order"}, "order has 0 values, expected one"),
        ({"name": "order", "i": 0, "f": 1.0}, "order has 2 values, expected one"),
        ({"name": "rate", "f": "x"}, "rate is not a number"),
        ({"name": "rate", "f": "NaN"}, "rate is not a finite number"),
        ({"name": "rate", "f": True}, "rate is not a number"),
        ({"name": "mode", "s": "SAME"}, "mode is 'SAME', expected 'NOTSET' or 'VALID'"),
        ({"name": "pads", "ints": 3}, "pads is not a list"),
        ({"name": "pads", "ints": [1.5]}, "pads is not an integer"),
        ({"i": 3}, "each attribute is an object with a name"),
        (7, "each attribute is an object with a name"),
    ],
)
def test_a_wrong_attribute_is_refused_with_node_field_found_and_wanted(entry, text):
    assert text in said(probe(entry))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"input": []}, "node y (Probe): has 0 inputs, expected 1 to any number"),
        ({"output": ["a", "b", "c"]}, "node a (Probe): has 3 outputs, expected 1 to 2"),
        ({"input": [1]}, "node y (Probe): input[0] is not a string (graph.node[0].input[0])"),
        ({"input": "x"}, "node y (Probe): input is not a list"),
        ({"colour": 1}, "node y (Probe): colour is not a known key"),
        ({"attributes": {"rate": 1}}, "attributes is not a list"),
        ({"op_type": "FooBar"}, "node y (FooBar): unsupported op_type FooBar (graph.node[0])"),
        ({"op_type": None}, "has no op_type"),
        ({"op_type": "\ud800"}, "half a surrogate pair"),
        ({"domain": "com.example"}, "domain is 'com.example', op_type Probe is known in '' only"),
        ({"domain": "com.microsoft.nchwc"}, "one processor; have it optimize with ORT_ENABLE_EXT"),
        ({"name": "pool\x1b[31m", "input": []}, "node pool\\x1b[31m (Probe)"),
    ],
)
def test_a_wrong_node_is_refused(change, text):
    assert text in said(probe(**change))


def test_an_attribute_may_be_given_once():
    entry = {"name": "rate", "f": 1.0}
    assert "attribute 'rate' is given twice" in said(probe(entry, entry))


def test_the_default_domain_has_two_names():
    assert parse_node(probe(domain="ai.onnx")).domain == ""


def test_an_operator_is_registered_once_and_a_base_is_none():
    with pytest.raises(ModelError, match="op_type Probe is registered twice"):
        type("Probe", (Node,), {})

    class Base(Node, abstract=True):
        pass

    with pytest.raises(ModelError, match="unsupported op_type Base") as refused:
        node_class("Base")
    assert "subclass" in refused.value.hint


def test_a_label_is_the_first_output_that_is_there():
    made = parse_node({"op_type": "Split", "input": ["x", "sizes"], "output": ["", "rest"]})
    assert made.label == "rest (Split)"
