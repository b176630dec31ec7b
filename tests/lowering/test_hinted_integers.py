"""Operators of steps and places, and loops, come back as themselves, where no input stops them."""

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node, operators

from neat_onnx import Network, export, import_model, load_model, verify

_FLOAT, _INT32, _INT64, _INT8, _UINT8, _BOOL = (
    TensorProto.FLOAT,
    TensorProto.INT32,
    TensorProto.INT64,
    TensorProto.INT8,
    TensorProto.UINT8,
    TensorProto.BOOL,
)
_Port = tuple[int, Sequence[int | str]]


def _model(
    *nodes: onnx.NodeProto,
    opset: int = 18,
    y: _Port = (_FLOAT, ()),
    constants: dict[str, np.ndarray] | None = None,
    **reads: _Port,
) -> onnx.ModelProto:
    """A graph of inputs of types and shapes, constants, and the output y."""
    entries = [helper.make_tensor_value_info(name, *port) for name, port in reads.items()]
    results = [helper.make_tensor_value_info("y", y[0], y[1] or None)]
    tensors = [numpy_helper.from_array(each, name) for name, each in (constants or {}).items()]
    body = helper.make_graph(list(nodes), "graph", entries, results, tensors)
    domains = ("com.microsoft", "ai.onnx.ml")
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(each, 1) for each in domains)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8)


def _tensor(of: str, kind: int, *shape: int | str) -> dict[str, _Port]:
    """A quantized tensor of a shape, with its scale and its zero point."""
    return {of: (kind, shape), f"{of}s": (_FLOAT, ()), f"{of}z": (kind, ())}


_X = (_FLOAT, ("N", 5, 2))
_A, _B = _tensor("a", _UINT8, 2, 3), _tensor("b", _UINT8, 3, 4)
_END = {"cs": (_FLOAT, ()), "cz": (_UINT8, ())}
_IMAGE, _WINDOW = (_UINT8, (1, 1, 4, 4)), (_UINT8, (1, 1, 2, 2))
MODELS = {
    "places": _model(node("Gather", "x i", "y", axis=1), x=_X, i=(_INT64, (3,))),
    "places of each": _model(
        node("GatherElements", "x i", "y", axis=1), x=_X, i=(_INT32, ("N", 4, 2))
    ),
    "places to put": _model(
        node("ScatterElements", "x i u", "y", axis=1),
        x=_X, i=(_INT64, ("N", 2, 2)), u=(_FLOAT, ("N", 2, 2)),
    ),
    "a row beside samples": _model(
        node("Gather", "table i", "row"), node("Add", "x row", "y"),
        x=(_FLOAT, ("N", 4)), i=(_INT64, ()),
        constants={"table": np.arange(12, dtype=np.float32).reshape(3, 4)},
    ),
    "8 bits": _model(
        node("MatMulInteger", "a b az bz", "y"), y=(_INT32, (2, 4)),
        a=(_INT8, (2, 3)), b=(_INT8, (3, 4)), az=(_INT8, ()), bz=(_INT8, ()),
    ),
    "windows": _model(
        node("ConvInteger", "x w z", "y", pads=[1, 1, 1, 1]), y=(_INT32, (1, 1, 5, 5)),
        x=_IMAGE, w=_WINDOW, z=(_UINT8, ()),
    ),
    "steps": _model(
        node("QuantizeLinear", "x s z", "y"), y=(_UINT8, (2, 3)),
        x=(_FLOAT, (2, 3)), s=(_FLOAT, ()), z=(_UINT8, ()),
    ),
    "numbers of steps": _model(node("DequantizeLinear", "a as az", "y"), **_A),
    "a product of steps": _model(
        node("QLinearMatMul", "a as az b bs bz cs cz", "y"), y=(_UINT8, (2, 4)), **_A, **_B, **_END
    ),
    "a loop that ends early": _model(
        node("Loop", "most first x", "y", body=helper.make_graph(
            [
                node("MatMul", "h w", "p"), node("Tanh", "p", "next"),
                node("ReduceSum", "next", "sum", keepdims=0), node("Less", "sum one", "go"),
            ],
            "body",
            [
                helper.make_tensor_value_info("i", _INT64, []),
                helper.make_tensor_value_info("on", _BOOL, []),
                helper.make_tensor_value_info("h", _FLOAT, [1, 3]),
            ],
            [
                helper.make_tensor_value_info("go", _BOOL, []),
                helper.make_tensor_value_info("next", _FLOAT, [1, 3]),
            ],
            [numpy_helper.from_array(np.float32(1.0), "one")],
        )),
        y=(_FLOAT, (1, 3)), x=(_FLOAT, (1, 3)),
        constants={
            "most": np.array(5), "first": np.array(True),
            "w": np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32),
        },
    ),
}  # fmt: skip


