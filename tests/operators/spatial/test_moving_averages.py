"""Means of windows that reach beyond the borders come back as a Pad and an AveragePool."""

import numpy as np
import pytest
from neat_onnx.short_form.larger_operators import with_larger_operators
from support.examples.graphs import assert_lifts, assert_valid_in_any_form, graph, node, operators
from support.harness.sweep import each

from neat_onnx import export, import_model, load_model, verify

RANDOM = np.random.default_rng(0)
FEW = {"Transpose", "Reshape", "Flatten", "Sum", "Identity"}


def trend(shape, pads, kernel, mode, *, perm=None, **pool):
    """What is left of x without its moving average, times weights."""
    axes = len(shape) - 2
    turned = [node("Transpose", "x", "t", perm=perm)] if perm else []
    back = [node("Transpose", "a", "b", perm=perm)] if perm else []
    nodes = [
        *turned,
        node("Pad", f"{'t' if perm else 'x'} p", "w", mode=mode),
        node("AveragePool", "w", "a", kernel_shape=[kernel] * axes, **pool),
        *back,
    ]
    mean = "b" if perm else "a"
    if "strides" in pool:
        nodes[-1].output[0] = "y"
        return graph(nodes, x=shape, p=np.array(pads))
    nodes += [node("Sub", f"x {mean}", "d"), node("MatMul", "d v", "y")]
    return graph(nodes, x=shape, p=np.array(pads), v=RANDOM.normal(size=(shape[-1], 3)))


def of_steps(steps, before, behind, kernel, mode="edge"):
    """Along the steps, whose features are in the last axis."""
    pads = [0, 0, before, 0, 0, behind]
    return trend(("N", steps, 4), pads, kernel, mode, perm=[0, 2, 1])


def of_pictures(size, reach, kernel, mode="edge", **pool):
    pads = [0, 0, reach, reach, 0, 0, reach, reach]
    return trend(("N", 3, size, size + 1), pads, kernel, mode, **pool)


CASES = {
    "steps": of_steps(9, 2, 2, 5),
    "many steps": of_steps(40, 2, 2, 5),
    "a window as long as the steps": of_steps(25, 12, 12, 25),
    "a window longer than the steps": of_steps(8, 4, 4, 9),
    "mirrored": of_steps(9, 2, 2, 5, "reflect"),
    "steps before": of_steps(9, 4, 0, 5),
    "steps behind": of_steps(9, 0, 2, 3, "reflect"),
    "channels": trend(("N", 4, 9), [0, 0, 1, 0, 0, 1], 3, "edge"),
    "pictures": of_pictures(6, 1, 3),
    "mirrored pictures": of_pictures(6, 2, 5, "reflect"),
    "every second window": of_pictures(6, 1, 3, strides=[2, 2]),
}


@pytest.mark.filterwarnings("ignore:a AveragePool of the network is written neuron by neuron")
@pytest.mark.parametrize("case", each(2, list(CASES)))
def test_no_window_is_listed(case):
    model = CASES[case]
    net = assert_lifts(model)
    short = export(net)
    want = [each.op_type for each in model.graph.node if each.op_type not in FEW]
    assert sorted(each for each in operators(short) if each not in FEW) == sorted(want)
    assert len(short.to_bytes()) < 1.25 * len(model.SerializeToString())
    assert import_model(short.to_bytes()) == net
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


GROUPS = [[0, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 4]]
OTHERS = {
    "one window more": [[*GROUPS, [4, 4, 3]]] * 4,
    "a gap": [[[0, 0, 1], [0, 1, 2], [1, 2, 4], [2, 3, 4], [3, 4, 4]]] * 4,
    "an element twice": [[[0, 0, 1], [0, 1, 1], [1, 2, 3], [2, 3, 4], [3, 4, 4]]] * 4,
    "two borders": [[[2, 0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 2]]] * 4,
    "other windows in a row": [GROUPS, GROUPS, GROUPS, [*GROUPS[:-1], [3, 4, 3]]],
    "no border": [GROUPS[1:-1]] * 4,
}


def means(rows):
    """The means of groups of elements of four rows."""
    return means_of([5 * row + np.array(groups) for row, groups in enumerate(rows)])


def means_of(groups):
    """The means of groups of elements."""
    at = np.concatenate(groups)
    nodes = [
        node("Flatten", "x", "f"),
        node("Gather", "f at", "g", axis=1),
        node("Reshape", "g s", "r"),
        node("ReduceMean", "r last", "y", keepdims=0),
    ]
    numbers = {"s": np.array([0, *at.shape]), "last": np.array([2])}
    return graph(nodes, x=("N", 4, 5), at=at.ravel(), **numbers)


@pytest.mark.parametrize("case", OTHERS)
def test_other_groups_of_elements_stay(case):
    model = means(OTHERS[case])
    assert not any("Pad" in operators(each) for each in with_larger_operators(load_model(model)))
    net = assert_lifts(model)
    short = export(net)
    assert "Pad" not in operators(short)
    assert import_model(short.to_bytes()) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_such_groups_without_a_change_are_windows():
    net = assert_lifts(means([GROUPS] * 4))
    assert operators(export(net)) == ["Pad", "AveragePool", "Flatten"]


def test_windows_along_all_axes_have_no_channels():
    places = np.pad(np.arange(20).reshape(4, 5), 1, "edge")
    windows = np.lib.stride_tricks.sliding_window_view(places, (3, 3)).reshape(20, 9)
    net = assert_lifts(means_of([windows]))
    short = export(net)
    assert import_model(short.to_bytes()) == net
    assert verify(net, short, runtime="onnxruntime").passed
