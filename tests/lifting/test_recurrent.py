"""RNN, GRU and LSTM: every attribute against onnxruntime, and over sequences of open length."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from neat_onnx import import_model, verify
from neat_onnx.errors import ModelError
from neat_onnx.lifting.trace import trace_model
from tests.lifting.harness import Case, case, cases_of, check, loaded

_R = np.random.default_rng(11)
_T, _N, _I, _H = 4, 2, 3, 2
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_X = _R.normal(size=(_T, _N, _I)).astype(np.float32)


def _of(*shape: int) -> Any:
    return _R.normal(size=shape).astype(np.float32)


def cell(
    op: str, *, lens: Any = None, h: bool = False, p: bool = False, bias: bool = True,
    wanted: Any = None, **attributes: Any,
) -> Case:  # fmt: skip
    """A layer of random weights; `h`: initial states are inputs; `p`: it has peepholes."""
    ways, gates = 1 + (attributes.get("direction") == "bidirectional"), _GATES[op]
    layout, states = attributes.get("layout", 0), 1 + (op == "LSTM")
    shape = (_N, ways, _H) if layout else (ways, _N, _H)
    weights = [_of(ways, gates * _H, _I), _of(ways, gates * _H, _H)]
    starts = [_of(*shape) if h else None for _ in range(states)]
    inputs = [_X.swapaxes(0, 1) if layout else _X, *weights,
              _of(ways, 2 * gates * _H) if bias else None,
              None if lens is None else np.array(lens, np.int32), *starts]  # fmt: skip
    inputs += [_of(ways, 3 * _H)] if p else []
    while inputs[-1] is None:
        inputs.pop()
    held = [k for k in (1, 2, 3, 4, 7) if k < len(inputs) and inputs[k] is not None]
    given = {"hidden_size": _H, **attributes}
    name = f"{op} {'lens ' if lens else ''}{'h ' if h else ''}{'p ' if p else ''}{attributes}"
    return case(
        op, inputs, wanted, opset=14, outputs=1 + states, constants=held, name=name, **given
    )


_BOTH = {"direction": "bidirectional"}
_FUNCTIONS = {
    "RNN": [
        {"activations": ["Affine"], "activation_alpha": [0.5], "activation_beta": [0.1]},
        {"activations": ["ThresholdedRelu"], "activation_alpha": [0.25]},
        {"activations": ["ScaledTanh"], "activation_alpha": [0.5], "activation_beta": [2.0]},
        {"activations": ["HardSigmoid"]},
        {"activations": ["Softsign", "Softplus"], **_BOTH},
        {"activations": ["Elu"], "activation_alpha": [0.5]},
    ],
    "GRU": [
        {"activations": ["Sigmoid", "LeakyRelu"] * 2, "activation_alpha": [0.125] * 2,
         "clip": 0.5, **_BOTH},
        {"activations": ["HardSigmoid", "Relu"], "activation_alpha": [0.3],
         "activation_beta": [0.4]},
    ],
    "LSTM": [
        {"activations": ["HardSigmoid", "ScaledTanh", "Elu"], "activation_alpha": [0.3, 1.5, 0.7],
         "activation_beta": [0.4, 0.6], "clip": 0.5},
    ],
}  # fmt: skip
_LAYERS = [
    cell(op, **each)
    for op in _GATES
    for each in (
        {}, {"bias": False}, {"h": True}, {"clip": 0.5}, {"direction": "reverse"}, _BOTH,
        {"h": True, **_BOTH}, {"lens": [_T, _T]}, {"lens": [2, 3]}, {"lens": [4, 1], **_BOTH},
        {"lens": [1, 3], "h": True, "direction": "reverse"}, *_FUNCTIONS[op],
    )
] + [
    cell("GRU", linear_before_reset=1),
    cell("GRU", linear_before_reset=1, clip=0.5, **_BOTH),
    cell("LSTM", p=True),
    cell("LSTM", p=True, h=True, clip=0.5, **_BOTH),
    cell("LSTM", input_forget=1),
    cell("LSTM", input_forget=1, p=True, clip=0.75),
]  # fmt: skip
_WANTED = [_X, _X]
_REFUSED = [
    cell("RNN", activations=["Sine"], wanted=_WANTED).refused("activations is 'sine'"),
    cell("RNN", direction="sideways", wanted=_WANTED).refused("direction is 'sideways'"),
    *(cell("RNN", lens=[n, 2], wanted=_WANTED).refused("sequence_lens") for n in (0, 9)),
    cell("GRU", activations=["Tanh"], wanted=_WANTED).refused("2 of them"),
]


@pytest.mark.parametrize("each", [*cases_of(*_GATES), *_LAYERS, *_REFUSED], ids=str)
def test_recurrent(each: Case) -> None:
    check(each)


def _open(op: str, **attributes: Any) -> onnx.ModelProto:
    """A layer over a sequence of no fixed length."""
    ways, gates = 1 + (attributes.get("direction") == "bidirectional"), _GATES[op]
    held = {"w": _of(ways, gates * _H, _I), "r": _of(ways, gates * _H, _H),
            "b": _of(ways, 2 * gates * _H)}  # fmt: skip
    node = helper.make_node(op, ["x", "w", "r", "b"], ["y"], hidden_size=_H, **attributes)
    graph = helper.make_graph(
        [node], "open", [helper.make_tensor_value_info("x", 1, ["time", "batch", _I])],
        [helper.make_tensor_value_info("y", 1, ["time", ways, "batch", _H])],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


@pytest.mark.parametrize("op", _GATES)
@pytest.mark.parametrize("attributes", [{}, {"clip": 0.5}], ids=str)
def test_open_sequences(op: str, attributes: dict[str, Any]) -> None:
    proto = _open(op, **attributes)
    network = trace_model(loaded(proto)).network
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    (wanted,) = session.run(None, {"x": _X})
    found = network.run({"x": _X.astype(np.float64)})["y"]
    np.testing.assert_allclose(found.reshape(_T, _N, _H), wanted[:, 0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("direction", ["reverse", "bidirectional"])
@pytest.mark.parametrize("op", _GATES)
def test_no_sequence_of_open_length_runs_backwards(op: str, direction: str) -> None:
    with pytest.raises(ModelError, match=r"direction is reverse over a sequence of open length"):
        trace_model(loaded(_open(op, direction=direction)))


def test_states_of_open_sequences_that_no_names_pair_are_asked_for():
    made = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 17]> layer '
        "(float[T, N, 3] x, float[1, N, 2] alpha) => (float[T, 1, N, 2] y, float[1, N, 2] last)"
        "{ y, last = RNN<hidden_size = 2>(x, W, R, , , alpha) }"
    )
    for name, width in (("W", 3), ("R", 2)):
        made.graph.initializer.append(numpy_helper.from_array(_of(1, 2, width), name))
    with pytest.raises(ModelError, match="layers over a sequence of open length") as caught:
        import_model(made)
    assert "memory={'alpha': 'last'}" in caught.value.hint
    net = import_model(made, memory={"alpha": "last"})
    assert verify(net, made, samples=8, runtime="onnxruntime").passed
