"""Models whose weights are few for their neurons come back small, equal, and with their genome."""

import numpy as np
import onnx
import pytest
from exports import size_of_equal_export
from small_models import Weights
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify


def attention() -> onnx.ModelProto:
    """Two heads over six steps, weights along the last axis."""
    w = Weights()
    nodes = []
    for name in "qkv":
        nodes += [
            node("MatMul", f"x {w(8, 8)}", f"{name}0"),
            node("Reshape", f"{name}0 {w.put([0, 6, 2, 4])}", f"{name}1"),
            node("Transpose", f"{name}1", name, perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]),
        ]
    nodes += [
        node("MatMul", "q k", "raw"),
        node("Mul", f"raw {w.put(np.array(0.5))}", "scores"),
        node("Softmax", "scores", "shares", axis=-1),
        node("MatMul", "shares v", "mixed"),
        node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
        node("Reshape", f"back {w.put([0, 48])}", "flat"),
        node("Gemm", f"flat {w(48, 12)} {w(12)}", "y"),
    ]
    return graph(nodes, x=("N", 6, 8), opset=17, **w.given)


def convolution(before: str) -> onnx.ModelProto:
    """A convolution over a tensor in which one element, or a zero, stands several times."""
    w = Weights()
    if before == "Pad":
        change = node("Pad", f"x {w.put([0, 0, 2, 2, 0, 0, 0, 0])}", "wide")
    else:
        scales = w.put(np.array([1.0, 1.0, 2.0, 2.0]))
        change = node("Resize", f"x _ {scales}", "wide", mode=before)
    nodes = [
        change,
        node("Conv", f"wide {w(8, 4, 3, 3)} {w(8)}", "c"),
        node("Relu", "c", "r"),
        node("GlobalAveragePool", "r", "p"),
        node("Flatten", "p", "y"),
    ]
    return graph(nodes, x=("N", 4, 8, 8), **w.given)


def unrolled(steps: int = 16, units: int = 8) -> onnx.ModelProto:
    """A recurrent layer, step by step, whose weights are shared, from a state of zeros."""
    w = Weights()
    into, back, bias, parts = w(3, units), w(units, units), w(units), w.put([1] * steps)
    names = [f"x{step}" for step in range(steps)]
    nodes = [
        node("Split", f"x {parts}", " ".join(names), axis=1),
        node("Mul", f"x0 {w.put(np.zeros((1, 1, 1)))}", "none"),
        node("MatMul", f"none {w(3, units)}", "h0"),
    ]
    for step, name in enumerate(names):
        nodes += [
            node("MatMul", f"{name} {into}", f"i{step}"),
            node("MatMul", f"h{step} {back}", f"b{step}"),
            node("Add", f"i{step} b{step}", f"s{step}"),
            node("Add", f"s{step} {bias}", f"z{step}"),
            node("Tanh", f"z{step}", f"h{step + 1}"),
        ]
    last = node("Flatten", f"h{steps}", "y")
    return graph([*nodes, last], x=("N", steps, 3), **w.given)


def cell(units: int = 6) -> onnx.ModelProto:
    """One step of a GRU in the parts that PyTorch writes, from a state computed beside it."""
    w, parts = Weights(), [units] * 3
    nodes = [
        node("Gemm", f"x {w(4, units)} {w(units)}", "h"),
        node("Gemm", f"x {w(4, 3 * units)} {w(3 * units)}", "wx"),
        node("Gemm", f"h {w(units, 3 * units)} {w(3 * units)}", "rh"),
        node("Split", f"wx {w.put(parts)}", "xr xu xn", axis=1),
        node("Split", f"rh {w.put(parts)}", "hr hu hn", axis=1),
        node("Add", "hr xr", "ar"),
        node("Sigmoid", "ar", "r"),
        node("Add", "hu xu", "au"),
        node("Sigmoid", "au", "u"),
        node("Mul", "hn r", "m"),
        node("Add", "xn m", "an"),
        node("Tanh", "an", "n"),
        node("Sub", "h n", "d"),
        node("Mul", "d u", "p"),
        node("Add", "p n", "y"),
    ]
    return graph(nodes, x=("N", 4), **w.given)


