"""Steps of a dynamic scale come back from DynamicQuantizeLinear, a sample at a time."""

from itertools import pairwise

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from support.examples.graphs import graph, node, operators
from support.harness.sweep import each, every

from neat_onnx import Model, ModelError, export, import_model, verify
from neat_onnx.lifting import core
from neat_onnx.lowering import short_model

_RNG = np.random.default_rng(0)


def _normal(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape).astype(np.float32)


def _integers(*shape: int) -> np.ndarray:
    return _RNG.integers(-120, 120, shape).astype(np.int8)


def _quantized(x: str, y: str, at: int, op_type: str = "MatMulInteger") -> list[onnx.NodeProto]:
    """A product of quantized numbers, and its bias, as onnxruntime's quantization writes them."""
    return [
        node("DynamicQuantizeLinear", x, f"q{at} s{at} z{at}"),
        node("Mul", f"s{at} scale{at}", f"t{at}"),
        node(op_type, f"q{at} w{at} z{at} v{at}", f"i{at}"),
        node("Cast", f"i{at}", f"f{at}", to=1),
        node("Mul", f"f{at} t{at}", f"m{at}"),
        node("Add", f"m{at} b{at}", y),
    ]


def _model(
    nodes: list[onnx.NodeProto],
    x: tuple[int, ...],
    weights: list[np.ndarray],
    **constants: np.ndarray,
) -> onnx.ModelProto:
    """A graph with weights of 8 bits, their zero points, scales and biases."""
    channels = [tensor.shape[0 if tensor.ndim > 2 else 1] for tensor in weights]
    for at, (tensor, count) in enumerate(zip(weights, channels, strict=True)):
        constants.setdefault(f"scale{at}", np.array([0.0123 * (at + 1)], np.float32))
        bias = _normal(count)
        ones = (1,) * (tensor.ndim - 2)
        constants[f"b{at}"] = bias.reshape(-1, *ones) if ones else bias
    model = graph(nodes, x=x, **constants)
    for at, tensor in enumerate(weights):
        model.graph.initializer.append(numpy_helper.from_array(tensor, f"w{at}"))
        zero = np.zeros((), tensor.dtype) + (tensor.dtype == np.uint8) * np.array(121, tensor.dtype)
        model.graph.initializer.append(numpy_helper.from_array(zero, f"v{at}"))
    return model


def _assert_comes_back(model: onnx.ModelProto, count: int, times: float = 1.5) -> None:
    net = import_model(model, batch_axis=None)
    written = export(net)
    assert operators(written).count("DynamicQuantizeLinear") == count
    for_any_samples = export(net, batch_dimension="N")
    assert operators(for_any_samples).count("Scan") in (1, count)
    assert len(written.to_bytes()) < times * model.ByteSize()
    assert import_model(written.to_bytes()) == net
    assert export(net).to_bytes() == written.to_bytes()
    for runtime in ("onnxruntime", "reference"):
        assert verify(net, written, samples=32, runtime=runtime).passed


def _layers(sizes: tuple[int, ...], kind: type) -> onnx.ModelProto:
    """Layers of weights of 8 bits, with a Relu between them."""
    pairs = [*pairwise(sizes)]
    nodes, x = [], "x"
    for at in range(len(pairs)):
        last = at == len(pairs) - 1
        nodes += _quantized(x, "y" if last else f"a{at}", at)
        nodes += [] if last else [node("Relu", f"a{at}", f"r{at}")]
        x = f"r{at}"
    weights = [_integers(*pair) for pair in pairs]
    if kind is np.uint8:
        weights = [(each + np.int16(121)).astype(np.uint8) for each in weights]
    return _model(nodes, (1, sizes[0]), weights)


SIZES = [(10, 5), (4, 8, 2), (6, 12, 12, 3), (16, 64, 64, 8)]


@pytest.mark.parametrize(("sizes", "kind"), every(SIZES, [np.int8, np.uint8]), ids=str)
def test_layers_of_one_scale(sizes: tuple[int, ...], kind: type):
    _assert_comes_back(_layers(sizes, kind), len(sizes) - 1)


@pytest.mark.parametrize("at", [0, 1])
def test_elements_of_no_weight(at: int):
    """They count in the range, and their steps are read by nothing."""
    weights = [_integers(12, 20) | np.int8(1), _integers(20, 4) | np.int8(1)]
    weights[at][[0, 3, 4, 11]] = 0
    nodes = [*_quantized("x", "a", 0), node("Relu", "a", "r"), *_quantized("r", "y", 1)]
    _assert_comes_back(_model(nodes, (1, 12), weights), 2)


def test_few_forms_are_read_in_vain(monkeypatch: pytest.MonkeyPatch):
    """Those with operators at hints are much longer than the one with operators of rooms."""
    in_vain = list[ModelError]()

    def lift(model: Model, batch_axis: core.BatchAxis = "auto") -> core.Lifted:
        try:
            return core.lift(model, batch_axis)
        except ModelError as error:
            in_vain.append(error)
            raise

    net = import_model(_layers((6, 12, 12, 3), np.int8), batch_axis=None)
    monkeypatch.setattr(short_model, "lift", lift)
    export(net)
    assert len(in_vain) <= 1


