"""Shifts and masks of integers, against onnxruntime and numpy."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.harness.sessions import open_session

from neat_onnx import ModelError, export, import_model, verify

KINDS = {
    np.int32: TensorProto.INT32,
    np.int64: TensorProto.INT64,
    np.uint8: TensorProto.UINT8,
    np.int8: TensorProto.INT8,
    np.uint32: TensorProto.UINT32,
}
MASKS = [0, 1, 6, 0b1011010, 127]


def model(
    operator: str, kind: type, constant: object, *, first: bool = False, **attributes: str
) -> onnx.ModelProto:
    names = ["c", "x"] if first else ["x", "c"]
    reads = names if constant is not None else ["x"]
    node = helper.make_node(operator, reads, ["y"], **attributes)
    entries = [[helper.make_tensor_value_info(name, KINDS[kind], ["N", 5])] for name in ("x", "y")]
    given = [] if constant is None else [numpy_helper.from_array(np.array(constant, kind), "c")]
    graph = helper.make_graph([node], "bits", *entries, given)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def samples(kind: type) -> np.ndarray:
    limits = np.iinfo(kind)
    low, high = max(limits.min, -(1 << 20)), min(limits.max, 1 << 20)
    return np.random.default_rng(0).integers(low, high, (40, 5), endpoint=True).astype(kind)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operator", ["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
def test_masks_are_those_of_onnxruntime(operator, kind, first):
    signed = [-1, -2, -100] if np.iinfo(kind).min else [200, 129, 255]
    for constant in ([*MASKS], MASKS[:2] + signed, signed[2]):
        proto, x = model(operator, kind, constant, first=first), samples(kind)
        (want,) = open_session(proto).run(None, {"x": x})
        net = import_model(proto)
        np.testing.assert_array_equal(net.activate({"x": x})["y"], want)


@pytest.mark.parametrize("kind", KINDS)
def test_bits_that_an_integer_does_not_have(kind):
    proto, x = model("BitwiseNot", kind, None), samples(kind)
    (want,) = open_session(proto).run(None, {"x": x})
    np.testing.assert_array_equal(import_model(proto).activate({"x": x})["y"], want)


@pytest.mark.parametrize("kind", [np.uint8, np.uint32])
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_shifts_lose_the_bits_beyond_the_type(kind, direction):
    proto, x = model("BitShift", kind, [0, 1, 3, 7, 2], direction=direction), samples(kind)
    (want,) = open_session(proto).run(None, {"x": x})
    np.testing.assert_array_equal(import_model(proto).activate({"x": x})["y"], want)


def test_an_export_masks_as_well():
    net = import_model(model("BitwiseXor", np.int32, MASKS))
    again = export(net)
    assert verify(net, again, runtime="onnxruntime").passed
    assert import_model(again) == net


def test_what_no_formula_holds_is_refused():
    two = model("BitwiseAnd", np.int32, 3)
    two.graph.node[0].input[1] = "x"
    with pytest.raises(ModelError, match="both of its inputs are computed"):
        import_model(two)
    with pytest.raises(ModelError, match="shifts 8 bits by \\[-9\\] places"):
        import_model(model("BitShift", np.int8, [-9], direction="LEFT"))
    many = model("BitwiseAnd", np.int64, 0x5555555555555555)
    with pytest.raises(ModelError, match="so many runs"):
        import_model(many)
