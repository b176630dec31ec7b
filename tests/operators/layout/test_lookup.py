"""Gather and GatherElements at computed places, and If by the shape of a tensor."""

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import assert_lifts, graph, node

TABLE = np.random.default_rng(3).normal(size=(5, 2, 3))
PLACES = [
    node("Clip", "x low high", "near"),  # from the end as well
    node("Cast", "near", "at", to=TensorProto.INT64),
]
BOUNDS: dict[str, Any] = {"low": -2.0, "high": 1.9}


@pytest.mark.parametrize("axis", [0, 1])
def test_slices_of_a_table(axis: int):
    assert_lifts(
        graph([*PLACES, node("Gather", "table at", "rows", axis=axis),
               node("Transpose", "rows", "y", perm=[0, 1, 2, 3] if axis == 0 else [1, 0, 2, 3])],
              table=TABLE, **BOUNDS),
        scale=1.5,
    )  # fmt: skip


def test_a_single_place_takes_its_axis_away():
    picked = [*PLACES, node("Gather", "at one", "single", axis=1),
              node("Gather", "table single", "y", axis=0)]  # fmt: skip
    assert_lifts(graph(picked, table=TABLE[:, 0], one=np.array(1), **BOUNDS), scale=1.5)


def test_elements_of_computed_data():
    nodes = [*PLACES, node("Sin", "x", "wave"), node("GatherElements", "wave at", "y", axis=1)]
    assert_lifts(graph(nodes, **BOUNDS), scale=1.5)


def branch(operator: str) -> Any:
    result = helper.make_tensor_value_info(f"{operator}_y", TensorProto.FLOAT, None)
    return helper.make_graph([node(operator, "x", f"{operator}_y")], operator, [], [result])


def chosen(length: int, axis: int) -> Any:
    """Sin where the axis of x has this length, else Cos."""
    return graph(
        [
            *PLACES,
            node("GatherElements", "x at", "same", axis=1),
            node("Shape", "same", "shape"),
            node("Gather", "shape axis", "size", axis=0),
            node("Equal", "size length", "is_so"),
            node("If", "is_so", "y", then_branch=branch("Sin"), else_branch=branch("Cos")),
        ],
        axis=np.array([axis]),
        length=np.array([length]),
        **BOUNDS,
    )


@pytest.mark.parametrize("length", [2, 3])
def test_a_branch_by_the_shape_of_a_tensor(length: int):
    assert_lifts(chosen(length, 1))
