"""Columns that are picked by a few numbers, in the place of a list of them all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neat_onnx.operators.layout.transposition import grid_of_order
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import export, import_model, verify

WEIGHTS = np.random.default_rng(11).normal(size=(2, 2, 3, 3))


@given(st.data())
def test_a_grid_gives_the_order_again(data):
    """Rows and places in any order, and repeated, of tables of any width."""
    height, width = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 20))
    rows = data.draw(st.lists(st.integers(0, height - 1), min_size=16, max_size=30))
    places = data.draw(st.lists(st.integers(0, width - 1), min_size=16, max_size=30))
    order = np.add.outer(width * np.array(rows), places).ravel()
    grid = grid_of_order(order, height * width)
    assert grid is not None
    assert np.prod(grid.shape) == height * width
    found = np.add.outer(grid.shape[1] * grid.rows, grid.places).ravel()
    np.testing.assert_array_equal(found, order)
    assert max(grid.places) < grid.shape[1]
    assert len(grid.rows) + len(grid.places) <= len(order) / 4


def test_other_orders_are_no_grid():
    order = np.random.default_rng(0).permutation(400)
    assert grid_of_order(order, 400) is None
    assert grid_of_order(np.arange(20), 400) is None
    order = np.add.outer(20 * np.arange(5, 15), np.arange(13)).ravel()
    assert grid_of_order(order, 400) is not None
    order[77] += 1
    assert grid_of_order(order, 400) is None


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_an_image_that_is_padded_with_its_own_pixels(mode: str):
    nodes = [
        node("Tanh", "x", "t"),
        node("Pad", "t pads", "wide", mode=mode),
        node("Conv", "wide w", "y"),
    ]
    pads = [0, 0, 2, 2, 0, 0, 2, 2]
    net = assert_lifts(graph(nodes, x=("N", 2, 12, 12), opset=19, pads=pads, w=WEIGHTS))
    short = export(net)
    gathers = [each.op_type for each in short.graph.node].count("Gather")
    assert gathers == (2 if mode == "wrap" else 0)  # which Pad has since opset 19
    assert max(each.size for each in short.graph.initializer) <= WEIGHTS.size
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_a_part_in_another_order_is_a_slice_that_is_turned():
    """The heads of queries, keys and values that are computed by one layer."""
    heads = ["q", "k", "v"]
    nodes = [
        node("MatMul", "x w", "all"),
        node("Split", "all parts", "q0 k0 v0", axis=2),
        *(node("Reshape", f"{each}0 apart", f"{each}1") for each in heads),
        *(node("Transpose", f"{each}1", each, perm=[0, 2, 3, 1]) for each in heads),
        node("Mul", "q k", "qk"),
        node("Mul", "qk v", "y"),
    ]
    w = np.random.default_rng(1).normal(size=(4, 24))
    constants = {"w": w, "parts": [8, 8, 8], "apart": [0, 20, 2, 4]}
    net = assert_lifts(graph(nodes, x=("N", 20, 4), opset=13, **constants))
    short = export(net)
    sizes = {each.name: each.size for each in short.graph.initializer}
    assert max(size for name, size in sizes.items() if size != w.size) <= 20
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
