"""Spatial blocks: who reads whom, which sizes fit together, and blocks in network JSON."""

import itertools
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neat_onnx import load_network
from neat_onnx.errors import NetworkError
from neat_onnx.network.genes import NONE
from neat_onnx.network.spatial import (
    POOLS,
    SpatialBlock,
    check_block,
    moved_blocks,
    receptive_fields,
)
from neat_onnx.network.window import Sizes, Window


def block(
    kind: Any, window: Window, sources: Sizes, neurons: Sizes, groups: int = 1
) -> SpatialBlock:
    """A block of these shapes: its neurons come after its sources."""
    count, more = math.prod(sources), math.prod(neurons)
    return SpatialBlock(
        kind,
        np.arange(count).reshape(sources),
        np.arange(count, count + more).reshape(neurons),
        window,
        groups,
    )


@st.composite
def blocks(draw: st.DrawFn) -> SpatialBlock:
    """Any kind of block over one to three axes."""
    kind = draw(st.sampled_from(["Conv", "ConvTranspose", "MaxPool"]))
    axes = draw(st.integers(1, 3))

    def sizes(low: int, high: int) -> Sizes:
        return tuple(draw(st.lists(st.integers(low, high), min_size=axes, max_size=axes)))

    window = Window(
        sizes(1, 3), strides=sizes(1, 3), dilations=sizes(1, 2), pads=sizes(0, 2) + sizes(0, 2)
    )
    groups = draw(st.integers(1, 3)) if kind not in POOLS else 1
    channels = groups * draw(st.integers(1, 2))
    out = groups * draw(st.integers(1, 2)) if kind not in POOLS else channels
    space = tuple(map(max, sizes(1, 5 if axes < 3 else 3), window.reach))
    outer, inner = (channels, *space), (out, *window.positions(space))
    if kind == "ConvTranspose":
        outer, inner = (channels, *inner[1:]), (out, *space)
    return block(kind, window, outer, inner, groups)


