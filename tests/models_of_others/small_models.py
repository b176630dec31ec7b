"""Small models in the shapes that exporters give them: name, model, the shape of one sample."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
from support.examples.graphs import graph, node

Case = tuple[str, onnx.ModelProto]
ACTIVATIONS = [
    "Relu",
    "Tanh",
    "Sigmoid",
    "Elu",
    "Selu",
    "Softplus",
    "Softsign",
    "LeakyRelu",
    "HardSigmoid",
    "HardSwish",
    "Celu",
    "Mish",
    "Gelu",
    "ThresholdedRelu",
    "Erf",
    "Sin",
    "Cos",
    "Abs",
    "Exp",
    "Identity",
]
OPSETS = {"Mish": 18, "HardSwish": 14, "Gelu": 20}
REDUCTIONS = [
    "ReduceSum",
    "ReduceMean",
    "ReduceMax",
    "ReduceMin",
    "ReduceProd",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceSumSquare",
]


class Weights:
    """Numbers of fixed seed, under fresh names."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(7)
        self.given: dict[str, Any] = {}

    def __call__(self, *shape: int, scale: float = 0.5) -> str:
        return self.put(scale * self.random.normal(size=shape))

    def put(self, values: Any) -> str:
        name = f"w{len(self.given)}"
        self.given[name] = np.asarray(values)
        return name


def dense(w: Weights, x: str, y: str, sizes: tuple[int, int], form: str) -> list[onnx.NodeProto]:
    """A dense layer as PyTorch, as TorchDynamo and as scikit-learn's converter write it."""
    into, out = sizes
    if form == "torch":
        return [node("Gemm", f"{x} {w(out, into)} {w(out)}", y, transB=1, alpha=1.0, beta=1.0)]
    if form == "plain":
        return [node("Gemm", f"{x} {w(into, out)} {w(out)}", y)]
    order = f"{{}}{y} {w(out)}" if form == "matmul" else f"{w(out)} {{}}{y}"
    return [node("MatMul", f"{x} {w(into, out)}", f"m_{y}"), node("Add", order.format("m_"), y)]


def perceptrons() -> Iterator[Case]:
    """Multilayer perceptrons: every activation, every form of a layer, opsets 11 to 20."""
    for k, activation in enumerate(ACTIVATIONS):
        for form in ("torch", "plain", "matmul", "added")[k % 2 :: 2]:
            for oldest in (11, 18) if k % 2 else (13, 20):
                w = Weights()
                nodes = dense(w, "x", "h", (3, 4), form)
                nodes += [node(activation, "h", "a"), *dense(w, "a", "y", (4, 2), form)]
                opset = max(oldest, OPSETS.get(activation, 0))
                name = f"perceptron {activation} {form} {opset}"
                yield name, graph(nodes, x=("N", 3), opset=opset, **w.given)


def policies() -> Iterator[Case]:
    """Policies as CleanRL, stable-baselines3, ML-Agents and Godot RL shape them."""
    for hidden in (4, 8):
        w = Weights()
        nodes = [
            *dense(w, "x", "h", (5, hidden), "torch"),
            node("Tanh", "h", "a"),
            *dense(w, "a", "y", (hidden, 2), "torch"),
        ]
        yield f"CleanRL PPO {hidden}", graph(nodes, x=("N", 5), **w.given)
        w = Weights()
        nodes = [
            node("Flatten", "x", "f", axis=1),
            *dense(w, "f", "h", (6, hidden), "torch"),
            node("Tanh", "h", "a"),
            *dense(w, "a", "m", (hidden, 2), "torch"),
            node("Clip", f"m {w.put(-1.0)} {w.put(1.0)}", "y"),
            *dense(w, "a", "v", (hidden, 1), "torch"),
        ]
        yield f"sb3 {hidden}", graph(nodes, x=("N", 2, 3), outputs=("y", "v"), **w.given)
        w = Weights()
        nodes = [
            *dense(w, "x", "h", (5, hidden), "torch"),
            node("Sigmoid", "h", "s"),
            node("Mul", "h s", "a"),
            *dense(w, "a", "m", (hidden, 2), "torch"),
            node("Clip", f"m {w.put(-3.0)} {w.put(3.0)}", "c"),
            node("Div", f"c {w.put(3.0)}", "y"),
        ]
        yield f"ML-Agents {hidden}", graph(nodes, x=("N", 5), **w.given)
        w = Weights()
        nodes = [
            *dense(w, "x", "h", (5, hidden), "torch"),
            node("Relu", "h", "a"),
            *dense(w, "a", "q", (hidden, 3), "torch"),
            node("ArgMax", "q", "i", axis=1),
            node("Cast", "i", "y", to=1),
        ]
        yield f"DQN {hidden}", graph(nodes, x=("N", 5), **w.given)


