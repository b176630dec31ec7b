"""Masks of −∞: read as onnxruntime computes them, and refused where a neuron would be infinite."""

import numpy as np
import pytest
from graphs import assert_lifts, graph, node

from neat_onnx import ModelError, export, import_model, load_model, validate, verify

INF = np.inf
CAUSAL = np.where(np.tri(3), 0.0, -INF)
CAUSAL_TRUTH = np.tri(3).astype(np.int64)
RIGHT = {
    "add then softmax": ([node("Add", "x m", "a"), node("Softmax", "a", "y")], CAUSAL),
    "softmax of a scaled sum": (
        [node("Mul", "x h", "s"), node("Add", "s m", "a"), node("Softmax", "a", "y", axis=1)],
        CAUSAL,
    ),
    "sub": ([node("Sub", "x m", "a"), node("Softmax", "a", "y")], -CAUSAL),
    "where": (
        [node("Cast", "t", "c", to=9), node("Where", "c x m", "a"), node("Softmax", "a", "y")],
        -np.full((1,), INF),
    ),
    "rearranged": (
        [node("Add", "x m", "a"), node("Transpose", "a", "b", perm=[0, 2, 1]),
         node("Softmax", "b", "y", axis=1)],
        CAUSAL,
    ),
    "computed mask": (
        [node("Sub", "o t", "f"), node("Cast", "f", "u", to=1), node("Mul", "u n", "k"),
         node("Min", "k m", "l"), node("Add", "x l", "a"), node("Softmax", "a", "y")],
        np.array([0.0]),
    ),
    "max keeps": ([node("Max", "x m", "y")], CAUSAL),
    "min keeps": ([node("Min", "x m", "y")], -CAUSAL),
    "max of masked": (
        [node("Add", "x m", "a"), node("ReduceMax", "a axis", "y", keepdims=0)], CAUSAL
    ),
    "max of masked, kept": ([node("Add", "x m", "a"), node("ReduceMax", "a axis", "y")], CAUSAL),
    "masked twice": (
        [node("Add", "x m", "a"), node("Add", "a m", "b"), node("Softmax", "b", "y")], CAUSAL
    ),
    "max of two masks": (
        [node("Add", "x m", "a"), node("Max", "a h", "y")], CAUSAL
    ),
    "row of nothing but mask": (
        [node("Add", "x m", "a"), node("Softmax", "a", "s"),
         node("ReduceMax", "m axis", "top"), node("Equal", "top n1", "all"),
         node("Where", "all zero s", "y")],
        np.where(np.tri(3, k=-1), 0.0, -INF),
    ),
    "clip": ([node("Clip", "x low high", "y")], CAUSAL),
}  # fmt: skip
REFUSED = {
    "Exp": ([node("Add", "x m", "a"), node("Exp", "a", "y")], "not finite"),
    "Mul": ([node("Mul", "x m", "y")], r"y \(Mul\).*not finite"),
    "MatMul": ([node("MatMul", "x m", "y")], "constant input 'm' has values that are not finite"),
    "output": ([node("Add", "x m", "y")], "graph output 'y'"),
    "LogSoftmax": ([node("Add", "x m", "a"), node("LogSoftmax", "a", "y")], "graph output 'y'"),
    "Concat": ([node("Concat", "x m3", "y", axis=1)], "constant input 'm3'"),
    "Greater": ([node("Greater", "x m", "a"), node("Cast", "a", "y", to=1)], "not finite"),
}


def model(nodes, mask):
    return graph(
        nodes, x=["N", 3, 3], m=mask, m3=mask[None] if mask.ndim > 1 else mask, t=CAUSAL_TRUTH,
        o=np.array(1), n=np.array(-3e38), h=np.array(0.5), axis=np.array([-1]),
        n1=np.array(-INF), zero=np.array(0.0), low=np.array(-INF), high=np.array(0.25),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("name", RIGHT)
def test_masked_as_onnxruntime_does(name):
    net = assert_lifts(model(*RIGHT[name]))
    assert verify(net, export(net)).passed


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_neuron_would_have_to_give_is_refused_by_name(name):
    nodes, text = REFUSED[name]
    proto = model(nodes, CAUSAL)
    assert validate(load_model(proto), profile="schema") == []
    with pytest.raises(ModelError, match=text):
        import_model(proto)
