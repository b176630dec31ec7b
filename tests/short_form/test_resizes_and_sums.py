"""Interpolations and running sums along axes come back as one node, without their matrices."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, assert_valid_in_any_form, graph, node, operators
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify

SHAPE = ("N", 3, 8, 9)


def resized(scales, mode="linear", shape=SHAPE, **attributes):
    return [node("Resize", "x _ by", "y", mode=mode, **attributes)], shape, np.array(scales)


CASES = {
    "linear": resized([1.0, 1.0, 2.0, 2.0]),
    "corners": resized([1.0, 1.0, 2.0, 2.0], coordinate_transformation_mode="align_corners"),
    "corner": resized([1.0, 1.0, 2.0, 2.0], coordinate_transformation_mode="asymmetric"),
    "cubic": resized([1.0, 1.0, 2.0, 2.0], "cubic"),
    "smaller": resized([1.0, 1.0, 0.5, 1.0 / 3.0]),
    "one axis": resized([1.0, 1.0, 1.0, 2.0]),
    "the other axis": resized([1.0, 1.0, 1.5, 1.0]),
    "by a scale that float32 rounds down": resized([1.0, 1.0, 7 / 3, 3.0], shape=("N", 2, 3, 3)),
    "of a sequence": resized([1.0, 1.0, 2.5], shape=("N", 3, 8)),
    "sums of rows": ([node("CumSum", "x by", "y")], SHAPE, np.array(3)),
    "sums of columns": ([node("CumSum", "x by", "y")], SHAPE, np.array(2)),
}


@pytest.mark.parametrize("before", [False, True], ids=["of an input", "of a layer"])
@pytest.mark.parametrize("case", CASES)
def test_it_is_one_node_again(case, before):
    nodes, shape, by = CASES[case]
    layer = [node("Tanh", "x", "t"), node("Identity", "t", "u")] if before else []
    read = node("Identity", "u" if before else "x", "v")
    nodes = [*layer, read, *(type(each).FromString(each.SerializeToString()) for each in nodes)]
    nodes[-1].input[0] = "v"
    model = graph(nodes, x=shape, by=by)
    net = assert_lifts(model)
    short = export(net)
    want = [each.op_type for each in nodes if each.op_type != "Identity"]
    assert [each for each in operators(short) if each != "Sum"] == want
    assert len(short.to_bytes()) <= 1.3 * len(model.SerializeToString())
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize("change", ["weights", "order"])
def test_other_products_stay(change):
    """Weights that interpolate nothing, and sums from the end of a row on."""
    weights = np.tri(9) if change == "order" else np.tri(9).T * 0.5
    net = assert_lifts(graph([node("MatMul", "x w", "y")], x=SHAPE, w=weights))
    short = export(net)
    assert not {"Resize", "CumSum"} & {*operators(short)}
    assert import_model(short) == net


@pytest.mark.parametrize(
    ("shape", "mode", "is_one"),
    [
        ((3, 8), "linear", True),
        ((3, 8), "cubic", False),
        ((2, 3, 8), "cubic", True),
        ((2, 3, 4, 8), "linear", True),
        ((2, 3, 4, 8), "cubic", False),
        ((2, 1, 3, 4, 8), "linear", True),  # of three axes
    ],
)
@pytest.mark.parametrize("scale", [2.0, 0.5])
def test_it_is_one_node_where_onnxruntime_has_it(shape, mode, is_one, scale):
    ones, by = np.eye(8, dtype=np.float32), np.array([1.0, 1.0, 1.0, scale])
    picture = graph([node("Resize", "x _ by", "y", mode=mode)], x=(1, 1, 8, 8), by=by)
    (rows,) = open_session(picture).run(None, {"x": ones[None, None]})
    net = assert_lifts(graph([node("MatMul", "x w", "y")], x=("N", *shape), w=rows[0, 0]))
    short = export(net)
    assert ("Resize" in operators(short)) == is_one
    assert verify(net, short, runtime="onnxruntime").passed
