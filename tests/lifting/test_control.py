"""If, Loop and Scan: by numbers that are known, and by those that inputs decide."""

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import GraphProto, TensorProto, helper, numpy_helper

from neat_onnx.errors import ModelError
from neat_onnx.lifting.trace import trace_model
from tests.lifting.harness import Case, cases_of, check, loaded

_R = np.random.default_rng(13)
_X = _R.normal(size=(3, 2)).astype(np.float32)
FLOAT, BOOL, INT = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64


def node(op: str, reads: str, gives: str, **attributes: Any) -> Any:
    return helper.make_node(op, reads.split(" ") if reads else [], gives.split(), **attributes)


def body(nodes: list[Any], reads: str, gives: str, **kinds: int) -> GraphProto:
    """A graph of tensors of floats, unless another type is given by name."""

    def entries(names: str) -> list[Any]:
        return [
            helper.make_tensor_value_info(n, kinds.get(n, FLOAT), [] if n in kinds else None)
            for n in names.split()
        ]

    return helper.make_graph(nodes, "body", entries(reads), entries(gives))


def case(name: str, nodes: list[Any], gives: str = "y", x: Any = _X, **constants: Any) -> Case:
    held = [numpy_helper.from_array(np.asarray(each), key) for key, each in constants.items()]
    shape: list[Any] = list(x.shape)
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", FLOAT, shape)],
        [helper.make_tensor_value_info(n, FLOAT, None) for n in gives.split()], held,
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return Case(name, model, [x], session.run(None, {"x": x}))


_POSITIVE = [node("ReduceSum", "x", "s", keepdims=0), node("Greater", "s zero", "c")]
_BRANCHES = {
    "then_branch": body([node("Exp", "x", "a")], "", "a"),
    "else_branch": body([node("Neg", "x", "b")], "", "b"),
}
_ROUND = body(
    [node("Mul", "h half", "g"), node("Add", "g x", "o"), node("Identity", "o", "row"),
     node("Identity", "c", "d")],
    "i c h", "d o row", i=INT, c=BOOL, d=BOOL,
)  # fmt: skip
_UNTIL = body(
    [node("Add", "h x", "o"), node("ReduceMax", "o", "m", keepdims=0), node("Less", "m two", "d")],
    "i c h", "d o", i=INT, c=BOOL, d=BOOL,
)  # fmt: skip
_STEP = body(
    [node("Mul", "h half", "g"), node("Add", "g t", "o"), node("Tanh", "o", "r")], "h t", "o r"
)
_ZERO, _TWO, _HALF = np.float32(0), np.float32(2), np.float32(0.5)
_START = np.float32([0.5, -0.5])
_SCAN = {"half": _HALF, "h": _START}
_OURS = [
    *(
        case(f"if of inputs, {sign}", [*_POSITIVE, node("If", "c", "y", **_BRANCHES)],
             x=sign * abs(_X), zero=_ZERO)
        for sign in (1, -1)
    ),
    case("if of a constant", [node("If", "c", "y", **_BRANCHES)], c=np.array(True)),
    case("loop", [node("Loop", "n t x", "y z", body=_ROUND)], "y z", half=_HALF,
         n=np.int64(3), t=np.array(True)),
    case("loop without a condition", [node("Loop", "n  x", "y z", body=_ROUND)], "y z", half=_HALF,
         n=np.int64(2)),
    case("loop that inputs end", [node("Loop", "n t x", "y", body=_UNTIL)], x=abs(_X), two=_TWO,
         n=np.int64(6), t=np.array(True)),
    case("loop that inputs begin", [*_POSITIVE, node("Loop", "n c x", "y", body=_UNTIL)],
         x=-abs(_X), zero=_ZERO, two=_TWO, n=np.int64(3)),
    case("scan", [node("Scan", "h x", "y z", body=_STEP, num_scan_inputs=1)], "y z", **_SCAN),
    case("scan backwards", [node("Scan", "h x", "y z", body=_STEP, num_scan_inputs=1,
         scan_input_directions=[1], scan_output_directions=[1])], "y z", **_SCAN),
    case("scan of other axes", [node("Scan", "h x", "y z", body=_STEP, num_scan_inputs=1,
         scan_input_axes=[-1], scan_output_axes=[1])], "y z", x=_X.T, **_SCAN),
]  # fmt: skip
_ONNX = cases_of(
    "If", "Loop", "Scan",
    without={
        "test_scan_sum": "the operator Scan",
        "test_range_float_type_positive_delta_expanded": "M is computed from inputs",
    },
)  # fmt: skip


@pytest.mark.parametrize("each", [*_ONNX, *_OURS], ids=str)
def test_control(each: Case) -> None:
    check(each)


def _open(nodes: list[Any], **constants: Any) -> Any:
    held = [numpy_helper.from_array(np.asarray(each), key) for key, each in constants.items()]
    graph = helper.make_graph(
        nodes, "open", [helper.make_tensor_value_info("x", FLOAT, ["time", "batch", 2])],
        [helper.make_tensor_value_info("z", FLOAT, ["time", "batch", 2])], held,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def _scan_over_time(**attributes: Any) -> Any:
    nodes = [
        node("Shape", "x", "s", start=1), node("Expand", "h s", "k"),
        node("Scan", "k x", "y z", body=_STEP, num_scan_inputs=1, **attributes),
    ]  # fmt: skip
    return _open(nodes, **_SCAN)


def test_a_scan_over_a_sequence_of_open_length_runs_one_step() -> None:
    proto, x = _scan_over_time(), _R.normal(size=(7, 5, 2)).astype(np.float32)
    network = trace_model(loaded(proto)).network
    (wanted,) = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})
    found = network.run({"x": x.astype(np.float64)})["z"]
    np.testing.assert_allclose(found.reshape(x.shape), wanted, rtol=1e-5, atol=1e-6)


def test_no_sequence_of_open_length_is_scanned_backwards() -> None:
    with pytest.raises(ModelError, match="directions is 1 over a sequence of open length"):
        trace_model(loaded(_scan_over_time(scan_input_directions=[1])))
