"""Flat tensors into convolutions and pools, spatial ones into Gemms."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.flat_documents import (
    conv,
    document,
    gemm,
    node,
    pool,
    spec,
    weights,
    with_warnings,
)
from support.harness.sweep import count
from support.peers.interpreter import computed

from neat_onnx import Model, ModelError, Network, convert, export, import_model, validate

ONE = [spec(1, (1, 4, 4), (2, 3, 3))]
FIRST = weights(ConvW0=(2, 1, 2, 2), ConvB0=(2,))


def one_conv(**metadata: Any) -> dict[str, Any]:
    """4×4 → two channels of 3×3 → two outputs."""
    tensors = weights(ConvW0=(2, 1, 2, 2), ConvB0=(2,), W=(2, 18), B=(2,))
    nodes = [*conv(1, "input", [2, 2]), gemm(2, "Layer_1")]
    return document(nodes, tensors, 16, 2, **metadata)


def refusal(source: dict[str, Any]) -> str:
    with pytest.raises(ModelError) as refused:
        with_warnings(import_model, source)
    with pytest.raises(ModelError) as again:
        with_warnings(convert, source)
    assert str(again.value) == str(refused.value)
    return str(refused.value)


def test_nodes_are_named_as_export_names_them_and_the_own_spec_counts():
    wrong = spec(2, (1, 2, 8), (2, 1, 7))
    model = with_warnings(convert, one_conv(conv2d_specs=[wrong, *ONE]))[0]
    assert [entry.name for entry in model.graph.node] == [
        *("reshape_l1", "conv_l1", "act_conv_l1", "flatten_Layer_1", "gemm_l2")
    ]
    assert model.graph.tensors["shape_l1"].values.tolist() == [0, 1, 4, 4]
    source = document(conv(1, "input", [2, 2]), FIRST, 16, 18, conv2d_specs=ONE)
    assert validate(with_warnings(convert, source)[0]) == []
    assert with_warnings(import_model, source)[0].outputs[0].shape == (18,)


@pytest.mark.parametrize(
    "specs", ["oops", [], {}, [1, None], [{"layerIndex": 1}], [spec(1, (2**24,) * 3, (1, 1, 1))]]
)
def test_without_a_usable_spec_a_flat_input_is_refused(specs: Any):
    line = refusal(one_conv(conv2d_specs=specs))
    assert "conv_l1 (Conv)" in line
    assert "nothing tells its channels" in line or "reads 16777216×" in line


NEVER = "pool_after_l1 (MaxPool) before it changes the size, as NeatapticTS's network never"
STEPS_OF_2 = {"strides": [2, 2], "pads": [0, 0, 0, 0]}
PADDED = {"strides": [1, 1], "pads": [1, 1, 1, 1]}


@pytest.mark.parametrize(
    ("then", "width", "text"),
    [
        ([pool("MaxPool", 1, [2, 2], **STEPS_OF_2), gemm(2, "Pool_1")], 2, NEVER),
        ([pool("MaxPool", 1, [2, 2], **PADDED), gemm(2, "Pool_1")], 2, NEVER),
        (
            [pool("MaxPool", 1, [2, 2]), *conv(2, "Pool_1", [2, 2])],
            4,
            "node conv_l2 (Conv) reads 2×3×3 values, its input has 8: pool_after_l1",
        ),
        (
            [pool("AveragePool", 1, [2, 2])],
            18,
            "graph output 'output' has 18 columns, what produces it has 8: pool_after_l1",
        ),
        ([gemm(2, "Layer_1")], 2, "has 8 columns, its input has 18"),
    ],
)
def test_layers_of_another_size_than_their_readers_need_are_refused(then, width, text):
    columns = 8 if "has 8 columns, its" in text else 18
    tensors = FIRST | weights(ConvW1=(1, 2, 2, 2), ConvB1=(1,), W=(2, columns), B=(2,))
    specs = [*ONE, spec(2, (2, 3, 3), (1, 2, 2))]
    nodes = [*conv(1, "input", [2, 2]), *then]
    assert text in refusal(document(nodes, tensors, 16, width, conv2d_specs=specs))


def test_a_pool_of_a_flat_layer_is_refused():
    first = node("Gemm", "input V C", "Layer_1", "gemm_l1", transB=1)
    tensors = weights(V=(9, 2), C=(9,), W=(2, 9), B=(2,))
    line = refusal(document([first, pool("MaxPool", 1, [2, 2]), gemm(2, "Pool_1")], tensors, 2, 2))
    assert "pool_after_l1 (MaxPool): its input is a flat layer of 9 neurons" in line


@st.composite
def convolutional(draw: st.DrawFn) -> tuple[Network, dict[str, Any]]:
    """A layered network, and options that call some of its layers convolutions."""
    sizes, mappings = [], []
    shape = tuple(draw(st.integers(1, top)) for top in (2, 5, 5))
    sizes.append(int(np.prod(shape)))
    for layer in range(1, draw(st.integers(1, 3)) + 1):
        _, rows, columns = shape
        kernel = [draw(st.integers(1, rows)), draw(st.integers(1, columns))]
        stride = [draw(st.integers(1, 2)) for _ in range(2)]
        pads = [draw(st.integers(0, 1)) for _ in range(4)]  # top, bottom, left, right
        out = (
            draw(st.integers(1, 2)),
            (rows + pads[0] + pads[1] - kernel[0]) // stride[0] + 1,
            (columns + pads[2] + pads[3] - kernel[1]) // stride[1] + 1,
        )
        names = ("kernelHeight", "kernelWidth", "strideHeight", "strideWidth")
        mapping = dict(zip(names, (*kernel, *stride), strict=True))
        names = ("padTop", "padBottom", "padLeft", "padRight")
        mapping |= dict(zip(names, pads, strict=True))
        if draw(st.booleans()) or layer == 1:
            mappings.append(spec(layer, shape, out) | mapping)
        sizes.append(int(np.prod(out)))
        shape = out if draw(st.booleans()) else (out[0] * out[1], 1, out[2])
    sizes.append(draw(st.integers(1, 3)))
    activation = draw(st.sampled_from(["tanh", "relu", "sigmoid"]))
    net = Network.mlp(sizes, activation=activation, seed=draw(st.integers(0, 99)))
    options = {
        "conv2dMappings": mappings,
        "batchDimension": draw(st.booleans()),
        "includeMetadata": draw(st.booleans()),
        "legacyNodeOrdering": draw(st.booleans()),
    }
    return net, options


@settings(max_examples=count(25, 60))
@given(convolutional())
def test_any_convolution_is_read_as_the_graph_says(made: tuple[Network, dict[str, Any]]):
    net, options = made

    def in_dialect(net: Network) -> Model:
        return export(net, options=options, dialect="neataptic", lossy=True)

    source = with_warnings(in_dialect, net)[0].to_document()
    x = np.random.default_rng(1).normal(size=(3, len(net.input_neurons)))
    try:
        imported = with_warnings(import_model, source)[0]
    except ModelError as error:  # windows over padding alone
        assert "depends on no input" in str(error)
        return
    got = imported.activate(x)
    np.testing.assert_allclose(got, computed(source, options, x), rtol=1e-12, atol=1e-12)
    assert validate(with_warnings(convert, source)[0]) == []
