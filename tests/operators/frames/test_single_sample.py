"""Models of a single sample: their inputs and outputs have no batch, and get none."""

from dataclasses import replace

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper
from stated_models import ends, model_of
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import (
    Model,
    Network,
    OptionError,
    certify,
    export,
    import_model,
    load_model,
    verify,
)
from neat_onnx.cli import main
from neat_onnx.model import MetadataEntry
from neat_onnx.model.ports import BATCH_AXIS

pytestmark = pytest.mark.filterwarnings("ignore:by their names:neat_onnx.NeatOnnxWarning")
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
DRAW = np.random.default_rng(0)
Ends = dict[str, tuple[int, list[int]]]


def vector() -> Model:
    nodes = [node("MatMul", "x W", "h"), node("Tanh", "h", "y")]
    ends = {"x": (FLOAT, [4])}, {"y": (FLOAT, [3])}
    return model_of(nodes, *ends, W=DRAW.normal(size=(4, 3)))


def graph_of_nodes() -> Model:
    """A layer of a graph network: every node of four reads its neighbours."""
    nodes = [
        node("MatMul", "A x", "n"),
        node("MatMul", "n W", "h"),
        node("Relu", "h", "r"),
        node("ReduceMax", "r", "y", keepdims=0),
    ]
    ends = {"x": (FLOAT, [4, 3])}, {"r": (FLOAT, [4, 5]), "y": (FLOAT, [])}
    constants = {"A": DRAW.uniform(size=(4, 4)), "W": DRAW.normal(size=(3, 5))}
    return model_of(nodes, *ends, **constants)


def image() -> Model:
    nodes = [
        node("Unsqueeze", "x at", "i"),
        node("Conv", "i K", "c"),
        node("Relu", "c", "r"),
        node("Squeeze", "r at", "y"),
    ]
    model = model_of(
        nodes,
        {"x": (FLOAT, [2, 6, 6])},
        {"y": (FLOAT, [3, 4, 4])},
        K=DRAW.normal(size=(3, 2, 3, 3)),
    ).to_proto()
    model.graph.initializer.append(numpy_helper.from_array(np.array([0]), "at"))
    return load_model(model.SerializeToString())


def tokens() -> Model:
    nodes = [
        node("Gather", "E x", "e"),
        node("MatMul", "e W", "h"),
        node("ArgMax", "h", "y", axis=1, keepdims=0),
    ]
    constants = {"E": DRAW.normal(size=(7, 3)), "W": DRAW.normal(size=(3, 5))}
    return model_of(nodes, {"x": (INT64, [4])}, {"y": (INT64, [4])}, **constants)


def memory() -> Model:
    nodes = [
        node("MatMul", "x W", "a"),
        node("MatMul", "h_in U", "b"),
        node("Add", "a b", "c"),
        node("Tanh", "c", "h_out"),
        node("Mul", "h_out two", "y"),
    ]
    inputs = {"x": (FLOAT, [4]), "h_in": (FLOAT, [3])}
    outputs = {"y": (FLOAT, [3]), "h_out": (FLOAT, [3])}
    weights = {"W": DRAW.normal(size=(4, 3)), "U": DRAW.normal(size=(3, 3))}
    return model_of(nodes, inputs, outputs, **weights, two=2.0)


MODELS = [vector, graph_of_nodes, image, tokens, memory]


def drawn(model: Model) -> dict[str, np.ndarray]:
    return {
        entry.name: DRAW.integers(0, 7, entry.shape)
        if entry.elem_type.is_integer
        else DRAW.normal(size=entry.shape).astype(np.float32)
        for entry in model.graph.inputs
    }


def assert_alike(first: Model, other: Model) -> None:
    """Both have the same inputs and outputs, and give the same numbers, again and again."""
    assert ends(other) == ends(first)
    one, two = open_session(first), open_session(other)
    for _ in range(5):
        feed = drawn(first)
        for want, got in zip(one.run(None, feed), two.run(None, feed), strict=True):
            assert want.dtype == got.dtype
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def read(model: Model) -> Network:
    return import_model(model, batch_axis=None)


@pytest.mark.parametrize("made", [vector, graph_of_nodes, image, memory])
@pytest.mark.parametrize("options", [{}, {"opset": 13}, {"profile": "sonnx"}, {"dtype": "float64"}])
def test_the_export_runs_in_the_program_of_the_first_file(made, options):
    first = made()
    net = read(first)
    model = export(net.without_source(), **options)
    if "dtype" not in options:
        assert_alike(first, model)
    assert verify(net, model, runtime="onnxruntime").passed
    again = import_model(model)
    assert again == net
    assert "dtype" in options or _without_hints(again) == _without_hints(net)


def _without_hints(net: Network) -> str:
    return net.without_source().to_json()


@pytest.mark.parametrize("made", [vector, graph_of_nodes, image, memory])
def test_so_it_does_after_evolution(made):
    net = read(made())
    net = replace(net, connections=replace(net.connections, weight=net.connections.weight * 0.75))
    model = export(net.without_source())
    assert ends(model) == ends(made())
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(model) == net


@pytest.mark.parametrize("quantize", ["weights"])
def test_int8_has_none_either(quantize):
    first = vector()
    model = export(read(first), quantize=quantize)
    assert ends(model) == ends(first)
    open_session(model).run(None, drawn(first))


@pytest.mark.parametrize("sizes", [(4, 8, 2), (1, 3)])
def test_any_network_is_exported_without_one(sizes):
    net = Network.mlp(sizes, seed=0)
    model = export(net.without_source(), batch_dimension=None)
    assert ends(model) == [("input", "FLOAT", [sizes[0]]), ("output", "FLOAT", [sizes[-1]])]
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(model) == net
    batch = [
        (entry.shape or ())[0]
        for entry in export(import_model(model).without_source()).graph.inputs
    ]
    assert batch == ["N"]


def test_memory_without_a_batch():
    net = Network.lstm(3, 4, 2, seed=0)
    model = export(net.without_source(), batch_dimension=None)
    assert all(len(entry.shape or ()) == 1 for entry in model.graph.inputs)
    assert verify(net, model, runtime="onnxruntime").passed
    assert import_model(model) == net


def test_an_axis_that_was_opened_is_the_batch():
    entry = MetadataEntry(key=BATCH_AXIS, value="none")
    proto = export(Network.mlp([3, 2], seed=0)).to_proto()
    model = load_model(proto.SerializeToString())
    model = model.model_copy(update={"metadata_props": [entry]})
    assert import_model(model).inputs[0].shape == (3,)


def test_sequences_have_a_batch():
    net = Network.rnn(3, 4, 2, seed=0)
    with pytest.raises(OptionError, match="sequences have a batch"):
        export(net.without_source(), sequence=True, batch_dimension=None)
    assert export(read(memory()), sequence=True).graph.inputs[0].shape == ("T", "N", 4)


def test_a_certificate():
    net = read(memory())
    model = export(net.without_source())
    assert certify(net, model).verdict != "different"


def test_the_command_line(tmp_path):
    source, target = tmp_path / "net.json", tmp_path / "net.onnx"
    source.write_text(Network.mlp([3, 2], seed=0).to_json())
    assert main(["export", str(source), str(target), "--batch-dimension", "none", "--verify"]) == 0
    assert load_model(target).graph.inputs[0].shape == (3,)
