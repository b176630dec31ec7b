"""The first elements of rows, scattered over rows of a number, come back as these operators."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from support.examples.graphs import graph, node, operators

from neat_onnx import export, import_model, verify

_RNG = np.random.default_rng(0)
_SHARES = {
    "values": [],
    "softmax": [node("Softmax", "values", "shares", axis=-1)],
    "parts": [
        node("ReduceSum", "values last", "sum", keepdims=1),
        node("Div", "values sum", "shares"),
    ],
}


def _gate(x: str, fill: float, shares: str, gives: str) -> list[onnx.NodeProto]:
    value = numpy_helper.from_array(np.array([fill], np.float32))
    scattered = "values" if shares == "values" else "shares"
    return [
        node("TopK", f"{x} k", "values places", axis=-1),
        *_SHARES[shares],
        node("Shape", x, "shape"),
        node("ConstantOfShape", "shape", "empty", value=value),
        node("ScatterElements", f"empty places {scattered}", gives, axis=-1),
    ]


def _assert_comes_back(
    nodes: list[onnx.NodeProto], x: tuple[int | str, ...], experts: int, chosen: int
) -> None:
    constants = {"w": _RNG.normal(size=(6, experts)), "k": [chosen], "last": [-1]}
    model = graph([node("MatMul", "x w", "g"), *nodes], x=x, **constants)
    net = import_model(model)
    written = export(net)
    assert {*operators(written)} >= {"TopK", "ScatterElements"}
    assert len(written.to_bytes()) < 1.2 * model.ByteSize()
    assert import_model(written.to_bytes()) == net
    assert export(net).to_bytes() == written.to_bytes()
    assert verify(net, written, runtime="onnxruntime").passed


@pytest.mark.parametrize("fill", [0.0, -1e9, 0.5])
@pytest.mark.parametrize(("experts", "chosen"), [(4, 2), (8, 3)])
def test_scattered_values(fill: float, experts: int, chosen: int):
    _assert_comes_back(_gate("g", fill, "values", "y"), ("N", 6), experts, chosen)


@pytest.mark.parametrize("fill", [0.0, -1e4, -1e9])
def test_a_softmax_of_scattered_values(fill: float):
    nodes = [*_gate("g", fill, "values", "row"), node("Softmax", "row", "y", axis=-1)]
    _assert_comes_back(nodes, ("N", 6), 6, 2)


def test_a_softmax_that_is_scattered_over_zeros():
    _assert_comes_back(_gate("g", 0.0, "softmax", "y"), ("N", 6), 6, 2)


def test_parts_of_the_largest_probabilities():
    nodes = [node("Softmax", "g", "p", axis=-1), *_gate("p", 0.0, "parts", "y")]
    _assert_comes_back(nodes, ("N", 6), 6, 2)


@pytest.mark.parametrize("fill", [0.0, -1e9])
def test_rows_of_several_steps(fill: float):
    _assert_comes_back(_gate("g", fill, "values", "y"), ("N", 3, 6), 4, 2)
