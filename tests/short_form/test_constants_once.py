"""Constants that stand twice."""

import numpy as np
from onnx import numpy_helper
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx.model import load_model
from neat_onnx.short_form.constants_once import constants_once

NODES = [
    node("Add", "x a", "s"),
    node("Mul", "s b", "m"),
    node("Reshape", "m i", "r"),
    node("Reshape", "r j", "q"),
    node("Sub", "q c", "y"),
]
SHAPE = np.array([0, 3])


def model(**constants):
    return load_model(graph(NODES, x=("N", 3), i=SHAPE, **constants))


def test_equal_ones_are_one():
    before = model(a=[0.5] * 3, b=[0.5] * 3, c=[0.25] * 3, j=SHAPE)
    after = constants_once(before)
    assert [tensor.name for tensor in after.graph.initializer] == ["i", "a", "c"]
    assert [node.input[1] for node in after.graph.node] == ["a", "a", "i", "i", "c"]
    x = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    got, want = (open_session(each).run(None, {"x": x})[0] for each in (after, before))
    np.testing.assert_array_equal(got, want)
    assert constants_once(after) is after


def test_other_bits_types_and_shapes_are_others():
    before = model(a=[0.0] * 3, b=[-0.0] * 3, c=[[0.0] * 3], j=np.array([-1, 3]))
    assert constants_once(before) is before
    typed = graph(NODES, x=("N", 3), i=SHAPE, a=[0.0] * 3, b=0.5, c=0.25, j=np.array([-1, 3]))
    typed.graph.initializer.append(numpy_helper.from_array(np.zeros(3, np.int32), "k"))
    before = load_model(typed)
    zeros = [each for each in before.graph.initializer if each.name in ("a", "k")]
    assert len({each.to_bytes() for each in zeros}) == 1
    assert constants_once(before) is before


def test_an_output_keeps_its_name():
    before = graph(NODES, x=("N", 3), i=SHAPE, j=SHAPE, a=1.0, b=1.0, c=1.0, outputs=["y", "b"])
    after = constants_once(load_model(before))
    assert [tensor.name for tensor in after.graph.initializer] == ["i", "a", "b"]
