"""Types of weights alone: floats of 8 and 4 bits, integers of 4."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from neat_onnx import ModelError, export, import_model, load_model, verify
from neat_onnx.model import DataType, Tensor

KINDS = [kind for kind in DataType if kind.is_of_weights]
IN_OPSET = {DataType.FLOAT4E2M1: 23}


def all_numbers(kind: DataType) -> onnx.TensorProto:
    """Every number of a type, as onnx has them, in an odd number of elements."""
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    codes = np.arange(2**kind.bits, dtype=np.uint8)
    values = (
        numpy_helper.to_array(
            helper.make_tensor("W", kind, [len(codes)], codes.tobytes(), raw=True)
        )
        if kind.bits == 8
        else codes.view(dtype)
    )
    return numpy_helper.from_array(values[:-1], "W")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_number_is_as_onnx_reads_it_and_is_written_as_it_came(kind):
    proto = all_numbers(kind)
    want = numpy_helper.to_array(proto).astype(np.float64)
    read = load_model(model_of(proto)).graph.tensors["W"]
    np.testing.assert_array_equal(read.values, want)
    assert np.array_equal(np.signbit(read.values), np.signbit(want)) or np.isnan(want).any()
    document = json.loads(json.dumps(read.model_dump(mode="json"), allow_nan=False))
    for each in (document, read.model_dump(context={"encoding": "raw"})):
        assert Tensor.model_validate(each) == read
    back = helper.make_tensor("W", kind, read.dims, read.to_bytes(), raw=True)
    np.testing.assert_array_equal(numpy_helper.to_array(back).astype(np.float64), want)


def model_of(*tensors: onnx.TensorProto, scales: int = 1, block_size: int = 0) -> onnx.ModelProto:
    """x times weights, which are cast, or dequantized with as many scales."""
    given = {"block_size": block_size} if block_size else {}
    unpack = helper.make_node("Cast", ["W"], ["V"], to=TensorProto.FLOAT)
    if len(tensors) > 1:
        names = [each.name for each in tensors]
        unpack = helper.make_node("DequantizeLinear", names, ["V"], axis=0, **given)
    size = tensors[0].dims[0]
    nodes = [unpack, helper.make_node("MatMul", ["x", "V"], ["y"])]
    ends = [helper.make_tensor_value_info("x", 1, ["N", size])]
    graph = helper.make_graph(nodes, "g", ends, [helper.make_empty_tensor_value_info("y")], tensors)
    graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, None))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("scales", [None, "one", "rows", "blocks"])
def test_weights_of_few_bits_are_imported(kind, scales):
    """As onnx computes them; odd sizes, and a last block that is not full."""
    values = RNG.integers(0, 7, (5, 3)) - (0 if kind is DataType.UINT4 else 3)
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    tensors = [numpy_helper.from_array(values.astype(dtype), "W")]
    shape = {"one": (), "rows": (5,), "blocks": (3, 3)}.get(scales or "")
    if shape is not None:
        tensors.append(numpy_helper.from_array(np.float32(RNG.random(shape)), "scale"))
        zeros = np.full(shape, int(kind.is_integer)).astype(dtype)
        tensors.append(numpy_helper.from_array(zeros, "zero"))
    made = model_of(*tensors, block_size=2 if scales == "blocks" else 0)
    (want,) = ReferenceEvaluator(made).run(None, {"x": np.eye(5, dtype=np.float32)})
    net = import_model(made)
    np.testing.assert_array_equal(net.activate(np.eye(5)), want)
    assert verify(net, export(net)).passed


@pytest.mark.parametrize("what", ["input", "output"])
def test_inputs_and_outputs_of_few_bits_are_refused_with_their_type(what):
    made = model_of(numpy_helper.from_array(np.float32([[1.0]]), "W"))
    getattr(made.graph, what)[0].type.tensor_type.elem_type = TensorProto.FLOAT8E5M2
    with pytest.raises(ModelError, match=r"elem_type 19 \(FLOAT8E5M2\) not supported but of weigh"):
        import_model(made)


def test_numbers_that_the_type_lacks_are_refused_or_rounded_as_they_are_written():
    with pytest.raises(ModelError, match="does not fit in INT4"):
        Tensor.of("W", np.array([8]), DataType.INT4)
    values = np.append(RNG.normal(size=200) * 10 ** RNG.uniform(-3, 2, 200), [0.0, -0.0, 1.0625])
    for kind in (each for each in KINDS if not each.is_integer):
        got = Tensor.of("W", values, kind).as_written
        proto = helper.make_tensor("W", kind, values.shape, values)
        np.testing.assert_array_equal(got, numpy_helper.to_array(proto).astype(np.float64))
