"""The first few of many elements: values and places as runtimes have them."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import export, import_model, verify

SIZE = 40
K = {"k": np.array([3])}


def top(*outputs, **attributes):
    return graph(
        [node("TopK", "x k", "v i", **attributes), node("Cast", "i", "p", to=1)],
        x=("N", SIZE),
        outputs=outputs,
        **K,
    )


@pytest.mark.parametrize("outputs", [["v", "p"], ["p"], ["v"]], ids=str)
@pytest.mark.parametrize("largest", [0, 1])
def test_values_and_places_are_those_of_onnxruntime(outputs, largest):
    net = assert_lifts(top(*outputs, largest=largest))
    model = export(net)
    assert verify(net, model, samples=16, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net


def test_what_is_taken_stays_below_the_smallest_number_that_there_is():
    most = np.finfo(np.float32).max
    net = import_model(graph("y, i = TopK(x, k)", x=("N", 16), k=np.array([3])))
    x = np.where(np.random.default_rng(0).random((20, 16)) < 0.9, -most, most).astype(np.float32)
    written = export(net, dtype="float32")
    want = -np.sort(-x)[:, :3]
    for found in (net.activate({"x": x})["y"], open_session(written).run(None, {"x": x})[0]):
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("largest", [0, 1])
def test_equal_elements_come_in_their_order_and_each_once(largest):
    model = top("v", "p", largest=largest)
    net = import_model(model)
    random = np.random.default_rng(0)
    x = random.integers(-1, 2, size=(50, SIZE)).astype(np.float32)
    x[:3] = [[0.0] * SIZE, [-1e30] * SIZE, [1e30] * SIZE]
    x[3:9] *= np.finfo(np.float32).max
    want = open_session(model).run(None, {"x": x})
    again = open_session(export(net).to_proto()).run(None, {"x": x})
    for got in (list(net.activate({"x": x}).values()), again):
        np.testing.assert_array_equal(np.reshape(got[0], want[0].shape), want[0])
        np.testing.assert_array_equal(np.reshape(got[1], want[1].shape), want[1])
