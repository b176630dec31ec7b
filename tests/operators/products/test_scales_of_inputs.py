"""Products of quantized tensors whose scales and zero points are inputs, or computed."""

import numpy as np
import pytest
from support.harness.sessions import open_session

from neat_onnx import export, import_model, load_model, verify
from neat_onnx.model import ValueInfo

HEAD = '<ir_version: 8, opset_import: ["": 18]> agraph '
MATRIX = "int8[3, 4] W = {10, -20, 30, 4, 5, -6, 7, 8, 9, -1, -2, -3}"
KERNEL = "int8[2, 1, 2, 2] W = {10, -20, 30, 4, 5, -6, 7, 8}"
KNOWN = {"s": "float s = {0.05}", "z": "uint8 z = {7}", "ws": "float ws = {0.02}",
         "wz": "int8 wz = {0}", "ys": "float ys = {0.03}", "yz": "uint8 yz = {100}"}  # fmt: skip


def product(
    operator: str, inputs: str, given: tuple[str, ...], weights: str = MATRIX, shape: str = "N, 3"
) -> bytes:
    """A product of steps, with some of its scales and zero points among the inputs."""
    known = [weights, *(text for name, text in KNOWN.items() if name not in given)]
    more = "".join(f", {KNOWN[name].split(' =')[0]}" for name in given)
    gives = "int32" if "Integer" in operator else "uint8"
    rank = ", ".join("abcd"[: shape.count(",") + 1].replace("a", "N"))
    return f"""{HEAD} (uint8[{shape}] q{more}) => ({gives}[{rank}] y) <{", ".join(known)}>
        {{ y = {operator} ({inputs}) }}""".encode()


ALL = "q, s, z, W, ws, wz, ys, yz"
IMAGE = (KERNEL, "N, 1, 3, 3")
CASES = {
    "the first scale": product("QLinearMatMul", ALL, ("s", "z")),
    "the scale of the weights": product("QLinearMatMul", ALL, ("ws",)),
    "the scale of the result": product("QLinearMatMul", ALL, ("ys", "yz")),
    "every one": product("QLinearMatMul", ALL, ("s", "z", "ws", "wz", "ys", "yz")),
    "of a window": product("QLinearConv", ALL, ("s", "z", "ws", "ys"), *IMAGE),
    "the zero points of a window": product("ConvInteger", "q, W, z, wz", ("z", "wz"), *IMAGE),
    "both zero points": product("MatMulInteger", "q, W, z, wz", ("z", "wz")),
}


def drawn(entry: ValueInfo, rng: np.random.Generator) -> np.ndarray:
    """Steps of an integer type, of one sample, or a scale."""
    sizes = [size if isinstance(size, int) else 1 for size in entry.shape or ()]
    if not entry.elem_type.is_integer:
        return np.asarray(rng.uniform(0.005, 0.2, sizes), np.float32)
    kind = np.dtype(entry.elem_type.dtype)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    return rng.integers(low, high, sizes, kind, endpoint=True)


@pytest.mark.parametrize("case", CASES)
def test_they_may_be_inputs(case: str) -> None:
    model = load_model(CASES[case])
    net = import_model(model)
    for each in (model, export(net)):
        assert verify(net, each, runtime="onnxruntime").passed
    session, rng = open_session(model.to_proto()), np.random.default_rng(0)
    for _ in range(64):
        feed = {entry.name: drawn(entry, rng) for entry in model.graph.inputs}
        (want,) = session.run(None, feed)
        given = {name: value if name == "q" else value[None] for name, value in feed.items()}
        np.testing.assert_allclose(net.activate(given)["y"], want, rtol=0, atol=1e-6)


@pytest.mark.parametrize("operator", ["QLinearMatMul", "QLinearConv"])
def test_they_may_be_computed_of_a_range(operator: str) -> None:
    is_matrix = "MatMul" in operator
    weights, shape = (MATRIX, "1, 3") if is_matrix else (KERNEL, "1, 1, 3, 3")
    text = f"""{HEAD} (float[{shape}] x) => (float[{"1, k" if is_matrix else "1, k, k, k"}] y)
        <{weights}, {", ".join(text for name, text in KNOWN.items() if name not in ("s", "z"))}>
        {{ q, s, z = DynamicQuantizeLinear (x) p = {operator} ({ALL})
           y = DequantizeLinear (p, ys, yz) }}"""
    model = load_model(text.encode())
    net = import_model(model, batch_axis=None)
    for each in (model, export(net)):
        assert verify(net, each, runtime="onnxruntime").passed
