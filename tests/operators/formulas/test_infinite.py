"""Masks of −∞: read as onnxruntime computes them, and refused where a neuron would be infinite."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import NeatOnnxError, export, import_model, load_model, validate, verify

INF = np.inf
CAUSAL = np.where(np.tri(3), 0.0, -INF)
CAUSAL_TRUTH = np.tri(3).astype(np.int64)
RIGHT = {
    "add then softmax": ([node("Add", "x m", "a"), node("Softmax", "a", "y")], CAUSAL),
    "softmax of a scaled sum": (
        [node("Mul", "x h", "s"), node("Add", "s m", "a"), node("Softmax", "a", "y", axis=1)],
        CAUSAL,
    ),
    "where": (
        [node("Cast", "t", "c", to=9), node("Where", "c x m", "a"), node("Softmax", "a", "y")],
        -np.full((1,), INF),
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
    "row of nothing but mask": (
        [node("Add", "x m", "a"), node("Softmax", "a", "s"),
         node("ReduceMax", "m axis", "top"), node("Equal", "top n1", "all"),
         node("Where", "all zero s", "y")],
        np.where(np.tri(3, k=-1), 0.0, -INF),
    ),
    "clip": ([node("Clip", "x low high", "y")], CAUSAL),
    "softmax of a computed mask": (
        [node("Greater", "x zero", "c"), node("Where", "c x low", "a"), node("Softmax", "a", "y")],
        CAUSAL,
    ),
    "two computed masks": (
        [node("Greater", "x zero", "c"), node("Where", "c x low", "k"), node("Less", "x h", "d"),
         node("Where", "d k low", "a"), node("Softmax", "a", "y")],
        CAUSAL,
    ),
    "a computed mask as it is added": (
        [node("Less", "x zero", "c"), node("Where", "c low t3", "k"), node("Add", "x k", "a"),
         node("Transpose", "a", "b"), node("Softmax", "b", "s", axis=0),
         node("Transpose", "s", "y")],
        CAUSAL,
    ),
    "a computed mask of constants": (
        [node("Less", "x zero", "c"), node("Where", "c m zero", "k"), node("Add", "x k", "a"),
         node("Softmax", "a", "y")],
        CAUSAL,
    ),
    "rows of nothing but a computed mask": (
        [node("Less", "x zero", "c"), node("Where", "c low t3", "k"), node("Add", "x k", "a"),
         node("Softmax", "a", "s"), node("ReduceMax", "k axis", "top"),
         node("CastLike", "n1 top", "minus"), node("Equal", "top minus", "all"),
         node("Where", "all zero s", "y")],
        CAUSAL,
    ),
    "the largest of a computed mask": (
        [node("Greater", "x h", "c"), node("Where", "c low x", "a"),
         node("ArgMax", "a", "i", axis=2), node("Cast", "i", "y", to=1)],
        CAUSAL,
    ),
    "NaN never chosen": (
        [node("Greater", "h zero", "c"), node("Where", "c x nan", "y")], CAUSAL
    ),
    "NaN in some elements": (
        [node("Cast", "t", "c", to=9), node("Where", "c zero nan", "n1x"),
         node("Add", "x n1x", "a"), node("Where", "c a x", "y")],
        CAUSAL,
    ),
    "a computed mask that is given": (
        [node("Greater", "x zero", "c"), node("Where", "c x low", "y")],
        CAUSAL,
    ),
    "the largest number of a computed mask": (
        [
            node("Greater", "x zero", "c"),
            node("Where", "c x low", "a"),
            node("ReduceMax", "a axis", "y"),
        ],
        CAUSAL,
    ),
    "a computed mask times 2": (
        [
            node("Greater", "x zero", "c"),
            node("Where", "c x low", "a"),
            node("Mul", "a t2", "b"),
            node("Softmax", "b", "y"),
        ],
        CAUSAL,
    ),
    "a computed mask compared with 0": (
        [
            node("Greater", "x zero", "c"),
            node("Where", "c x low", "a"),
            node("Equal", "a zero", "b"),
            node("Cast", "b", "y", to=1),
        ],
        CAUSAL,
    ),
    "a computed mask of ∞": (
        [
            node("Greater", "x zero", "c"),
            node("Neg", "low", "plus"),
            node("Where", "c x plus", "a"),
            node("Softmax", "a", "y"),
        ],
        CAUSAL,
    ),
    "a computed mask on the other side": (
        [node("Greater", "x zero", "c"), node("Where", "c low x", "y")], CAUSAL
    ),
    "a computed mask between −∞ and ∞": (
        [node("Greater", "x zero", "c"), node("Neg", "low", "plus"),
         node("Where", "c plus low", "y")],
        CAUSAL,
    ),
    "logarithms of a masked softmax": (
        [node("Greater", "x low3", "c"), node("Where", "c x low", "a"),
         node("LogSoftmax", "a", "y")],
        CAUSAL,
    ),
    "the largest of a masked row in their order": (
        [node("Greater", "x zero", "c"), node("Where", "c x low", "a"),
         node("TopK", "a k2", "v i"), node("Cast", "i", "j", to=1), node("Add", "v j", "y")],
        CAUSAL,
    ),
    "the place of the largest, and the masked row": (
        [node("Greater", "x zero", "c"), node("Where", "c x low", "a"),
         node("ArgMax", "a", "i", axis=-1), node("Cast", "i", "j", to=1), node("Add", "a j", "y")],
        CAUSAL,
    ),
    "a masked row where it is chosen": (
        [node("Greater", "x zero", "c"), node("Where", "c x low", "a"),
         node("Greater", "x h", "d"), node("Where", "d a zero", "y")],
        CAUSAL,
    ),
    "equal to NaN": (
        [node("Equal", "x nan", "c"), node("Cast", "c", "y", to=1)], CAUSAL
    ),
    "NaN that only a tensor without readers has": (
        [node("Add", "nan nan", "lost"), node("Relu", "x", "y")], CAUSAL
    ),
}  # fmt: skip
REFUSED = {
    "a computed mask, and NaN": [
        node("Greater", "x zero", "c"),
        node("Where", "c x low", "k"),
        node("Cast", "t", "d", to=9),
        node("Where", "d k nan", "a"),
        node("Softmax", "a", "y"),
    ],
    "NaN that may be chosen": [node("Greater", "x zero", "c"), node("Where", "c x nan", "y")],
    "NaN chosen": [node("Cast", "t", "c", to=9), node("Where", "c x nan", "y")],
    "NaN of an output": [node("Add", "x nan", "y")],
    "NaN in a weight": [node("MatMul", "x nans", "y")],
    "NaN as a bound": [node("Clip", "x nan high", "y")],
    "Mul": [node("Mul", "x m", "y")],
    "MatMul": [node("MatMul", "x m", "y")],
    "output": [node("Add", "x m", "y")],
    "LogSoftmax": [node("Add", "x m", "a"), node("LogSoftmax", "a", "y")],
    "Concat": [node("Concat", "x m3", "y", axis=1)],
    "Greater": [node("Greater", "x m", "a"), node("Cast", "a", "y", to=1)],
}


def model(nodes, mask):
    return graph(
        nodes, x=["N", 3, 3], m=mask, m3=mask[None] if mask.ndim > 1 else mask, t=CAUSAL_TRUTH,
        o=np.array(1), n=np.array(-3e38), h=np.array(0.5), axis=np.array([-1]),
        n1=np.array(-INF), zero=np.array(0.0), low=np.array(-INF), high=np.array(0.25),
        o1=np.array(1.0), t2=np.array(2.0), low3=np.array(-3.0), k2=[2], k3=[3],
        t3=np.zeros((1, 3, 3)), nan=np.array(np.nan), nans=np.full((3, 2), np.nan),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("name", RIGHT)
def test_masked_as_onnxruntime_does(name):
    net = assert_lifts(model(*RIGHT[name]))
    assert verify(net, export(net)).passed


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_neuron_would_have_to_give_is_refused_by_name(name):
    proto = model(REFUSED[name], CAUSAL)
    assert validate(load_model(proto), profile="schema") == []
    with pytest.raises(NeatOnnxError):
        import_model(proto)


ENDS = [np.full(1, INF), np.full((3, 3), -INF), np.array(-INF)]


@pytest.mark.filterwarnings("ignore::neat_onnx.NeatOnnxWarning")
@pytest.mark.parametrize("ends", ENDS, ids=["inf", "matrix", "number"])
def test_a_value_that_becomes_infinite_is_replaced(ends):
    sign = np.array(-np.sign(ends.flat[0]))
    nodes = [
        node("Abs", "x", "a"),
        node("Log", "a", "l"),
        node("Mul", "l s", "f"),
        node("Equal", "f e", "is"),
        node("Where", "is h f", "y"),
    ]
    proto = graph(nodes, x=["N", 3, 3], e=ends, s=sign, h=np.array(0.5))
    x = np.random.default_rng(0).normal(size=(5, 3, 3)).astype(np.float32)
    x[:3, 0] = 0.0
    (want,) = open_session(proto).run(None, {"x": x})
    net = import_model(proto)
    assert np.count_nonzero(want == 0.5) == 9
    np.testing.assert_allclose(net.activate({"x": x})["y"], want, rtol=1e-6)
    (again,) = open_session(export(net)).run(None, {"x": x})
    np.testing.assert_allclose(again, want, rtol=1e-6)


@pytest.mark.parametrize(("operator", "normal"), [("Sub", 0.0), ("Div", 1.0)])
def test_a_tensor_and_itself_are_one_formula(operator, normal):
    proto = graph([node(operator, "x x", "y")], x=["N", 3])
    net = import_model(proto)
    x = np.array([[2.0, -0.5, 0.0]], np.float32)
    (want,) = open_session(proto).run(None, {"x": x})
    assert want[0, 0] == normal
    np.testing.assert_array_equal(net.activate({"x": x})["y"], want)
    assert (len(net), len(net.connections)) == (6, 3)


def test_ones_multiply_nothing():
    nodes = [node("Ceil", "x", "c"), node("Floor", "c", "f"), node("Mul", "f o", "m")]
    nodes.append(node("Round", "m", "y"))
    net = assert_lifts(graph(nodes, x=["N", 3], o=np.ones(3)))
    assert str(net.activation_names[-1]) == "formula: round(floor(ceil(z)))"