def _imported(model: onnx.ModelProto) -> Network:
    """The network of a graph; a first axis of a fixed size is no batch, no places are tried."""
    sizes = [each.type.tensor_type.shape.dim for each in model.graph.input]
    has_batch = any(size and size[0].dim_param for size in sizes)
    return import_model(model, batch_axis="auto" if has_batch else None, check=False)


def _without_casts(model: onnx.ModelProto) -> list[str]:
    return [each for each in operators(load_model(model)) if each != "Cast"]


@pytest.mark.parametrize("name", MODELS)
def test_an_operator_comes_back(name: str):
    model = MODELS[name]
    net = _imported(model)
    written = export(net)
    assert _without_casts(written.to_proto()) == operators(load_model(model))
    assert len(written.to_bytes()) < 2 * model.ByteSize()
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=32, runtime="onnxruntime").passed
    assert verify(net, model, samples=32, runtime="onnxruntime").passed


def test_operators_of_the_runtime_come_back_as_those_that_onnx_has():
    ports = {**_tensor("a", _UINT8, "N", 3), **_tensor("b", _UINT8, "N", 3), **_END}
    added = node("QLinearAdd", "a as az b bs bz cs cz", "y", domain="com.microsoft")
    model = _model(added, y=(_UINT8, ("N", 3)), **ports)
    net = _imported(model)
    written = export(net)
    assert operators(written).count("DequantizeLinear") == 2
    assert len(written.to_bytes()) < 2 * model.ByteSize()
    assert import_model(written.to_bytes()) == net
    assert verify(net, written, samples=32, runtime="onnxruntime").passed


_STOPPING = {
    "a divisor of 0": _model(
        node("Div", "x b", "y"), y=(_INT32, ("N", 3)), x=(_INT32, ("N", 3)), b=(_INT32, (3,))
    ),
    "computed places": _model(
        node("ReduceMax", "k axis", "i"), node("GatherElements", "x i", "y", axis=1),
        x=(_FLOAT, ("N", 5)), k=(_INT64, ("N", 3)), constants={"axis": np.array([1])},
    ),
    "computed places whose type onnx does not infer": _model(
        node("LinearRegressor", "x", "z", domain="ai.onnx.ml", coefficients=[1.0, -1.0] * 6,
             targets=4),
        node("TopK", "z three", "v order"), node("ArgMin", "v", "last", axis=1),
        node("GatherElements", "order last", "i", axis=1),
        node("GatherElements", "z i", "y", axis=1),
        x=(_FLOAT, ("N", 3)), constants={"three": np.array([3])},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _STOPPING)
def test_there_is_no_hint_where_a_runtime_may_stop(name: str):
    model = _STOPPING[name]
    texts = [each.model for each in _imported(model).operators]
    assert not [text for text in texts if f'"{model.graph.node[-1].op_type}"' in text]


def test_a_loop_of_weights_is_neurons():
    model = onnx.ModelProto()
    model.CopyFrom(MODELS["a loop that ends early"])
    inner = model.graph.node[0].attribute[0].g
    inner.initializer.append(numpy_helper.from_array(np.ones((17, 17), np.float32), "many"))
    inner.node.append(node("ReduceSum", "many", "much"))
    assert len(_imported(model).operators) == 0


def test_steps_whose_every_result_is_an_output_are_one_node():
    entries = [helper.make_tensor_value_info("x", _FLOAT, [6])]
    results = [
        helper.make_tensor_value_info("y", _UINT8, [6]),
        helper.make_tensor_value_info("s", _FLOAT, []),
        helper.make_tensor_value_info("z", _UINT8, []),
    ]
    graph = helper.make_graph(
        [node("DynamicQuantizeLinear", "x", "y s z")], "graph", entries, results
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    net = _imported(model)
    written = export(net)
    assert operators(written) == ["DynamicQuantizeLinear"]
    assert verify(net, written, samples=32, runtime="onnxruntime").passed
