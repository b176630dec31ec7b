"""Weights that are steps of 8 bits: stored as those, the same floats when a runtime reads them."""

import json

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from onnxruntime import GraphOptimizationLevel
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import Network, export, import_model, load_model, load_network, validate, verify
from neat_onnx.lowering.quantization.integer_weights import integer_weights
from neat_onnx.lowering.quantization.scales import quantized
from neat_onnx.model import DataType, Tensor

RANDOM = np.random.default_rng(11)
AS_WRITTEN = GraphOptimizationLevel.ORT_DISABLE_ALL
EIGHT_BITS = (DataType.INT8, DataType.UINT8)


def product(whole, size):
    return (np.float32(whole) * np.float32(size)).astype(np.float64)


def given_back(steps):
    return product(steps.stored - steps.zero_point, steps.scale)


def sizes(*shape):
    return np.exp(RANDOM.uniform(-20, 5, shape)).astype(np.float32)


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [(-127, 127, "INT8"), (-128, 127, "INT8"), (0, 255, "UINT8"), (-255, 0, "UINT8"),
     (-100, 155, "UINT8"), (-254, 1, "UINT8"), (17, 200, "UINT8")],
)  # fmt: skip
def test_steps_are_found_of_every_size_and_range(axis, low, high, kind):
    for _ in range(8):
        whole = RANDOM.integers(low, high + 1, (3, 4, 50))
        whole[:, :, 0], whole[:, :, 1] = low, high
        whole = whole.reshape(3, 50, 4) if axis == 2 else whole
        shape = [n if k == axis else 1 for k, n in enumerate(whole.shape)]
        numbers = product(whole, sizes(*shape) if axis is not None else sizes())
        steps = quantized(numbers, axis)
        assert steps is not None
        assert steps.data_type is DataType[kind]
        kept = np.int8 if kind == "INT8" else np.uint8
        np.testing.assert_array_equal(steps.stored.astype(kept), steps.stored)
        assert given_back(steps).tobytes() == numbers.tobytes()


def test_few_steps_far_from_1_are_found():
    """Where the smallest number is many steps, the size is none of the numbers."""
    for _ in range(200):
        whole = RANDOM.integers(60, 128, 5) * RANDOM.choice([-1, 1], 5)
        numbers = product(whole, sizes())
        steps = quantized(numbers, None)
        assert steps is not None
        assert given_back(steps).tobytes() == numbers.tobytes()


def moved(numbers, change):
    return np.append(numbers[:-1], change(numbers[-1]))


WHOLE = np.append(RANDOM.integers(-127, 128, 2000), 101)
OFF = {
    "random": RANDOM.normal(size=2000).astype(np.float32).astype(np.float64),
    "float64": RANDOM.normal(size=2000),
    "a bit off": moved(product(WHOLE, 0.3), lambda x: float(np.nextafter(np.float32(x), 1e9))),
    "a bit of float64 off": moved(product(WHOLE, 0.3), lambda x: np.nextafter(x, 1e9)),
    "half a step": moved(product(WHOLE, 0.3), lambda x: x * 1.5),
    "-0": moved(product(WHOLE, 0.3), lambda x: -0.0),
    "infinite": moved(product(WHOLE, 0.3), lambda x: -np.inf),
    "256 steps and one": moved(product(WHOLE, 0.5), lambda x: 128.0),
    "both ends": np.append(product(WHOLE, 0.5), [100.0, -100.0]),
    "below what every runtime holds": product(WHOLE, 1e-40),
    "rounded twice": (WHOLE * 0.1).astype(np.float64),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("numbers", OFF.values(), ids=OFF.keys())
def test_numbers_that_are_no_steps_are_none(numbers):
    assert quantized(numbers, None) is None


def test_zeros_are_no_obstacle():
    whole = RANDOM.integers(-127, 128, (4, 500))
    whole[:, :300], whole[2] = 0, 0
    numbers = product(whole, sizes(4, 1))
    steps = quantized(numbers, 0)
    assert steps is not None
    assert given_back(steps).tobytes() == numbers.tobytes()
    assert quantized(np.append(np.zeros(500), OFF["random"]), None) is None


# --- models --------------------------------------------------------------------------------------


def weights(*shape, axis=None, low=-127, high=127):
    """(quantized, scale, zero) of a weight."""
    whole = RANDOM.integers(low, high + 1, shape)
    scale = sizes(shape[axis]) if axis is not None else sizes()
    scale = np.exp(RANDOM.uniform(-6, -4, scale.shape)).astype(np.float32)
    kind, zero = (np.int8, 0) if low >= -128 and high <= 127 else (np.uint8, -low)
    return (whole + zero).astype(kind), scale, np.full(scale.shape, zero, kind)


def dequantized(name, *shape, axis=None, **bounds):
    parts = weights(*shape, axis=axis, **bounds)
    names = [f"{name}_{part}" for part in ("q", "s", "z")]
    attributes = {} if axis is None else {"axis": axis}
    return node("DequantizeLinear", " ".join(names), name, **attributes), dict(
        zip(names, parts, strict=True)
    )


def model_of(nodes, x, given):
    model = graph(nodes, x=("N", *x))
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(np.asarray(each), name) for name, each in given.items()
    )
    return model


