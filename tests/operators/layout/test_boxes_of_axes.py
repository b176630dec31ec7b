"""Slices and pads come back as themselves, without lists of places."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, assert_valid_in_any_form, graph, node, operators

from neat_onnx import export, import_model, verify

SHAPE = ("N", 3, 8, 9)


def sliced(starts, ends, axes, steps):
    given = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
    constants = {name: np.array(value) for name, value in given.items()}
    return [node("Slice", "x starts ends axes steps", "y")], constants


def padded(before, after, mode="constant", value=None):
    constants = {"pads": np.array([0, *before, 0, *after])}
    if value is not None:
        constants["value"] = np.array(value)
    return [node("Pad", " ".join(["x", *constants]), "y", mode=mode)], constants


CASES = {
    "inner": sliced([2, 1], [6, 8], [2, 3], [1, 1]),
    "steps": sliced([0, 1], [8, 9], [2, 3], [2, 3]),
    "backwards": sliced([-1], [-100], [3], [-1]),
    "one row": sliced([3], [4], [2], [1]),
    "zeros": padded([0, 1, 2], [0, 2, 1]),
    "a number": padded([0, 1, 1], [0, 1, 1], value=-2.5),
    "channels": padded([1, 0, 0], [2, 0, 0]),
    "edges": padded([0, 1, 2], [0, 2, 1], "edge"),
    "mirrored": padded([0, 1, 2], [0, 2, 1], "reflect"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_one_node_again(case):
    nodes, constants = CASES[case]
    model = graph(nodes, x=SHAPE, **constants)
    net = assert_lifts(model)
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed
    assert_valid_in_any_form(net)


@pytest.mark.parametrize("case", ["inner", "steps", "one row", "zeros", "a number"])
def test_it_is_one_node_of_a_layer(case):
    nodes, constants = CASES[case]
    layer = [node("Tanh", "x", "t"), node(nodes[0].op_type, "t " + " ".join(constants), "y")]
    net = assert_lifts(graph(layer, x=SHAPE, **constants))
    short = export(net)
    assert import_model(short) == net


@pytest.mark.parametrize(
    "places", [[0, 1, 3, 9, 10, 12], [0, 1, 2, 9, 10, 12]], ids=["uneven steps", "no box"]
)
def test_other_places_are_a_list(places):
    nodes = [
        node("Reshape", "x flat", "f"),
        node("Gather", "f places", "g", axis=1),
        node("Tanh", "g", "y"),
    ]
    given = {"flat": np.array([0, -1]), "places": np.array(places)}
    net = assert_lifts(graph(nodes, x=SHAPE, **given))
    short = export(net)
    assert "Slice" not in operators(short)
    assert import_model(short) == net


def test_elements_around_that_are_not_alike_are_no_pad():
    nodes = [
        node("Pad", "x ones", "a"),
        node("Pad", "a more value", "y"),
    ]
    given = {"ones": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "more": np.array([0, 0, 1, 1, 0, 0, 1, 1])}
    net = assert_lifts(graph(nodes, x=SHAPE, value=np.array(2.0), **given))
    short = export(net)
    assert import_model(short) == net
    assert verify(net, short, runtime="onnxruntime").passed


def test_wrapping_is_written_where_the_opset_has_it():
    nodes, constants = padded([0, 1, 2], [0, 2, 1], "wrap")
    net = assert_lifts(graph(nodes, x=SHAPE, opset=19, **constants))
    assert "Pad" not in operators(export(net, opset=18))
