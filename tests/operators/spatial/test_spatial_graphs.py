"""Convolutional networks as other tools write them: in, run, out again, and in once more."""

from typing import Any

import numpy as np
import pytest
from support.examples.texts import drawn, read
from support.harness.sessions import open_session

from neat_onnx import export, import_model, load_model, validate
from neat_onnx.model import Model

SPATIAL = ("Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool")
SAME = "pads=[1,1,1,1]"
GRAPHS = {
    "plain": f"(float[N,2,6,6] x) => (float[N,3] y) {{ c = Conv<{SAME}>(x, W_3_2_3_3, B_3)"
    " r = Relu(c) p = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r)"
    ' d = Conv<auto_pad="SAME_LOWER">(p, W_4_3_3_3) t = Tanh(d) g = GlobalAveragePool(t)'
    " f = Flatten(g) y = Gemm<transB=1>(f, W_3_4, B_3) }",
    "strided": "(float[N,2,9,8] x) => (float[N,2,2,3] y)"
    " { c = Conv<strides=[2,2], pads=[1,0,0,1]>(x, W_4_2_3_3) s = Sigmoid(c)"
    " y = Conv<dilations=[2,1]>(s, W_2_4_2_2, B_2) }",
    "residual": "(float[N,2,4,5] x) => (float[N,4,4,5] y) { s = Conv(x, W_3_2_1_1) e = Elu(s)"
    f" a = Conv<{SAME}>(e, W_4_3_3_3, B_4) b = Conv(e, V_4_3_1_1) m = Add(a, b) r = Relu(m)"
    f" c = Conv<{SAME}>(r, W_4_4_3_3) d = Add(c, r) y = Tanh(d) }}",
    "inception": "(float[N,2,6,6] x) => (float[N,2,M,M] y) { s = Conv(x, W_2_2_3_3) e = Relu(s)"
    f" a = Conv(e, W_2_2_1_1) u = Relu(a) b = Conv<{SAME}>(e, V_3_2_3_3) v = Tanh(b)"
    f" p = AveragePool<kernel_shape=[3,3], {SAME}>(e) j = Concat<axis=1>(u, v, p)"
    " c = Conv(j, W_2_7_2_2) y = Relu(c) }",
    "separable": f"(float[N,3,5,4] x) => (float[N,4,1,1] y) {{ c = Conv<{SAME}, group=3>"
    "(x, W_3_1_3_3) t = Tanh(c) d = Conv(t, W_4_3_1_1, B_4)"
    " e = Conv<group=2>(d, W_4_2_1_1) y = GlobalMaxPool(e) }",
    "decoder": "(float[N,2,2,3] x) => (float[N,2,11,7] y) { c = ConvTranspose"
    "<strides=[2,2], output_padding=[1,0]>(x, W_2_3_3_3, B_3) r = Relu(c)"
    " d = ConvTranspose<strides=[2,1], pads=[0,1,1,0]>(r, W_3_2_2_2) y = Sigmoid(d) }",
    "sound": "(float[N,2,14] x) => (float[N,2,M] y) { c = Conv<strides=[2], pads=[2,1]>"
    "(x, W_3_2_3, B_3) t = Tanh(c) p = MaxPool<kernel_shape=[2], strides=[2], ceil_mode=1>(t)"
    " y = Conv<dilations=[2]>(p, W_2_3_2) }",
    "read twice": "(float[N,1,5,5] x) => (float[N,6,2,2] y) { c = Conv(x, W_2_1_2_2) r = Relu(c)"
    " t = Tanh(c) j = Concat<axis=1>(r, t, c)"
    " y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(j) }",
}


@pytest.mark.parametrize("name", GRAPHS)
def test_goes_in_and_comes_out_the_same(name: str):
    model = read(GRAPHS[name])
    net, feed = import_model(model).without_source(), drawn(model, np.random.default_rng(0), N=5)
    (want,) = open_session(model).run(None, feed)
    back = export(net)
    assert validate(back) == []
    if name != "decoder":  # of which import makes sums
        assert spatial_nodes(back) == spatial_nodes(model)
    for got in (net.activate(feed)["y"], open_session(back).run(None, feed)[0]):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    again = export(import_model(load_model(back.to_json())))
    assert again.to_json() == back.to_json()


def spatial_nodes(model: Model) -> list[Any]:
    """Operators with their weights, sorted: branches may come in another order."""
    weights = {tensor.name: tensor.values.tolist() for tensor in model.graph.initializer}
    return sorted(
        (each.op_type, weights[each.input[1]] if len(each.input) > 1 else [])
        for each in model.graph.node
        if each.op_type in SPATIAL
    )
