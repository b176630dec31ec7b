"""Remainders of computed numbers by computed divisors: exact, and Mod again in an export."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify


def _model(**attributes: int) -> ModelProto:
    model = graph([node("Mod", "x u", "y", **attributes)], x=("N", 1))
    entry = helper.make_tensor_value_info("u", TensorProto.FLOAT, ["N", 1])
    model.graph.input.append(entry)
    return model


@pytest.mark.parametrize("largest", [1.0, 1e3, 1e7])
def test_it_is_the_one_of_the_c_library(largest: float):
    """Of multiples as well, where a quotient that is rounded would be a whole one off."""
    random = np.random.default_rng(0)
    divisor = random.normal(size=(4000, 1)).astype(np.float32)
    times = random.uniform(-largest, largest, divisor.shape)
    times[::2] = np.round(times[::2])
    dividend = (times * divisor).astype(np.float32)
    got = import_model(_model(fmod=1)).activate({"x": dividend, "u": divisor})["y"]
    np.testing.assert_array_equal(got, np.fmod(dividend, divisor))
    np.testing.assert_array_equal(np.signbit(got)[got != 0], np.signbit(dividend)[got != 0])


def test_it_comes_back_as_mod():
    net = import_model(model := _model(fmod=1))
    written = export(net)
    assert verify(net, model, runtime="onnxruntime").passed
    feed = {"x": np.float32([[7.5], [-6.0]]), "u": np.float32([[-2.0], [0.5]])}
    (got,) = open_session(written).run(None, feed)
    assert got.tolist() == [[1.5], [0.0]]
