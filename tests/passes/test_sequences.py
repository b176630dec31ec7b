"""Sequences of tensors, as exporters write torch.split, unbind and stack, become the tensors."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import ModelError, canonicalize, import_model

ZERO, ONE, LAST = np.array(0), np.array(1), np.array(-1)
HALVES = node("SplitToSequence", "x halves", "parts", axis=1)
CASES = {
    "sizes": (
        [HALVES, node("SequenceAt", "parts one", "a"), node("SequenceAt", "parts last", "b"),
         node("Sub", "a b", "t"), node("SequenceAt", "parts zero", "c"), node("Mul", "t c", "y")],
        {"halves": [2, 2, 2], "zero": ZERO, "one": ONE, "last": LAST},
    ),
    "one size, the last part smaller": (
        [HALVES, node("SequenceAt", "parts one", "a"), node("Tanh", "a", "y")],
        {"halves": np.array(4), "one": ONE},
    ),
    "unbind and stack": (
        [
            node("SplitToSequence", "x", "parts", axis=1, keepdims=0),
            node("SequenceAt", "parts one", "a"),
            node("SequenceAt", "parts last", "b"),
            node("SequenceConstruct", "a b a", "rows"),
            node("ConcatFromSequence", "rows", "y", axis=1, new_axis=1),
        ],
        {"one": ONE, "last": LAST},
    ),
    "inserted and erased": (
        [
            node("SequenceEmpty", "", "none"),
            node("SequenceInsert", "none x", "first"),
            node("Tanh", "x", "t"),
            node("SequenceInsert", "first t zero", "second"),
            node("Exp", "x", "e"),
            node("SequenceInsert", "second e", "third"),
            node("SequenceErase", "third one", "fourth"),
            node("ConcatFromSequence", "fourth", "y", axis=1),
        ],
        {"zero": ZERO, "one": ONE},
    ),
    "length": (
        [HALVES, node("SequenceLength", "parts", "n"), node("Cast", "n", "f", to=1),
         node("Mul", "x f", "y")],
        {"halves": np.array(4)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_sequence_is_its_tensors(case: str):
    nodes, constants = CASES[case]
    model = graph(nodes, x=("N", 6), **constants)
    assert_lifts(model)
    simple = canonicalize(model)
    assert not any("Sequence" in each.op_type for each in simple.graph.node)
    assert canonicalize(simple) == simple


@pytest.mark.parametrize("place", [3, -4])
def test_a_place_beyond_the_sequence_is_refused(place: int):
    nodes = [HALVES, node("SequenceAt", "parts at", "y")]
    model = graph(nodes, x=("N", 6), halves=[2, 2, 2], at=np.array(place))
    with pytest.raises(ModelError, match="SequenceAt"):
        import_model(model)


def test_a_place_that_is_computed_is_refused():
    nodes = [HALVES, node("ReduceMax", "x", "m", keepdims=0), node("Cast", "m", "at", to=7),
             node("SequenceAt", "parts at", "y")]  # fmt: skip
    with pytest.raises(ModelError, match="SequenceAt"):
        import_model(graph(nodes, x=("N", 6), halves=[2, 2, 2]))
