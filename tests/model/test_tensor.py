import base64
import json
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Tensor, limits, load_model


def read(**document) -> Tensor:
    return Tensor.model_validate({"name": "W", "data_type": 1, **document})


def said(**document) -> str:
    with pytest.raises(ValidationError) as refused:
        read(**document)
    return refused.value.errors()[0]["msg"]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20))
def test_every_double_survives_json_under_FLOAT(numbers):
    tensor = Tensor.of("W", np.array(numbers))
    again = Tensor.model_validate(tensor.model_dump())
    assert again == tensor
    assert again.values.tobytes() == np.array(numbers).tobytes()


@pytest.mark.parametrize(
    ("data_type", "values", "field"),
    [
        (DataType.FLOAT, [[1.5, -0.0]], "float_data"),
        (DataType.DOUBLE, [[1.5, -0.0]], "double_data"),
        (DataType.INT64, [[2**62, -1]], "int64_data"),
        (DataType.INT32, [[2**31 - 1, -1]], "int32_data"),
        (DataType.BOOL, [[True, False]], "int32_data"),
    ],
)
def test_each_type_has_its_field_and_its_raw_form(data_type, values, field):
    tensor = Tensor.of("W", values, data_type)
    document = tensor.model_dump()
    assert list(document) == ["name", "data_type", "dims", field]
    assert document["dims"] == [1, 2]
    raw = tensor.model_dump(context={"encoding": "raw"})
    assert field not in raw
    assert Tensor.model_validate(document) == Tensor.model_validate(raw) == tensor


def test_raw_data_is_the_standard_alphabet_and_little_endian():
    value = np.frombuffer(b"\xfb\xff\xbf\x3f", "<f4")[0]  # '-' and '_' in the other alphabet
    raw = Tensor.of("W", [value]).model_dump(context={"encoding": "raw"})["raw_data"]
    assert raw == base64.b64encode(b"\xfb\xff\xbf\x3f").decode() == "+/+/Pw=="


def test_int64_may_be_decimal_strings():
    tensor = read(data_type=7, dims=["2"], int64_data=["9007199254740993", -4])
    assert tensor.values.tolist() == [9007199254740993, -4]


def test_a_scalar_and_an_empty_tensor_need_no_more_than_their_dims():
    assert read(float_data=[2]).values.shape == ()
    assert read(dims=[0, 3]).values.shape == (0, 3)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ({"dims": [3, 2], "float_data": [1.0] * 5}, "dims [3, 2] need 6 values, float_data has 5"),
        ({"dims": [10**6, 10**6]}, "dims [1000000, 1000000] need 1000000000000 values"),
        ({"dims": [1.0], "float_data": [1.0]}, "is not an integer"),
        ({"dims": [True], "float_data": [1.0]}, "is not an integer"),
        ({"dims": [-1]}, "greater than or equal to 0"),
        ({"dims": [2**40]}, "less than or equal to 2147483647"),
        ({"dims": [2], "float_data": [1.0, None]}, "float_data[1] is null"),
        ({"dims": [2], "float_data": ["1.0", 2.0]}, "float_data[0] is not a number"),
        ({"dims": [2], "float_data": [1.0, True]}, "float_data[1] is not a number"),
        ({"dims": [2], "float_data": [[1.0], [2.0]]}, "float_data[0] is not a number"),
        ({"dims": [1], "float_data": [float("nan")]}, "float_data[0] is not a finite number"),
        ({"dims": [2], "float_data": ["NaN", float("nan")]}, "float_data[1] is not a finite"),
        ({"dims": [2], "float_data": [0, 10**400]}, "float_data[1] is out of range"),
        ({"dims": [1], "float_data": "AAAA"}, "float_data is not a list"),
        ({"data_type": 7, "dims": [1], "float_data": [1]}, "INT64 does not go with float_data"),
        ({"data_type": 7, "dims": [1], "int64_data": [1.5]}, "int64_data[0] is not an integer"),
        ({"data_type": 7, "dims": [1], "int64_data": [2**63]}, "int64_data[0] is out of range"),
        ({"data_type": 6, "dims": [1], "int32_data": [2**31]}, "does not fit in INT32"),
        ({"data_type": 10, "dims": [1], "int32_data": [2**16]}, "is not the 16 bits of a FLOAT16"),
        ({"data_type": 2, "dims": [1], "int32_data": [256]}, "does not fit in UINT8"),
        ({"dims": [1], "float_data": [1], "raw_data": "AAAA"}, "has both raw_data and float_data"),
        ({"dims": [1], "raw_data": "AACAPw"}, "raw_data is not base64"),
        ({"dims": [1], "raw_data": "AACA"}, "raw_data has 3 bytes, expected 4"),
        ({"dims": [1], "values": [1.0]}, "values is not a known key"),
        ({"external_data": [{"key": "location", "value": "x"}]}, "external data is not supported"),
        ({"data_location": "EXTERNAL"}, "external data is not supported"),
    ],
)
def test_what_is_wrong_is_refused_in_our_words(document, text):
    assert text in said(**document)


