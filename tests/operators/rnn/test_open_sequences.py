"""RNN, GRU and LSTM nodes over a sequence of any length come back with all their attributes."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from support.examples.graphs import node, operators

from neat_onnx import export, import_model, verify
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network

_RNG = np.random.default_rng(0)
_INPUTS, _UNITS = 3, 4
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _normal(*shape: int) -> Floats:
    return _RNG.normal(size=shape)


def _model(operator: str, r: Floats | None = None, **given: Any) -> onnx.ModelProto:
    """One node, with peepholes where `P` is true."""
    rows, with_peepholes = _GATES[operator] * _UNITS, given.pop("P", False)
    r = _normal(1, rows, _UNITS) if r is None else r
    constants = {"w": _normal(1, rows, _INPUTS), "r": r, "b": _normal(1, 2 * rows)}
    layer = node(operator, "x w r b", "h", hidden_size=_UNITS, **given)
    if with_peepholes:
        constants["p"] = _normal(1, 3 * _UNITS)
        layer.input.extend(["", "", "", "p"])
    return helper.make_model(
        helper.make_graph(
            [layer],
            "graph",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["T", "N", _INPUTS])],
            [helper.make_tensor_value_info("h", TensorProto.FLOAT, ["T", 1, "N", _UNITS])],
            [numpy_helper.from_array(v.astype(np.float32), k) for k, v in constants.items()],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=8,
    )


_TANHS = {"activation_alpha": [1.7, 1.2], "activation_beta": [0.6, 0.5]}
_HARD = {"activation_alpha": [0.25], "activation_beta": [0.4]}
_ATTRIBUTES: dict[str, tuple[str, dict[str, Any]]] = {
    "clipped": ("RNN", {"clip": 0.5}),
    "leaky": ("RNN", {"activations": ["LeakyRelu"], "activation_alpha": [0.2]}),
    "affine": ("RNN", {"activations": ["Affine"], **_HARD}),
    "of a threshold": ("RNN", {"activations": ["ThresholdedRelu"], "activation_alpha": [0.7]}),
    "relu": ("RNN", {"activations": ["Relu"]}),
    "hard gates": ("GRU", {"activations": ["HardSigmoid", "Tanh"], **_HARD}),
    "linear before": (
        "GRU",
        {"activations": ["HardSigmoid", "Tanh"], "linear_before_reset": 1, "clip": 2.0, **_HARD},
    ),
    "clipped memory": ("LSTM", {"clip": 1.5}),
    "scaled": ("LSTM", {"activations": ["Sigmoid", "ScaledTanh", "ScaledTanh"], **_TANHS}),
    "coupled": ("LSTM", {"input_forget": 1}),
    "peepholes": ("LSTM", {"activations": ["HardSigmoid", "Tanh", "Softsign"], "P": True, **_HARD}),
}


@pytest.mark.parametrize("name", _ATTRIBUTES)
def test_a_node_comes_back_with_its_attributes(name: str):
    operator, given = _ATTRIBUTES[name]
    model = _model(operator, **given)
    net = import_model(model)
    written = export(net)
    (layer,) = [each for each in written.to_proto().graph.node if each.op_type == operator]
    found = {each.name: helper.get_attribute_value(each) for each in layer.attribute}
    wanted = {each.name: helper.get_attribute_value(each) for each in model.graph.node[0].attribute}
    assert found == wanted
    assert import_model(written) == net
    assert verify(net, written, samples=32, runtime="onnxruntime").passed


def _is_a_scan(net: Network) -> bool:
    written = export(net)
    assert verify(net, written, samples=32, runtime="onnxruntime").passed
    return "Scan" in operators(written)


def test_units_of_other_functions_are_no_layer():
    net = import_model(_model("RNN", **_ATTRIBUTES["leaky"][1]))
    document = net.to_document().model_dump()
    neuron = next(each for each in document["neurons"] if "leaky" in str(each["activation"]))
    neuron["activation"] = "tanh"
    assert _is_a_scan(type(net).from_document(document))
