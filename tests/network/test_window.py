"""The geometry of windows, against ONNX's own shape inference; taps are tested with blocks."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, shape_inference
from support.harness.sweep import count

from neat_onnx.errors import NetworkError
from neat_onnx.network.window import Sizes, Window


@st.composite
def windows(draw: st.DrawFn) -> tuple[Window, Sizes]:
    """A window, and a space that it may be too large for."""
    axes = draw(st.integers(1, 3))

    def sizes(low: int, high: int) -> Sizes:
        return tuple(draw(st.lists(st.integers(low, high), min_size=axes, max_size=axes)))

    window = Window(
        sizes(1, 3),
        strides=sizes(1, 4),
        dilations=sizes(1, 3),
        pads=(*sizes(0, 3), *sizes(0, 3)),
        ceil=draw(st.booleans()),
    )
    return window, sizes(1, 6 if axes < 3 else 4)


def _taps(window: Window) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(size) for size in window.kernel)))


def _at(window: Window, position: tuple[int, ...], tap: tuple[int, ...]) -> list[int]:
    return [
        p * stride + k * dilation - begin
        for p, k, stride, dilation, begin in zip(
            position, tap, window.strides, window.dilations, window.begin, strict=True
        )
    ]


@given(case=windows())
def test_divisors_count_the_taps_in_the_space_and_its_padding(case: tuple[Window, Sizes]):
    window, space = case
    everywhere = itertools.product(*(range(count) for count in window.positions(space)))
    counts = []
    for position in everywhere:
        places = [_at(window, position, tap) for tap in _taps(window)]
        counts.append(sum(_padded(window, space, place) for place in places))
    assert window.divisors(space).tolist() == counts


def _padded(window: Window, space: Sizes, place: list[int]) -> bool:
    return all(
        -begin <= where < size + end
        for where, size, begin, end in zip(place, space, window.begin, window.end, strict=True)
    )


@given(case=windows(), fewer=st.integers(0, 2))
def test_as_many_positions_as_asked_for(case: tuple[Window, Sizes], fewer: int):
    window, space = case
    asked = tuple(max(count - fewer, 0) for count in window.positions(space))
    size = len(_taps(window))
    every = window.taps(space).reshape(*window.positions(space), size)
    kept = every[tuple(slice(count) for count in asked)]
    np.testing.assert_array_equal(window.taps(space, asked), kept.reshape(-1, size))


# --- ONNX's shape inference -----------------------------------------------------------------------


def inferred(operator: str, window: Window, space: Sizes, **attributes: Any) -> Sizes:
    """The sizes that ONNX infers for a node's output, the channel left out."""
    axes = len(space)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, *space])
    w = helper.make_tensor_value_info("w", TensorProto.FLOAT, [1, 1, *window.kernel])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    node = helper.make_node(
        operator,
        ["x", "w"] if operator == "Conv" else ["x"],
        ["y"],
        kernel_shape=window.kernel,
        strides=window.strides,
        dilations=window.dilations,
        pads=window.pads,
        **attributes,
    )
    graph = helper.make_graph([node], "graph", [x, w] if operator == "Conv" else [x], [y])
    opsets = [helper.make_opsetid("", 22)]
    model = helper.make_model(graph, opset_imports=opsets)
    (result,) = shape_inference.infer_shapes(model, strict_mode=True).graph.output
    found = tuple(axis.dim_value for axis in result.type.tensor_type.shape.dim)[2:]
    assert len(found) == axes
    return found


@settings(max_examples=count(100, 300))
@given(case=windows())
def test_positions_are_those_that_onnx_infers(case: tuple[Window, Sizes]):
    """Where there are some; it infers sizes of no meaning where the window is too large."""
    window, space = case
    positions, whole = window.positions(space), replace(window, ceil=False).positions(space)
    if 0 not in positions:
        for pool in ("MaxPool", "AveragePool"):
            assert inferred(pool, window, space, ceil_mode=int(window.ceil)) == positions
    if 0 not in whole:
        assert inferred("Conv", window, space) == whole


# --- what a window is -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"kernel": (0, 1)}, "kernel_shape"),
        ({"strides": (1,)}, "strides"),
        ({"strides": (1, 0)}, "strides"),
        ({"dilations": (1, 1, 1)}, "dilations"),
        ({"dilations": (0, 1)}, "dilations"),
        ({"pads": (1,)}, "pads"),
        ({"pads": (0, 0, 0, -1)}, "pads"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(given: dict[str, Any], where: str):
    with pytest.raises(NetworkError) as raised:
        Window(**({"kernel": (2, 2)} | given))
    assert raised.value.where == where
    assert f"{where} is [" in raised.value.message
