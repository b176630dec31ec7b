"""Exports in the graph-semantics profile: no finding, attributes written, the genome intact."""

import functools
import warnings

import pytest
from onnx import defs
from support.examples.cases import CORPORA, case
from support.examples.networks import NETWORKS
from support.harness.routes import Trip, assert_genome_as_exact_as_its_type, onnxruntime_agrees

from neat_onnx import Network, export, import_model, validate
from neat_onnx.errors import NeatOnnxError, NetworkError, OptionError
from neat_onnx.model import Graph
from neat_onnx.model.graph import ONNX_DOMAINS

NAMED = ("every_activation", "every_aggregation_on_a_level", "shaped_ports")
OPTIONS = ({}, {"opset": 25}, {"dtype": "float64"}, {"infer_conv": True})
CONV = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
SAMPLE = sorted(path.stem for path in CORPORA.glob("n*-*.json"))[::12]


def nodes_of(graph):
    for node in graph.node:
        yield node
        for _, _, value in node.attributes.given():
            if isinstance(value, Graph):
                yield from nodes_of(value)


def unwritten(model):
    """The attributes with a default that nodes leave out, by ONNX's own table."""
    return {
        (node.op_type, name)
        for node in nodes_of(model.graph)
        if node.domain in ONNX_DOMAINS
        for name, entry in defs.get_schema(node.op_type, model.opset).attributes.items()
        if entry.default_value.type and name not in {each for each, _, _ in node.attributes.given()}
    }


@functools.cache
def in_profile(name, position):
    return Trip(NETWORKS[name], {"profile": "sonnx", **OPTIONS[position]})


@pytest.mark.parametrize(
    ("name", "position"),
    [*((NAMED[0], position) for position in range(len(OPTIONS))), (NAMED[1], 0), (NAMED[2], 0)],
)
def test_every_attribute_is_written_and_the_genome_comes_back(name, position):
    trip = in_profile(name, position)
    assert validate(trip.model) == []
    assert unwritten(trip.model) == set()
    assert_genome_as_exact_as_its_type(import_model(trip.model.to_bytes()), trip)
    onnxruntime_agrees(trip)


@pytest.mark.parametrize("name", SAMPLE)
def test_networks_of_the_corpora_satisfy_the_profile(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            net = case(name).network()
            plain = export(net)
        except NeatOnnxError:
            return
        for options in ({}, {"sequence": True}):
            model = export(net, profile="sonnx", **options)
            assert validate(model) == []
            assert unwritten(model) == set()
    assert len(model.graph.node) >= 1 and plain.opset == model.opset


def test_windows_scans_and_cells_write_what_onnx_has_in_words():
    cells = Network.lstm(2, 3, seed=0)
    written = {
        node.op_type: {name: value for name, _, value in node.attributes.given()}
        for net, options in [
            (NETWORKS["convolution_and_pools"], {"infer_conv": True}),
            (cells, {"sequence": True}),
            (cells, {"sequence": True, "fused_recurrent": False}),
        ]
        for node in nodes_of(export(net, profile="sonnx", **options).graph)
    }
    assert written["Conv"].keys() == set(CONV)
    assert written["Conv"]["dilations"] == (1, 1)
    assert written["LSTM"]["activations"] == ("Sigmoid", "Tanh", "Tanh")
    assert written["Scan"]["scan_output_axes"] == (0,)
    assert written["Scan"]["scan_input_directions"] == (0,)


@pytest.mark.parametrize(("opset", "dilated"), [(18, False), (19, True)])
def test_attributes_are_those_of_the_opset(opset: int, *, dilated: bool):
    model = export(NETWORKS["convolution_and_pools"], profile="sonnx", opset=opset)
    pools = [each for each in nodes_of(model.graph) if each.op_type == "AveragePool"]
    for pool in pools:
        names = {name for name, _, _ in pool.attributes.given()}
        assert ("dilations" in names) is dilated
    assert pools
    assert validate(model) == []


def test_int8_is_in_the_profile_too():
    model = export(NETWORKS["every_activation"], quantize="weights", profile="sonnx")
    assert unwritten(model) == set()


def test_the_other_dialect_has_no_profile():
    with pytest.raises(OptionError, match="profile cannot be 'sonnx'"):
        export(NETWORKS["every_activation"], dialect="neataptic", profile="sonnx")


def test_a_graph_that_breaks_it_is_refused(monkeypatch):
    from neat_onnx.lowering import profile
    from neat_onnx.model.wiring import Finding

    finding = Finding(code="C1", where="x", message="graph input 'x' is read by no node")
    monkeypatch.setattr(profile, "validate", lambda model, level: [finding])
    with pytest.raises(NetworkError, match="C1"):
        export(NETWORKS["every_activation"], profile="sonnx")
