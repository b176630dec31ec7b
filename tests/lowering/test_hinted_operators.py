"""Operators whose other inputs are computed come back as themselves, while their neurons stay."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from support.examples.graphs import node, operators
from support.harness.sweep import every

from neat_onnx import Model, Network, export, import_model, load_model, load_network, verify
from neat_onnx.lifting.core import BatchAxis, Lifted, lift
from neat_onnx.lowering import short_model
from neat_onnx.network.operator_hint import OperatorHint

_FLOAT, _INT64, _BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
_Port = tuple[int, Sequence[int | str]]


def _model(
    *nodes: onnx.NodeProto, opset: int = 18, gives: _Port = (_FLOAT, ()), **reads: _Port
) -> onnx.ModelProto:
    """A graph of inputs of types and shapes, and the output y."""
    entries = [helper.make_tensor_value_info(name, *port) for name, port in reads.items()]
    result = helper.make_tensor_value_info("y", gives[0], gives[1] or None)
    body = helper.make_graph(list(nodes), "graph", entries, [result])
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


_X = (_FLOAT, ("N", 2, 4, 4))
_SCALE = {"s": (_FLOAT, (6,)), "b": (_FLOAT, (6,))}
MODELS = {
    "samples at places": _model(
        node("GridSample", "x g", "y", padding_mode="border"),
        opset=16, x=_X, g=(_FLOAT, ("N", 2, 2, 2)),
    ),
    "newer form": _model(
        node("GridSample", "x g", "y", mode="linear"),
        opset=20, x=_X, g=(_FLOAT, ("N", 2, 2, 2)),
    ),
    "normalization": _model(
        node("LayerNormalization", "x s b", "y"), x=(_FLOAT, ("N", 6)), **_SCALE
    ),
    "one sample": _model(
        node("Gemm", "x w b", "y", transA=1, alpha=0.5),
        x=(_FLOAT, (3, 2)), w=(_FLOAT, (3, 4)), b=(_FLOAT, (4,)),
    ),
    "truth values": _model(
        node("And", "x b", "y"),
        opset=7, gives=(_BOOL, ("N", 3)), x=(_BOOL, ("N", 3)), b=(_BOOL, ("N", 3)),
    ),
    "between layers": _model(
        node("Relu", "x", "r"), node("LayerNormalization", "r s b", "n"),
        node("Sigmoid", "n", "y"), x=(_FLOAT, ("N", 6)), **_SCALE,
    ),
}  # fmt: skip


def _imported(name: str) -> Network:
    first = MODELS[name].graph.input[0].type.tensor_type.shape.dim[0]
    return import_model(MODELS[name], batch_axis="auto" if first.dim_param else None)


def _without_casts(model: Model) -> list[str]:
    return [each for each in operators(model) if each != "Cast"]


@pytest.mark.parametrize("name", MODELS)
def test_an_operator_comes_back(name: str):
    model, net = MODELS[name], _imported(name)
    written = export(net)
    assert _without_casts(written) == operators(model)
    assert len(written.to_bytes()) < 2 * model.ByteSize()
    assert import_model(written.to_bytes()) == net
    assert _without_casts(export(import_model(written.to_bytes()))) == operators(model)
    assert verify(net, written, samples=32, runtime="onnxruntime").passed


def test_an_operator_that_opset_18_has_otherwise_chooses_another():
    groups = node("GroupNormalization", "x s b", "y", num_groups=2)
    scale: dict[str, _Port] = dict.fromkeys(("s", "b"), (_FLOAT, (4,)))
    model = _model(groups, opset=21, x=(_FLOAT, ("N", 4, 3)), **scale)
    written = export(import_model(model))
    assert (written.opset, operators(written)) == (21, ["GroupNormalization"])


def test_an_operator_that_opset_18_has_not_chooses_another():
    attention = node("Attention", "x k v", "y", q_num_heads=2, kv_num_heads=2)
    ports: dict[str, _Port] = dict.fromkeys(("x", "k", "v"), (_FLOAT, ("N", 3, 4)))
    model = _model(attention, opset=23, gives=(_FLOAT, ("N", 3, 4)), **ports)
    net = import_model(model)
    written = {opset: export(net, opset=opset) for opset in (18, 23)}
    assert "Attention" not in operators(written[18])
    assert operators(written[23]) == ["Attention"]
    assert export(net) == written[23]
    assert export(net, quantize="weights").opset == 19
    for each in written.values():
        assert import_model(each.to_bytes()) == net
        assert verify(net, each, samples=32, runtime="onnxruntime").passed


def test_attention_by_a_mask_and_a_cache_is_one_node():
    """The cache is handed on beside it; a row of the mask may be all false."""
    tensors: dict[str, _Port] = dict.fromkeys(("q", "k", "v"), (_FLOAT, (1, 1, 2, 2)))
    tensors |= {"mask": (_BOOL, (2, 4)), **dict.fromkeys(("pk", "pv"), (_FLOAT, (1, 1, 2, 2)))}
    attention = node("Attention", "q k v mask pk pv", "y nk nv")
    model = _model(attention, opset=23, gives=(_FLOAT, (1, 1, 2, 2)), **tensors)
    for name in ("nk", "nv"):
        model.graph.output.append(helper.make_tensor_value_info(name, _FLOAT, [1, 1, 4, 2]))
    net = import_model(model, batch_axis=None)
    written = export(net)
    assert operators(written).count("Attention") == 1
    assert {"MatMul", "Softmax"}.isdisjoint(operators(written))
    assert import_model(written.to_bytes()) == net
    for each in (model, written):
        assert verify(net, each, samples=32, runtime="onnxruntime").passed


def test_it_is_neurons_in_a_type_that_no_runtime_has_it_in():
    net = _imported("samples at places")
    written = export(net, dtype="float64")
    assert "GridSample" not in operators(written)
    assert verify(net, written, samples=32, runtime="onnxruntime").passed


@pytest.mark.parametrize("low", [-1e9, -np.inf])
def test_there_is_no_hint_with_an_infinite_constant(low: float):
    """Network JSON has no number for it."""
    model = _model(
        node("Where", "b x low", "chosen"), node("ReduceMax", "chosen axes", "y"),
        x=(_FLOAT, ("N", 4)), b=(_BOOL, ("N", 4)),
    )  # fmt: skip
    model.graph.initializer.append(helper.make_tensor("low", _FLOAT, [], [low]))
    model.graph.initializer.append(helper.make_tensor("axes", _INT64, [1], [1]))
    texts = [each.model for each in import_model(model).operators]
    assert any('"Where"' in text for text in texts) == np.isfinite(low)


def test_json_keeps_the_hint():
    net = import_model(MODELS["samples at places"])
    again = load_network(net.to_json().encode())
    assert again == net
    assert export(again).to_bytes() == export(net).to_bytes()


def _with_weight(net: Network, edge: int, weight: float) -> Network:
    weights = net.connections.weight.copy()
    weights[edge] = weight
    return replace(net, connections=replace(net.connections, weight=weights))


def _without_edge(net: Network, edge: int) -> Network:
    kept = np.arange(len(net.connections)) != edge
    return replace(net, connections=net.connections.take(kept))


@pytest.mark.parametrize(
    ("name", "at"), every(["samples at places", "normalization", "one sample"], [0, 0.5, 1])
)
def test_a_changed_network_is_exported_as_it_is(name: str, at: float):
    net = _imported(name)
    edge = int(at * (len(net.connections) - 1))
    for changed in (_with_weight(net, edge, 0.25), _without_edge(net, edge)):
        written = export(changed)
        assert operators(written) != operators(MODELS[name])
        assert verify(changed, written, samples=32, runtime="onnxruntime").passed
        assert import_model(written.to_bytes()) == changed


def _hint(model: str, neurons: list[int]) -> OperatorHint:
    return OperatorHint(model, np.array(neurons))


def test_a_hint_makes_no_more_than_the_network_has(monkeypatch: pytest.MonkeyPatch):
    """A short text may announce a million neurons, over and over."""
    net = import_model(MODELS["samples at places"])
    wide = _model(
        node("Range", "zero many one", "r"), node("Cast", "r", "f", to=_FLOAT),
        node("Add", "x f", "s"), node("Tanh", "s", "y"), x=(_FLOAT, ("N", 1)),
    )  # fmt: skip
    for name, value in (("zero", 0), ("many", 20_000), ("one", 1)):
        wide.graph.initializer.append(helper.make_tensor(name, _INT64, [], [value]))
    assert len(import_model(wide, check=False)) > 20_000
    hint = _hint(load_model(wide).to_json(indent=False), [0])
    made = [0]

    def lifted(model: Model, batch_axis: BatchAxis = "auto") -> Lifted:
        found = lift(model, batch_axis)
        made.append(len(found.network))
        return found

    monkeypatch.setattr(short_model, "lift", lifted)
    assert export(replace(net, operators=(hint,))) == export(replace(net, operators=()))
    assert max(made) < 20_000


def test_a_wrong_hint_changes_nothing():
    net = import_model(MODELS["samples at places"])
    (hint,) = net.operators
    plain = export(replace(net, operators=()))
    assert len(plain.graph.node) > 1
    wrong = [
        _hint("no model", [0]),
        _hint("{}", [0]),
        _hint(hint.model, hint.neurons[::-1].tolist()),
        _hint(hint.model, hint.neurons[:-1].tolist()),
        _hint(hint.model.replace('"border"', '"zeros"'), hint.neurons.tolist()),
        _hint(hint.model.replace("GridSample", "NoSuchOperator"), hint.neurons.tolist()),
        _hint(hint.model.replace('"dim_value":4', '"dim_value":-4'), hint.neurons.tolist()),
    ]
    for each in wrong:
        assert export(replace(net, operators=(each,))).to_bytes() == plain.to_bytes()
