"""An element of each sample at its own place, which exporters write with the samples numbered."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import (
    ModelError,
    NeatOnnxWarning,
    canonicalize,
    import_model,
    load_model,
    verify,
)
from neat_onnx.passes.batched_gather import batched_gather
from neat_onnx.model.draft import Draft
from neat_onnx.operators.frames.value_range import value_range
from neat_onnx.verification.indices import places_of

COUNT = [node("Shape", "x", "count", start=0, end=1), node("Squeeze", "count", "many")]
NUMBERS = [*COUNT, node("Range", "zero many one", "numbers")]
CHOSEN = [node("Reshape", "x rows", "data"), node("ArgMax", "x", "place", axis=1, keepdims=0)]
PLACES = [
    *NUMBERS, *CHOSEN,
    node("Mod", "place size", "at"),
    node("Unsqueeze", "numbers last", "number"),
    node("Unsqueeze", "at last", "spread"),
]  # fmt: skip
SWAPPED = [
    *NUMBERS,
    node("Reshape", "x halves", "parts"),
    node("Transpose", "parts", "first", perm=[1, 0, 2]),
    node("Reshape", "first rows", "again"),
    node("Transpose", "again", "data", perm=[1, 0, 2]),
]
PAIRS = [
    *PLACES,
    node("Concat", "number spread", "pairs", axis=-1),
    node("GatherND", "data pairs", "y"),
]
ROWS = [
    *NUMBERS, *CHOSEN,
    node("Flatten", "data", "flat", axis=2),
    node("Cast", "numbers", "whole", to=7),
    node("Mul", "whole size", "before"),
    node("Add", "place before", "row"),
    node("Gather", "flat row", "y"),
]  # fmt: skip


def model_of(nodes, rows, size, batch="N"):
    constants = {"zero": 0, "one": 1, "last": [-1], "rows": rows, "size": size}
    constants["halves"] = [0, 4, 2]
    if batch != "N":
        nodes, constants["numbers"] = nodes[len(NUMBERS) :], np.arange(batch)
    return graph(nodes, x=(batch, 8), **constants)


def assert_the_same(model, simple, width):
    x = np.random.default_rng(0).normal(size=(5, width)).astype(np.float32)
    got, want = (open_session(each).run(None, {"x": x})[0] for each in (simple.to_proto(), model))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "model",
    [
        model_of(PAIRS, [0, 4, 2], 4),
        model_of(PAIRS, [-1, 4, 2], 4),
        model_of([*SWAPPED, *PAIRS[len(NUMBERS) + 1 :]], [4, -1, 2], 4),
        model_of(ROWS, [0, 8, 1], 8),
        model_of(ROWS, [0, 8, 1, 1], 8),
        model_of(PAIRS, [0, 4, 2], 4, batch=5),
        model_of(ROWS, [0, 8, 1], 8, batch=5),
    ],
    ids=[
        "pairs",
        "pairs behind an open size",
        "pairs behind a swap",
        "rows",
        "rows of two axes",
        "fixed pairs",
        "fixed rows",
    ],
)
def test_places_of_each_sample_need_no_number(model):
    simple = canonicalize(load_model(model))
    gathered = [each for each in simple.graph.node if each.op_type == "GatherND"]
    assert [each.attributes.batch_dims for each in gathered] == [1]
    assert canonicalize(simple).to_json() == simple.to_json()
    x = np.random.default_rng(0).normal(size=(5, 8)).astype(np.float32)
    got, want = (open_session(each).run(None, {"x": x})[0] for each in (simple.to_proto(), model))
    np.testing.assert_array_equal(got, want)
    assert_lifts(model, rows=5)


SEVERAL = [
    *PLACES[:-2],
    node("Mod", "place two", "column"),
    *PLACES[-2:],
    node("Unsqueeze", "column last", "spread_column"),
    node("Concat", "number spread spread_column", "pairs", axis=-1),
    node("GatherND", "data pairs", "element"),
    node("Unsqueeze", "element last", "y"),
]
FLAT = [
    *NUMBERS, *CHOSEN,
    node("Flatten", "data", "flat", axis=3),
    node("Mul", "numbers eight", "before"),
    node("Mod", "place size", "first"),
    node("Mul", "first two", "row"),
    node("Mod", "place two", "column"),
    node("Add", "row column", "inside"),
    node("Add", "inside before", "at"),
    node("Gather", "flat at", "y"),
]  # fmt: skip
STRIDES = [
    *NUMBERS,
    node("Tanh", "x", "data"),
    node("Reshape", "data last", "flat"),
    node("Mul", "numbers eight", "before"),
    node("Unsqueeze", "before axes", "spread"),
    node("Add", "spread offsets", "first"),
    node("Add", "first nothing", "at"),
    node("Gather", "flat at", "t"),
    node("Reshape", "t rows", "y"),
]
CONSTANTS = {"zero": 0, "one": 1, "two": 2, "eight": 8, "size": 4, "last": [-1]}


@pytest.mark.parametrize(
    ("nodes", "others"),
    [
        (SEVERAL, {"rows": [0, 4, 2]}),
        (FLAT, {"rows": [0, 4, 2]}),
        (
            STRIDES,
            {
                "rows": [-1, 6],
                "axes": [1, 2],
                "nothing": [[[0]]],
                "offsets": [[[7, 0, 1], [5, 5, 2]]],
            },
        ),
    ],
    ids=["several places", "places among all elements", "places of a memory layout"],
)
def test_samples_that_are_numbered_are_read_one_by_one(nodes, others):
    model = graph(nodes, x=("N", 8), **CONSTANTS, **others)
    simple = canonicalize(load_model(model))
    assert canonicalize(simple).to_json() == simple.to_json()
    assert_the_same(model, simple, 8)
    assert_lifts(model, rows=5)


def test_places_of_another_rank_keep_their_axes():
    """The offsets of one axis, or none, stand behind the numbers; those of more stay apart."""
    for offsets, axes, kept in (([3], [1], False), (3, [1], False), ([[[3, 1]]], [1], True)):
        nodes = [*STRIDES[:-3], node("Add", "spread offsets", "at"), node("Gather", "flat at", "y")]
        model = graph(nodes, x=("N", 8), offsets=offsets, axes=axes, **CONSTANTS)
        loaded = load_model(model)
        assert (batched_gather(loaded) is loaded) == kept
        assert_the_same(model, canonicalize(loaded), 8)


@pytest.mark.parametrize(
    ("nodes", "range_"),
    [
        ([node("Sigmoid", "x", "a"), node("Cast", "a", "b", to=11)], (0.0, 1.0)),
        ([node("Tanh", "x", "a"), node("Cast", "a", "b", to=9)], (0.0, 1.0)),
        ([node("Clip", "x four zero", "b")], (0.0, 0.0)),
        ([node("Abs", "x", "a"), node("Mul", "a huge", "b")], (-np.inf, np.inf)),
        ([node("Sigmoid", "x", "a"), node("Mul", "a four", "c"), node("Floor", "c", "b")], (0, 4)),
        ([node("Tanh", "x", "a"), node("Sub", "four a", "b")], (3.0, 5.0)),
    ],
)
def test_ranges_hold_all_values(nodes, range_):
    model = load_model(graph(nodes, outputs=["b"], zero=0.0, four=4.0, huge=2.0**62))
    assert value_range(Draft(model), "b") == range_


def test_a_long_chain_of_squares_is_looked_through_once():
    nodes = [node("Tanh", "x", "t0")]
    nodes += [node("Mul", f"t{k} t{k}", f"t{k + 1}") for k in range(60)]
    model = load_model(graph(nodes, outputs=["t60"]))
    assert value_range(Draft(model), "t20") == (-1.0, 1.0)
    assert value_range(Draft(model), "t60") == (-np.inf, np.inf)


def test_places_that_may_be_of_another_sample_stay():
    """They are from -7 to 7, or from 1 to 8."""
    for shift in ([node("Sub", "inside seven", "moved")], [node("Add", "inside one", "moved")]):
        nodes = [*FLAT[:-2], *shift, node("Add", "moved before", "at"), FLAT[-1]]
        model = load_model(graph(nodes, x=("N", 8), rows=[0, 4, 2], seven=7, **CONSTANTS))
        assert batched_gather(model) is model


def changed(nodes, **constants):
    return graph(nodes, x=("N", 8), **{"zero": 0, "one": 1, "last": [-1], **constants})


def test_numbers_of_other_things_stay():
    pairs, rows = {"rows": [0, 4, 2], "size": 4}, {"rows": [0, 8, 1], "size": 8}
    given = [*NUMBERS, *CHOSEN[:1], node("Cast", "x", "whole_x", to=7)]
    first = node("Gather", "whole_x zero", "place", axis=1)
    for model in (
        changed([*ROWS[:-3], node("Mul", "whole one", "before"), *ROWS[-2:]], **rows),
        changed([*given, first, *ROWS[len(NUMBERS) + 2 :]], **rows),  # of another sample, below 0
        changed(PAIRS, **pairs | {"zero": 1}),
        changed(PAIRS, **pairs | {"one": 2}),
        changed([*PAIRS[:-1], node("GatherND", "rest pairs", "y")], **pairs, rest=np.eye(8)),
    ):
        loaded = load_model(model)
        assert batched_gather(loaded) is loaded
        with pytest.raises(ModelError):
            import_model(model)


def test_places_that_are_an_input_are_taken_to_be_in_their_sample():
    """As `x[arange(len(x)), lengths - 1]` is exported; it was refused."""
    nodes = [
        *NUMBERS,
        node("Sub", "lengths one", "place"),
        node("Flatten", "x", "flat", axis=2),
        node("Mul", "numbers size", "before"),
        node("Add", "place before", "row"),
        node("Gather", "flat row", "y"),
    ]
    model = graph(nodes, x=("N", 4, 2), zero=0, one=1, size=4)
    entry = onnx.helper.make_tensor_value_info("lengths", onnx.TensorProto.INT64, ["N"])
    model.graph.input.append(entry)
    with pytest.warns(NeatOnnxWarning, match="'lengths' says are taken to be 0 or more"):
        net = import_model(model)
        assert verify(net, model, runtime="onnxruntime").passed
    feed = {"x": np.arange(24.0, dtype=np.float32).reshape(3, 4, 2), "lengths": np.array([1, 4, 2])}
    (want,) = open_session(model).run(None, feed)
    np.testing.assert_array_equal(net.activate(feed)["y"], want)


@pytest.mark.parametrize("operator", ["Gather", "GatherElements"])
def test_samples_of_lengths_are_those_that_the_model_reads(operator):
    reads = "x place" if operator == "GatherElements" else "table place"
    nodes = [node("Sub", "lengths three", "place"), node(operator, reads, "y")]
    if operator == "GatherElements":
        nodes[1].attribute.append(onnx.helper.make_attribute("axis", 1))
    model = graph(nodes, x=("N", 6), three=3, table=np.arange(6.0))
    entry = onnx.helper.make_tensor_value_info("lengths", onnx.TensorProto.INT64, ["N", 1])
    model.graph.input.append(entry)
    assert places_of(load_model(model)) == {"lengths": (3, 9)}
    if operator == "GatherElements":
        assert verify(import_model(model), model, runtime="onnxruntime").passed
