"""Convolutional networks as other tools write them: in, run, out again, and in once more."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session
from support.harness.sweep import count

from neat_onnx import export, import_model, load_model, validate
from neat_onnx.model import Model

Array = np.ndarray[Any, Any]
SPATIAL = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool")


class Cnn:
    """A graph in the making. Each method adds a layer to a tensor, and returns the result's name.

    Attributes:
        random: draws the weights, and what is not said.
        channels: of each tensor.
    """

    def __init__(self, seed: int, *space: int) -> None:
        self.random = np.random.default_rng(seed)
        self.channels = {"x": int(self.random.integers(1, 4))}
        self.shape = ["N", self.channels["x"], *space]
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, Array] = {}

    def add(self, operator: str, reads: str, channels: int = 0, **attributes: Any) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(operator, reads, name, **attributes))
        self.channels[name] = channels or self.channels[reads.split(maxsplit=1)[0]]
        return name

    def constant(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        scale = np.sqrt(max(np.prod(shape[1:]), 1))
        self.weights[name] = (self.random.normal(size=shape) / scale).astype(np.float32)
        return name

    def conv(self, x: str, out: int, kernel: int, *, group: int = 1, **attributes: Any) -> str:
        taps = [kernel] * (len(self.shape) - 2)
        reads = f"{x} {self.constant(out, self.channels[x] // group, *taps)}"
        if self.random.random() < 0.7:
            reads += f" {self.constant(out)}"
        if self.random.random() < 0.5:
            attributes["kernel_shape"] = taps
        if group != 1:
            attributes["group"] = group
        return self.add("Conv", reads, out, **attributes)

    def conv_transpose(self, x: str, out: int, kernel: int, **attributes: Any) -> str:
        taps = [kernel] * (len(self.shape) - 2)
        reads = f"{x} {self.constant(self.channels[x], out, *taps)} {self.constant(out)}"
        return self.add("ConvTranspose", reads, out, **attributes)

    def curve(self, x: str) -> str:
        return self.add(str(self.random.choice(["Relu", "Tanh", "Sigmoid", "Elu"])), x)

    def pool(self, x: str, **attributes: Any) -> str:
        operator = str(self.random.choice(["MaxPool", "AveragePool"]))
        taps = [2] * (len(self.shape) - 2)
        return self.add(operator, x, **({"kernel_shape": taps, "strides": taps} | attributes))

    def head(self, x: str, flatten: bool = True) -> onnx.ModelProto:
        """The model, with a dense layer on `x` or without."""
        if not flatten:
            return self.model(x)
        x = self.add("Flatten", x)
        width = run(self.model(x), self.data(1)).shape[1]
        return self.model(
            self.add("Gemm", f"{x} {self.constant(3, width)} {self.constant(3)}", transB=1)
        )

    def model(self, output: str) -> onnx.ModelProto:
        return graph(self.nodes, x=self.shape, outputs=[output], **self.weights)

    def data(self, samples: int) -> Array:
        return self.random.normal(size=(samples, *self.shape[1:])).astype(np.float32)


def run(model: onnx.ModelProto | Model, x: Array) -> Array:
    """The first output, by onnxruntime."""
    return open_session(model).run(None, {"x": x})[0]


# --- the networks ---------------------------------------------------------------------------------


def plain(cnn: Cnn) -> onnx.ModelProto:
    """Conv, pool, Conv, mean of everything, dense."""
    padded = cnn.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
    x = cnn.curve(cnn.conv("x", 3, 3, pads=[1, 1, 1, 1]))
    x = cnn.conv(cnn.pool(x), 4, 3, auto_pad=str(padded), strides=[1, 1])
    return cnn.head(cnn.add("GlobalAveragePool", cnn.curve(x)))


def strided(cnn: Cnn) -> onnx.ModelProto:
    """No pools; strides and dilations instead, and nothing after."""
    x = cnn.curve(cnn.conv("x", 4, 3, strides=[2, 2], pads=[1, 0, 0, 1]))
    return cnn.head(cnn.conv(x, 2, 2, dilations=[2, 1]), flatten=False)


def residual(cnn: Cnn) -> onnx.ModelProto:
    """Sums of two convolutions, and of a convolution and what it read."""
    stem = cnn.curve(cnn.conv("x", 3, 1))
    sides = cnn.conv(stem, 4, 3, pads=[1] * 4), cnn.conv(stem, 4, 1)
    x = cnn.add("Relu", cnn.add("Add", " ".join(sides), 4))
    around = cnn.conv(cnn.curve(cnn.conv(x, 4, 3, pads=[1] * 4)), 4, 3, pads=[1] * 4)
    return cnn.head(cnn.curve(cnn.add("Add", f"{around} {x}", 4)))


def inception(cnn: Cnn) -> onnx.ModelProto:
    """Branches over one tensor, side by side, read by a convolution."""
    stem = cnn.curve(cnn.conv("x", 2, 3))
    one, three = cnn.conv(stem, 2, 1), cnn.curve(cnn.conv(stem, 3, 3, pads=[1] * 4))
    pooled = cnn.pool(stem, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4)
    x = cnn.add("Concat", f"{cnn.add('Relu', one)} {three} {pooled}", 7, axis=1)
    return cnn.head(cnn.pool(cnn.curve(cnn.conv(x, 2, 2))))


def separable(cnn: Cnn) -> onnx.ModelProto:
    """A filter for every channel, then mixtures of the channels."""
    x = cnn.conv("x", 4, 1)
    for _ in range(2):
        x = cnn.curve(cnn.conv(x, cnn.channels[x], 3, group=cnn.channels[x], pads=[1] * 4))
        x = cnn.conv(x, 4, 1, group=int(cnn.random.choice([1, 2])))
    return cnn.head(cnn.add("GlobalMaxPool", cnn.curve(x)))


def decoder(cnn: Cnn) -> onnx.ModelProto:
    """A small picture made larger."""
    x = cnn.curve(cnn.conv_transpose("x", 3, 3, strides=[2, 2], output_padding=[1, 0]))
    x = cnn.conv_transpose(x, 2, 2, strides=[2, 1], pads=[0, 1, 1, 0])
    return cnn.head(cnn.add("Sigmoid", x), flatten=False)


def sound(cnn: Cnn) -> onnx.ModelProto:
    """One axis."""
    x = cnn.pool(cnn.curve(cnn.conv("x", 3, 3, strides=[2], pads=[2, 1])), ceil_mode=1)
    return cnn.head(cnn.conv(x, 2, 2, dilations=[2]))


def read_twice(cnn: Cnn) -> onnx.ModelProto:
    """Two activations of one convolution, and the convolution itself."""
    x = cnn.conv("x", 2, 2)
    sides = f"{cnn.add('Relu', x)} {cnn.add('Tanh', x)} {x}"
    return cnn.head(cnn.pool(cnn.add("Concat", sides, 6, axis=1)))


Template = Callable[[Cnn], onnx.ModelProto]
SPACES: dict[Template, tuple[int, ...]] = {
    plain: (6, 7),
    strided: (7, 6),
    residual: (4, 5),
    inception: (6, 6),
    separable: (5, 4),
    decoder: (2, 3),
    sound: (14,),
    read_twice: (5, 5),
}


# --- what holds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(count(3, 12)))
@pytest.mark.parametrize("template", SPACES, ids=lambda template: template.__name__)
def test_goes_in_and_comes_out_the_same(template: Template, seed: int):
    cnn = Cnn(seed, *SPACES[template])
    model = template(cnn)
    net, x = import_model(model), cnn.data(5)
    want = run(model, x)
    (port,) = net.outputs
    assert_equal(net.activate({"x": x})[port.name], want)
    back = export(net)
    assert validate(back) == []
    assert spatial_nodes(back) == spatial_nodes(load_model(model))
    assert_equal(run(back, x), want)
    again = export(import_model(load_model(back.to_json())))
    assert again.to_json() == back.to_json()
    assert again.to_bytes() == back.to_bytes()


def assert_equal(got: Array, want: Array) -> None:
    assert got.shape == want.shape
    error = np.mean((got - want.astype(np.float64)) ** 2)
    assert error <= 1e-12 * max(1.0, float(np.mean(want.astype(np.float64) ** 2)))


def spatial_nodes(model: Model) -> list[Any]:
    """Operators with their weights, sorted: branches may come in another order."""
    weights = {tensor.name: tensor.values.tolist() for tensor in model.graph.initializer}
    return sorted(
        (each.op_type, weights[each.input[1]] if len(each.input) > 1 else [])
        for each in model.graph.node
        if each.op_type in SPATIAL
    )
