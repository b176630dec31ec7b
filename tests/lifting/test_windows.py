"""Convolutions, pools, and spaces of another size."""

import numpy as np
import pytest
from support.examples.graphs import graph, node

from neat_onnx import import_model
from tests.lifting.harness import Case, case, cases_of, check

_R = np.random.default_rng(0)
_X = _R.normal(size=(2, 4, 5, 6)).astype(np.float32)
_W = _R.normal(size=(4, 2, 3, 2)).astype(np.float32)
_SCALES = np.array([1, 1, 0.6, 1.7], np.float32)
_ONNX = cases_of(
    "Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool", "GlobalLpPool", "GlobalMaxPool",
    "GlobalAveragePool", "AffineGrid",
    without={
        "test_maxpool_with_argmax_2d_precomputed_pads": "output Indices",
        "test_maxpool_with_argmax_2d_precomputed_strides": "storage_order",
        "test_operator_conv": "connections",
        "test_MaxPool2d_stride_padding_dilation": "neurons",
    },
)  # fmt: skip
_WHOLE = "whole sizes"
_RESIZE = [
    each.holding("scales", "roi").refused(
        "tf_crop_and_resize" if "tf_crop" in str(each)
        else _WHOLE if "downsample" in str(each) and "align_corners" in str(each) else ""
    )
    for each in cases_of("Resize", "Upsample")
]  # fmt: skip
_OURS = [
    *(case("ConvTranspose", [_X, _W], strides=[2, 1], pads=[1, 0, 0, 1], dilations=[1, 2], group=g)
      for g in (1, 2)),
    *(case("ConvTranspose", [_X, _W], strides=[s, 2], auto_pad="SAME_LOWER") for s in (2, 5)),
    case("LpPool", [_X], kernel_shape=[2, 3], p=3, strides=[1, 2]),
    *(case("Resize", [_X, None, _SCALES], constants=[2], mode=mode,
           coordinate_transformation_mode=way)
      for mode in ("nearest", "linear", "cubic")
      for way in ("half_pixel", "asymmetric", "pytorch_half_pixel")),
    case("Resize", [_X, None, np.array([1, 1, 0.6, 1.5], np.float32)], constants=[2], mode="cubic",
         coordinate_transformation_mode="align_corners"),
    case("Resize", [_X, np.array([1, 1, 0.6, 0.7], np.float32)], opset=10, constants=[1]),
    case("Resize", [_X, None, _SCALES], constants=[2], mode="linear", antialias=1),
    case("Resize", [_X, None, _SCALES], constants=[2], mode="cubic", exclude_outside=1),
    case("Upsample", [_X, np.array([1, 1, 2, 3], np.float32)], opset=9, constants=[1]),
    case("Conv", [_X, _X], [_X], kernel_shape=[9, 9]).refused("kernel_shape is [9, 9]"),
]  # fmt: skip


@pytest.mark.parametrize("each", [*_ONNX, *_RESIZE, *_OURS], ids=str)
def test_windows(each: Case) -> None:
    check(each)


def test_a_mean_counts_the_numbers_that_a_pad_before_it_adds() -> None:
    nodes = [
        node("Pad", "x pads", "wide"),
        node("AveragePool", "wide", "y", kernel_shape=[3], strides=[1]),
    ]
    model = graph(nodes, x=("N", 1, 5), pads=np.array([0, 0, 1, 0, 0, 1]))
    net = import_model(model)
    x = np.arange(1.0, 6.0).reshape(1, 1, 5)
    want = [[[1.0, 2.0, 3.0, 4.0, 3.0]]]
    np.testing.assert_allclose(net.activate({"x": x})["y"], want, rtol=1e-12)
