"""Ports keep the types and the batch of the file that a network was imported from."""

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from stated_models import counter, ends, model_of, without_hints
from support.examples.graphs import node
from support.harness.sessions import open_session

from neat_onnx import (
    Model,
    NeatOnnxWarning,
    Network,
    export,
    import_model,
    load_model,
    verify,
)

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
DRAW = np.random.default_rng(0)
WEIGHTS = DRAW.normal(size=(4, 3))


def assert_takes_the_place(
    first: Model, feed: dict[str, np.ndarray], *, genome: bool = True, **options: Any
) -> Model:
    """The export without the source runs in the program of the first file.

    It imports to the same network, unless its integers are cut off once more: `genome` is False.
    """
    net = import_model(first)
    model = export(net.without_source(), **options)
    assert ends(model) == ends(first)
    want, got = (open_session(each).run(None, feed) for each in (first, model))
    for one, other in zip(want, got, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)
    assert verify(net, model, runtime="onnxruntime").passed
    if genome:
        again = import_model(model)
        assert again == net
        assert without_hints(again) == without_hints(net)
    return model


@pytest.mark.parametrize("dtype", INTEGERS)
def test_inputs_of_integers(dtype):
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [
        node("Cast", "x", "f", to=FLOAT),
        node("MatMul", "f W", "g"),
        node("Add", "g o", "h"),
        node("Tanh", "h", "y"),
    ]
    first = model_of(
        nodes, {"x": (kind, ["N", 4]), "o": (FLOAT, ["N", 3])}, {"y": (FLOAT, ["N", 3])}, W=WEIGHTS
    )
    x = DRAW.integers(0, 5, (6, 4)).astype(dtype)
    o = DRAW.normal(size=(6, 3)).astype(np.float32)
    assert_takes_the_place(first, {"x": x, "o": o})
    assert_takes_the_place(first, {"x": x, "o": o}, opset=13)


def test_images_of_bytes_alone():
    nodes = [
        node("Cast", "x", "f", to=FLOAT),
        node("Div", "f c", "g"),
        node("Conv", "g W", "h"),
        node("Relu", "h", "i"),
        node("Flatten", "i", "y"),
    ]
    first = model_of(
        nodes,
        {"x": (TensorProto.UINT8, ["N", 1, 5, 5])},
        {"y": (FLOAT, ["N", 18])},
        W=DRAW.normal(size=(2, 1, 3, 3)),
        c=255.0,
    )
    x = DRAW.integers(0, 255, (2, 1, 5, 5)).astype(np.uint8)
    model = assert_takes_the_place(first, {"x": x})
    assert "Conv" in {each.op_type for each in model.graph.node}


def test_masks_and_truths():
    nodes = [
        node("Where", "m x low", "s"),
        node("Softmax", "s", "p"),
        node("Greater", "x half", "y"),
    ]
    first = model_of(
        nodes,
        {"x": (FLOAT, ["N", 3]), "m": (BOOL, ["N", 3])},
        {"p": (FLOAT, ["N", 3]), "y": (BOOL, ["N", 3])},
        low=-1e8,
        half=0.5,
    )
    mask = np.array([[True, False, True], [True, True, True]])
    x = DRAW.normal(size=(2, 3)).astype(np.float32)
    assert_takes_the_place(first, {"x": x, "m": mask})


def test_truths_in_another_shape():
    nodes = [
        node("Greater", "x half", "t"),
        node("Less", "x low", "u"),
        node("Concat", "t u", "v", axis=1),
        node("Reshape", "v s", "w"),
        node("Transpose", "w", "y", perm=[0, 2, 1]),
    ]
    first = model_of(
        nodes, {"x": (FLOAT, ["N", 4])}, {"y": (BOOL, ["N", 4, 2])}, half=0.5, low=-1.0, s=[0, 2, 4]
    )
    assert_takes_the_place(first, {"x": DRAW.normal(size=(5, 4)).astype(np.float32)}, genome=False)