def images() -> Iterator[Case]:
    """Convolutional networks, with pools, normalisation, groups, strides and residuals."""
    for pool in ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", "LpPool"):
        for pads in ((0, 0, 0, 0), (1, 1, 1, 1)):
            w = Weights()
            given = {} if pool.startswith("Global") else {"kernel_shape": [2, 2], "strides": [2, 2]}
            side = 1 if pool.startswith("Global") else (6 - 2 + sum(pads[:2])) // 2
            nodes = [
                node("Conv", f"x {w(2, 1, 3, 3)} {w(2)}", "c", pads=pads),
                node("Relu", "c", "r"),
                node(pool, "r", "p", **given),
                node("Flatten", "p", "f"),
                *dense(w, "f", "y", (2 * side * side, 3), "torch"),
            ]
            yield f"{pool} {pads[0]}", graph(nodes, x=("N", 1, 6, 6), **w.given)
    for group, stride in ((1, 2), (2, 1), (2, 2), (1, 1)):
        w = Weights()
        names = " ".join([w(2), w(2), w(2), w.put([0.5, 2.0])])
        nodes = [
            node(
                "Conv",
                f"x {w(2, 2 // group, 3, 3)}",
                "c",
                group=group,
                pads=[1, 1, 1, 1],
                strides=[stride, stride],
            ),
            node("BatchNormalization", f"c {names}", "b"),
            node("Relu", "b", "y"),
        ]
        yield f"batch norm {group} {stride}", graph(nodes, x=("N", 2, 4, 4), **w.given)
        w = Weights()
        nodes = [
            node("Conv", f"x {w(2, 2, 3, 3)} {w(2)}", "c", pads=[1, 1, 1, 1]),
            node("Relu", "c", "r"),
            node("Conv", f"r {w(2, 2 // group, 3, 3)}", "d", pads=[1, 1, 1, 1], group=group),
            node("Add", "d x", "s"),
            node("Relu", "s", "y"),
        ]
        yield f"residual {group} {stride}", graph(nodes, x=("N", 2, 3 + stride, 4), **w.given)


def normalized() -> Iterator[Case]:
    """Normalisations, as operators and as PyTorch writes them out before opset 17."""
    for axis in (-1, 1):
        w = Weights()
        shape = (4,) if axis == -1 else (3, 4)
        nodes = [
            node("LayerNormalization", f"x {w(*shape)} {w(*shape)}", "n", axis=axis),
            node("Gelu", "n", "y", approximate="tanh"),
        ]
        yield f"layer norm {axis}", graph(nodes, x=("N", 3, 4), opset=20, **w.given)
    for opset in (11, 13, 17):
        w = Weights()
        nodes = [
            node("ReduceMean", "x", "m", axes=[-1]),
            node("Sub", "x m", "d"),
            node("Pow", f"d {w.put(2.0)}", "q"),
            node("ReduceMean", "q", "v", axes=[-1]),
            node("Add", f"v {w.put(1e-5)}", "e"),
            node("Sqrt", "e", "s"),
            node("Div", "d s", "n"),
            node("Mul", f"n {w(4)}", "g"),
            node("Add", f"g {w(4)}", "y"),
        ]
        yield f"layer norm in parts {opset}", graph(nodes, x=("N", 4), opset=opset, **w.given)
    for name in ("InstanceNormalization", "LpNormalization", "LRN", "MeanVarianceNormalization"):
        w = Weights()
        more = f" {w(2)} {w(2)}" if name == "InstanceNormalization" else ""
        given = {"LRN": {"size": 3}, "MeanVarianceNormalization": {"axes": [2, 3]}}.get(name, {})
        yield name, graph([node(name, f"x{more}", "y", **given)], x=("N", 2, 3, 3), **w.given)
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (1, 2):
            made = [node(operator, "x", "y", axis=axis)]
            yield f"{operator} {axis}", graph(made, x=("N", 3, 4))
    for operator in REDUCTIONS:
        for keep in (0, 1):
            made = [node(operator, "x", "y", axes=[1], keepdims=keep)]
            if operator == "ReduceSum":
                made = [node(operator, "x a", "y", keepdims=keep)]
            given = {"a": np.array([1])} if operator == "ReduceSum" else {}
            yield f"{operator} {keep}", graph(made, x=("N", 3, 2), opset=13, **given)


