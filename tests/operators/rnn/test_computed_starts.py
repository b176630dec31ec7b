"""The state before the first step of an open sequence, computed from a static input."""

import numpy as np
import pytest
from support.examples.conditioned import assert_comes_back, conditioned, layer
from support.examples.graphs import node

from neat_onnx import ModelError, import_model

START = [
    node("MatMul", "s into_H", "f"),
    node("Tanh", "f", "g"),
    node("Unsqueeze", "g first", "h0"),
]


@pytest.mark.parametrize("operator", ["RNN", "GRU", "LSTM"])
def test_a_layer_begins_with_it(operator):
    model = conditioned([*START, *layer(operator, "x", "h", "h0"), node("Identity", "h", "y")])
    net = assert_comes_back(model)
    rng = np.random.default_rng(0)
    x, s = rng.normal(size=(4, 2, 3)), rng.normal(size=(2, 2))
    assert np.abs(net.run({"x": x, "s": s})["y"] - net.run({"x": x, "s": 0 * s})["y"]).max() > 1e-3


def test_all_samples_may_share_it():
    nodes = [
        *START[:2],
        node("Shape", "x", "sizes"),
        node("Slice", "sizes first second", "samples"),
        node("Concat", "second samples second", "shape", axis=0),
        node("Expand", "g shape", "h0"),
        *layer("RNN", "x", "h", "h0"),
        node("Identity", "h_end", "y"),
    ]
    assert_comes_back(conditioned(nodes, s=[2]))


def test_each_layer_has_its_own():
    nodes = [
        *START,
        *layer("RNN", "x", "h", "h0"),
        node("MatMul", "h widen", "turned"),
        node("Transpose", "turned", "wide", perm=[1, 0, 2]),
        *layer("GRU", "wide", "k", "h0"),
        node("Identity", "k", "y"),
    ]
    assert_comes_back(conditioned(nodes, widen=np.random.default_rng(0).normal(size=(4, 5))))


WRONG = {
    "no axis of time, as a sequence": [
        node("Unsqueeze", "s first", "s1"),
        *layer("RNN", "s1", "q"),
        node("Add", "h_end q_end", "y"),
    ],
    "along the batch": [
        node("MatMul", "s into_3", "f"),
        node("Add", "x f", "y"),
    ],
    "end of a sequence": [
        node("Unsqueeze", "h_end first", "h0"),
        node("Identity", "x", "also"),
        *layer("RNN", "also", "k", "h0"),
        node("Identity", "k", "y"),
    ],
}


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("problem", WRONG)
def test_what_is_no_static_input_is_refused(problem, check):
    model = conditioned([*layer("GRU", "x", "h"), *WRONG[problem]])
    with pytest.raises(ModelError, match=problem):
        import_model(model, check=check)
