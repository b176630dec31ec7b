"""A Scan along any axis, forward or backward, against onnxruntime."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.harness.sweep import every

from neat_onnx import ModelError, import_model, verify

FLOAT = TensorProto.FLOAT


def scan(x, *, start=(1, 3), body=("M", 3), **attributes):
    """A running sum through tanh: the state after the last step, and the result of each."""
    ends = [helper.make_tensor_value_info(name, FLOAT, body) for name in "srno"]
    nodes = [helper.make_node("Add", ["s", "r"], ["n"]), helper.make_node("Tanh", ["n"], ["o"])]
    inner = helper.make_graph(nodes, "step", ends[:2], ends[2:])
    node = helper.make_node(
        "Scan", ["first", "x"], ["last", "y"], "scan", body=inner, num_scan_inputs=1, **attributes
    )
    outer = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info("x", FLOAT, x)],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in ("y", "last")],
        [numpy_helper.from_array(np.zeros(start, np.float32), "first")],
    )
    ids = [helper.make_opsetid("", 18)]
    return helper.make_model(outer, opset_imports=ids, ir_version=8)


@pytest.mark.parametrize(
    "given",
    [
        {"scan_input_axes": [1], "scan_output_axes": [1]},
        {"scan_input_axes": [-2], "scan_output_axes": [-1]},
        {"scan_input_axes": [1], "scan_output_axes": [1], "scan_input_directions": [1]},
        {"scan_input_axes": [1], "scan_output_axes": [1], "scan_output_directions": [1]},
        {"scan_input_axes": [1], "scan_output_axes": [2], "scan_input_directions": [1],
         "scan_output_directions": [1]},
    ],
)  # fmt: skip
def test_scans_along_any_axis_and_in_both_directions(given):
    model = scan(("N", 5, 3), **given)
    net = import_model(model)
    for runtime in ("onnxruntime", "reference"):
        assert verify(net, model, runtime=runtime).passed


@pytest.mark.filterwarnings("ignore:.*axis")
def test_a_scan_backward_along_the_first_axis():
    model = scan((4, 2, 3), start=(2, 3), scan_input_directions=[1], scan_output_directions=[1])
    net = import_model(model, batch_axis=None)
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_scan_along_an_open_axis_of_time():
    model = scan(("N", "T", 3), scan_input_axes=[1], scan_output_axes=[1])
    net = import_model(model)
    assert net.has_memory
    assert verify(net, model, runtime="onnxruntime").passed


@pytest.mark.parametrize(
    ("case", "check"), every([("NT", 0), ("TN", 1), ("ab", 1), ("bs", 0)], [True, False])
)
def test_the_axis_that_a_scan_runs_along_is_time_whatever_its_name(case, check):
    axes, along = case
    model = scan((*axes, 3), scan_input_axes=[along], scan_output_axes=[along])
    net = import_model(model, check=check)
    assert net.inputs[0].time_axis == along
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_scan_backward_through_open_time_is_refused_with_a_way_on():
    along = {"scan_input_axes": [1], "scan_output_axes": [1]}
    model = scan(("N", "T", 3), scan_input_directions=[1], **along)
    with pytest.raises(ModelError, match="works along the batch") as refused:
        import_model(model)
    assert "shapes={'x': ('N', 16, 3)}" in refused.value.hint
    net = import_model(model, shapes={"x": ("N", 16, 3)})
    assert verify(net, scan(("N", 16, 3), scan_input_directions=[1], **along),
                  runtime="onnxruntime").passed  # fmt: skip


def test_axes_that_are_not_known_are_refused_by_name():
    inner = helper.make_node("Identity", ["x"], ["z"])
    model = scan(("N", 5, 3), scan_input_axes=[3])
    model.graph.node.insert(0, inner)
    model.graph.node[1].input[1] = "z"
    with pytest.raises(ModelError, match=r"scan \(Scan\): scan_input_axes: \[3\], of sequences"):
        import_model(onnx.ModelProto.FromString(model.SerializeToString()))
