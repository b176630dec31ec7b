"""Aggregations against Python's own functions."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neat_onnx.errors import NetworkError
from neat_onnx.network.aggregations import (
    AGGREGATIONS,
    aggregation_named,
    register_aggregation,
    unregister_aggregation,
)
from neat_onnx.network.expression import largest, smallest, total

FUNCTIONS = {
    "sum": math.fsum,
    "mean": statistics.fmean,
    "product": math.prod,
    "max": max,
    "min": min,
    "maxabs": lambda v: max(v, key=abs),
    "median": statistics.median,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@given(values=st.lists(st.sampled_from([-3.0, -1.5, -1.0, 0.0, 0.5, 1.0, 1.5, 3.0]), min_size=1))
def test_is_the_function_of_that_name(name, values):
    got = aggregation_named(name)(np.array([values, values[::-1]]))
    assert got[0] == pytest.approx(FUNCTIONS[name](values), rel=1e-12, abs=1e-12)
    assert got[1] == pytest.approx(FUNCTIONS[name](values[::-1]), rel=1e-12, abs=1e-12)


def test_every_builtin_is_tried():
    assert {name for name, f in AGGREGATIONS.items() if f.builtin} == set(FUNCTIONS)


def test_maxabs_takes_the_first_on_ties():
    np.testing.assert_array_equal(aggregation_named("maxabs")(np.array([[-2.0, 2.0, 1.0]])), [-2.0])
    np.testing.assert_array_equal(aggregation_named("maxabs")(np.array([[2.0, -2.0, 1.0]])), [2.0])


def test_of_nothing():
    empty = {name: f.empty for name, f in AGGREGATIONS.items() if f.builtin}
    assert empty == dict.fromkeys(FUNCTIONS, 0.0) | {"product": 1.0}


def test_names_of_a_library_are_apart_from_ours():
    span = register_aggregation("max", lambda v, k: largest(v) - smallest(v), library="neat-python")
    mine = register_aggregation("my_mean", lambda v, k: total(v) / float(k), library="neat-python")
    try:
        assert span.name == "neat-python max"
        assert mine is aggregation_named("mean")
        np.testing.assert_array_equal(span(np.array([[1.0, 4.0]])), [3.0])
        with pytest.raises(NetworkError, match="'max' of neat-python is registered already"):
            register_aggregation("max", lambda v, k: largest(v), library="neat-python")
    finally:
        for name in ("max", "my_mean"):
            unregister_aggregation(name, library="neat-python")
    with pytest.raises(NetworkError, match="no aggregation named 'max' of neat-python"):
        unregister_aggregation("max", library="neat-python")
    assert aggregation_named("mean")
    with pytest.raises(NetworkError, match="unknown aggregation 'neat-python max'"):
        aggregation_named("neat-python max")


@pytest.mark.parametrize("empty", [float("nan"), float("inf"), "0", None])
def test_the_value_of_no_inputs_is_a_number(empty):
    with pytest.raises(NetworkError, match="where empty"):
        register_aggregation("own", lambda v, k: largest(v), empty=empty)
