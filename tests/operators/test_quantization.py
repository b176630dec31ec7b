"""Values in steps of 8 bits come back from QuantizeLinear, whatever they are read by."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from support.examples.graphs import Nodes, assert_lifts, graph, node, operators

from neat_onnx import export, import_model, verify

RNG = np.random.default_rng(3)
NORMAL = RNG.normal(size=(4, 1, 3, 3))
DEPTHWISE = RNG.normal(size=(4, 1, 3, 3))
STEPS = [np.int8(-3), np.int8(0), np.uint8(7), np.uint8(0)]


def between(
    nodes: Nodes, *, zero: np.generic | np.ndarray, **constants: np.ndarray
) -> onnx.ModelProto:
    """A graph with a zero point z, of its own type."""
    model = graph(nodes, **constants)
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(zero), "z"))
    return model


def convolutions(zero: np.generic, scale: float) -> onnx.ModelProto:
    """A Conv with Relu, in steps, and a Conv of each channel alone."""
    nodes = (
        "c = Conv<pads=[1, 1, 1, 1]>(x, W) r = Relu(c) q = QuantizeLinear(r, s, z) "
        "d = DequantizeLinear(q, s, z) k = Conv<group=4>(d, V) y = Flatten(k)"
    )
    sizes = {"x": ("N", 1, 18, 18), "s": np.float32(scale)}
    return between(nodes, zero=zero, W=NORMAL, V=DEPTHWISE, **sizes)


@pytest.mark.parametrize("zero", STEPS, ids=lambda zero: f"{zero.dtype}_{zero}")
@pytest.mark.parametrize("scale", [np.float32(0.0371), 2.0])
def test_steps_between_convolutions_come_back(zero, scale):
    given = convolutions(zero, scale)
    net = assert_lifts(given, scale=5.0)
    model = export(net)
    assert operators(model).count("QuantizeLinear") == 1
    assert operators(model).count("Conv") == 2
    for runtime in ("onnxruntime", "reference"):
        assert verify(net, model, samples=8, runtime=runtime).passed
    assert import_model(model) == net
    assert "neat_onnx.genome" not in model.metadata
    assert len(model.to_bytes()) <= 2 * len(given.SerializeToString()) + 2048


def test_steps_are_primitives_in_float64():
    net = import_model(convolutions(np.int8(-3), 0.25))
    model = export(net, dtype="float64")
    assert "QuantizeLinear" not in operators(model)
    assert "Round" in operators(model)


def test_layers_of_integers_with_zeros_are_one_matrix_each():
    """Steps of int8 reach 128, which does not overflow: a weight of 0 may stand before them."""
    weights = RNG.normal(size=(6, 4)) * (RNG.random((6, 4)) < 0.6)
    nodes = "g = Gemm(x, V) q = QuantizeLinear(g, s, z) f = Cast<to=1>(q) y = Gemm(f, W)"
    constants = {"V": RNG.normal(size=(3, 6)), "W": weights, "s": np.float32(0.25)}
    net = import_model(between(nodes, zero=np.int8(-128), **constants))
    model = export(net)
    assert operators(model).count("Gemm") == 2
    assert verify(net, model, samples=32, runtime="onnxruntime").passed
    assert import_model(model) == net


def twice(zero: np.generic, other: np.generic, scale: float = 0.0371) -> onnx.ModelProto:
    """Steps that are quantized again, in another order."""
    nodes = (
        "q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) "
        "t = Transpose<perm=[0, 2, 1]>(d) p = QuantizeLinear(t, r, w) "
        "y = DequantizeLinear(p, r, w)"
    )
    model = between(nodes, zero=zero, x=("N", 2, 3), s=np.float32(0.0371), r=np.float32(scale))
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(other), "w"))
    return model


@pytest.mark.parametrize(
    ("zero", "other", "scale"),
    [
        (np.int8(-3), np.int8(-2), 0.0371),
        (np.int8(7), np.uint8(7), 0.0371),
        (np.int8(7), np.int8(7), 0.25),
    ],
)
def test_other_steps_are_rounded_again(zero, other, scale):
    net = assert_lifts(twice(zero, other, scale), scale=20.0)
    assert str(net.activations).count("round") == 2


def test_steps_are_no_values_that_may_overflow_whatever_they_are_computed_from():
    """Weights of 0 stand before what is computed from steps: the kernel is that of all rows."""
    weights = RNG.normal(size=(6, 8)) * (RNG.random((6, 8)) < 0.7)
    nodes = []
    for each in ("x", "n", "m"):
        nodes += [
            node("QuantizeLinear", f"{each} s z", f"{each}q"),
            node("DequantizeLinear", f"{each}q s z", f"{each}d"),
        ]
    nodes.insert(2, node("LayerNormalization", "xd g", "n", axis=-1))
    nodes.insert(5, node("MatMul", "nd W", "m"))
    nodes.append(node("Slice", "md last end one", "y"))
    constants = {"g": np.ones(6), "W": weights, "last": np.array([4]), "end": np.array([5]),
                 "one": np.array([1])}  # fmt: skip
    given = between(nodes, zero=np.int8(-3), x=("N", 5, 6), s=np.float32(0.0371), **constants)
    net = assert_lifts(given, scale=3.0)
    model = export(net)
    assert import_model(model) == net