@pytest.mark.parametrize("kind", ["FLOAT16", "BFLOAT16"])
def test_weights_of_16_bits_are_written_as_such(kind):
    wide = 1e6 if kind == "BFLOAT16" else 1.0
    values = (wide * RANDOM.normal(size=(24, 40))).astype(np.float32)
    held = Tensor.of("w", values, DataType[kind]).as_written.astype(np.float32)
    model = model_of([node("Gemm", "x w", "y")], (24,), {"w": held})
    net = import_model(model)
    made = export(net)
    stored = [each for each in made.graph.initializer if each.data_type is DataType[kind]]
    assert [each.size for each in stored] == [24 * 40]
    assert import_model(made) == net
    assert verify(net, made, runtime="onnxruntime").passed
    assert verify(net, made).verdict == "equal"


def perceptron(axis=None, **bounds):
    first, given = dequantized("w", 24, 40, axis=axis, **bounds)
    second, others = dequantized("v", 40, 20, axis=axis, **bounds)
    nodes = [first, second, node("MatMul", "x w", "a"), node("Relu", "a", "b"),
             node("Gemm", "b v", "y")]  # fmt: skip
    return model_of(nodes, (24,), given | others)


def convolutions():
    first, given = dequantized("w", 16, 2, 5, 5, axis=0)
    second, others = dequantized("v", 24, 16, 1, 1, axis=0, low=-90, high=150)
    third, more = dequantized("u", 24, 1, 5, 5)
    nodes = [
        first, second, third,
        node("Conv", "x w", "a", pads=[1, 1, 1, 1]), node("Relu", "a", "b"),
        node("Conv", "b v", "c"), node("Relu", "c", "d"),
        node("Conv", "d u", "e", group=24), node("GlobalAveragePool", "e", "f"),
        node("Flatten", "f", "y"),
    ]  # fmt: skip
    return model_of(nodes, (2, 9, 9), given | others | more)


def recurrent():
    w, given = dequantized("w", 1, 40, 12, axis=1)
    r, others = dequantized("r", 1, 40, 10, axis=1)
    nodes = [w, r, node("Transpose", "x", "t", perm=[1, 0, 2]),
             node("LSTM", "t w r", "_ h", hidden_size=10),
             node("Squeeze", "h axis", "y")]  # fmt: skip
    return model_of(nodes, (5, 12), given | others | {"axis": np.array([0])})


MODELS = {
    "one scale": perceptron(),
    "a scale a column": perceptron(axis=1),
    "a scale a row": perceptron(axis=0),
    "a zero point": perceptron(low=-90, high=160),
    "zero points along an axis": perceptron(axis=1, low=-20, high=230),
    "convolutions": convolutions(),
    "LSTM": recurrent(),
}


def eight_bits(model):
    return [each for each in model.graph.initializer if each.data_type in EIGHT_BITS]


def inputs_of(model, count=5):
    entry = model.graph.input[0]
    shape = [axis.dim_value for axis in entry.type.tensor_type.shape.dim][1:]
    return {"x": RANDOM.normal(size=(count, *shape)).astype(np.float32)}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("opset", [13, 18, 21])
@pytest.mark.parametrize("name", MODELS)
def test_it_comes_back_small_and_computes_the_same_to_the_last_bit(monkeypatch, name, opset):
    model = MODELS[name]
    net = import_model(model)
    written = export(net, opset=opset)
    with monkeypatch.context() as patch:
        patch.setattr("neat_onnx.lowering.core.integer_weights", lambda model: model)
        plain = export(net, opset=opset)
    assert len(eight_bits(written)) >= 2
    assert not eight_bits(plain)
    assert validate(written) == []
    proto = written.to_proto()
    onnx.checker.check_model(proto, full_check=True)
    assert proto.ByteSize() <= 2 * model.ByteSize() + 2048
    feed = inputs_of(model)
    for run in (
        lambda each: open_session(each).run(None, feed),
        lambda each: open_session(each, graph_optimization_level=AS_WRITTEN).run(None, feed),
        lambda each: ReferenceEvaluator(each.to_proto()).run(None, feed),
    ):
        np.testing.assert_array_equal(run(written), run(plain))
    assert verify(net, written, runtime="onnxruntime").verdict == "equal"
    assert import_model(written.to_bytes()) == net == import_model(plain.to_bytes())


