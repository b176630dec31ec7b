"""Convolutions that nobody declared, found in layers of weights; and layers that are none."""

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import cases
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from networks import NETWORKS, evolved
from routes import Trip, json_trip, onnxruntime_agrees

from neat_onnx import (
    Model,
    NeatOnnxWarning,
    Network,
    export,
    import_model,
    load_network,
    validate,
    verify,
)
from neat_onnx.network.genes import Connections, Floats, Neurons, Port
from neat_onnx.network.spatial import SpatialBlock
from neat_onnx.network.window import Window

Layer = tuple[Floats, Floats, str]


def convolution(
    kernel: Floats,
    space: tuple[int, int],
    strides: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    dilations: tuple[int, int] = (1, 1),
    groups: int = 1,
) -> Floats:
    """The matrix (neurons, sources) of ONNX's Conv, from its definition.

    Args:
        kernel: (out, in / groups, height, width).
        space: height and width of the sources.
        pads: top, left, bottom, right.
    """
    out, seen, *taps = kernel.shape
    counts = [
        (size + before + after - (tap - 1) * dilation - 1) // stride + 1
        for size, before, after, tap, dilation, stride in zip(
            space, pads[:2], pads[2:], taps, dilations, strides, strict=True
        )
    ]
    matrix = np.zeros((out, max(counts[0], 0), max(counts[1], 0), seen * groups, *space))
    for o, c, a, b in itertools.product(*map(range, kernel.shape)):
        for y, x in itertools.product(*map(range, matrix.shape[1:3])):
            i = y * strides[0] + a * dilations[0] - pads[0]
            j = x * strides[1] + b * dilations[1] - pads[1]
            if 0 <= i < space[0] and 0 <= j < space[1]:
                channel = o // (out // groups) * seen + c
                matrix[o, y, x, channel, i, j] = kernel[o, c, a, b]
    return matrix.reshape([int(np.prod(part)) for part in (matrix.shape[:3], matrix.shape[3:])])


def network(*layers: Layer, zeros: bool = True, shape: tuple[int, ...] = ()) -> Network:
    """Layers on one another.

    Args:
        zeros: weights of 0 are connections, too.
        shape: of the input port.
    """
    sizes = [layers[0][0].shape[1], *(len(bias) for _, bias, _ in layers)]
    starts = np.cumsum([0, *sizes]).tolist()
    links = []
    for (matrix, _, _), below, here in zip(layers, starts, starts[1:], strict=False):
        target, source = np.nonzero(np.ones_like(matrix) if zeros else matrix)
        links.append((source + below, target + here, matrix[target, source]))
    count = starts[-1]
    names = [name for _, bias, name in layers for _ in bias]
    bias = np.concatenate([np.zeros(sizes[0]), *(bias for _, bias, _ in layers)])
    neurons, activations, aggregations = Neurons.of(
        np.arange(count), ["identity"] * sizes[0] + names, bias=bias
    )
    return Network(
        inputs=(Port("input", shape or (sizes[0],), np.arange(sizes[0])),),
        outputs=(Port("output", (sizes[-1],), np.arange(count - sizes[-1], count)),),
        neurons=neurons,
        connections=Connections.of(*map(np.concatenate, zip(*links, strict=True))),
        activations=activations,
        aggregations=aggregations,
    )