def by_hand(block: SpatialBlock) -> list[tuple[int, int, int]]:
    """(neuron, source, weight), straight from the operators' definitions, sorted."""
    transposed, pool = block.kind == "ConvTranspose", block.kind in POOLS
    outer, inner = (block.neurons, block.sources) if transposed else (block.sources, block.neurons)
    window, found = block.window, []
    positions = list(itertools.product(*(range(size) for size in inner.shape[1:])))
    taps = list(itertools.product(*(range(size) for size in window.kernel)))
    for (a, b), position, tap in itertools.product(
        _channels(block, len(outer), len(inner)), positions, taps
    ):
        at = [
            p * stride + k * dilation - begin
            for p, k, stride, dilation, begin in zip(
                position, tap, window.strides, window.dilations, window.begin, strict=True
            )
        ]
        if any(not 0 <= where < size for where, size in zip(at, outer.shape[1:], strict=True)):
            continue
        slid = int(np.ravel_multi_index((a, *at), outer.shape))
        place = int(np.ravel_multi_index((b, *position), inner.shape))
        # the weights are those of a Conv that goes from `outer` to `inner`
        seen = a % (len(outer) // block.groups)
        weight = 0 if pool else np.ravel_multi_index((b, seen, *tap), block.weight_shape)
        neuron, source = (slid, place) if transposed else (place, slid)
        found.append((neuron, source, int(weight)))
    return sorted(found)


def _channels(block: SpatialBlock, outer: int, inner: int) -> list[tuple[int, int]]:
    """The pairs of channels, before and after a window, that see each other."""
    if block.kind in POOLS:
        return [(channel, channel) for channel in range(outer)]
    return [
        (a, b)
        for a, b in itertools.product(range(outer), range(inner))
        if a // (outer // block.groups) == b // (inner // block.groups)
    ]


@given(block=blocks())
def test_receptive_fields_are_those_of_the_definitions(block: SpatialBlock):
    check_block(block)
    fields = receptive_fields(block)
    columns = (fields.neuron, fields.source, fields.weight)
    got = list(zip(*(column.tolist() for column in columns), strict=True))
    assert got == by_hand(block)


@pytest.mark.parametrize(
    ("kind", "sources", "neurons", "groups", "message"),
    [
        ("Conv", (2, 4), (2, 3), 1, r"a window of 2 axes over sources of the shape \[2, 4\]"),
        ("Conv", (1, 4, 4), (1, 4, 3), 1, "has 3×3 positions over 4×4 neurons, not 4×3"),
        ("ConvTranspose", (1, 4, 3), (1, 4, 4), 1, "has 3×3 positions over 4×4 neurons, not 4×3"),
        ("Conv", (3, 4, 4), (2, 3, 3), 2, "2 groups do not divide 3 channels into 2"),
        ("Conv", (2, 4, 4), (3, 3, 3), 2, "2 groups do not divide 2 channels into 3"),
        ("MaxPool", (2, 4, 4), (3, 3, 3), 1, "MaxPool makes 3 channels of 2"),
        ("Conv", (1, 4, 4), (0, 3, 3), 1, r"over neurons of the shape \[0, 3, 3\]"),
    ],
)
def test_sizes_that_do_not_fit_are_named(
    kind: str, sources: Sizes, neurons: Sizes, groups: int, message: str
):
    wrong = block(kind, Window((2, 2)), sources, neurons, groups)
    with pytest.raises(NetworkError, match=message):
        check_block(wrong)


def test_a_transposed_window_may_leave_neurons_beyond_its_last_position():
    """What ONNX calls output_padding: nothing is written there but the bias."""
    check_block(block("ConvTranspose", Window((1,), strides=(3,)), (1, 2), (1, 6)))
    with pytest.raises(NetworkError, match="has 3 positions over 7 neurons, not 4"):
        check_block(block("ConvTranspose", Window((1,), strides=(3,)), (1, 4), (1, 7)))


def test_a_window_that_makes_too_many_connections_is_refused_at_once():
    window = Window((3000, 3000))
    with pytest.raises(NetworkError, match="the window makes 9000000 connections, at most"):
        check_block(block("GlobalMaxPool", window, (1, 3000, 3000), (1, 1, 1)), 500_000)
    check_block(block("GlobalMaxPool", window, (1, 3000, 3000), (1, 1, 1)), 9_000_000)


# --- network JSON ---------------------------------------------------------------------------------

WINDOW = Window((2, 3), strides=(4, 2), dilations=(2, 1), pads=(1, 0, 1, 1), ceil=True)


def document() -> dict[str, Any]:
    """Network JSON with a block: the mean over two of three inputs, at two positions."""
    return {
        "format": "neat-onnx",
        "version": 1,
        "inputs": [{"name": "input", "shape": [3], "neurons": [7, 8, 9]}],
        "outputs": [{"name": "output", "shape": [2], "neurons": [1, 2]}],
        "neurons": [{"id": j} for j in (7, 8, 9)]
        + [{"id": j, "aggregation": "mean"} for j in (1, 2)],
        "connections": [
            {"source": source, "target": target, "weight": 1.0}
            for source, target in ((7, 1), (8, 1), (8, 2), (9, 2))
        ],
        "blocks": [
            {
                "kind": "AveragePool",
                "sources": [7, 8, 9],
                "source_shape": [1, 3],
                "neurons": [1, 2],
                "shape": [1, 2],
                "kernel_shape": [2],
            }
        ],
    }


def test_json_keeps_every_field_of_a_block():
    net = load_network(document())
    pool = SpatialBlock(
        "AveragePool", np.array([[[2, 0]]]), np.array([[[3]]]), WINDOW, count_padding=True
    )
    groups = SpatialBlock(
        "Conv", np.array([[2], [0]]), np.array([[3], [4]]), Window((1,)), groups=2
    )
    full = replace(net, blocks=(*net.blocks, pool, groups))
    assert json.loads(net.to_json())["blocks"] == document()["blocks"]  # plain fields are left out
    back = load_network(full.to_json())
    assert back == full
    assert back.to_json() == full.to_json()
    for ours, theirs in zip(full.blocks, back.blocks, strict=True):
        assert_same_block(theirs, ours)


def assert_same_block(got: SpatialBlock, want: SpatialBlock) -> None:
    assert (got.kind, got.window, got.groups) == (want.kind, want.window, want.groups)
    assert got.count_padding == want.count_padding
    np.testing.assert_array_equal(got.sources, want.sources)
    np.testing.assert_array_equal(got.neurons, want.neurons)


@pytest.mark.parametrize(
    ("change", "where", "message"),
    [
        ({"neurons": [1, 5]}, "blocks[0]", "no neuron has the id 5"),
        ({"source_shape": [3, 3]}, "blocks[0]", "the shape [3, 3] is not 3 neurons"),
        ({"shape": [2]}, "blocks[0]", "a window of 1 axes over neurons of the shape [2]"),
        ({"kernel_shape": [3]}, "blocks[0]", "the window has 1 positions over 3 neurons, not 2"),
        ({"strides": [1, 1]}, "blocks[0]", "strides is [1, 1], expected 1 numbers from 1"),
        ({"strides": [0]}, "blocks[0]", "strides is [0], expected 1 numbers from 1"),
        ({"pads": [1]}, "blocks[0]", "pads is [1], expected 2 numbers from 0"),
        ({"kind": "LpPool"}, "blocks[0].kind", "kind is 'LpPool', expected 'Conv',"),
        ({"kernel_shape": [-2]}, "blocks[0].kernel_shape[0]", "it is -2, expected at least"),
    ],
)
def test_blocks_that_make_no_sense_are_refused(change: dict[str, Any], where: str, message: str):
    wrong = document()
    wrong["blocks"][0] |= change
    with pytest.raises(NetworkError) as raised:
        load_network(wrong)
    assert raised.value.where == where
    assert message in raised.value.message


def test_blocks_stand_in_the_order_of_their_neurons():
    one, other = (
        SpatialBlock("Conv", np.array([[0, 1]]), np.array([made]), Window((1,)), 1)
        for made in ([4, 5], [2, 3])
    )
    assert [block.neurons[0, 0] for block in moved_blocks([one, other], np.arange(6))] == [2, 4]
    back = moved_blocks([one, other], np.array([0, 1, 4, 5, 2, 3]))
    assert [block.neurons[0, 0] for block in back] == [2, 4]
    assert len(moved_blocks([one, other], np.array([0, 1, 2, 3, 4, NONE]))) == 1
