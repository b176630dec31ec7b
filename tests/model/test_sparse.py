"""Tensors of mostly zeros in JSON: what is written, that it comes back, and what is refused."""

import json
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sample_models import mlp
from support.harness.sweep import count

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Graph, Model, Tensor, load_model, validate
from neat_onnx.model.tensor import MAX_VALUES


def holding(*tensors) -> Model:
    return Model(graph=Graph(outputs=[], initializer=list(tensors)))


def scattered(dims, count, seed=0):
    """Zeros of shape `dims`, with `count` normal numbers in random places."""
    random = np.random.default_rng(seed)
    values = np.zeros(dims)
    values.flat[random.choice(values.size, count, replace=False)] = random.normal(size=count)
    return values


def written(values, data_type=DataType.FLOAT):
    """The one tensor of a model's JSON in this encoding, without its name and type."""
    model = holding(Tensor.of("W", values, data_type))
    (document,) = json.loads(model.to_json(encoding="sparse"))["graph"]["initializer"]
    assert (document.pop("name"), document.pop("data_type")) == ("W", data_type)
    return document


def read(dims, coordinates, values, **more):
    sparse = {"coordinates": coordinates, "values": values}
    tensor = {"name": "W", "data_type": 1, "dims": dims, "sparse": sparse, **more}
    return load_model({"graph": {"outputs": [], "initializer": [tensor]}}).graph.tensors["W"]


def said(dims, coordinates, values, **more):
    with pytest.raises(ModelError) as refused:
        read(dims, coordinates, values, **more)
    assert "\n" not in str(refused.value)
    return str(refused.value)


# --- writing --------------------------------------------------------------------------------------


@st.composite
def mostly_zeros(draw):
    dims = draw(st.lists(st.integers(0, 12), max_size=4))
    values = np.zeros(dims)
    number = st.floats(allow_nan=False, allow_infinity=False)
    share = draw(st.floats(0, 1))
    places = np.random.default_rng(draw(st.integers(0, 99))).random(dims) < share**3
    count = int(places.sum())
    few = st.lists(number, min_size=count, max_size=count)
    values[places] = draw(few) if count < 40 else draw(number)
    return values


@settings(max_examples=count(60, 200), deadline=None)
@given(mostly_zeros() | arrays.arrays(np.float64, (3, 30), elements=st.sampled_from([0.0, -0.0])))
def test_every_bit_comes_back_and_it_is_never_longer(values):
    for data_type in (DataType.FLOAT, DataType.DOUBLE):
        model = holding(Tensor.of("W", values, data_type))
        text = model.to_json(encoding="sparse")
        assert json.loads(text) == model.to_document(encoding="sparse")
        assert json.loads(text) == json.loads(model.to_json(indent=False, encoding="sparse"))
        back = load_model(text)
        assert back == model
        assert back.to_json(encoding="numbers") == model.to_json(encoding="numbers")
        assert back.to_json(encoding="sparse") == text
        assert len(text) <= len(model.to_json())


def test_it_is_chosen_where_it_is_clearly_shorter():
    assert "sparse" in written(scattered((40, 40), 300))
    assert "float_data" in written(scattered((40, 40), 600))
    assert "double_data" in written(scattered((40, 40), 600), DataType.DOUBLE)
    assert written(np.zeros((50, 2)))["sparse"] == {"coordinates": [], "values": []}
    assert written(np.full(100, -0.0))["float_data"] == [-0.0] * 100


@pytest.mark.parametrize("data_type", [DataType.INT64, DataType.INT32, DataType.BOOL])
def test_tensors_of_integers_are_lists(data_type):
    zeros = np.zeros(1000, bool if data_type is DataType.BOOL else int)
    assert "sparse" not in written(zeros, data_type)


def test_the_binary_form_is_dense():
    model = mlp(scattered((30, 30), 9))
    assert load_model(model.to_json(encoding="sparse")).to_bytes() == model.to_bytes()
    assert not model.written_as("sparse").to_proto().graph.sparse_initializer


# --- reading --------------------------------------------------------------------------------------


def test_coordinates_are_read_in_any_order_and_zeros_may_be_among_the_values():
    tensor = read([2, 3], [[1, 2], [0, 1], [0, 0]], [4, 0.0, -0.0])
    assert tensor == Tensor.of("W", [[-0.0, 0.0, 0.0], [0.0, 0.0, 4.0]])
    assert not tensor.values.flags.writeable
    assert read([], [[]], [2.5]).values.tolist() == 2.5
    assert read([0, 3], [], []).values.shape == (0, 3)


