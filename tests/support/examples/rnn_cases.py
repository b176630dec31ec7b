"""RNN, LSTM and GRU nodes for the tests, and what they give by their own equations."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from support.harness.sessions import open_session

from neat_onnx.network.genes import Floats

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
STATES = {"RNN": 1, "GRU": 1, "LSTM": 2}
Array = np.ndarray[Any, Any]


@dataclass
class Case:
    """One node with all that it is given, and its size."""

    op: str
    inputs: int
    units: int
    attributes: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Array] = field(default_factory=dict)
    directions: int = 1

    def model(self, x: Array, dims: list[Any] | None = None) -> onnx.ModelProto:
        """The node on its own; without `dims` X has the shape of `x`."""
        order = ["X", "W", "R", "B", "", *("initial_h", "initial_c")[: STATES[self.op]]]
        names = [name if name in ("X", *self.tensors) else "" for name in order]
        names += ["P"] if "P" in self.tensors else []
        while not names[-1]:
            names.pop()
        outputs = ["Y", "Y_h", "Y_c"][: 1 + STATES[self.op]]
        node = helper.make_node(
            self.op, names, outputs, **({"hidden_size": self.units} | self.attributes)
        )
        dims = dims or list(x.shape)
        t, n = dims[:2]
        shapes = [[t, self.directions, n, self.units]] + [[self.directions, n, self.units]] * 2
        return one_graph(
            [node], {"X": dims}, dict(zip(outputs, shapes, strict=False)), self.tensors
        )


def one_graph(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[Any]],
    outputs: dict[str, list[Any]],
    tensors: dict[str, Array],
) -> onnx.ModelProto:
    entries = [
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
            for name, dims in ends.items()
        ]
        for ends in (inputs, outputs)
    ]
    initializer = [numpy_helper.from_array(values, name) for name, values in tensors.items()]
    graph = helper.make_graph(nodes, "graph", *entries, initializer)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def in_onnxruntime(model: onnx.ModelProto, x: Array) -> dict[str, Array]:
    session = open_session(model)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": x}), strict=True))


# --- an independent computation -------------------------------------------------------------------


def _sigmoid(z: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-z))


# name: (how many parameters, function)
CURVES: dict[str, tuple[int, Callable[..., Floats]]] = {
    "Relu": (0, lambda z: np.maximum(z, 0.0)),
    "Tanh": (0, np.tanh),
    "Sigmoid": (0, _sigmoid),
    "Softsign": (0, lambda z: z / (1.0 + np.abs(z))),
    "Softplus": (0, lambda z: np.log1p(np.exp(z))),
    "Elu": (1, lambda z, a: np.where(z >= 0, z, a * np.expm1(z))),
    "LeakyRelu": (1, lambda z, a: np.where(z >= 0, z, a * z)),
    "ThresholdedRelu": (1, lambda z, a: np.where(z > a, z, 0.0)),
    "Affine": (2, lambda z, a, b: a * z + b),
    "ScaledTanh": (2, lambda z, a, b: a * np.tanh(b * z)),
    "HardSigmoid": (2, lambda z, a, b: np.minimum(np.maximum(a * z + b, 0.0), 1.0)),
}


def _functions(case: Case, direction: int) -> list[Callable[[Floats], Floats]]:
    """The activations of one direction, with the parameters that are theirs."""
    default = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
    names = case.attributes.get("activations", default[case.op] * case.directions)
    alphas = iter(case.attributes.get("activation_alpha", []))
    betas = iter(case.attributes.get("activation_beta", []))
    found = []
    for name in names:
        count, function = CURVES[name]
        given = [float(np.float32(next(each))) for each in (alphas, betas)[:count]]
        found.append(lambda z, function=function, given=given: function(z, *given))
    width = FUNCTIONS[case.op]
    return found[direction * width : (direction + 1) * width]


def by_hand(case: Case, x: Floats) -> dict[str, Floats]:
    """What the node gives, in float64, straight from the operator's equations."""
    ends = [_one_direction(case, x, k) for k in range(case.directions)]
    found = {"Y": np.stack([every for every, _ in ends], axis=1)}
    for k, name in enumerate(["Y_h", "Y_c"][: STATES[case.op]]):
        found[name] = np.stack([states[k] for _, states in ends])
    return found