def test_a_scale_for_each_channel():
    scales = np.abs(_normal(5)) / 50
    model = _model(_quantized("x", "y", 0), (1, 10), [_integers(10, 5)], scale0=scales)
    _assert_comes_back(model, 1)


def test_a_convolution_and_a_layer():
    nodes = [
        *_quantized("x", "a", 0, "ConvInteger"),
        node("Relu", "a", "r"),
        node("GlobalAveragePool", "r", "p"),
        node("Flatten", "p", "f"),
        *_quantized("f", "y", 1),
    ]
    weights = [_integers(6, 3, 3, 3), _integers(6, 5)]
    _assert_comes_back(_model(nodes, (1, 3, 8, 8), weights), 2)


def test_numbers_that_are_read_before_a_scale_and_behind_it():
    nodes = [
        node("Gemm", "x w b", "g"),
        node("Relu", "g", "r"),
        *_quantized("r", "a0", 0),
        node("Relu", "a0", "r0"),
        *_quantized("r0", "a1", 1),
        node("Add", "a1 r", "y"),
    ]
    weights = [_integers(8, 8), _integers(8, 8)]
    _assert_comes_back(_model(nodes, (1, 6), weights, w=_normal(6, 8), b=_normal(8)), 2)


def test_two_products_of_the_same_steps():
    nodes = [
        *_quantized("x", "a", 0),
        node("Mul", "s0 scale1", "t1"),
        node("MatMulInteger", "q0 w1 z0 v1", "i1"),
        node("Cast", "i1", "f1", to=1),
        node("Mul", "f1 t1", "m1"),
        node("Add", "m1 b1", "b"),
        node("Concat", "a b", "y", axis=1),
    ]
    _assert_comes_back(_model(nodes, (1, 8), [_integers(8, 6), _integers(8, 4)]), 1)


def test_a_layer_whose_rows_and_columns_change_places():
    """A network of steps in time, whose channels a convolution has first."""
    nodes = [
        *_quantized("x", "a", 0),
        node("Elu", "a", "e"),
        node("Transpose", "e", "t", perm=[0, 2, 1]),
        *_quantized("t", "y", 1, "ConvInteger"),
    ]
    weights = [_integers(6, 16) | np.int8(1), _integers(24, 16, 3) | np.int8(1)]
    _assert_comes_back(_model(nodes, (1, 10, 6), weights), 2)


def test_elements_that_come_before_neurons_of_lower_numbers():
    nodes = [
        node("Gemm", "x w b", "g"),
        node("Tanh", "g", "h"),
        node("Concat", "h x", "c", axis=1),
        *_quantized("c", "y", 0),
    ]
    _assert_comes_back(_model(nodes, (1, 6), [_integers(14, 5)], w=_normal(6, 8), b=_normal(8)), 1)


def test_a_convolution_over_zeros_beside_the_elements():
    nodes = [node("Pad", "x pads", "p"), *_quantized("p", "y", 0, "ConvInteger")]
    weights = [_integers(32, 8, 3) | np.int8(1)]
    _assert_comes_back(_model(nodes, (1, 8, 12), weights, pads=np.array([0, 0, 2, 0, 0, 0])), 1)


def test_embeddings_of_which_identities_tell_neurons_apart():
    nodes = [
        node("Gather", "table x", "e"),
        node("DequantizeLinear", "e step zero", "d"),
        node("Flatten", "d", "f"),
        *_quantized("f", "a", 0),
        node("Tanh", "a", "t"),
        *_quantized("t", "y", 1),
    ]
    weights = [_integers(12, 32) | np.int8(1), _integers(32, 3) | np.int8(1)]
    model = _model(nodes, (1, 3), weights, step=np.array(1 / 64, np.float32))
    table = {"table": _integers(7, 4), "zero": np.array(7, np.int8)}
    model.graph.initializer.extend(numpy_helper.from_array(v, k) for k, v in table.items())
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    _assert_comes_back(model, 2, times=2.0)


def test_a_changed_zero_point_leaves_neurons():
    model = _model(_quantized("x", "y", 0), (1, 4), [_integers(4, 3)])
    document = import_model(model, batch_axis=None).to_document().model_dump()
    zero = next(each for each in document["neurons"] if "round(0 -" in str(each["activation"]))
    zero["bias"] = 0.25
    changed = type(import_model(model, batch_axis=None)).from_document(document)
    written = export(changed)
    assert "Scan" not in operators(written)
    assert verify(changed, written, samples=32, runtime="onnxruntime").passed


def test_a_disabled_connection_stays_one_and_leaves_the_rest():
    nodes = [
        node("DynamicQuantizeLinear", "x", "q s z"),
        node("DequantizeLinear", "q s z", "y"),
    ]
    net = import_model(_model(nodes, (1, 2), []), batch_axis=None)
    for at in each(7, range(len(net.connections))):
        document = net.to_document().model_dump()
        document["connections"][at]["enabled"] = False
        changed = type(net).from_document(document)
        written = export(changed)
        assert import_model(written.to_bytes()) == changed
        assert verify(changed, written, samples=8, runtime="onnxruntime").passed