@pytest.mark.parametrize("kind", [INT64, TensorProto.INT32])
def test_actions(kind):
    nodes = [
        node("MatMul", "x W", "h"),
        node("ArgMax", "h", "a", axis=1, keepdims=1),
        node("ArgMax", "x", "b", axis=1, keepdims=1),
        node("Concat", "a b", "c", axis=1),
        node("Cast", "c", "y", to=kind),
    ]
    first = model_of(nodes, {"x": (FLOAT, ["N", 4])}, {"y": (kind, ["N", 2])}, W=WEIGHTS)
    assert_takes_the_place(first, {"x": DRAW.normal(size=(5, 4)).astype(np.float32)}, genome=False)


def test_labels_that_are_computed():
    nodes = [
        node("MatMul", "x W", "h"),
        node("ReduceSum", "h axis", "s", keepdims=1),
        node("Greater", "s zero", "t"),
        node("Where", "t one other", "y"),
    ]
    first = model_of(
        nodes,
        {"x": (FLOAT, ["N", 4])},
        {"y": (INT64, ["N", 1])},
        W=WEIGHTS,
        axis=[1],
        zero=0.0,
        one=[1],
        other=[-1],
    )
    assert_takes_the_place(first, {"x": DRAW.normal(size=(5, 4)).astype(np.float32)}, genome=False)


def test_labels_of_any_numbers():
    nodes = [
        node("MatMul", "x W", "h"),
        node("ArgMax", "h", "a", axis=1, keepdims=0),
        node("Gather", "labels a", "y"),
    ]
    first = model_of(
        nodes, {"x": (FLOAT, ["N", 4])}, {"y": (INT64, ["N"])}, W=WEIGHTS, labels=[10, -20, 7]
    )
    assert_takes_the_place(first, {"x": DRAW.normal(size=(9, 4)).astype(np.float32)}, genome=False)


def test_truth_values_are_whole_numbers():
    nodes = [node("Cast", "b", "c", to=INT64), node("Add", "c k", "y")]
    first = model_of(
        nodes, {"b": (BOOL, ["N", 2]), "k": (INT64, ["N", 2])}, {"y": (INT64, ["N", 2])}
    )
    given = {"b": np.array([[True, False]]), "k": np.array([[3, -4]])}
    assert_takes_the_place(first, given, genome=False)
    assert set(import_model(first).activations) == {"identity"}  # nothing is cut off


def test_integers_alone_are_exact():
    model = export(counter())
    x = np.array([[2**24 + 1, -(2**52) + 1]])
    (got,) = open_session(model).run(None, {"x": x})
    np.testing.assert_array_equal(got, x + 1)


def test_memory_and_ports_of_a_fixed_batch():
    nodes = [
        node("Add", "x h", "s"),
        node("Tanh", "s", "h_next"),
        node("Transpose", "h_next", "y", perm=[1, 0]),
    ]
    sizes = (FLOAT, [3, "N"])
    first = model_of(nodes, {"x": sizes, "h": sizes}, {"y": (FLOAT, ["N", 3]), "h_next": sizes})
    net = import_model(first, memory={"h": "h_next"})
    assert import_model(export(net.without_source(), batch_dimension=False)) == net


def _with_bias(net: Network, bias: np.ndarray) -> Network:
    return replace(net, neurons=replace(net.neurons, bias=bias), library="neat-onnx")


def test_the_batch_stays_where_it_was():
    nodes = [
        node("Transpose", "x", "t", perm=[1, 0, 2]),
        node("Flatten", "t", "f"),
        node("MatMul", "f W", "g"),
        node("Tanh", "g", "h"),
        node("Reshape", "h s", "i"),
        node("Transpose", "i", "y", perm=[1, 0, 2]),
    ]
    first = model_of(
        nodes,
        {"x": (FLOAT, [2, "N", 2])},
        {"y": (FLOAT, [3, "N", 1])},
        W=WEIGHTS,
        s=[-1, 3, 1],
    )
    x = DRAW.normal(size=(2, 6, 2)).astype(np.float32)
    assert_takes_the_place(first, {"x": x})
    net = import_model(first)
    assert ends(export(net.without_source(), batch_dimension=False))[0][2] == [
        1,
        2,
        2,
    ]  # nothing else names it