def _one_direction(case: Case, x: Floats, k: int) -> tuple[Floats, list[Floats]]:
    units, gates = case.units, GATES[case.op]
    tensors = {name: values.astype(np.float64)[k] for name, values in case.tensors.items()}
    w, r = tensors["W"].reshape(gates, units, -1), tensors["R"].reshape(gates, units, units)
    wb, rb = tensors.get("B", np.zeros(2 * gates * units)).reshape(2, gates, units)
    p = tensors.get("P", np.zeros(3 * units)).reshape(3, units)
    zeros = np.zeros((x.shape[1], units))
    h, c = tensors.get("initial_h", zeros), tensors.get("initial_c", zeros)
    functions = _functions(case, k)
    bound = float(np.float32(case.attributes.get("clip", np.inf)))

    def clip(z: Floats) -> Floats:
        return np.minimum(np.maximum(z, -bound), bound)

    every = np.empty((*x.shape[:2], units))
    backwards = case.attributes.get("direction") == "reverse" or k == 1
    for t in range(len(x))[:: -1 if backwards else 1]:
        z = [x[t] @ w[g].T + h @ r[g].T + wb[g] + rb[g] for g in range(gates)]
        if case.op == "RNN":
            h = functions[0](clip(z[0]))
        elif case.op == "GRU":
            update, reset = (functions[0](clip(z[g])) for g in (0, 1))
            if case.attributes.get("linear_before_reset"):
                candidate = x[t] @ w[2].T + wb[2] + reset * (h @ r[2].T + rb[2])
            else:
                candidate = x[t] @ w[2].T + wb[2] + rb[2] + (reset * h) @ r[2].T
            h = (1 - update) * functions[1](clip(candidate)) + update * h
        else:
            entry = functions[0](clip(z[0] + p[0] * c))
            coupled = case.attributes.get("input_forget")
            forget = 1 - entry if coupled else functions[0](clip(z[2] + p[2] * c))
            c = forget * c + entry * functions[1](clip(z[3]))
            h = functions[0](clip(z[1] + p[1] * c)) * functions[2](c)
        every[t] = h
    return every, [h, c][: STATES[case.op]]


# --- random configurations ------------------------------------------------------------------------


def random_case(seed: int) -> tuple[Case, Array]:
    random = np.random.default_rng(seed)
    op = ("RNN", "GRU", "LSTM")[seed % 3]
    case = Case(op, int(random.integers(1, 5)), int(random.integers(1, 6)))
    attributes, gates, units = case.attributes, GATES[op], case.units
    if random.random() < 0.4:
        attributes["direction"] = str(random.choice(["forward", "reverse", "bidirectional"]))
        case.directions = 2 if attributes["direction"] == "bidirectional" else 1
    count = case.directions

    def normal(*shape: int, scale: float = 0.3) -> Array:
        return random.normal(0.0, scale, (count, *shape)).astype(np.float32)

    if random.random() < 0.5:
        names = [str(name) for name in random.choice(list(CURVES), FUNCTIONS[op] * count)]
        attributes["activations"] = names
        for k, name in enumerate(("activation_alpha", "activation_beta")):
            size = sum(CURVES[each][0] > k for each in names)
            attributes |= {name: random.uniform(0.1, 0.9, size).tolist()} if size else {}
    if random.random() < 0.3:
        attributes["clip"] = float(random.uniform(0.1, 1.5))
    if op != "RNN" and random.random() < 0.5:
        attributes["linear_before_reset" if op == "GRU" else "input_forget"] = 1
    steps, samples = int(random.integers(1, 7)), int(random.integers(1, 4))
    case.tensors = {"W": normal(gates * units, case.inputs), "R": normal(gates * units, units)}
    if random.random() < 0.8:
        case.tensors["B"] = normal(2 * gates * units)
    if random.random() < 0.4:
        for name in ("initial_h", "initial_c")[: STATES[op]]:
            case.tensors[name] = normal(1, units).repeat(samples, axis=1)
    if op == "LSTM" and random.random() < 0.5:
        case.tensors["P"] = normal(3 * units)
    x = random.normal(size=(steps, samples, case.inputs)).astype(np.float32)
    return case, x


def assert_close(got: Floats, want: Array, tolerance: float) -> None:
    assert got.shape == want.shape
    assert np.all(np.abs(got - want) <= tolerance * np.maximum(1.0, np.abs(want)))
