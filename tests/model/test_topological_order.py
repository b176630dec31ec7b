"""Topological order of items with sources."""

import pytest

from neat_onnx.model.wiring import in_order


@pytest.mark.parametrize(
    ("sources", "want"),
    [
        ([[], [0], [0, 1]], [0, 1, 2]),
        ([[1], [], [1]], [1, 0, 2]),
        ([[2, 1], [], []], [2, 1, 0]),
        ([[1, 2], [2], []], [2, 1, 0]),
        ([[1], [2], [], [1, 1]], [2, 1, 0, 3]),
    ],
)
def test_items_stand_behind_their_sources_else_in_their_order(sources, want):
    assert in_order(range(len(sources)), sources.__getitem__) == want


def test_only_items_that_are_needed_are_there():
    sources = {"y": ["b"], "b": ["a"], "a": [], "c": ["a"]}
    assert in_order(["y"], sources.__getitem__) == ["a", "b", "y"]


@pytest.mark.parametrize("sources", [[[0]], [[1], [0]], [[], [0, 2], [1]]])
def test_a_cycle_has_no_order(sources):
    assert in_order(range(len(sources)), sources.__getitem__) is None
