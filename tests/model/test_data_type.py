"""Element types, and numpy's types of their elements."""

import numpy as np
import onnx
import pytest

from neat_onnx.model import DataType


@pytest.mark.parametrize("kind", DataType)
def test_the_dtype_is_the_one_of_onnx(kind):
    if kind is DataType.BFLOAT16:  # numpy has none of its own
        assert kind.dtype == np.float32
        return
    assert kind.dtype == onnx.helper.tensor_dtype_to_np_dtype(kind)
    assert kind.name == onnx.TensorProto.DataType.Name(kind)


def test_integers():
    assert [kind.name for kind in DataType if not kind.is_integer] == [
        "FLOAT", "BOOL", "FLOAT16", "DOUBLE", "BFLOAT16",
    ]  # fmt: skip
