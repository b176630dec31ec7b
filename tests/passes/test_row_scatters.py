"""Assignments to features of every sample, as PyTorch writes them for a batch of any size."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, canonicalize, import_model, verify

RNG = np.random.default_rng(0)


def assigned(places, shape=("N", 5), update="u", **changes) -> onnx.ModelProto:
    """x at these places of every sample is `update`: ScatterND by Range(0, the size of the batch).

    Args:
        places: of each sample, (k, axes).
        shape: of x.
        update: "u" is the exponential of x at these places.
    """
    k, depth = np.shape(places)
    at = np.asarray(places)
    into = [node("Exp", "x", "e"), node("Transpose", "e", "et", perm=[1, 0])]
    into += [node("Gather", "et columns", "some"), node("Transpose", "some", "u", perm=[1, 0])]
    if len(shape) > 2:
        into = [node("Exp", "x", "e"), node("Gather", "e columns", "u", axis=1)]
    rows = [
        node("Shape", "x", "sizes", start=0, end=1),
        node("Squeeze", "sizes", "count"),
        node("Range", f"{changes.get('first', 'zero')} count one", "numbers"),
        node("Reshape", "numbers column", "rows"),
        node("Concat", "sizes wide", "spread", axis=0),
        node("Expand", "rows spread", "all_rows"),
        node("Concat", "sizes high", "spread_places", axis=0),
        node("Expand", "places spread_places", "all_places"),
        node("Concat", "all_rows all_places", "indices", axis=-1),
        node("ScatterND", f"x indices {update}", "z"),
        node("Tanh", "z", "y"),
    ]
    constants = {
        "zero": np.array(0), "one": np.array(1), "minus": np.array(-1),
        "column": np.array([-1, 1, 1]), "wide": np.array([k, 1]), "high": np.array([k, depth]),
        "places": at[None], "columns": at[:, 0],
    }  # fmt: skip
    return graph([*into, *rows], x=shape, **constants)


@pytest.mark.parametrize(
    ("places", "shape"),
    [
        ([[3]], ("N", 5)),
        ([[-1]], ("N", 5)),
        ([[1], [2]], ("N", 5)),
        ([[4], [0], [2]], ("N", 5)),
        ([[2], [0]], ("N", 5, 3)),
    ],
    ids=str,
)
def test_it_is_a_choice(places, shape):
    model = assigned(places, shape)
    simple = canonicalize(model)
    operators = {each.op_type for each in simple.graph.node}
    assert "Where" in operators
    assert not operators & {"ScatterND", "Range", "Shape"}
    assert canonicalize(simple).to_bytes() == simple.to_bytes()
    x = RNG.normal(size=(4, *shape[1:])).astype(np.float32)
    (want,) = open_session(model).run(None, {"x": x})
    (got,) = open_session(simple.to_bytes()).run(None, {"x": x})
    np.testing.assert_array_equal(got, want)
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed


def test_rows_of_another_order_are_none():
    """Indices from -1 on put each sample's update on the sample before it."""
    with pytest.raises(ModelError):
        import_model(assigned([[3]], first="minus"))


def test_places_that_stand_twice_are_no_choice():
    model = assigned([[3], [3]])
    assert "ScatterND" in {each.op_type for each in canonicalize(model).graph.node}
    with pytest.warns(NeatOnnxWarning, match="takes its batch apart"):
        net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
