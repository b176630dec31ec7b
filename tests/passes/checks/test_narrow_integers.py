"""Integers that may wrap around in the model: differences are refused, sums are warned of."""

import re
import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, import_model

UINT8, INT8, UINT64, INT32, INT64 = (
    TensorProto.UINT8, TensorProto.INT8, TensorProto.UINT64, TensorProto.INT32, TensorProto.INT64,
)  # fmt: skip
FLOAT = node("Cast", "h", "y", to=TensorProto.FLOAT)


def model(kind: int, *nodes: onnx.NodeProto, **constants: np.ndarray) -> onnx.ModelProto:
    """From a and b of this type to y, of floats."""
    ends = [helper.make_tensor_value_info(name, kind, ["N", 3]) for name in "ab"]
    result = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    tensors = [numpy_helper.from_array(values, name) for name, values in constants.items()]
    graph = helper.make_graph([*nodes, FLOAT], "graph", ends, result, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def flags(to: int) -> list[onnx.NodeProto]:
    """Truth values as integers c and d."""
    return [
        node("Greater", "a b", "greater"),
        node("Less", "a b", "less"),
        node("Cast", "greater", "c", to=to),
        node("Cast", "less", "d", to=to),
    ]


def test_onnxruntime_wraps_around():
    a, b = np.uint8([[3, 200, 9]]), np.uint8([[5, 100, 9]])
    for operator, want in (("Sub", [254, 100, 0]), ("Add", [8, 44, 18])):
        (got,) = open_session(model(UINT8, node(operator, "a b", "h"))).run(None, {"a": a, "b": b})
        assert got.tolist() == [want]


@pytest.mark.parametrize("kind", [UINT8, TensorProto.UINT16, TensorProto.UINT32, UINT64])
def test_a_difference_of_unsigned_integers_that_may_be_negative_is_refused(kind):
    with pytest.raises(ModelError, match=r"node make_h \(Sub\): a result of -\d+ to") as refused:
        import_model(model(kind, node("Sub", "a b", "h")))
    assert "Cast its inputs to INT64" in refused.value.hint


@pytest.mark.parametrize(
    "moved",
    [
        node("Flatten", "a", "c"),
        node("Trilu", "a", "c", upper=1),
        node("CenterCropPad", "a sizes", "c", axes=[1]),
        node("Resize", "a _ _ whole", "c", mode="nearest"),
    ],
    ids=lambda each: each.op_type,
)
def test_whatever_moves_unsigned_integers_leaves_their_type(moved):
    """As every operator does whose result is of its input's type in ONNX's schema."""
    constants = {"sizes": np.int64([3]), "whole": np.int64([2, 3])}
    used = {name: values for name, values in constants.items() if name in moved.input}
    made = model(UINT8, moved, node("Sub", "c b", "h"), **used)
    with pytest.raises(ModelError, match=r"node make_h \(Sub\): a result of -255 to 255"):
        import_model(made, check=False, batch_axis=None)


@pytest.mark.parametrize("least", [254, 255])
def test_a_difference_from_the_largest_one_is_never_negative(least):
    made = model(UINT8, node("Sub", "top a", "g"), node("Max", "g b", "h"), top=np.uint8([least]))
    if least == 254:
        with pytest.raises(ModelError, match="a result of -1 to 254 is none of UINT8"):
            import_model(made)
        return
    net = import_model(made)
    assert net.activate({"a": [[1, 2, 250]], "b": [[0, 0, 9]]})["y"].tolist() == [[254, 253, 9]]


@pytest.mark.parametrize(("kind", "operator"), [(UINT8, "Add"), (INT8, "Sub"), (INT8, "Mul")])
def test_results_that_a_narrow_type_may_not_hold_are_warned_of(kind, operator):
    moved = [node("Flatten", "a", "c"), node(operator, "c b", "h")]
    with pytest.warns(NeatOnnxWarning, match=r"at its other end in the model at node make_h"):
        import_model(model(kind, *moved))


def test_a_sum_that_its_type_never_holds_is_refused():
    high = node("Max", "a c", "high")
    made = model(UINT8, high, node("Add", "high c", "h"), c=np.uint8([200]))
    with pytest.raises(ModelError, match="a result of 400 to 455 is none of UINT8"):
        import_model(made)


@pytest.mark.parametrize(
    "nodes",
    [
        [*(node("Cast", a, c, to=INT32) for a, c in ("ac", "bd")), node("Sub", "c d", "h")],
        [*flags(UINT8), node("Add", "c d", "h")],
        [*flags(UINT8), node("Sub", "one c", "h")],
        [*flags(INT8), node("Sub", "c d", "h")],
        [node("TopK", "a two", "top places"), node("Sub", "places places", "h")],
        [*flags(UINT8), node("Not", "greater", "no"), node("Flatten", "no", "flat"),
         node("Where", "flat c d", "e"), node("Sub", "one e", "h")],
        [
            node("DequantizeLinear", "a scale", "c"),
            node("DequantizeLinear", "b scale", "d"),
            node("Sub", "c d", "h"),
        ],
    ],
    ids=["wide", "added flags", "a flag less", "signed", "places", "moved flags", "quantized"],
)  # fmt: skip
def test_results_that_their_type_holds_are_not_warned_of(nodes):
    constants = {"one": np.uint8([1]), "two": np.int64([2]), "scale": np.float32(0.5)}
    read = {name for each in nodes for name in each.input}
    used = {name: values for name, values in constants.items() if name in read}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        import_model(model(UINT8, *nodes, **used))


def test_a_place_along_an_axis_is_cast_but_not_subtracted_from_a_place():
    largest = node("ArgMax", "a", "place", axis=1)
    places = [largest, node("Cast", "place", "c", to=UINT8), node("Max", "c b", "h")]
    net = import_model(model(UINT8, *places))
    assert net.activate({"a": [[1, 2, 250]], "b": [[0, 0, 9]]})["y"].tolist() == [[2, 2, 9]]
    with pytest.raises(ModelError, match="a result of -255 to 255 is none of UINT8"):
        import_model(model(UINT8, *places[:2], node("Sub", "c b", "h")))


WRAPS, ROUNDS = "at its other end in the model at node make_h", r"beyond 2\^53 at node make_h"
WIDE = {"big": 70_000, "huge": 2**40 + 1, "seven": 7, "four": 4}


@pytest.mark.parametrize(
    ("kind", "nodes", "said"),
    [
        (INT32, [node("Mul", "a big", "h")], WRAPS),
        (INT32, [node("Mul", "a b", "h")], WRAPS),
        (INT64, [node("Mul", "a huge", "h")], ROUNDS),
        (INT64, [node("Mul", "a seven", "c"), node("Mul", "c huge", "h")], ROUNDS),
        (INT64, [node("Pow", "a four", "h")], WRAPS),
        (UINT64, [node("Mul", "a huge", "h")], ROUNDS),
        (INT64, [node("Mul", "a b", "h")], None),
        (INT32, [node("Mul", "a seven", "h")], None),
        (INT64, [node("Mod", "a seven", "c"), node("Mul", "c huge", "h")], None),
        (INT64, [node("Shape", "a", "c", start=1), node("Mul", "c huge", "d"),
                 node("Min", "d a", "h")], None),
        (INT64, [node("Equal", "a b", "c"), node("Cast", "c", "d", to=INT64),
                 node("Mul", "d huge", "h")], None),
    ],
)  # fmt: skip
def test_ordinary_integers_of_wide_types_are_warned_of_where_results_are_beyond_them(
    kind, nodes, said
):
    read = {name for each in nodes for name in each.input}
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    used = {name: np.asarray(each, dtype) for name, each in WIDE.items() if name in read}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        import_model(model(kind, *nodes, **used), check=False)
    texts = [str(each.message) for each in warned if issubclass(each.category, NeatOnnxWarning)]
    assert [bool(re.search(said or "integers", text)) for text in texts] == [True] * bool(said)