def changed(net, change):
    """The network with its document changed."""
    document = json.loads(net.to_json())
    change(document)
    return load_network(document)


def test_a_genome_comes_back():
    def change(document):
        document["neurons"][30]["name"] = "the thirtieth"
        document["connections"][5]["enabled"] = False

    net = changed(import_model(MODELS["one scale"]), change)
    written = export(net)
    assert eight_bits(written)
    back = import_model(written.to_bytes())
    assert back == net
    assert "the thirtieth" in back.neuron_names


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("encoding", ["numbers", "raw", "sparse"])
def test_json_has_the_integers(encoding):
    net = import_model(MODELS["a zero point"])
    written = export(net, encoding=encoding)
    back = load_model(written.to_json())
    assert back.to_bytes() == written.to_bytes()
    assert import_model(back) == net
    plain = export(Network.mlp([24, 40, 20], activation="relu", seed=0), encoding=encoding)
    assert len(written.to_json()) < 0.7 * len(plain.to_json())


@pytest.mark.parametrize(
    "options",
    [{"dtype": "float64"}, {"profile": "sonnx"}, {"quantize": "weights"}, {"quantize": "full"}],
)
def test_forms_that_have_floats_or_an_int8_of_their_own_stay_as_they_are(monkeypatch, options):
    net = import_model(MODELS["one scale"])
    written = export(net, **options)
    assert bool(eight_bits(written)) == ("quantize" in options)
    monkeypatch.setattr("neat_onnx.lowering.core.integer_weights", lambda model: model)
    assert export(net, **options).to_bytes() == written.to_bytes()


def in_steps(net, size):
    """The network with weights that are steps."""

    def change(document):
        for k, connection in enumerate(document["connections"]):
            connection["weight"] = ((7 * k + 3) % 255 - 127 or 1) * size
        for neuron in document["neurons"]:
            neuron["bias"] = round(neuron.get("bias", 0.0) / size) * size

    return changed(net, change)


def test_neataptic_documents_have_floats():
    net = in_steps(Network.mlp([30, 30, 4], activation="tanh", seed=0), 1 / 512)
    assert "W0_quantized" in export(net).graph.tensors
    assert "quantized" not in export(net, dialect="neataptic").to_json()


@pytest.mark.parametrize(
    ("sequence", "fused"), [(False, True), (True, False), (True, True)]
)  # fmt: skip
def test_weights_inside_of_a_sequence(sequence, fused):
    net = in_steps(Network.gru(16, 16, 2, seed=0), 1 / 512)
    written = export(net, sequence=sequence, fused_recurrent=fused)
    assert eight_bits(written)
    for runtime in ("onnxruntime", "reference"):
        assert verify(net, written, samples=8, runtime=runtime).passed
    assert import_model(written.to_bytes()) == net


@pytest.mark.parametrize("most", [1, 7])
def test_few_steps_are_steps(most):
    whole = RANDOM.integers(-most, most + 1, (40, 30)).astype(np.int8)
    nodes = [node("DequantizeLinear", "q s", "w"), node("MatMul", "x w", "y")]
    model = model_of(nodes, (40,), {"q": whole, "s": np.float32(0.037)})
    net = import_model(model)
    written = export(net)
    assert eight_bits(written)
    assert written.to_proto().ByteSize() <= 2 * model.ByteSize() + 2048
    assert import_model(written.to_bytes()) == net


@pytest.mark.parametrize("sizes_of_layers", [[64, 64, 8], [3, 400, 2], [500, 1]])
def test_weights_that_are_no_steps_are_floats(sizes_of_layers):
    model = export(Network.mlp(sizes_of_layers, seed=1))
    assert not eight_bits(model)
    assert integer_weights(model) is model


COINCIDENCES = {
    "one weight a row": np.diag(RANDOM.normal(size=60)),
    "few": product(RANDOM.integers(-127, 128, (10, 25)), 0.1),
}


@pytest.mark.parametrize("values", COINCIDENCES.values(), ids=COINCIDENCES.keys())
def test_coincidences_and_small_tensors_are_floats(values):
    model = export(Network.mlp([2, 2], seed=1))
    tensor = Tensor.of("w", values.astype(np.float32))
    larger = model.graph.model_copy(update={"initializer": [tensor]})
    model = model.model_copy(update={"graph": larger})
    assert integer_weights(model) is model