def attention() -> Iterator[Case]:
    """Attention of fixed length: one head and two, masked and not, with its residual."""
    for heads in (1, 2):
        for masked in (False, True):
            for residual in (False, True):
                w = Weights()
                shape, back = w.put([0, 3, heads, 4 // heads]), w.put([0, 3, 4])
                nodes = []
                for part, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
                    nodes += [
                        node("MatMul", f"x {w(4, 4)}", part),
                        node("Reshape", f"{part} {shape}", f"{part}r"),
                        node("Transpose", f"{part}r", f"{part}t", perm=perm),
                    ]
                nodes += [node("MatMul", "qt kt", "s"), node("Mul", f"s {w.put(0.5)}", "z")]
                mask = w.put(np.where(np.tri(3), 0.0, -np.inf))
                nodes += [node("Add", f"z {mask}", "zm")] if masked else []
                nodes += [
                    node("Softmax", "zm" if masked else "z", "p"),
                    node("MatMul", "p vt", "o"),
                    node("Transpose", "o", "ot", perm=[0, 2, 1, 3]),
                    node("Reshape", f"ot {back}", "or"),
                    node("MatMul", f"or {w(4, 4)}", "c"),
                    node("Add" if residual else "Identity", "c x" if residual else "c", "y"),
                ]
                name = f"attention {heads}{' masked' * masked}{' residual' * residual}"
                yield name, graph(nodes, x=("N", 3, 4), **w.given)


def learned() -> Iterator[Case]:
    """Pipelines as scikit-learn's converter writes them, and gated layers."""
    for last in ("Softmax", "Sigmoid", "Identity", "ArgMax"):
        for hidden in ("Relu", "Tanh"):
            w = Weights()
            end = [node(last, "l", "y")]
            if last == "ArgMax":
                end = [node("ArgMax", "l", "i", axis=1), node("Cast", "i", "y", to=1)]
            nodes = [
                node("Sub", f"x {w(4)}", "c"),
                node("Div", f"c {w.put([0.5, 2, 1.5, 3])}", "s"),
                *dense(w, "s", "h", (4, 5), "matmul"),
                node(hidden, "h", "a"),
                *dense(w, "a", "l", (5, 3), "matmul"),
                *end,
            ]
            yield f"scaled {hidden} {last}", graph(nodes, x=("N", 4), **w.given)
    for gate in ("Sigmoid", "Tanh", "Relu", "Softmax"):
        w = Weights()
        nodes = [
            *dense(w, "x", "h", (3, 4), "torch"),
            *dense(w, "x", "g", (3, 4), "torch"),
            node(gate, "g", "a"),
            node("Mul", "h a", "y"),
        ]
        yield f"gated {gate}", graph(nodes, x=("N", 3), **w.given)


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def cell(w: Weights, operator: str, x: str, sizes: tuple[int, int]) -> onnx.NodeProto:
    """A recurrent layer over [T, N, features], with the outputs Y and Yh."""
    into, hidden = sizes
    rows = GATES[operator] * hidden
    after = {"linear_before_reset": 1} if operator == "GRU" else {}
    reads = f"{x} {w(1, rows, into)} {w(1, rows, hidden)} {w(1, 2 * rows)}"
    return node(operator, reads, f"Y_{x} Yh_{x}", hidden_size=hidden, **after)


def recurrent() -> Iterator[Case]:
    """Sequences of fixed length, batch first: PyTorch's last step and all steps, Keras's state."""
    for operator in GATES:
        for form in ("last", "all", "two layers", "keras"):
            for opset in (13, 17):
                w = Weights()
                nodes = [
                    node("Transpose", "x", "t", perm=[1, 0, 2]),
                    cell(w, operator, "t", (3, 4)),
                ]
                nodes.append(node("Squeeze", f"Y_t {w.put([1])}", "o"))
                if form == "two layers":
                    nodes += [cell(w, operator, "o", (4, 4))]
                    nodes.append(node("Squeeze", f"Y_o {w.put([1])}", "p"))
                last = "p" if form == "two layers" else "o"
                if form == "keras":
                    nodes.append(node("Squeeze", f"Yh_t {w.put([0])}", "f"))
                else:
                    nodes.append(node("Transpose", last, "b", perm=[1, 0, 2]))
                    if form != "all":
                        nodes.append(node("Gather", f"b {w.put(-1)}", "f", axis=1))
                nodes += dense(w, "b" if form == "all" else "f", "y", (4, 2), "matmul")
                yield f"{operator} {form} {opset}", graph(nodes, x=("N", 4, 3), opset=opset,
                                                          **w.given)  # fmt: skip


def small_models() -> Iterator[Case]:
    """Every model, by a name of its own."""
    for family in (perceptrons, policies, images, normalized, attention, learned, recurrent):
        yield from family()
