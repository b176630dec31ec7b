"""Single nodes of random attributes against onnxruntime; and nodes that make no sense."""

from typing import Any

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session
from support.harness.sweep import count

from neat_onnx import ModelError, import_model, limits
from neat_onnx.network.spatial import connections_of

Array = np.ndarray[Any, Any]


class Draw:
    """Random attributes of a window; weights and data are small whole numbers: sums are exact."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.axes = self.whole(1, 3)
        self.kernel = self.several(1, 3)
        self.space = [self.whole(3, 6 if self.axes < 3 else 4) for _ in range(self.axes)]
        self.attributes: dict[str, Any] = {}
        for name in ("strides", "dilations"):
            if self.often():
                self.attributes[name] = self.several(1, 2)

    def whole(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def several(self, low: int, high: int) -> list[int]:
        return [self.whole(low, high) for _ in range(self.axes)]

    def often(self) -> bool:
        return bool(self.random.random() < 0.6)

    def numbers(self, *shape: int) -> Array:
        return self.random.integers(-3, 4, shape).astype(np.float32)

    def pad(self, with_steps: bool = True) -> None:
        """Padding, less than there are taps, or what makes it up from the sizes.

        Args:
            with_steps: onnxruntime computes the latter for dilations, too.
        """
        if self.random.random() < 0.4:
            auto = str(self.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"]))
            self.attributes["auto_pad"] = auto
            if auto.startswith("SAME") and not with_steps:
                self.attributes.pop("dilations", None)
        elif self.often():
            self.attributes["pads"] = [self.whole(0, taps - 1) for taps in self.kernel * 2]


def assert_computes(model: onnx.ModelProto, x: Array, tolerance: float = 0.0) -> None:
    """The network gives what onnxruntime gives, by batch and with every axis a feature."""
    session = open_session(model)
    (want,) = session.run(None, {"x": x})
    for axis, fed in (("auto", x), (None, x[None])):
        net = import_model(model, batch_axis=axis, check=False)
        got = net.activate({"x": fed})["y"].reshape(want.shape)
        assert np.all(np.abs(got - want) <= tolerance * np.maximum(1.0, np.abs(want)))


@pytest.mark.parametrize("seed", range(count(24, 100)))
def test_conv(seed: int):
    draw = Draw(seed)
    group = draw.whole(1, 3)
    channels, out = group * draw.whole(1, 2), group * draw.whole(1, 2)
    draw.pad(with_steps=False)
    tensors = {"w": draw.numbers(out, channels // group, *draw.kernel)}
    if draw.often():
        tensors["b"] = draw.numbers(out)
    shape = (draw.whole(1, 2), channels, *(size + 3 for size in draw.space))
    made = node("Conv", f"x {' '.join(tensors)}", "y", group=group, **draw.attributes)
    assert_computes(graph([made], x=shape, **tensors), draw.numbers(*shape))


@pytest.mark.parametrize("seed", range(count(32, 100)))
def test_conv_transpose(seed: int):
    draw = Draw(seed)
    group = draw.whole(1, 2)
    channels, out = group * draw.whole(1, 2), draw.whole(1, 2)
    draw.pad()
    strides = draw.attributes.get("strides", [1] * draw.axes)
    if draw.often():
        draw.attributes["output_padding"] = [draw.whole(0, stride - 1) for stride in strides]
    tensors = {"w": draw.numbers(channels, out, *draw.kernel)}
    if draw.often():
        tensors["b"] = draw.numbers(out * group)
    shape = (draw.whole(1, 2), channels, *draw.space)
    made = node("ConvTranspose", f"x {' '.join(tensors)}", "y", group=group, **draw.attributes)
    assert_computes(graph([made], x=shape, **tensors), draw.numbers(*shape))


@pytest.mark.parametrize("seed", range(count(12, 50)))
def test_conv_transpose_to_a_given_shape(seed: int):
    draw = Draw(seed)
    if draw.often():
        draw.attributes["auto_pad"] = str(draw.random.choice(["SAME_UPPER", "SAME_LOWER"]))
    strides = draw.attributes.get("strides", [1] * draw.axes)
    steps = draw.attributes.get("dilations", [1] * draw.axes)
    whole = [
        (size - 1) * stride + (taps - 1) * step + 1
        for size, stride, taps, step in zip(draw.space, strides, draw.kernel, steps, strict=True)
    ]
    draw.attributes["output_shape"] = [max(size - draw.whole(0, 2), 1) for size in whole]
    shape = (1, 2, *draw.space)
    made = node("ConvTranspose", "x w", "y", **draw.attributes)
    model = graph([made], x=shape, w=draw.numbers(2, 1, *draw.kernel))
    assert_computes(model, draw.numbers(*shape))


@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("seed", range(count(24, 100)))
def test_pool(operator: str, seed: int):
    draw = Draw(seed)
    draw.pad(with_steps=False)
    if operator == "AveragePool" and draw.often():
        draw.attributes["count_include_pad"] = 1
    if draw.often():
        draw.attributes["ceil_mode"] = 1
    shape = (draw.whole(1, 2), draw.whole(1, 3), *(size + 3 for size in draw.space))
    made = node(operator, "x", "y", kernel_shape=draw.kernel, **draw.attributes)
    tolerance = 0.0 if operator == "MaxPool" else 1e-6
    assert_computes(graph([made], x=shape, opset=22), draw.numbers(*shape), tolerance)


@pytest.mark.parametrize("operator", ["GlobalMaxPool", "GlobalAveragePool"])
@pytest.mark.parametrize("space", [(5,), (3, 4), (2, 3, 2)])
def test_global_pool(operator: str, space: tuple[int, ...]):
    x = np.random.default_rng(0).normal(size=(2, 3, *space)).astype(np.float32)
    assert_computes(graph([node(operator, "x", "y")], x=x.shape), x, 1e-6)


# --- nodes that make no sense ---------------------------------------------------------------------

W = np.ones((2, 1, 3, 3))


@pytest.mark.parametrize(
    ("operator", "reads", "attributes", "message"),
    [
        ("Conv", "x w", {"group": 2}, "its input has 1 channels, w expects 2"),
        ("Conv", "x w", {"group": 3}, "group: expected a divisor of 2, got 3"),
        ("Conv", "x w", {"group": 0}, "group: expected a divisor of 2, got 0"),
        ("Conv", "x w", {"kernel_shape": [2, 2]}, r"kernel_shape \[2, 2\] disagrees with w"),
        ("Conv", "x w", {"pads": [1, 1]}, r"pads is \[1, 1\], expected 4 numbers from 0"),
        ("Conv", "x w", {"pads": [0, 0, 0, -1]}, r"pads is \[0, 0, 0, -1\], expected 4 numbers"),
        ("Conv", "x w", {"strides": [0, 1]}, r"strides is \[0, 1\], expected 2 numbers from 1"),
        ("Conv", "x w", {"dilations": [1]}, r"dilations is \[1\], expected 2 numbers from 1"),
        ("Conv", "x w", {"dilations": [3, 1]}, "its window covers 7×3, more than the padded"),
        ("Conv", "x w", {"auto_pad": "VALID", "pads": [1] * 4}, "has auto_pad VALID and pads"),
        ("Conv", "x w", {"auto_pad": "SAME"}, "auto_pad is 'SAME', expected"),
        ("Conv", "x b", {}, "b has 1 axes, expected 4"),
        ("Conv", "x w one", {}, "bias one has 1 values, expected 2"),
        ("Conv", "x x", {}, "input 'x' is computed, and has to be constant"),
        ("ConvTranspose", "x w", {}, "its input has 1 channels, w expects 2"),
        ("ConvTranspose", "x v", {"output_padding": [1]}, r"output_padding is \[1\], expected 2"),
        ("ConvTranspose", "x v", {"output_padding": [0, -1]}, "expected 2 numbers from 0"),
        ("ConvTranspose", "x v", {"output_shape": [9, 9], "pads": [1] * 4}, "output_shape and"),
        ("ConvTranspose", "x v", {"pads": [9] * 4}, "its output would have the shape"),
        ("MaxPool", "x", {}, "kernel_shape"),
        ("MaxPool", "x", {"kernel_shape": [2]}, r"kernel_shape is \[2\], expected 2 numbers"),
        ("MaxPool", "x", {"kernel_shape": [7, 1]}, "its window covers 7×1, more than"),
        ("MaxPool", "x", {"kernel_shape": [1, 1], "pads": [0, 0, 1, 0]}, "in the padding only"),
        ("MaxPool", "x", {"kernel_shape": [2, 2], "storage_order": 1}, "storage_order is 1"),
        ("AveragePool", "x", {"kernel_shape": [2, 2], "count_include_pad": 2}, "count_include_pad"),
        ("MaxPool", "x", {"kernel_shape": [2, 2], "dilations": [1, 2], "auto_pad": "SAME_LOWER"},
         "runtimes differ about SAME_LOWER with dilations"),
        ("AveragePool", "x", {"kernel_shape": [2, 2], "ceil": 1}, "ceil"),
        ("LRN", "x", {"size": 4}, "expected an odd one"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(
    operator: str, reads: str, attributes: dict[str, Any], message: str
):
    tensors = {"w": W, "v": W[:1], "b": np.ones(2), "one": np.ones(1)}
    used = {name: values for name, values in tensors.items() if name in reads.split()}
    made = node(operator, reads, "y", **attributes)
    with pytest.raises(ModelError, match=message) as raised:
        import_model(graph([made], x=("N", 1, 5, 6), **used))
    assert "make_y" in raised.value.message


@pytest.mark.parametrize("operator", ["ConvTranspose", "GlobalAveragePool"])
def test_a_flat_tensor_has_no_space(operator: str):
    reads, tensors = "x", {}
    if operator == "ConvTranspose":
        reads, tensors = "x w", {"w": np.ones((1, 1, 2))}
    with pytest.raises(ModelError, match="expected batch, channels, and space") as raised:
        import_model(graph([node(operator, reads, "y")], x=("N", 6), **tensors))
    assert "Reshape" in (raised.value.hint or "")


def test_a_window_that_makes_too_many_connections_is_refused_at_once():
    weights = np.zeros((64, 3, 11, 11), np.float32)
    model = graph([node("Conv", "x w", "y")], x=("N", 3, 224, 224), w=weights)
    with pytest.raises(ModelError, match="it takes 1063932672 connections") as raised:
        import_model(model)
    assert f"neat_onnx.limits(connections={4 * 1063932672})" in (raised.value.hint or "")


def test_the_limit_of_connections_is_that_of_a_window_too():
    weights = np.ones((6, 6, 3, 3), np.float32)
    model = graph([node("Conv", "x w", "y", pads=[1] * 4)], x=("N", 6, 7, 7), w=weights)
    with limits(connections=15_875), pytest.raises(ModelError, match="it takes 15876"):
        import_model(model)
    with limits(connections=15_876):
        (block,) = import_model(model).blocks
    assert connections_of(block) == 15_876