def responses_of_neighbours() -> onnx.ModelProto:
    """A local response normalization in the parts that PyTorch writes: means of squares, padded."""
    w = Weights()
    nodes = [
        node("Mul", "x x", "square"),
        node("Unsqueeze", f"square {w.put([1])}", "deep"),
        node("Pad", f"deep {w.put([0, 0, 1, 0, 0, 0, 0, 1, 0, 0])}", "wide"),
        node("AveragePool", "wide", "pooled", kernel_shape=[3, 1, 1]),
        node("Squeeze", f"pooled {w.put([1])}", "means"),
        node("Mul", f"means {w.put(np.array(1e-4))}", "small"),
        node("Add", f"small {w.put(np.array(1.0))}", "near"),
        node("Pow", f"near {w.put(np.array(0.75))}", "power"),
        node("Div", "x power", "y"),
    ]
    return graph(nodes, x=("N", 8, 4, 4), **w.given)


def causal(steps: int = 12, channels: int = 4) -> onnx.ModelProto:
    """Convolutions that see the past alone: padded on both sides, cut at the end; the last step."""
    w = Weights()
    nodes = []
    cut = " ".join(w.put([number]) for number in (0, -2, 2))
    for layer in range(3):
        inputs = "x" if layer == 0 else f"r{layer - 1}"
        kernel = w(channels, 2 if layer == 0 else channels, 3)
        nodes += [
            node("Conv", f"{inputs} {kernel} {w(channels)}", f"c{layer}", pads=[2, 2]),
            node("Slice", f"c{layer} {cut}", f"s{layer}"),
            node("Relu", f"s{layer}", f"r{layer}"),
        ]
    last = " ".join(w.put([number]) for number in (-1, steps, 2))
    nodes += [
        node("Slice", f"r2 {last}", "end"),
        node("Flatten", "end", "f"),
        node("Gemm", f"f {w(channels, 3)} {w(3)}", "y"),
    ]
    return graph(nodes, x=("N", 2, steps), **w.given)


def gated_convolutions() -> onnx.ModelProto:
    """Layers of which half of the channels gate the other half, padded and cut, as in WaveNet."""
    w = Weights()
    nodes = []
    cut, halves = " ".join(w.put([number]) for number in (0, -2, 2)), w.put([4, 4])
    for layer, inputs in enumerate(("x", "g0")):
        kernel = w(8, 2 if layer == 0 else 4, 2)
        nodes += [
            node("Conv", f"{inputs} {kernel} {w(8)}", f"c{layer}", pads=[2, 2], dilations=[2]),
            node("Slice", f"c{layer} {cut}", f"s{layer}"),
            node("Split", f"s{layer} {halves}", f"a{layer} b{layer}", axis=1),
            node("Tanh", f"a{layer}", f"t{layer}"),
            node("Sigmoid", f"b{layer}", f"o{layer}"),
            node("Mul", f"t{layer} o{layer}", f"g{layer}"),
        ]
    nodes.append(node("Conv", f"g1 {w(1, 4, 1)} {w(1)}", "y"))
    return graph(nodes, x=("N", 2, 12), **w.given)


def channels_mixed(equation: str, size: int = 12) -> onnx.ModelProto:
    """Sums over the channels of a picture, the same for all pixels."""
    w = Weights()
    if equation:
        nodes = [node("Einsum", f"x {w(3, 4)}", "y", equation=equation)]
    else:
        nodes = [node("Mul", f"x {w(4, 1, 1)}", "m"), node("ReduceSum", f"m {w.put([1])}", "y")]
    return graph(nodes, x=("N", 4, size, size), **w.given)


def echo(steps: int = 5, units: int = 40) -> onnx.ModelProto:
    """An echo-state network, unrolled: few weights, and none at all into one of the units."""
    w, random = Weights(), np.random.default_rng(0)
    few = random.normal(size=(units, units)) * (random.random((units, units)) < 0.1)
    few[:, 7] = 0.0
    into, back, cut = w(2, units), w.put(few), w.put([1] * steps)
    nodes = [node("Split", f"x {cut}", " ".join(f"x{step}" for step in range(steps)), axis=1)]
    for step in range(steps):
        nodes += [
            node("Squeeze", f"x{step} {w.put([1])}", f"u{step}"),
            node("MatMul", f"u{step} {into}", f"i{step}"),
        ]
        if step:
            nodes += [
                node("MatMul", f"h{step - 1} {back}", f"r{step}"),
                node("Add", f"i{step} r{step}", f"z{step}"),
                node("Mul", f"h{step - 1} {w.put([0.7])}", f"k{step}"),
            ]
        nodes += [
            node("Tanh", f"z{step}" if step else "i0", f"t{step}"),
            node("Mul", f"t{step} {w.put([0.3])}", f"n{step}" if step else "h0"),
        ]
        nodes += [node("Add", f"k{step} n{step}", f"h{step}")] if step else []
    nodes.append(node("MatMul", f"h{steps - 1} {w(units, 2)}", "y"))
    return graph(nodes, x=("N", steps, 2), **w.given)


