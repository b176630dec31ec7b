"""Samples that are features, as patches of a picture or frames, share one convolution."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node, operators

from neat_onnx import Network, export, import_model, verify

RNG = np.random.default_rng(0)
PATCHES = {
    "x": ("N", 1, 12, 12),
    "w": RNG.normal(size=(3, 2, 3)),
    "b": RNG.normal(size=3),
    "v": RNG.normal(size=(9, 4)),
    "patches": [-1, 2, 8],
    "rows": [-1, 9, 9],
}


def of_patches(pool: str = "MaxPool", activation: str = "Relu"):
    """A convolution and a pool over nine patches of a picture, and a layer over each."""
    nodes = [
        node("Reshape", "x patches", "p"),
        node("Conv", "p w b", "c"),
        node(activation, "c", "a"),
        node(pool, "a", "m", kernel_shape=[2], strides=[2]),
        node("Reshape", "m rows", "r"),
        node("MatMul", "r v", "y"),
    ]
    return graph(nodes, **PATCHES)


@pytest.mark.parametrize("pool", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("activation", ["Relu", "Softplus"])
def test_patches_share_one_convolution_and_one_pool(pool, activation):
    model = of_patches(pool, activation)
    net = assert_lifts(model)
    written = export(net)
    assert [operators(written).count(each) for each in ("Conv", activation, pool)] == [1, 1, 1]
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=32, runtime="onnxruntime").passed


@pytest.mark.parametrize("batch_dimension", ["batch", False])
def test_any_batch_may_hold_them(batch_dimension):
    net = import_model(of_patches())
    written = export(net, batch_dimension=batch_dimension)
    assert operators(written).count("Conv") == 1
    assert verify(net, written, samples=16, runtime="onnxruntime").passed


def test_two_layers_of_frames_stay_together():
    weights = {"w": RNG.normal(size=(4, 2, 3, 3)), "v": RNG.normal(size=(2, 4, 3, 3))}
    nodes = [
        node("Reshape", "x frames", "f"),
        node("Conv", "f w", "c", pads=[1, 1, 1, 1]),
        node("Tanh", "c", "t"),
        node("Conv", "t v", "d", strides=[2, 2]),
        node("Reshape", "d whole", "y"),
    ]
    shapes = {"frames": [-1, 2, 7, 7], "whole": [-1, 5, 2, 3, 3]}
    net = assert_lifts(graph(nodes, x=("N", 5, 2, 7, 7), **weights, **shapes))
    written = export(net)
    assert operators(written).count("Conv") == 2
    assert import_model(written.to_bytes()) == net


def test_a_changed_weight_leaves_the_other_samples_together():
    document = import_model(of_patches()).to_document().model_dump()
    document["connections"][5]["weight"] = 0.5
    changed = Network.from_document(document)
    written = export(changed)
    assert operators(written).count("Conv") == 2
    assert import_model(written) == changed
    assert verify(changed, written, samples=32, runtime="onnxruntime").passed