MASK = np.array([0.5, -np.inf, np.inf, -np.nan])


@pytest.mark.parametrize("data_type", [DataType.FLOAT, DataType.DOUBLE, DataType.FLOAT16])
def test_infinities_and_nan_are_texts_in_json_and_the_same_in_every_form(data_type):
    mask = Tensor(name="mask", data_type=data_type, dims=(4,), values=MASK)
    for context in ({}, {"encoding": "raw"}):
        document = json.loads(json.dumps(mask.model_dump(context=context), allow_nan=False))
        assert Tensor.model_validate(document) == mask
    if data_type is not DataType.FLOAT16:
        (numbers,) = (value for key, value in mask.model_dump().items() if key.endswith("_data"))
        assert numbers == [0.5, "-Infinity", "Infinity", "NaN"]
    with pytest.raises(ModelError, match="is not a finite number"):
        Tensor.of("W", mask.values, data_type)


def test_values_are_read_only_and_equality_is_bit_for_bit():
    tensor = Tensor.of("W", [0.0])
    with pytest.raises(ValueError, match="read-only"):
        tensor.values[0] = 1.0
    assert tensor == Tensor.of("W", [0.0])
    assert tensor != Tensor.of("W", [-0.0])
    assert tensor != Tensor.of("W", [0.0], DataType.DOUBLE)


@pytest.mark.parametrize(
    ("values", "data_type", "text"),
    [
        ([1.0, np.nan], DataType.FLOAT, r"tensor W: float_data\[1\] is not a finite number"),
        ([1.5], DataType.INT64, "float64 values do not go with INT64"),
        (["a"], DataType.FLOAT, "do not go with FLOAT"),
        ([None], DataType.FLOAT, "do not go with FLOAT"),
        ([2**40], DataType.INT32, "does not fit in INT32"),
    ],
)
def test_of_refuses_what_the_type_cannot_hold(values, data_type, text):
    with pytest.raises(ModelError, match=text):
        Tensor.of("W", values, data_type)


def test_float32_rounds_only_in_bytes_and_overflow_is_refused():
    assert np.frombuffer(Tensor.of("W", [0.1]).to_bytes(), "<f4")[0] == np.float32(0.1)
    with pytest.raises(ModelError, match=r"tensor W: value 1 is .*1e\+300.* too large") as refused:
        Tensor.of("W", [0.0, 1e300]).to_bytes()
    assert "float64" in refused.value.hint


# --- mostly zeros, as version 0.1 wrote it --------------------------------------------------------


def sparse(coordinates, values, dims=(2, 3), **more) -> dict:
    return {"dims": list(dims), "sparse": {"coordinates": coordinates, "values": values}, **more}


def test_coordinates_are_read_in_any_order_and_zeros_may_be_among_the_values():
    tensor = read(**sparse([[1, 2], [0, 1], [0, 0]], [4, 0.0, -0.0]))
    assert tensor == Tensor.of("W", [[-0.0, 0.0, 0.0], [0.0, 0.0, 4.0]])
    assert read(**sparse([], [], [0, 3])).values.shape == (0, 3)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (sparse([[0, 0], [0, 3]], [1.0, 2.0]), "sparse.coordinates are not all positions in dims"),
        (sparse([[0, 1.5]], [1.0]), "sparse.coordinates are not all positions in dims"),
        (sparse([[0, 2**70]], [1.0]), "sparse.coordinates are not all positions in dims"),
        (sparse([[0, 0], [0]], [1.0, 2.0]), "sparse.coordinates are not all positions in dims"),
        (sparse([[1, 1], [1, 1]], [1.0, 2.0]), "sparse has 2 values for 1 positions"),
        (sparse([[0, 0]], []), "sparse has 0 values for 1 positions"),
        (sparse([[0, 0]], ["1.0"]), "sparse.values[0] is not a number"),
        (sparse([[0, 0]], [float("nan")]), "sparse.values[0] is not a finite number"),
        (sparse([[0]], [1.0], [1], float_data=[1.0]), "has both sparse and float_data"),
        (sparse([[0]], [1.0], [1], data_type=7), "data_type INT64 does not go with sparse"),
        ({"dims": [1], "sparse": {}}, "sparse is not an object of coordinates and values"),
    ],
)
def test_wrong_coordinates_are_refused(document, text):
    assert text in said(**document)


def test_zeros_that_few_bytes_ask_for_are_counted_before_there_is_memory_for_them():
    tracemalloc.start()
    try:
        for dims in ([10**6, 10**6], [2**31 - 1] * 3):
            with pytest.raises(ModelError, match="elements, and the limit is"):
                read(**sparse([], [], dims))
        many = [{"name": f"W{k}", "data_type": 1, **sparse([], [], [2**8])} for k in range(5)]
        with limits(elements=2**10), pytest.raises(ModelError, match="elements, and the limit is"):
            load_model({"graph": {"outputs": [], "initializer": many}})
        assert tracemalloc.get_traced_memory()[1] < 1e6
    finally:
        tracemalloc.stop()
