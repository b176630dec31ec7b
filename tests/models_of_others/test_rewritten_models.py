"""Exports of imported networks after optimizers: their genome comes back as that of others does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_layers import MODELS as LAYERS
from small_models import small_models
from support.examples.graphs import graph, node
from support.harness.rewriting import (
    by_onnxruntime,
    with_other_names,
    without_copies,
    without_neutral,
    without_twins,
    without_zeros,
)
from support.harness.sweep import each, every

from neat_onnx import Network, export, import_model

MODELS = dict(small_models()) | LAYERS
DTYPES = ("float32", "float64")
RECORDED = Path(__file__).parent / "recorded"
MIXED = ("attention 1 masked", "attention 2 masked residual", "LpPool 0", "leaky")
"""Layers of these end where nothing but an Identity says so."""
COPIED = ("layer norm in parts 11", "divided")
"""A sum with zeros tells where these end."""
PLAIN = [name for name in MODELS if name.startswith(("perceptron", "convolution", "attention 2"))]


def changed(name: str) -> Network:
    """The network with other ids, which the graph alone does not give."""
    net = import_model(MODELS[name], check=False)
    return replace(net, neurons=replace(net.neurons, id=net.neurons.id + 1000))


def recorded(name: str) -> Network:
    """The network of a recorded model, with other ids."""
    net = import_model(RECORDED / f"{name}.onnx", check=False)
    return replace(net, neurons=replace(net.neurons, id=net.neurons.id + 1000))


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize(("name", "dtype"), every(MIXED + COPIED, DTYPES))
def test_layers_end_where_they_ended(name: str, dtype: str):
    model = export(changed(name), dtype=dtype)
    want = import_model(model.to_bytes(), check=False)
    assert min(want.neurons.id) == 1000
    for rewritten in (without_copies, without_zeros, by_onnxruntime):
        assert import_model(rewritten(model), check=False) == want


def test_defaults_that_onnxruntime_writes_are_no_other_formula():
    net = changed("perceptron HardSigmoid torch 13")
    rewritten = by_onnxruntime(export(net))
    assert b"alpha" in rewritten
    assert import_model(rewritten) == import_model(export(net).to_bytes()) == net


def test_sums_and_copies_may_both_be_gone():
    """Of a support vector machine, whose layers end with either."""
    net = import_model(RECORDED / "sklearn_support_vectors.onnx")
    net = replace(net, neurons=replace(net.neurons, id=net.neurons.id + 1000))
    model = export(net)
    assert import_model(without_neutral(model)) == import_model(model.to_bytes())


def test_several_marks_of_one_tensor_may_be_gone():
    """A sum with zeros for the scale of ones, one for the shift of zeros, and a copy between."""
    nodes = [
        node("Gemm", "x w b", "h", transB=1),
        node("LayerNormalization", "h ones zeros", "n"),
        node("Relu", "n", "r"),
        node("Gemm", "r v", "y"),
    ]
    random = np.random.default_rng(0)
    numbers = {"w": random.normal(size=(8, 4)), "b": random.normal(size=8)}
    numbers |= {"ones": np.ones(8), "zeros": np.zeros(8), "v": random.normal(size=(8, 2))}
    net = import_model(graph(nodes, x=("N", 4), opset=18, **numbers))
    net = replace(net, neurons=replace(net.neurons, id=net.neurons.id + 1000))
    model = export(net, dtype="float64")
    assert import_model(without_neutral(model)) == import_model(model.to_bytes())


@pytest.mark.parametrize(
    ("name", "dtype"),
    each(2, every(["keras_lstm", "sklearn_kernel_pca", "sklearn_nearest_neighbors"], DTYPES)),
)
def test_ends_of_any_operator_may_be_gone(name: str, dtype: str):
    """Of neurons and their copies, both of which are read, of sums, and of exponentials."""
    model = export(recorded(name), dtype=dtype)
    want = import_model(model.to_bytes())
    for rewritten in (without_copies, without_neutral):
        assert import_model(rewritten(model)) == want


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_layer_that_is_computed_like_another_tensor_stays_one(dtype: str):
    """As in graph convolutions: neighbours, scaled as the node itself is."""
    nodes = [
        node("Gemm", "x w", "h"),
        node("Mul", "h s", "p"),
        node("Sum", "p", "n"),
        node("Mul", "h s", "q"),
        node("Gather", "n turned", "g", axis=1),
        node("Add", "q g", "c"),
        node("Relu", "c", "y"),
    ]
    weights = np.random.default_rng(0).normal(size=(4, 8))
    net = import_model(
        graph(nodes, x=("N", 4), w=weights, s=np.array([0.3]), turned=np.roll(np.arange(8), 3))
    )
    net = replace(net, neurons=replace(net.neurons, id=net.neurons.id + 1000))
    model = export(net, dtype=dtype)
    assert import_model(without_twins(without_copies(model))) == import_model(model.to_bytes())


@pytest.mark.parametrize(
    ("name", "dtype"),
    each(2, every(["sklearn_support_vectors", "sklearn_nearest_neighbors"], DTYPES)),
)
def test_sums_of_one_tensor_may_be_gone_where_they_are_alike(name: str, dtype: str):
    model = export(recorded(name), dtype=dtype)
    want = import_model(model.to_bytes())
    assert import_model(without_twins(without_neutral(model))) == want


@pytest.mark.parametrize(
    ("name", "dtype"), every(["flax_convolution", "torch_encoder", "torch_unrolled_rnn"], DTYPES)
)
def test_tensors_may_have_other_names(name: str, dtype: str):
    model = export(recorded(name), dtype=dtype)
    assert import_model(with_other_names(model)) == import_model(model.to_bytes())


def test_a_hard_swish_may_be_written_in_parts():
    """As onnxruntime does, whatever the level."""
    model = export(changed("perceptron HardSwish plain 18"))
    assert "HardSwish" in [each.op_type for each in model.graph.node]
    rewritten = by_onnxruntime(model)
    assert b"HardSigmoid" in rewritten
    assert import_model(rewritten) == import_model(model.to_bytes())


@pytest.mark.filterwarnings("ignore:a Conv of the network is written neuron by neuron")
@pytest.mark.parametrize("dtype", DTYPES)
def test_layers_that_keep_their_neurons_get_no_end(dtype: str):
    """Of attention that evolved on, and is one product no longer: some of its layers had none."""
    net = changed("attention 1")
    weight = np.where(np.arange(len(net.connections)) % 3, 1.0, 1.25) * net.connections.weight
    net = replace(net, connections=replace(net.connections, weight=weight))
    model = export(net, dtype=dtype)
    want = import_model(model.to_bytes())
    assert import_model(without_neutral(model)) == want


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("name", each(5, PLAIN))
def test_the_genome_comes_back(name: str):
    net = changed(name)
    assert import_model(without_copies(export(net, dtype="float64")), check=False) == net