def convolving(
    space: tuple[int, int], *shape: int, seed: int = 0, activation: str = "tanh", **window: Any
) -> Layer:
    """A layer of random weights of the shape (out, in / groups, height, width)."""
    random = np.random.default_rng(seed)
    matrix = convolution(random.normal(size=shape), space, **window)
    return matrix, np.repeat(random.normal(size=shape[0]), len(matrix) // shape[0]), activation


def dense(below: int, width: int, seed: int = 9, activation: str = "sigmoid") -> Layer:
    random = np.random.default_rng(seed)
    return random.normal(size=(width, below)) / 4, random.normal(size=width), activation


def operators(model: Model) -> list[str]:
    return [node.op_type for node in model.graph.node]


def entry(model: Model, key: str) -> Any:
    """What the metadata says under a key, None if nothing."""
    return next((json.loads(e.value) for e in model.metadata_props if e.key == key), None)


def convolutions(net: Network) -> list[dict[str, Any]]:
    """What is found in a network, where nothing is amiss."""
    return checked(Trip(net, {"infer_conv": True}))


def checked(trip: Trip) -> list[dict[str, Any]]:
    """What was found; the model is valid, and in onnxruntime as in the network."""
    onnxruntime_agrees(trip)
    assert validate(trip.model) == []
    specs = entry(trip.model, "conv2d_inferred_specs") or []
    assert operators(trip.model).count("Conv") == len(specs)
    layers = entry(trip.model, "conv2d_inferred_layers") or []
    assert layers == [spec["layerIndex"] for spec in specs]
    return specs


def sides(spec: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shapes of the sources and of the neurons."""
    return tuple(
        tuple(spec[f"{side}{what}"] for what in ("Channels", "Height", "Width"))
        for side in ("in", "out")
    )  # type: ignore[return-value]


# --- found ----------------------------------------------------------------------------------------


@st.composite
def convolving_layers(draw: st.DrawFn) -> Layer:
    """Any convolution whose weights are at most half as many as the connections that they make."""
    pair = lambda least, most: draw(st.tuples(*[st.integers(least, most)] * 2))  # noqa: E731
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    seen, each = draw(st.integers(1, max(3 // groups, 1))), draw(st.integers(1, 2))
    taps = pair(1, 4)
    assume(max(taps) > 1)
    shape = (groups * each, seen, *taps)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    kernel = random.normal(size=shape)
    if draw(st.booleans()):  # coarse weights: equal ones, and zeros inside of the window
        kernel = np.round(kernel)
    matrix = convolution(
        kernel,
        pair(4, 8),
        strides=pair(1, 3),
        pads=pair(0, 2) + pair(0, 2),
        dilations=pair(1, 2),
        groups=groups,
    )
    assume(len(matrix) and np.count_nonzero(matrix) >= 2 * kernel.size)
    assume(np.max(np.count_nonzero(matrix, axis=1)) > 1)
    bias = random.normal(size=shape[0]) * draw(st.booleans())
    return matrix, np.repeat(bias, len(matrix) // shape[0]), "tanh"


@settings(max_examples=20)
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
        "Conv",
        np.arange(64).reshape(1, 8, 8),
        np.arange(64, 136).reshape(2, 6, 6),
        Window.of((3, 3)),
    )
    trip = Trip(replace(net, blocks=(block,)), {"infer_conv": True})
    onnxruntime_agrees(trip)
    assert operators(trip.model).count("Conv") == 2
    (spec,) = entry(trip.model, "conv2d_inferred_specs")
    assert (spec["layerIndex"], *sides(spec)) == (2, (2, 6, 6), (2, 4, 4))


def test_finds_convolutions_over_each_of_two_ports():
    """They are one level, and share an activation."""
    one, two = convolving((6, 6), 1, 1, 3, 3), convolving((5, 5), 2, 1, 2, 2, seed=1)
    matrix = np.zeros((16 + 32, 36 + 25))
    matrix[:16, :36], matrix[16:, 36:] = one[0], two[0]
    net = network((matrix, np.concatenate([one[1], two[1]]), "tanh"), zeros=False)
    ports = (Port("a", (36,), np.arange(36)), Port("b", (25,), np.arange(36, 61)))
    net = replace(net, inputs=ports)
    assert [sides(spec) for spec in convolutions(net)] == [
        ((1, 6, 6), (1, 4, 4)),
        ((1, 5, 5), (2, 4, 4)),
    ]


def test_outputs_stand_in_the_order_of_their_port():
    net = network(convolving((6, 6), 2, 1, 3, 3))
    turned = np.random.default_rng(0).permutation(32)
    order = np.concatenate([np.arange(36), 36 + turned])
    c = net.connections
    moved = Connections.of(c.source, order[c.target], c.weight)
    bias = np.empty_like(net.neurons.bias)
    bias[order] = net.neurons.bias
    net = replace(
        net,
        outputs=(Port("output", (32,), order[36:]),),
        neurons=replace(net.neurons, bias=bias),
        connections=moved,
    )
    assert sides(convolutions(net)[0]) == ((1, 6, 6), (2, 4, 4))


def test_connections_between_the_same_neurons_add_up():
    net = network(convolving((6, 6), 2, 1, 3, 3), zeros=False)
    c = net.connections
    twice = Connections.of(*(np.concatenate([part] * 2) for part in (c.source, c.target, c.weight)))
    net = Network(net.inputs, net.outputs, net.neurons, twice, net.activations, net.aggregations)
    assert len(convolutions(net)) == 1


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


# --- nothing to find ------------------------------------------------------------------------------

NOTHING = {
    "dense": network(dense(64, 36), dense(36, 16)),
    "dense, without biases": network((dense(64, 36)[0], np.zeros(36), "tanh")),
    "dense, coarse": network((np.round(dense(64, 36)[0] * 4), np.zeros(36), "tanh")),
    "dense, signs": network((np.sign(dense(16, 16)[0]), np.zeros(16), "tanh")),
    "dense, one weight": network((np.full((16, 25), 0.5), np.zeros(16), "tanh")),
    "one to one": network((np.eye(16) * 0.5, np.zeros(16), "tanh")),
    "a window over all": network(convolving((5, 5), 4, 2, 5, 5)),
    "windows that share nothing": network(
        (np.kron(np.eye(4), np.ones(9)) * np.arange(1.0, 37.0), np.zeros(4), "tanh")
    ),
    "evolved": evolved(60, seed=1),
    "evolved, wide": evolved(200, seed=2, fan_in=2),
}


@pytest.mark.parametrize("name", NOTHING)
def test_finds_nothing_where_there_is_nothing(name: str):
    assert convolutions(NOTHING[name]) == []
    assert export(NOTHING[name], infer_conv=True) == export(NOTHING[name])


@pytest.mark.parametrize("name", NETWORKS)
def test_finds_nothing_in_other_networks(name: str):
    assert export(NETWORKS[name], infer_conv=True) == export(NETWORKS[name])


def test_one_weight_that_differs_is_no_convolution():
    matrix, bias, name = convolving((8, 8), 2, 1, 3, 3)
    for change in (0.0, 1e-16, 1.0):
        other = matrix.copy()
        row, column = np.argwhere(matrix)[len(matrix) // 2]
        other[row, column] = other[row, column] * (1.0 + 4.0 * change) if change else 0.0
        assert convolutions(network((other, bias, name))) == []
        assert convolutions(network((other, bias, name), zeros=False)) == []


def test_one_bias_that_differs_is_no_convolution():
    matrix, bias, name = convolving((8, 8), 2, 1, 3, 3)
    bias[5] += 1e-9
    assert convolutions(network((matrix, bias, name))) == []


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("below", ["cube", "softsign"])
def test_zeros_that_would_touch_what_may_overflow_make_none(below: str, zeros: bool):
    """0 · ∞ is no 0: a window reads nothing that the neuron does not, nor the other way round."""
    kernel = np.array([1.0, 0.0, 2.0, 3.0]).reshape(1, 1, 1, 4)
    first = (dense(36, 36)[0], np.arange(36.0), below)
    second = (convolution(kernel, (6, 6)), np.zeros(18), "tanh")
    model = export(network(first, second, zeros=zeros), infer_conv=True)
    assert operators(model).count("Conv") == (below == "softsign")


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


def test_off_by_default():
    model = export(lenet())
    assert "Conv" not in operators(model)
    assert entry(model, "conv2d_inferred_layers") is None
    assert entry(model, "conv2d_layers") is None


def test_is_deterministic():
    assert export(lenet(), infer_conv=True).to_json() == export(lenet(), infer_conv=True).to_json()
