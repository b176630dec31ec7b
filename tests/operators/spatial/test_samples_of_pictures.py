"""Samples of a picture at constant places come back as GridSample, or as what is gathered."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, assert_valid_in_any_form, graph, node, operators

from neat_onnx import export, import_model, verify

RANDOM = np.random.default_rng(4)
GRID = ["Shape", "Concat", "Expand", "GridSample"]


def turned(size, scale, corners):
    """A grid of all places of a square picture, turned and scaled."""
    ends = 1.0 if corners else 1.0 - 1.0 / size
    along = np.linspace(-ends, ends, size)
    return np.stack(np.meshgrid(along, along), -1)[None] @ (
        scale * np.array([[0.8, 0.6], [-0.6, 0.8]])
    )


def sampled(grid, shape=("N", 3, 12, 12), opset=18, before=(), **attributes):
    read = before[-1].output[0] if before else "x"
    nodes = [
        *before,
        node("Shape", "x", "n", start=0, end=1),
        node("Concat", "n ones", "s", axis=0),
        node("Expand", "grid s", "g"),
        node("GridSample", f"{read} g", "y", **attributes),
    ]
    return graph(nodes, x=shape, opset=opset, grid=grid, ones=np.array([1, 1, 1]))


CASES = {
    "inside": sampled(RANDOM.uniform(-0.9, 0.9, (1, 8, 9, 2))),
    "a newer opset": sampled(RANDOM.uniform(-0.9, 0.9, (1, 8, 9, 2)), opset=20),
    "one channel": sampled(RANDOM.uniform(-0.9, 0.9, (1, 9, 7, 2)), shape=("N", 1, 9, 12)),
    "between corners": sampled(turned(12, 0.7, True), align_corners=1),
    "beyond the border": sampled(turned(12, 1.4, True), align_corners=1),
    "the border around": sampled(turned(12, 1.4, False), padding_mode="border"),
    "of a layer": sampled(turned(12, 0.7, False), before=[node("Tanh", "x", "t")]),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_a_grid_again(case):
    model = CASES[case]
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize("mode", ["nearest", "cubic"])
def test_other_samples_are_gathered(mode):
    model = sampled(turned(12, 0.7, False), mode={"cubic": "bicubic"}.get(mode, mode), opset=16)
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


@pytest.mark.parametrize("weights", ["one each", "several", "ones", "some none"])
def test_a_matrix_of_mostly_zeros_is_gathered(weights):
    matrix = np.eye(24)[:, RANDOM.integers(0, 24, 30)]
    matrix *= 1.0 if weights == "ones" else RANDOM.normal(size=30)
    if weights == "several":
        matrix += 0.5 * np.eye(24)[:, RANDOM.integers(0, 24, 30)]
    if weights == "some none":
        matrix[:, 3:9] = 0.0
    model = graph([node("MatMul", "x w", "h"), node("Relu", "h", "y")], x=("N", 3, 24), w=matrix)
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_a_sample_beyond_a_corner_may_be_anywhere():
    """One weight is a product of two shares, which it does not tell."""
    grid = np.array(turned(12, 0.7, False))
    grid[0, 0, 0] = [1.01, -1.05]
    net = assert_lifts(sampled(grid))
    short = export(net)
    assert "GridSample" not in operators(short)
    assert import_model(short) == net
