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
    "add then softmax": ("a = Add(x, m) y = Softmax(a)", CAUSAL),
    "where": ("c = Cast<to=9>(t) a = Where(c, x, m) y = Softmax(a)", -np.full((1,), INF)),
    "computed mask": (
        (
            "f = Sub(o, t) u = Cast<to=1>(f) k = Mul(u, n) l = Min(k, m) a = Add(x, l) "
            "y = Softmax(a)"
        ),
        np.array([0.0]),
    ),
    "max keeps": ("y = Max(x, m)", CAUSAL),
    "max of masked": ("a = Add(x, m) y = ReduceMax<keepdims=0>(a, axis)", CAUSAL),
    "row of nothing but mask": (
        (
            "a = Add(x, m) s = Softmax(a) top = ReduceMax(m, axis) all = Equal(top, n1) "
            "y = Where(all, zero, s)"
        ),
        np.where(np.tri(3, k=-1), 0.0, -INF),
    ),
    "clip": ("y = Clip(x, low, high)", CAUSAL),
    "two computed masks": (
        (
            "c = Greater(x, zero) k = Where(c, x, low) d = Less(x, h) a = Where(d, k, low) "
            "y = Softmax(a)"
        ),
        CAUSAL,
    ),
    "rows of nothing but a computed mask": (
        (
            "c = Less(x, zero) k = Where(c, low, t3) a = Add(x, k) s = Softmax(a) "
            "top = ReduceMax(k, axis) minus = CastLike(n1, top) all = Equal(top, minus) "
            "y = Where(all, zero, s)"
        ),
        CAUSAL,
    ),
    "the largest of a computed mask": (
        "c = Greater(x, h) a = Where(c, low, x) i = ArgMax<axis=2>(a) y = Cast<to=1>(i)",
        CAUSAL,
    ),
    "NaN never chosen": ("c = Greater(h, zero) y = Where(c, x, nan)", CAUSAL),
    "NaN in some elements": (
        "c = Cast<to=9>(t) n1x = Where(c, zero, nan) a = Add(x, n1x) y = Where(c, a, x)",
        CAUSAL,
    ),
    "a computed mask times 2": (
        "c = Greater(x, zero) a = Where(c, x, low) b = Mul(a, t2) y = Softmax(b)",
        CAUSAL,
    ),
    "a computed mask of ∞": (
        "c = Greater(x, zero) plus = Neg(low) a = Where(c, x, plus) y = Softmax(a)",
        CAUSAL,
    ),
    "a computed mask between −∞ and ∞": (
        "c = Greater(x, zero) plus = Neg(low) y = Where(c, plus, low)",
        CAUSAL,
    ),
    "logarithms of a masked softmax": (
        "c = Greater(x, low3) a = Where(c, x, low) y = LogSoftmax(a)",
        CAUSAL,
    ),
    "the largest of a masked row in their order": (
        (
            "c = Greater(x, zero) a = Where(c, x, low) v, i = TopK(a, k2) j = Cast<to=1>(i) "
            "y = Add(v, j)"
        ),
        CAUSAL,
    ),
    "NaN that only a tensor without readers has": ("lost = Add(nan, nan) y = Relu(x)", CAUSAL),
}
REFUSED = {
    "a computed mask, and NaN": (
        "c = Greater(x, zero) k = Where(c, x, low) d = Cast<to=9>(t) "
        "a = Where(d, k, nan) y = Softmax(a)"
    ),
    "NaN that may be chosen": "c = Greater(x, zero) y = Where(c, x, nan)",
    "NaN chosen": "c = Cast<to=9>(t) y = Where(c, x, nan)",
    "NaN in a weight": "y = MatMul(x, nans)",
    "Mul": "y = Mul(x, m)",
    "output": "y = Add(x, m)",
    "LogSoftmax": "a = Add(x, m) y = LogSoftmax(a)",
    "Concat": "y = Concat<axis=1>(x, m3)",
    "Greater": "a = Greater(x, m) y = Cast<to=1>(a)",
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
    nodes = "a = Abs(x) l = Log(a) f = Mul(l, s) is = Equal(f, e) y = Where(is, h, f)"
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
