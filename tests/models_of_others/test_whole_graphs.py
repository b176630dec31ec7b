"""Small graphs come back whole: integers, truth values, and operators that move elements."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node, operators

from neat_onnx import Network, export, import_model, verify

_FLOAT, _INT32, _INT64, _UINT8, _BOOL = (
    TensorProto.FLOAT,
    TensorProto.INT32,
    TensorProto.INT64,
    TensorProto.UINT8,
    TensorProto.BOOL,
)
_Port = tuple[int, tuple[int | str, ...]]
_ROWS: _Port = (_INT64, ("N", 4))


def _model(
    *nodes: onnx.NodeProto,
    gives: dict[str, _Port],
    opset: int = 18,
    constants: dict[str, object] | None = None,
    **reads: _Port,
) -> onnx.ModelProto:
    inputs, outputs = (
        [helper.make_tensor_value_info(name, *port) for name, port in ends.items()]
        for ends in (reads, gives)
    )
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()]
    body = helper.make_graph(list(nodes), "graph", inputs, outputs, tensors)
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _chain(steps: int) -> list[onnx.NodeProto]:
    """Numbers above 0, and exponentials of the others, again and again."""
    names = ["x", *(f"w{k}" for k in range(1, steps)), "y"]
    return [
        each
        for k, (x, y) in enumerate(pairwise(names))
        for each in (
            node("Greater", f"{x} zero", f"g{k}"),
            node("Exp", x, f"e{k}"),
            node("Where", f"g{k} {x} e{k}", y),
        )
    ]


_PICTURE: _Port = (_FLOAT, (2, 3, 2))
MODELS = {
    "a sum of integers": _model(
        node("Add", "x c", "y"), x=_ROWS, gives={"y": _ROWS}, constants={"c": 3}
    ),
    "a chain of integers": _model(
        node("Mul", "x c", "m"), node("Sub", "m d", "s"), node("Add", "s x", "y"),
        x=(_INT32, ("N", 4)), gives={"y": (_INT32, ("N", 4))},
        constants={"c": np.int32(3), "d": np.arange(4, dtype=np.int32)},
    ),
    "a product of integers": _model(
        node("MatMul", "x c", "y"), x=_ROWS, gives={"y": (_INT64, ("N", 2))},
        constants={"c": np.arange(8).reshape(4, 2)},
    ),
    "a quotient of integers": _model(
        node("Div", "x c", "q"), node("Mod", "q d", "y"), x=_ROWS, gives={"y": _ROWS},
        constants={"c": 3, "d": 5},
    ),
    "the larger of bytes": _model(
        node("Max", "x z", "y"), x=(_UINT8, ("N", 4)), z=(_UINT8, ("N", 4)),
        gives={"y": (_UINT8, ("N", 4))},
    ),
    "bits": _model(
        node("BitwiseAnd", "x c", "y"), x=(_INT32, ("N", 4)), gives={"y": (_INT32, ("N", 4))},
        constants={"c": np.int32(11)},
    ),
    "places that are inputs": _model(
        node("ScatterND", "x i u", "y"), x=(_FLOAT, (4, 3)), i=(_INT64, (2, 1)),
        u=(_FLOAT, (2, 3)), gives={"y": (_FLOAT, (4, 3))},
    ),
    "labels": _model(
        node("SoftmaxCrossEntropyLoss", "x i", "y"), x=(_FLOAT, (3, 5)), i=(_INT64, (3,)),
        gives={"y": (_FLOAT, ())},
    ),
    "a single number": _model(
        node("IsInf", "x", "a"), node("IsNaN", "x", "b"), node("Or", "a b", "y"),
        x=(_FLOAT, ("N", 1)), gives={"y": (_BOOL, ("N", 1))},
    ),
    "places of the same elements": _model(
        node("ArgMax", "x", "a", axis=1), node("ArgMax", "x", "b", axis=1, keepdims=0),
        x=(_FLOAT, ("N", 4)), gives={"a": (_INT64, ("N", 1)), "b": (_INT64, ("N",))},
    ),
    "two outputs of a reduction": _model(
        node("Greater", "x zero", "g"), node("Cast", "g", "f", to=_INT64),
        node("ReduceSum", "f axes", "r", keepdims=0), node("Greater", "r none", "y"),
        node("Cast", "r", "z", to=_FLOAT),
        x=(_FLOAT, ("N", 6)), gives={"y": (_BOOL, ("N",)), "z": (_FLOAT, ("N",))},
        constants={"zero": np.float32(0.0), "axes": [1], "none": 0},
    ),
    "guarded exponentials": _model(
        *_chain(6), x=(_FLOAT, ("N", 4)), gives={"y": (_FLOAT, ("N", 4))},
        constants={"zero": np.float32(0.0)},
    ),
    "powers in float64": _model(
        node("Cast", "x", "d", to=11), node("Cast", "z", "e", to=11), node("Pow", "d e", "p"),
        node("Cast", "p", "y", to=1), x=(_FLOAT, ("N", 4)), z=(_FLOAT, ("N", 4)),
        gives={"y": (_FLOAT, ("N", 4))},
    ),
    "a mask of integers": _model(
        node("MatMul", "q k", "s"), node("Equal", "m zero", "masked"),
        node("Where", "masked low s", "t"), node("Softmax", "t", "p"), node("MatMul", "p v", "y"),
        q=(_FLOAT, ("N", 3, 4)), k=(_FLOAT, ("N", 4, 3)), v=(_FLOAT, ("N", 3, 4)),
        m=(_INT64, ("N", 3, 3)), gives={"y": (_FLOAT, ("N", 3, 4))},
        constants={"zero": 0, "low": np.float32(-1e9)},
    ),
    "elements side by side": _model(
        node("Concat", "x z", "y", axis=1), x=_PICTURE, z=_PICTURE,
        gives={"y": (_FLOAT, (2, 6, 2))},
    ),
    "a triangle": _model(
        node("Trilu", "x", "y"), x=(_INT64, (4, 5)), gives={"y": (_INT64, (4, 5))}
    ),
    "truth values in an opset that has it": _model(
        node("ReduceMax", "x axes", "y"), opset=20, x=(_BOOL, ("N", 4)),
        gives={"y": (_BOOL, ("N", 1))}, constants={"axes": [1]},
    ),
}  # fmt: skip


def _imported(model: onnx.ModelProto) -> Network:
    """The network of a graph; a first axis of a fixed size is no batch."""
    size = model.graph.input[0].type.tensor_type.shape.dim[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_model(model, batch_axis="auto" if size.dim_param else None)


def _kinds(model: onnx.ModelProto) -> list[int]:
    return [each.type.tensor_type.elem_type for each in model.graph.output]


@pytest.mark.parametrize("name", MODELS)
def test_a_graph_comes_back_whole(name: str):
    model = MODELS[name]
    net = _imported(model)
    written = export(net)
    proto = written.to_proto()
    assert sorted(operators(written)) == sorted(each.op_type for each in model.graph.node)
    assert _kinds(proto) == _kinds(model)
    assert len(written.to_bytes()) < 1.5 * model.ByteSize()
    assert import_model(written.to_bytes()) == net
    for each in (written, model):
        assert verify(net, each, samples=32, runtime="onnxruntime").passed


OTHERS = {
    "integers that begin anew": _model(
        node("Add", "x z", "y"), x=(_UINT8, ("N", 4)), z=(_UINT8, ("N", 4)),
        gives={"y": (_UINT8, ("N", 4))},
    ),
    "a divisor that may be 0": _model(
        node("Cast", "x", "i", to=_INT64), node("Div", "i z", "q"), node("Cast", "q", "y", to=1),
        x=(_FLOAT, ("N", 4)), z=_ROWS, gives={"y": (_FLOAT, ("N", 4))},
    ),
    "16 bits, which runtimes lack": _model(
        node("Max", "x z", "y"), x=(TensorProto.INT16, ("N", 4)), z=(TensorProto.INT16, ("N", 4)),
        gives={"y": (TensorProto.INT16, ("N", 4))},
    ),
    "layers": _model(
        node("Gemm", "x c", "m"), node("Tanh", "m", "y"), x=(_FLOAT, ("N", 4)),
        gives={"y": (_FLOAT, ("N", 4))}, constants={"c": np.eye(4, dtype=np.float32)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_others_have_no_hint(name: str):
    model = OTHERS[name]
    texts = [each.model for each in _imported(model).operators]
    assert not [text for text in texts if f'"{model.graph.node[-1].op_type}"' in text]


def test_a_changed_network_has_the_neurons_that_it_has():
    net = _imported(MODELS["a chain of integers"])
    weights = net.connections.weight.copy()
    weights[0] += 1.0
    changed = replace(net, connections=replace(net.connections, weight=weights))
    written = export(changed)
    assert import_model(written.to_bytes()) == changed
    assert verify(changed, written, samples=32, runtime="onnxruntime").passed
