"""Networks whose layers are convolutions, as matrices from the operator's definition."""

import itertools
import json
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.examples.graphs import operators
from support.harness.routes import Trip, onnxruntime_agrees

from neat_onnx import Model, Network, validate
from neat_onnx.network.genes import Connections, Floats, Neurons
from neat_onnx.network.port import Port

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
