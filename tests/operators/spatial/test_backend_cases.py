"""ONNX's own backend cases of every operator that slides a window, and of Flatten, as neurons.

The outputs of the cases are the oracle: import need not run onnx's reference evaluator besides,
which computes pools window by window.
"""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from support.examples.backend_cases import backend_cases, is_large
from support.harness.sessions import open_session

from neat_onnx import ModelError, NeatOnnxWarning, export, import_model

Array = np.ndarray[Any, Any]

COUNTS = {
    "Conv": 6,
    "ConvTranspose": 11,
    "MaxPool": 19,
    "AveragePool": 20,
    "GlobalAveragePool": 2,
    "GlobalMaxPool": 2,
    "Flatten": 9,
}
BACKEND = backend_cases(*COUNTS)
REFUSED = {
    "test_maxpool_with_argmax_2d_precomputed_pads": "its second output, the indices, cannot be",
    "test_maxpool_with_argmax_2d_precomputed_strides": "storage_order is 1, expected 0",
}
"""Indices are no neurons' values, and storage_order is how they count."""

MIXES_THE_BATCH = tuple(
    f"test_flatten_{axis}" for axis in ("axis2", "axis3", "negative_axis1", "negative_axis2")
)
ONE_ROW = ("test_flatten_axis0", "test_flatten_negative_axis4")
"""What makes one row of the whole batch: right where there is no batch, or one of one sample."""

FOUR_DIGITS = "test_averagepool_2d_ceil_last_window_starts_on_pad"
"""What it should give is written down in so many."""

SMALL = [name for name, case in BACKEND.items() if not is_large(case)]
BY_BATCH = [name for name in SMALL if name not in (*MIXES_THE_BATCH, *ONE_ROW)]


def test_onnx_has_the_cases_that_are_meant():
    operators = [case.model.graph.node[0].op_type for case in BACKEND.values()]
    assert {name: operators.count(name) for name in COUNTS} == COUNTS


def given(name: str) -> tuple[onnx.ModelProto, Array, Array]:
    """A case with everything but the data as initializers: (model, data, what it should give)."""
    ((inputs, outputs),) = BACKEND[name].data_sets
    model = onnx.ModelProto()
    model.CopyFrom(BACKEND[name].model)
    for entry, values in list(zip(model.graph.input, inputs, strict=True))[1:]:
        model.graph.initializer.append(numpy_helper.from_array(values, entry.name))
    del model.graph.input[1:]
    return model, inputs[0], outputs[0]


def real_values_only(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the same numbers as float32, and without the indices of its maxima."""
    graph = model.graph
    del graph.output[1:], graph.node[0].output[1:]
    for entry in (graph.input[0], graph.output[0]):
        entry.type.tensor_type.elem_type = TensorProto.FLOAT
    for attribute in graph.node[0].attribute:
        if attribute.name == "storage_order":
            attribute.i = 0
    return model


def assert_gives(name: str, got: Array, want: Array) -> None:
    """The largest of some numbers is exact, and so are sums of few whole ones; means are not."""
    assert got.shape == want.shape
    average = "average" in name
    tolerance = 1e-4 if name == FOUR_DIGITS else 1e-6 if average else 0.0
    assert np.all(np.abs(got - want) <= tolerance * np.maximum(1.0, np.abs(want)))


@pytest.mark.parametrize("name", SMALL)
def test_case_with_every_axis_a_feature(name: str):
    model, x, want = given(name)
    if name in REFUSED:
        with pytest.raises(ModelError, match=REFUSED[name]):
            import_model(model, batch_axis=None)
        real_values_only(model)
    net = import_model(model, batch_axis=None, check=False)
    got = net.activate({model.graph.input[0].name: x[None]})[model.graph.output[0].name]
    assert_gives(name, got[0], want)


@pytest.mark.parametrize("name", [name for name in BACKEND if "conv" in name])
def test_case_whose_kernel_is_an_input_too(name: str):
    """As onnx has it: the kernel gates the connections that it weighs."""
    ((inputs, (want,)),) = BACKEND[name].data_sets
    model = BACKEND[name].model
    named = {entry.name: values for entry, values in zip(model.graph.input, inputs, strict=True)}
    net = import_model(model, batch_axis=None, check=False)
    got = net.activate(named)[model.graph.output[0].name]
    assert_gives(name, got, want)
    if len(named) > 1:
        with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
            assert import_model(model, check=False) == net


@pytest.mark.parametrize("name", BY_BATCH)
def test_case_by_batch_and_back(name: str):
    """The first axis is the batch; export writes the operator again, and onnxruntime agrees."""
    model, x, want = given(name)
    net = import_model(real_values_only(model), check=False)
    got = net.activate({model.graph.input[0].name: x})[model.graph.output[0].name]
    assert_gives(name, got, want)
    back = export(net, opset=22)
    assert model.graph.node[0].op_type in [node.op_type for node in back.graph.node]
    session = open_session(back)
    (by_runtime,) = session.run(None, {model.graph.input[0].name: x.astype(np.float32)})
    np.testing.assert_allclose(by_runtime, got, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MIXES_THE_BATCH)
def test_flattening_a_fixed_batch_makes_every_axis_features(name: str):
    model, _, _ = given(name)
    with pytest.warns(NeatOnnxWarning, match="the first axis of output 'b' is not the batch"):
        assert import_model(model) == import_model(model, batch_axis=None)