def test_float64_stays():
    nodes = [node("MatMul", "x W", "h"), node("Tanh", "h", "y")]
    first = model_of(nodes, {"x": (FLOAT, ["N", 4])}, {"y": (FLOAT, ["N", 3])}, W=WEIGHTS)
    double = onnx.load_model_from_string(
        export(import_model(first).without_source(), dtype="float64").to_bytes()
    )
    del double.metadata_props[:]
    first = load_model(double.SerializeToString())
    assert_takes_the_place(first, {"x": DRAW.normal(size=(5, 4))})
    net = import_model(first)
    assert {kind for _, kind, _ in ends(export(net.without_source(), dtype="float32"))} == {"FLOAT"}
    assert {kind for _, kind, _ in ends(export(net.without_source(), quantize="weights"))} == {
        "FLOAT"
    }


@pytest.mark.parametrize("options", [{}, {"include_metadata": False}, {"dtype": "float32"}])
def test_ports_of_float64_stay_beside_those_of_float32(options):
    """As trees of scikit-learn have them, which compare numbers of DOUBLE and give FLOAT."""
    nodes = [
        node("Cast", "x", "f", to=FLOAT),
        node("MatMul", "f W", "h"),
        node("Tanh", "h", "y"),
        node("Cast", "h", "z", to=TensorProto.DOUBLE),
    ]
    double = TensorProto.DOUBLE
    first = model_of(
        nodes,
        {"x": (double, ["N", 4])},
        {"y": (FLOAT, ["N", 3]), "z": (double, ["N", 3])},
        W=WEIGHTS,
    )
    assert_takes_the_place(first, {"x": DRAW.normal(size=(5, 4))}, **options)


@pytest.mark.parametrize("metadata", [True, False])
def test_integers_that_float32_rounds_are_warned_of_once(metadata):
    nodes = [node("Cast", "x", "f", to=FLOAT), node("Mul", "f c", "y")]
    first = model_of(nodes, {"x": (INT64, ["N", 2])}, {"y": (FLOAT, ["N", 2])}, c=0.5)
    net = import_model(first)
    genes = net.connections
    net = replace(net, connections=replace(genes, weight=np.full(len(genes), 2.0**24 + 1)))
    with pytest.warns(NeatOnnxWarning, match="16777217 is rounded in float32") as told:
        export(net.without_source(), include_metadata=metadata, dtype="float32")
    assert len(told) == 1


def test_a_genome_has_the_type_of_numbers_that_it_had():
    """float64 is an option of the export of networks that were not imported."""
    net = Network.mlp([3, 4, 2])
    again = import_model(export(net.without_source(), dtype="float64"))
    assert again == net
    assert {kind for _, kind, _ in ends(export(again))} == {"FLOAT"}


@pytest.mark.parametrize("options", [{"profile": "sonnx"}])
def test_other_forms(options):
    nodes = [
        node("Cast", "x", "f", to=FLOAT),
        node("MatMul", "f W", "h"),
        node("ArgMax", "h", "y", axis=1, keepdims=0),
    ]
    first = model_of(nodes, {"x": (INT64, ["N", 4])}, {"y": (INT64, ["N"])}, W=WEIGHTS)
    net = import_model(first)
    model = export(net.without_source(), **options)
    assert ends(model) == ends(first)
    assert verify(net, model, runtime="onnxruntime").passed


@pytest.mark.parametrize("quantize", ["weights"])
def test_int8_reads_bytes(quantize):
    nodes = [node("Cast", "x", "f", to=FLOAT), node("MatMul", "f W", "h"), node("Tanh", "h", "y")]
    first = model_of(
        nodes, {"x": (TensorProto.UINT8, ["N", 4])}, {"y": (FLOAT, ["N", 3])}, W=WEIGHTS
    )
    net = import_model(first)
    x = DRAW.integers(0, 3, (40, 4)).astype(np.uint8)
    measured = {"calibration": x} if quantize == "full" else {}
    model = export(net.without_source(), quantize=quantize, **measured)
    assert ends(model) == ends(first)
    (got,) = open_session(model).run(None, {"x": x})
    assert np.abs(got - net.activate(x)).max() < 0.05


def test_a_sequence_has_the_types_of_its_inputs():
    model = export(counter(), sequence=True)
    assert {kind for _, kind, _ in ends(model)} == {"INT64"}
    assert verify(counter(), model, samples=16).passed
