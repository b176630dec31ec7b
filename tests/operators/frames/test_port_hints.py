"""Hints at the types and the batch of ports, as metadata and network JSON have them."""

from dataclasses import replace

import pytest
from onnx import TensorProto
from stated_models import counter, model_of
from support.examples.graphs import node

from neat_onnx import NeatOnnxWarning, Network, NetworkError, export, import_model
from neat_onnx.genome.port_hints import PORTS
from neat_onnx.model import MetadataEntry
from neat_onnx.network.port import Port


@pytest.mark.parametrize(
    ("key", "value"), [("batch_axis", 2), ("batch_axis", 10**9), ("dtype", "x")]
)
def test_hints_that_do_not_fit_are_refused(key, value):
    document = counter().to_document().model_dump()
    document["outputs"][0][key] = value
    with pytest.raises(NetworkError, match=key):
        Network.from_document(document)
    with pytest.raises(NetworkError, match=key):
        replace(counter(), outputs=(replace(counter().outputs[0], **{key: value}),))


def test_hints_of_the_metadata_that_do_not_fit_are_left_out():
    model = export(counter())
    entry = MetadataEntry(key=PORTS, value='{"y": {"batch_axis": 40}}')
    edited = model.model_copy(update={"metadata_props": [*model.metadata_props, entry]})
    with pytest.warns(NeatOnnxWarning, match=PORTS):
        assert import_model(edited) == counter()


@pytest.mark.parametrize("options", [{}, {"sequence": True}])
def test_hints_that_a_graph_does_not_have_come_back(options):
    kind = TensorProto.UINT8
    nodes = [node("Identity", "x", "y"), node("Tanh", "o", "z")]
    first = model_of(
        nodes,
        {"x": (kind, ["N", 2]), "o": (TensorProto.FLOAT, ["N", 1])},
        {"y": (kind, ["N", 2]), "z": (TensorProto.FLOAT, ["N", 1])},
    )
    net = import_model(first)
    again = import_model(export(net.without_source(), **options))
    assert again == net


def test_network_json_has_the_hints():
    net = counter()
    document = net.to_document().model_dump()
    assert document["inputs"][0]["dtype"] == "int64"
    assert Network.from_document(document).inputs[0].dtype == "int64"
    plain = Port("x", net.inputs[0].shape, net.inputs[0].neurons)
    assert plain == net.inputs[0]  # a hint is no gene
    assert "dtype" not in Network.mlp([2, 1]).to_json()