@pytest.mark.parametrize(
    ("coordinates", "values", "text"),
    [
        ([[0, 0], [0, 3]], [1.0, 2.0], "sparse.coordinates[1] is no position in dims [2, 3]"),
        ([[2, 0]], [1.0], "sparse.coordinates[0] is no position in dims [2, 3]"),
        ([[0, -1]], [1.0], "sparse.coordinates[0] is no position"),
        ([[0, 2**70]], [1.0], "sparse.coordinates[0] is no position"),
        ([[0, 0], [0]], [1.0, 2.0], "sparse.coordinates[1] is no position"),
        ([[0, 0, 0]], [1.0], "sparse.coordinates[0] is no position"),
        ([[0, 1.0]], [1.0], "sparse.coordinates[0] is no position"),
        ([[0, True]], [1.0], "sparse.coordinates[0] is no position"),
        ([["0", "1"]], [1.0], "sparse.coordinates[0] is no position"),
        ([[0, None]], [1.0], "sparse.coordinates[0] is no position"),
        ([0, 1], [1.0], "sparse.coordinates is not a list of lists"),
        ({"0": [0, 1]}, [1.0], "sparse.coordinates is not a list of lists"),
        ([[1, 1], [0, 0], [1, 1]], [1.0, 2.0, 3.0], "sparse.coordinates has [1, 1] twice"),
        ([[0, 0]], [], "sparse has 1 coordinates, but 0 values"),
        ([], [1.0], "sparse has 0 coordinates, but 1 values"),
        ([[0, 0]], ["1.0"], "sparse.values[0] is not a number"),
        ([[0, 0]], [None], "sparse.values[0] is null"),
        ([[0, 0]], [float("nan")], "sparse.values[0] is not a finite number"),
        ([[0, 0]], [10**400], "sparse.values[0] is out of range"),
        ([[0, 0]], 1.0, "sparse.values is not a list"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(coordinates, values, text):
    refusal = said([2, 3], coordinates, values)
    assert refusal.startswith(f"initializer W: {text}")
    assert refusal.endswith("(graph.initializer[0])")


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"sparse": {}}, "sparse is not an object of coordinates and values"),
        ({"sparse": None}, "sparse is not an object of coordinates and values"),
        ({"sparse": {"coordinates": [], "values": [], "x": 1}}, "sparse is not an object of"),
        ({"float_data": [1.0]}, "has both sparse and float_data"),
        ({"raw_data": "AAAA"}, "has both raw_data and sparse"),
        ({"data_type": 7}, "data_type INT64 does not go with sparse"),
    ],
)
def test_what_does_not_go_together_is_refused(more, text):
    assert text in said([1], [[0]], [1.0], **more)


# --- large ones -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dims",
    [
        [10**6, 10**6],
        [2**31 - 1] * 40,
        [MAX_VALUES + 1],
        [0, *[2**31 - 1] * 5],
        [1] * 100,
    ],
)
def test_dims_that_few_bytes_ask_for_are_refused_before_there_is_memory_for_them(dims):
    tracemalloc.start()
    try:
        said(dims, [], [])
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()


def test_many_that_are_too_much_together_are_refused():
    """Also where they hide in attributes."""
    side = 2 ** (MAX_VALUES.bit_length() // 2 - 2)
    tensor = {"data_type": 1, "dims": [side, side], "sparse": {"coordinates": [], "values": []}}
    count = MAX_VALUES // side**2
    named = [{"name": f"W{at}", **tensor} for at in range(count)]
    assert len(load_model({"graph": {"outputs": [], "initializer": named}}).graph.tensors) == count
    value = [{"name": "value", "type": "TENSOR", "t": tensor}]
    more = [{"op_type": "Constant", "input": [], "output": ["c"], "attributes": value}]
    graph = {"outputs": [], "initializer": named, "node": more}
    (finding,) = validate({"graph": graph})
    assert finding.code == "schema"
    assert f"the sparse tensors of a file may have {MAX_VALUES} values" in finding.message


def test_a_hundredth_of_the_numbers_is_a_tenth_of_the_text_and_no_python_runs_for_each():
    model = holding(Tensor.of("W", scattered((1000, 1000), 10_000)))
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        text = model.to_json(encoding="sparse")
        assert load_model(text) == model
    finally:
        sys.setprofile(None)
    assert calls < 1000
    assert len(text) < len(model.to_json()) / 10
