"""Operators that onnxruntime's optimizer writes, and what it makes of graphs of ONNX's own."""

import os
import tempfile
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from tests.lifting.harness import Case, case, check

_R = np.random.default_rng(5)


def _of(*shape: int) -> Any:
    return _R.normal(size=shape).astype(np.float32)


_X, _W, _B = _of(2, 3, 4), _of(4, 5), _of(4)
_ROWS, _IMAGE, _KERNELS = _of(3, 4), _of(1, 2, 5, 5), _of(3, 2, 3, 3)


def own(op: str, inputs: list[Any], wanted: list[Any] | None = None, **keywords: Any) -> Case:
    """A case of onnxruntime's own domain; all inputs but the first are initializers."""
    constants = [k for k, each in enumerate(inputs) if k and each is not None]
    keywords.setdefault("constants", constants)
    return case(op, inputs, wanted, domain="com.microsoft", **keywords)


_OWN = [
    own("Gelu", [_X]),
    own("BiasGelu", [_X, _B]),
    own("FastGelu", [_X]),
    own("FastGelu", [_X, _B]),
    own("QuickGelu", [_X], alpha=1.5),
    own("FusedMatMul", [_X, _W], alpha=0.5),
    own("FusedMatMul", [_X, _of(2, 3, 5)], transA=1, constants=[]),
    own("FusedMatMul", [_of(3, 2, 4), _of(2, 5, 4)], transBatchA=1, transB=1, alpha=2.0),
    own("FusedMatMul", [_of(3, 2, 4), _of(2, 3, 5)], transBatchA=1, transA=1),
    own("FusedGemm", [_ROWS, _W, _of(5)], activation="Relu", alpha=0.5),
    own("FusedGemm", [_ROWS, _W], activation="LeakyRelu", activation_alpha=0.3),
    own("FusedGemm", [_ROWS, _of(5, 4), _of(5)], transB=1, activation="HardSigmoid",
        activation_alpha=0.3, activation_beta=0.4),
    own("FusedConv", [_IMAGE, _KERNELS, _of(3)], activation="Tanh", pads=[1, 1, 1, 1]),
    own("FusedConv", [_IMAGE, _KERNELS, _of(3), _of(1, 3, 3, 3)], activation="Relu"),
    own("FusedConv", [_IMAGE, _KERNELS], activation="Clip", activation_params=[-0.5, 0.5]),
    own("FusedConv", [_IMAGE, _KERNELS], activation="LeakyRelu", activation_params=[0.2]),
    own("FusedGemm", [_ROWS, _W], [_ROWS], activation="Swish").refused("activation is 'Swish'"),
    case("SimplifiedLayerNormalization", [_X, _B], constants=[1]),
    own("CDist", [_ROWS, _W], [_ROWS]).refused("the operator CDist"),
]  # fmt: skip


def _optimized(name: str, nodes: list[Any], x: Any, **constants: Any) -> Case:
    """A graph of ONNX's operators as onnxruntime's optimizer writes it."""
    entry = helper.make_tensor_value_info("x", 1, x.shape)
    held = [numpy_helper.from_array(np.asarray(each), key) for key, each in constants.items()]
    made = [helper.make_node(op, r.split(), g.split(), **keys) for op, r, g, keys in nodes]
    body = helper.make_graph(
        made, "case", [entry], [helper.make_tensor_value_info("y", 1, None)], held
    )
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(body, opset_imports=opsets, ir_version=8)
    (wanted,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = os.path.join(folder, "optimized.onnx")
        onnxruntime.InferenceSession(model.SerializeToString(), options)
        found = onnx.load(options.optimized_model_filepath)
    assert any(node.domain for node in found.graph.node), "it is as it was"
    return Case(name, found, [x], [wanted])


_FUSED = [
    _optimized("dense", [("Gemm", "x w b", "h", {}), ("Elu", "h", "y", {"alpha": 0.5})], _ROWS,
               w=_W, b=_of(5)),
    _optimized("image", [("Conv", "x w", "h", {}), ("Relu", "h", "y", {})], _IMAGE, w=_KERNELS),
    _optimized("scaled", [("Transpose", "x", "t", {"perm": [0, 2, 1]}), ("MatMul", "x t", "p", {}),
                          ("Mul", "p c", "y", {})], _X, c=np.float32(0.25)),
    _optimized("gelu", [
        ("Add", "x b", "a", {}), ("Div", "a r", "d", {}), ("Erf", "d", "e", {}),
        ("Add", "e o", "f", {}), ("Mul", "a f", "g", {}), ("Mul", "g h", "y", {}),
    ], _X, b=_B, r=np.float32(2**0.5), o=np.float32(1), h=np.float32(0.5)),
]  # fmt: skip


@pytest.mark.parametrize("each", [*_OWN, *_FUSED], ids=str)
def test_microsoft(each: Case) -> None:
    check(each)
