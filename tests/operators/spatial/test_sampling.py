"""GridSample, AffineGrid and Col2Im, against onnxruntime."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sweep import every

from neat_onnx import ModelError, export, import_model, verify

PLACES = np.random.default_rng(1).uniform(-2.5, 2.5, size=(1, 4, 3, 2)).astype(np.float32)
PLACES[0, 0] = [[-1.0, -1.0], [1.0, 1.0], [0.0, -0.2]]


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
def test_places_in_an_image_are_those_of_onnxruntime(mode, padding, corners):
    given = {"padding_mode": padding, "align_corners": corners}
    places = np.clip(PLACES, -1, 1) if (mode, padding) == ("cubic", "border") else PLACES
    nodes = [node("GridSample", "x g", "y", mode=mode, **given)]
    net = assert_lifts(graph(nodes, x=("N", 2, 5, 4), opset=20, g=places), rows=1)
    old = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    nodes = [node("GridSample", "x g", "y", mode=old, **given)]
    assert net == assert_lifts(graph(nodes, x=("N", 2, 5, 4), opset=16, g=places), rows=1)
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_places_that_are_the_same_for_each_sample():
    nodes = [
        node("Shape", "x", "n", start=0, end=1),
        node("Concat", "n rest", "s", axis=0),
        node("Expand", "g s", "e"),
        node("GridSample", "x e", "y"),
    ]
    rest = np.array(PLACES.shape[1:])
    assert_lifts(graph(nodes, x=("N", 2, 5, 4), opset=20, g=PLACES, rest=rest))


def test_places_in_a_volume_and_of_several_samples():
    places = np.random.default_rng(2).uniform(-1.2, 1.2, size=(2, 2, 3, 2, 3))
    model = graph([node("GridSample", "x g", "y")], x=(2, 1, 3, 4, 5), opset=20, g=places)
    net = import_model(model, batch_axis=None)
    assert verify(net, model, runtime="reference").passed


def test_what_runtimes_differ_in_is_refused():
    nodes = [node("GridSample", "x g", "y", mode="cubic", padding_mode="border")]
    with pytest.raises(ModelError, match="runtimes differ"):
        import_model(graph(nodes, x=("N", 2, 5, 4), opset=20, g=PLACES))


IMAGE_AND_PLACES = [
    node("Split", "x parts", "i g", axis=1),
    node("Reshape", "i image", "a"),
    node("Reshape", "g grid", "b"),
]
PARTS = {"parts": [24, 12], "image": [-1, 2, 3, 4], "grid": [-1, 3, 2, 2]}


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_places_that_are_computed_are_those_of_onnxruntime(mode, padding, corners):
    given = {"padding_mode": padding, "align_corners": corners}
    nodes = [*IMAGE_AND_PLACES, node("GridSample", "a b", "y", mode=mode, **given)]
    net = assert_lifts(graph(nodes, x=("N", 36), opset=20, **PARTS), rows=30, scale=1.5)
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_places_that_are_computed_in_a_volume():
    nodes = [*IMAGE_AND_PLACES, node("GridSample", "a b", "y")]
    parts = {"parts": [24, 12], "image": [-1, 1, 2, 3, 4], "grid": [-1, 1, 2, 2, 3]}
    model = graph(nodes, x=("N", 36), opset=20, **parts)
    assert verify(import_model(model, check=False), model, runtime="reference").passed


def test_cubes_at_computed_places_are_refused_with_a_way_on():
    nodes = [*IMAGE_AND_PLACES, node("GridSample", "a b", "y", mode="cubic")]
    with pytest.raises(ModelError, match="mode: cubic at places that are computed") as refused:
        import_model(graph(nodes, x=("N", 36), opset=20, **PARTS))
    assert "mode linear or nearest" in refused.value.hint


def test_an_image_of_one_sample_at_places_of_each_is_refused():
    model = graph([node("GridSample", "g x", "y")], x=("N", 3, 4, 2), opset=20, g=PLACES)
    with pytest.raises(ModelError, match="works along the batch"):
        import_model(model)
    net = import_model(model, batch_axis=None)
    assert verify(net, model, runtime="onnxruntime").passed


@pytest.mark.parametrize(("sizes", "corners"), every([[3, 4], [2, 3, 5]], [0, 1]))
def test_a_spatial_transformer(sizes, corners):
    """The matrix of each sample says where its values are taken from."""
    axes = len(sizes)
    count = int(np.prod(sizes))
    nodes = [
        node("Split", "x parts", "i m", axis=1),
        node("Reshape", "i image", "a"),
        node("Reshape", "m matrix", "t"),
        node("Shape", "a", "s"),
        node("AffineGrid", "t s", "g", align_corners=corners),
        node("GridSample", "a g", "y", align_corners=corners),
    ]
    given = {
        "parts": [count, axes * (axes + 1)],
        "image": [-1, 1, *sizes],
        "matrix": [-1, axes, axes + 1],
    }
    model = graph(nodes, x=("N", sum(given["parts"])), opset=20, **given)
    net = import_model(model, check=False)
    assert verify(net, model, runtime="reference").passed
    assert verify(net, export(net)).passed


@pytest.mark.parametrize(
    "attributes",
    [{}, {"strides": [2, 3]}, {"pads": [1, 0, 0, 2]}, {"dilations": [1, 2], "strides": [2, 1]}],
)
def test_blocks_add_up_as_in_onnxruntime(attributes):
    image, block = np.array([6, 7]), np.array([2, 3])
    pads = np.reshape(attributes.get("pads", [0] * 4), (2, 2)).sum(axis=0)
    dilations, strides = attributes.get("dilations", [1, 1]), attributes.get("strides", [1, 1])
    steps = (image + pads - np.multiply(dilations, block - 1) - 1) // strides + 1
    nodes = [node("Col2Im", "x i b", "y", **attributes)]
    model = graph(nodes, x=("N", 12, int(np.prod(steps))), i=image, b=block)
    net = assert_lifts(model)
    assert verify(net, export(net), runtime="onnxruntime").passed


def test_blocks_of_another_image_are_refused():
    nodes = [node("Col2Im", "x i b", "y")]
    model = graph(nodes, x=("N", 4, 5), i=np.array([3, 3]), b=np.array([2, 2]))
    with pytest.raises(ModelError, match=r"shape \[1, 4, 5\], of blocks \[2, 2\] at \[2, 2\]"):
        import_model(model)