MODELS = {
    "attention": attention(),
    "padded": convolution("Pad"),
    "enlarged": convolution("nearest"),
    "blurred": convolution("linear"),
    "unrolled": unrolled(),
    "cell": cell(),
    "normalized": responses_of_neighbours(),
    "causal": causal(),
    "gated": gated_convolutions(),
    "channels mixed": channels_mixed("bchw,oc->bohw"),
    "channels mixed, last": channels_mixed("bchw,oc->bhwo"),
    "greyscale": channels_mixed(""),
    "echo": echo(),
}
MOST = {
    "attention": 13,
    "padded": 10,
    "enlarged": 12,
    "blurred": 6,
    "unrolled": 3,
    "cell": 6,
    "normalized": 7,
    "causal": 6,
    "gated": 7,
    "channels mixed": 1,
    "channels mixed, last": 3,
    "greyscale": 1,
    "echo": 12,
}
"""kB; a matrix for each layer would take 15 to 2,600."""


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("name", MODELS)
def test_it_comes_back_small_and_equal(name: str):
    assert size_of_equal_export(MODELS[name]) <= 1000 * MOST[name]


def test_hidden_neurons_that_no_output_needs_stay_away():
    nodes = [
        node("Gemm", "x w b", "h"),
        node("Split", "h parts", "used idle", axis=1),
        node("Tanh", "used", "y"),
    ]
    w, b = np.ones((3, 4)), np.zeros(4)
    net = import_model(graph(nodes, w=w, b=b, parts=[1, 3]))
    assert len(net) == 4
    np.testing.assert_allclose(net.activate({"x": [1.0, 2.0, 3.0]})["y"], [np.tanh(6.0)])


def test_a_first_step_does_not_read_its_state_of_zeros():
    net = import_model(graph([node("Sigmoid", "x", "s"), node("Mul", "s zero", "y")], zero=[0.0]))
    assert not len(net.connections.weight[net.connections.weight == 0.0])
    np.testing.assert_array_equal(net.activate({"x": [1.0, 2.0, 3.0]})["y"], [0.0, 0.0, 0.0])


def test_a_pruned_convolution_comes_back_small():
    """Weights times a mask are -0.0 where the mask is 0 and the weight is negative."""
    w = Weights()
    nodes = [node("Conv", f"x {w(8, 4, 3, 3)}", "c"), node("Relu", "c", "y")]
    (name,) = w.given
    w.given[name] *= np.random.default_rng(0).random((8, 4, 3, 3)) < 0.5
    model = graph(nodes, x=("N", 4, 12, 12), **w.given)
    assert np.any(np.signbit(w.given[name]) & (w.given[name] == 0.0))
    net = import_model(model)
    written = export(net)
    assert len(written.to_bytes()) <= 2 * len(model.SerializeToString())
    assert import_model(written) == net


