"""Convolutions that nobody declared, found in layers of weights."""

from dataclasses import replace

import numpy as np
import pytest
from convolving import (
    Layer,
    checked,
    convolutions,
    convolving,
    convolving_layers,
    dense,
    entry,
    network,
    sides,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.cases import cases
from support.examples.graphs import graph, node, operators
from support.harness.routes import Trip, json_trip, onnxruntime_agrees
from support.harness.sweep import count

from neat_onnx import NeatOnnxWarning, Network, export, import_model, load_network, validate, verify
from neat_onnx.network.genes import Connections
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.window import Window

# --- found ----------------------------------------------------------------------------------------


@settings(max_examples=count(12, 60))
@given(convolving_layers(), st.booleans(), st.booleans())
def test_finds_any_convolution(layer: Layer, zeros: bool, more: bool):
    after = [dense(len(layer[0]), 3)] if more else []
    trip = Trip(network(layer, *after, zeros=zeros), {"infer_conv": True})
    (spec,) = checked(trip)
    assert spec["layerIndex"] == 1
    assert tuple(map(np.prod, sides(spec))) == layer[0].shape[::-1]
    assert operators(trip.model).count("Gemm") == len(after)


PLAIN = {
    "image": ((1, 8, 8), (2, 1, 3, 3), {}),
    "channels": ((3, 6, 6), (4, 3, 3, 3), {}),
    "same padding": ((2, 6, 6), (3, 2, 3, 3), {"pads": (1, 1, 1, 1)}),
    "strides": ((1, 9, 7), (2, 1, 3, 3), {"strides": (2, 1)}),
    "windows side by side": ((1, 8, 8), (3, 1, 4, 4), {"strides": (4, 4)}),
    "padding at one side": ((1, 6, 6), (2, 1, 3, 3), {"pads": (2, 0, 0, 1)}),
    "dilation": ((1, 9, 9), (2, 1, 3, 3), {"dilations": (2, 2)}),
    "groups": ((4, 6, 6), (4, 2, 3, 3), {"groups": 2}),
    "depthwise": ((3, 6, 6), (6, 1, 3, 3), {"groups": 3}),
    "a line": ((2, 1, 12), (3, 2, 1, 5), {}),
    "a point": ((3, 5, 5), (4, 3, 1, 1), {}),
    "not square": ((2, 4, 9), (2, 2, 2, 5), {"strides": (1, 2)}),
}


@pytest.mark.parametrize("name", PLAIN)
def test_finds_the_geometry_that_a_person_would(name: str):
    (channels, *space), shape, window = PLAIN[name]
    layer = convolving((space[0], space[1]), *shape, **window)
    (spec,) = convolutions(network(layer))
    assert sides(spec)[0] == (channels, *space)
    assert (sides(spec)[1][0], spec["kernelHeight"], spec["kernelWidth"]) == (shape[0], *shape[2:])
    assert (spec["strideHeight"], spec["strideWidth"]) == window.get("strides", (1, 1))
    found = tuple(spec.get(f"pad{side}", 0) for side in ("Top", "Left", "Bottom", "Right"))
    assert found == window.get("pads", (0, 0, 0, 0))
    assert (spec.get("dilationHeight", 1),) * 2 == window.get("dilations", (1, 1))
    assert spec.get("groups", 1) == window.get("groups", 1)


def lenet() -> Network:
    """conv → conv → dense: 10×10 → 3 of 8×8 → 4 of 3×3 → 2."""
    return network(
        convolving((10, 10), 3, 1, 3, 3),
        convolving((8, 8), 4, 3, 3, 3, seed=1, activation="relu", strides=(2, 2)),
        dense(36, 2),
        zeros=False,
    )


def test_finds_stacked_convolutions():
    specs = convolutions(lenet())
    assert [sides(spec) for spec in specs] == [((1, 10, 10), (3, 8, 8)), ((3, 8, 8), (4, 3, 3))]
    model = export(lenet(), infer_conv=True)
    assert operators(model) == ["Reshape", "Conv", "Tanh", "Conv", "Relu", "Flatten", "Gemm",
                                "Sigmoid"]  # fmt: skip
    json_trip(Trip(lenet(), {"infer_conv": True}))


def test_what_was_found_comes_back_as_a_block():
    back = import_model(export(lenet(), infer_conv=True))
    assert [block.neurons.shape for block in back.blocks] == [(3, 8, 8), (4, 3, 3)]
    assert operators(export(back)).count("Conv") == 2


def test_the_shape_of_a_port_is_believed():
    """Seen through a window of one row, 12 rows are as good as 2 channels of 6 rows."""
    layer = convolving((12, 6), 2, 1, 1, 3)
    assert sides(convolutions(network(layer, shape=(1, 12, 6)))[0])[0] == (1, 12, 6)
    assert sides(convolutions(network(layer, shape=(12, 6)))[0])[0] == (1, 12, 6)


def test_the_shape_of_a_port_is_no_bound():
    layer = convolving((6, 6), 2, 1, 3, 3)
    assert sides(convolutions(network(layer, shape=(1, 4, 9)))[0])[0] == (1, 6, 6)


def test_finds_a_convolution_over_a_block_that_the_network_carries():
    first, second = convolving((8, 8), 2, 1, 3, 3), convolving((6, 6), 2, 2, 3, 3, seed=1)
    net = network(first, second)
    block = SpatialBlock(
        "Conv", np.arange(64).reshape(1, 8, 8), np.arange(64, 136).reshape(2, 6, 6), Window((3, 3))
    )
    trip = Trip(replace(net, blocks=(block,)), {"infer_conv": True})
    onnxruntime_agrees(trip)
    assert operators(trip.model).count("Conv") == 2
    (spec,) = entry(trip.model, "conv2d_inferred_specs")
    assert (spec["layerIndex"], *sides(spec)) == (2, (2, 6, 6), (2, 4, 4))


# --- the corpora ----------------------------------------------------------------------------------

SHARED = ("nts-onnx-conv1ch", "nts-onnx-convmulti", "nts-onnx-convpad", "nts-onnx-convstride",
          "nts-onnx-convshare-pass", "nts-onnx-convskip")  # fmt: skip
SPATIAL = {
    case.name: case for case in cases(*SHARED, "nts-onnx-convinfer", "nts-onnx-convshare-fail")
}


@pytest.mark.parametrize("name", SPATIAL)
def test_finds_what_neataptic_ts_has_to_be_told(name: str):
    """Its own guesses are sizes that would fit; only those networks share weights for which it was
    given a mapping.
    """
    net, wanted = load_network(SPATIAL[name].document["source_network"]), []
    if SPATIAL[name].group in SHARED:
        wanted = SPATIAL[name].document["options"]["conv2dMappings"]
    specs = convolutions(net)
    assert [spec["layerIndex"] for spec in specs] == [mapping["layerIndex"] for mapping in wanted]
    if wanted and SPATIAL[name].group != "nts-onnx-convskip":  # its mapping is of another network
        keys = [key for key in wanted[0] if not key.startswith("pad")]
        assert {key: specs[0][key] for key in keys} == {key: wanted[0][key] for key in keys}


def test_float64_has_no_convolutions_and_says_so():
    with pytest.warns(NeatOnnxWarning, match="float32 only"):
        model = export(lenet(), infer_conv=True, dtype="float64")
    assert "Conv" not in operators(model)


@pytest.mark.parametrize("sequence", [False, True])
def test_finds_convolutions_in_networks_with_memory(sequence: bool):
    """The convolution reads this step only; the layer after it also itself, one step ago."""
    net = network(convolving((6, 6), 2, 1, 3, 3), dense(32, 3), zeros=False)
    own, c = np.arange(36 + 32, 36 + 35), net.connections
    delay = np.repeat([0, 1], [len(c), 3])
    links = (np.append(c.source, own), np.append(c.target, own), np.append(c.weight, [0.5] * 3))
    net = replace(net, connections=Connections.of(*links, delay=delay))
    model = export(net, infer_conv=True, sequence=sequence)
    assert entry(model, "conv2d_inferred_layers") == [1]
    assert validate(model) == []
    assert verify(net, model).passed


def test_windows_leave_out_neurons_inside_of_another_node():
    """The sums of a softmax are windows over its level, where an ArgMin has neurons as well."""
    nodes = [
        node("Softmax", "x", "p"),
        node("Flatten", "x", "f"),
        node("Slice", "f zero four one", "s"),
        node("ArgMin", "s", "a", axis=1),
        node("Cast", "a", "i", to=1),
    ]
    model = graph(nodes, x=("N", 2, 4), outputs=("p", "i"), zero=[0], four=[4], one=[1])
    net = import_model(model)
    written = export(net, infer_conv=True)
    assert verify(net, written, runtime="onnxruntime").passed
    assert import_model(written.to_bytes()) == net
