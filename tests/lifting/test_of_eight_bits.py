"""Numbers in steps of an integer type."""

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.lifting.harness import Case, case, cases_of, check

_R = np.random.default_rng(3)
_X = (6.0 * _R.normal(size=(2, 3, 4))).astype(np.float32)
_IMAGE = (6.0 * _R.normal(size=(2, 3, 5, 5))).astype(np.float32)
_SCALE, _SCALES = np.float32(0.25), np.array([0.25, 0.5, 0.125], np.float32)
_WEIGHTS = _R.integers(-100, 100, (4, 3)).astype(np.int8)
_KERNELS = _R.integers(0, 200, (2, 3, 3, 3)).astype(np.uint8)
_BIAS = _R.integers(-900, 900, 2).astype(np.int32)
_TYPES: dict[str, dict[str, Any]] = {
    "u8": {"s": _SCALE, "z": np.uint8(7), "t": np.float32(0.5), "w": np.uint8(3)},
    "i8": {"s": _SCALE, "z": np.int8(-5), "t": np.float32(0.5), "w": np.int8(4)},
}


def graph(
    nodes: list[tuple[Any, ...]], x: Any, constants: dict[str, Any], opset: int = 18, name: str = ""
) -> Case:
    """A case of nodes (operator, inputs, outputs, attributes); onnxruntime's own after a dot."""
    made = [
        helper.make_node(
            op.lstrip("."), reads.split(), gives.split(),
            domain="com.microsoft" if op.startswith(".") else "", **attributes,
        )
        for op, reads, gives, attributes in nodes
    ]  # fmt: skip
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    held = [numpy_helper.from_array(np.asarray(each), key) for key, each in constants.items()]
    body = helper.make_graph(
        made, "case", [entry], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], held
    )
    ids = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(body, opset_imports=ids, ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return Case(name or f"{nodes[1 % len(nodes)][0]}", model, [x], session.run(None, {"x": x}))


def between(
    op: str, reads: str, x: Any = _X, kind: str = "u8", more: Any = None, **attributes: Any
) -> Case:
    """The operator reads q, quantized by s and z, and gives r, which t and w mean."""
    nodes = [
        ("QuantizeLinear", "x s z", "q", {}), (op, reads, "r", attributes),
        ("DequantizeLinear", "r t w", "y", {}),
    ]  # fmt: skip
    return graph(nodes, x, _TYPES[kind] | (more or {}), name=f"{op} {kind} {attributes or ''}")


_ONNX = cases_of(
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul",
)  # fmt: skip
_OURS = [
    case("QuantizeLinear", [_X, _SCALES, np.zeros(3, np.int8)], constants=[1, 2], axis=1),
    case("QuantizeLinear", [_X, _SCALE], constants=[1]),
    case("DynamicQuantizeLinear", [_X], outputs=3),
    case("DynamicQuantizeLinear", [np.float32([-1, 0.3, 1])], outputs=3),
    case("DynamicQuantizeLinear", [np.zeros(3, np.float32)], outputs=3),
    graph([("DynamicQuantizeLinear", "x", "q s z", {}), ("MatMulInteger", "q m z o", "p", {}),
           ("Cast", "p", "y", {"to": 1})], _X, {"m": _WEIGHTS, "o": np.int8(3)}),
    graph([("DynamicQuantizeLinear", "x", "q s z", {}), ("ConvInteger", "q m z o", "p", {}),
           ("Cast", "p", "y", {"to": 1})], _IMAGE, {"m": _KERNELS, "o": np.uint8(9)}),
    graph([("DequantizeLinear", "m s z", "w", {"axis": 0, "block_size": 2}),
           ("MatMul", "x w", "y", {})], _X,
          {"m": _WEIGHTS, "s": _R.random((2, 3)).astype(np.float32), "z": _WEIGHTS[:2]}, opset=21),
]  # fmt: skip
_BETWEEN = [
    between("QLinearConv", "q s z k s z t w b", _IMAGE, more={"k": _KERNELS, "b": _BIAS},
            pads=[1, 1, 0, 0], strides=[2, 1]),
    between("QLinearMatMul", "q s z m e o t w",
            more={"m": _WEIGHTS, "e": np.float32(0.03), "o": np.int8(3)}),
]  # fmt: skip
_REFUSED = [
    case("QuantizeLinear", [_X, _SCALE, np.int32(0)], [_X], opset=21, constants=[1, 2]).refused(
        "of the type int32"
    ),
    case("QuantizeLinear", [_X, np.float32(0)], [_X], constants=[1]).refused("y_scale is 0"),
    between(".QLinearAdd", "q s z q s z t w").refused("the operator QLinearAdd"),
]


@pytest.mark.parametrize("each", [*_ONNX, *_OURS, *_BETWEEN, *_REFUSED], ids=str)
def test_quantization(each: Case) -> None:
    check(each)