@pytest.mark.parametrize(("trained", "most"), [(False, 1.0), (True, 1.4)])
def test_a_dense_block_comes_back_small(trained: bool, most: float):
    """Each layer normalizes all that came before; untrained, it is the same for all layers."""
    w, nodes, before, random = Weights(), list[onnx.NodeProto](), "x", np.random.default_rng(0)
    for layer in range(4):
        channels = 2 + 3 * layer
        columns = [np.full(channels, number) for number in (1.0, 0.0, 0.0, 1.0)]
        if trained:
            columns = [each + random.uniform(0.0, 0.5, channels) for each in columns]
        parameters = " ".join(map(w.put, columns))
        nodes += [
            node("BatchNormalization", f"{before} {parameters}", f"n{layer}"),
            node("Relu", f"n{layer}", f"r{layer}"),
            node("Conv", f"r{layer} {w(3, channels, 3, 3)}", f"c{layer}", pads=[1, 1, 1, 1]),
            node("Concat", f"{before} c{layer}", f"d{layer}", axis=1),
        ]
        before = f"d{layer}"
    model = graph([*nodes, node("GlobalAveragePool", before, "y")], x=("N", 2, 8, 8), **w.given)
    net = import_model(model)
    written = export(net)
    assert len(written.to_bytes()) <= most * len(model.SerializeToString())
    assert verify(net, written, samples=8, runtime="onnxruntime").passed
    x = random.normal(size=(3, 2, 8, 8)).astype(np.float32)
    (want,), (got,) = (open_session(each).run(None, {"x": x}) for each in (model, written))
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_a_normalization_that_is_not_trained_is_a_part_of_a_formula(shift: float):
    w = Weights()
    columns = [np.full(8, number) for number in (0.9, shift, 0.0, 1.0)]
    nodes = [
        node("Conv", f"x {w(8, 2, 3, 3)}", "c"),
        node("LeakyRelu", "c", "r"),
        node("BatchNormalization", f"r {' '.join(map(w.put, columns))}", "n"),
        node("Flatten", "n", "f"),
        node("Gemm", f"f {w(8 * 36, 3)}", "y"),
    ]
    model = graph(nodes, x=("N", 2, 8, 8), **w.given)
    assert size_of_equal_export(model) <= 1.1 * len(model.SerializeToString())


def test_a_local_response_is_small_where_its_elements_change_places():
    """PyTorch's, in parts, whose sums are a pool over an axis that is put before the channels."""
    w = Weights()
    planes, channels = w.put([0, 1, 4, 6, 6]), w.put([0, 4, 6, 6])
    back = " ".join(map(w.put, ([-1], [-9], [3], [-1])))
    given = {"kernel_shape": [3, 1, 1], "pads": [1, 0, 0, 1, 0, 0], "count_include_pad": 1}
    nodes = [
        node("Conv", f"x {w(4, 2, 3, 3)}", "c"),
        node("Mul", "c c", "q"),
        node("Reshape", f"q {planes}", "p"),
        node("AveragePool", "p", "a", **given),
        node("Reshape", f"a {channels}", "m"),
        node("Mul", f"m {w.put(np.array(1e-4))}", "s"),
        node("Add", f"s {w.put(np.array(1.0))}", "b"),
        node("Pow", f"b {w.put(np.array(0.75))}", "e"),
        node("Div", "c e", "d"),
        node("Slice", f"d {back}", "t"),
        node("Conv", f"t {w(2, 4, 3, 3)}", "y"),
    ]
    model = graph(nodes, x=("N", 2, 8, 8), **w.given)
    assert size_of_equal_export(model) <= 1.1 * len(model.SerializeToString())


def test_a_product_that_is_added_to_a_layer_that_reads_it_is_no_part_of_the_layer():
    w = Weights()
    nodes = [
        node("Gemm", f"x {w(8, 16)} {w(16)}", "h"),
        node("Gemm", f"x {w(8, 16)} {w(16)}", "t"),
        node("Tanh", "t", "u"),
        node("Mul", "h u", "g"),
        node("Split", f"g {w.put([8, 8])}", "a b", axis=1),
        node("Sigmoid", "b", "s"),
        node("Mul", "a s", "z"),
        node("Gemm", f"z {w(8, 16)} {w(16)}", "l"),
        node("Add", "g l", "r"),
        node("Gemm", f"r {w(16, 3)}", "y"),
    ]
    model = graph(nodes, x=("N", 8), **w.given)
    assert size_of_equal_export(model) <= 1.1 * len(model.SerializeToString())


def test_equal_weights_are_written_once_however_small_they_are():
    w = Weights()
    matrix, bias = w(3, 3), w(3)
    nodes = []
    for step, before in enumerate(("x", "h0", "h1")):
        nodes += [
            node("Gemm", f"{before} {matrix} {bias}", f"g{step}"),
            node("Tanh", f"g{step}", f"t{step}"),
            node("Add", f"x t{step}", f"h{step}" if step < 2 else "y"),
        ]
    net = import_model(graph(nodes, x=("N", 3), **w.given))
    written = export(net)
    held = [(each.dims, each.to_bytes()) for each in written.graph.initializer]
    assert len(set(held)) == len(held)
    assert import_model(written) == net
