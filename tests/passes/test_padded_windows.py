"""Pad with zeros in front of a window: before and after, and as neurons."""

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator
from support.examples.graphs import assert_lifts, graph, node, operators
from support.harness.sessions import open_session

from neat_onnx import Model, export, import_model, verify
from neat_onnx.passes.padded_windows import padded_windows

IMAGE = ("N", 2, 5, 6)
KERNEL = np.random.default_rng(0).normal(size=(3, 2, 3, 3))
CONV = node("Conv", "p w", "y")


def padded(pads, *, reads="x pads", conv=CONV, constants=None, **attributes):
    nodes = [node("Pad", reads, "p", **attributes), conv]
    return graph(nodes, x=IMAGE, w=KERNEL, pads=np.array(pads), **(constants or {}))


CASES = {
    "both axes": (padded([0, 0, 1, 2, 0, 0, 0, 1]), [1, 2, 0, 1]),
    "a zero": (padded([0, 0, 1, 1, 0, 0, 1, 1], reads="x pads z", constants={"z": 0.0}), [1] * 4),
    "named axes": (
        padded([2, 0, 1, 0], reads="x pads _ axes", constants={"axes": np.array([-1, 0])}),
        [0, 2, 0, 1],
    ),
    "pads of its own": (
        padded([0, 0, 1, 0, 0, 0, 0, 2], conv=node("Conv", "p w", "y", pads=[0, 1, 1, 0])),
        [1, 1, 1, 2],
    ),
    "mean": (
        padded([0, 0, 1, 0, 0, 0, 1, 1], conv=node("AveragePool", "p", "y", kernel_shape=[2, 2])),
        [1, 0, 1, 1],
    ),
    "strides": (
        padded([0, 0, 4, 0, 0, 0, 0, 0], conv=node("Conv", "p w", "y", strides=[2, 1])),
        [4, 0, 0, 0],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_window_has_the_pads(case):
    model, pads = CASES[case]
    simple = padded_windows(Model.from_proto(model))
    assert padded_windows(simple) is simple
    conv = simple.graph.node[-1]
    assert (conv.input[0], [*conv.attributes.pads]) == ("x", pads)
    x = np.random.default_rng(1).normal(size=(2, *IMAGE[1:])).astype(np.float32)
    want, got = (open_session(each).run(None, {"x": x}) for each in (model, simple.to_proto()))
    np.testing.assert_allclose(got[0], want[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_no_neurons_stand_for_the_zeros(case):
    net = assert_lifts(CASES[case][0])
    made = np.prod(net.outputs[0].shape)
    assert len(net) == np.prod(IMAGE[1:]) + made
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


OTHERS = {
    "of channels": padded([0, 1, 0, 0, 0, 0, 0, 0], conv=node("Conv", "p v", "y"),
                          constants={"v": np.ones((1, 3, 2, 2))}),
    "of ones": padded([0, 0, 1, 1, 0, 0, 1, 1], reads="x pads z", constants={"z": 1.0}),
    "of other elements": padded([0, 0, 1, 1, 0, 0, 1, 1], mode="reflect"),
    "that crops": padded([0, 0, -1, 0, 0, 0, 1, 0]),
    "by auto_pad": padded([0, 0, 1, 0, 0, 0, 0, 0],
                          conv=node("Conv", "p w", "y", auto_pad="SAME_UPPER", strides=[2, 2])),
    "of a mean of its own pads": padded([0, 0, 1, 0, 0, 0, 0, 0],
                                        conv=node("AveragePool", "p", "y", kernel_shape=[2, 3],
                                                  pads=[0, 1, 0, 1])),
    "as wide as the window": padded([0, 0, 2, 0, 0, 0, 0, 0],
                                    conv=node("AveragePool", "p", "y", kernel_shape=[2, 2])),
}  # fmt: skip


def assert_equals_reference(model):
    """The network gives what onnx's own evaluator gives: onnxruntime widens windows too far."""
    x = -np.abs(np.random.default_rng(1).normal(size=(2, *IMAGE[1:]))).astype(np.float32)
    x[:, :, 2:4] *= -1
    (want,) = ReferenceEvaluator(model).run(None, {"x": x})
    np.testing.assert_allclose(import_model(model).activate({"x": x})["y"], want, atol=2e-6)


@pytest.mark.parametrize("case", OTHERS)
def test_other_pads_stay(case):
    model = Model.from_proto(OTHERS[case])
    assert padded_windows(model) is model
    pool = operators(model)[-1] != "Conv"
    (assert_equals_reference if pool else assert_lifts)(OTHERS[case])


POOL = [node("Pad", "r pads", "p"), node("MaxPool", "p", "y", kernel_shape=[2, 2])]


@pytest.mark.parametrize(("before", "widens"), [("Relu", True), ("Tanh", False)])
def test_the_largest_of_a_window_if_none_is_below_the_zeros(before: str, widens: bool):
    pads = np.array([0, 0, 1, 1, 0, 0, 0, 1])
    model = graph([node(before, "x", "r"), *POOL], x=IMAGE, pads=pads)
    simple = padded_windows(Model.from_proto(model))
    assert (simple.graph.node[-1].input[0] == "r") == widens
    assert_equals_reference(model)


@pytest.mark.parametrize("case", ["axes", "own pads", "rounded up", "places"])
def test_what_does_not_fit_or_is_another_function_stays(case):
    pads, pool = [0, 0, 1, 1, 0, 0, 1, 1], {"kernel_shape": [2, 2]}
    model = {
        "axes": padded([1, 0], reads="x pads _ axes", constants={"axes": np.array([7])}),
        "own pads": padded(pads, conv=node("Conv", "p w", "y", pads=[1, 1])),
        "rounded up": padded(pads, conv=node("AveragePool", "p", "y", ceil_mode=1, **pool)),
        "places": graph([node("Relu", "x", "r"), POOL[0], node("MaxPool", "p", "y i", **pool)],
                        x=IMAGE, pads=np.array(pads)),
    }[case]  # fmt: skip
    before = Model.from_proto(model)
    assert padded_windows(before) is before
