"""Element types, and numpy's types of their elements."""

import onnx
import pytest

from neat_onnx.model import DataType
from neat_onnx.model.data_type import supported


@pytest.mark.parametrize("kind", DataType)
def test_the_dtype_is_the_one_of_onnx(kind):
    assert kind.dtype == onnx.helper.tensor_dtype_to_np_dtype(kind)
    assert kind.name == onnx.TensorProto.DataType.Name(kind)
    assert kind.is_integer == ("INT" in kind.name) == (kind.dtype.kind in "iu")


def test_every_other_type_of_onnx_is_refused_by_name():
    others = set(onnx.TensorProto.DataType.values()) - set(DataType)
    for number in others:
        with pytest.raises(ValueError, match=onnx.TensorProto.DataType.Name(number)):
            supported(number)
