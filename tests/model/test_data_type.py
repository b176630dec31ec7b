"""Element types, and numpy's types of their elements."""

import numpy as np
import onnx
import pytest

from neat_onnx.model import DataType


@pytest.mark.parametrize("kind", DataType)
def test_the_dtype_is_the_one_of_onnx(kind):
    theirs = onnx.helper.tensor_dtype_to_np_dtype(kind)
    if kind.is_held_wider:  # numpy has none of its own
        assert np.can_cast(theirs, kind.dtype)
        assert theirs not in map(np.dtype, "bBhHiIlLefd?")
    else:
        assert kind.dtype == theirs
    assert kind.name == onnx.TensorProto.DataType.Name(kind)


def test_integers():
    for kind in DataType:
        assert kind.is_integer == ("INT" in kind.name)
        if kind.is_integer and not kind.is_held_wider:
            assert kind.limits == (np.iinfo(kind.dtype).min, np.iinfo(kind.dtype).max)
