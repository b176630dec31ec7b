"""Elements that move beside a batch, by places that are known, against onnxruntime."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node, nodes_of
from support.harness.sessions import open_session

from neat_onnx import import_model

INTS = np.array
ROWS, FLAT = ("N", 3, 4), ("N", 2, 6)
MOVES = [
    (FLAT, "y = Reshape(x, s)", {"s": [0, 3, -1]}),
    (FLAT, "y = Reshape(x, s)", {"s": [-1, 12]}),
    (FLAT, "y = Transpose<perm=[0, 2, 1]>(x)", {}),
    (FLAT, "u = Unsqueeze(x, a) y = Squeeze(u, a)", {"a": [1]}),
    (FLAT, "y = Gather<axis=2>(x, i)", {"i": [[3, -1], [0, 3]]}),
    (FLAT, "y = Concat<axis=-1>(x, x)", {}),
    (FLAT, "a, b, y = Split<axis=2>(x, s) w = Concat<axis=2>(y, a, b)", {"s": [1, 3, 2]}),
    (FLAT, "a, y = Split<axis=-1, num_outputs=2>(x)", {}),
    (FLAT, "y = Slice(x, b, e, a, s)", {"b": [0, 1], "e": [2**40, 6], "a": [1, 2], "s": [1, 2]}),
    (FLAT, "y = Slice(x, b, e, a, s)", {"b": [5], "e": [-7], "a": [2], "s": [-2]}),
    (FLAT, "y = Slice(x, b, e, a)", {"b": [0, 1], "e": [10**9, 5], "a": [0, 2]}),
    (ROWS, "y = Tile(x, r)", {"r": [1, 2, 3]}),
    (("N", 1, 4), "y = Expand(x, s)", {"s": [5, 4]}),
    (ROWS, "y = Pad(x, p, v)", {"p": [0, 1, -1, 0, 0, 2], "v": 1.5}),
    (ROWS, 'y = Pad<mode="reflect">(x, p, , a)', {"p": [2, 1], "a": [-1]}),
    (("N", 4, 4, 6), 'y = DepthToSpace<blocksize=2, mode="CRD">(x)', {}),
    (ROWS, "y = Trilu<upper=0>(x, k)", {"k": INTS(1)}),
    (ROWS, "b = Cast<to=9>(c) y = Compress<axis=2>(x, b)", {"c": [1, 0, 1, 1]}),
    (ROWS, "i = Cast<to=7>(x) y = OneHot<axis=1>(i, d, v)", {"d": [3], "v": [-1.0, 2.0]}),
    (ROWS, "i = ArgMin<axis=1>(x) y = Cast<to=1>(i)", {}),
    (ROWS, "y, i = TopK<axis=1>(x, k)", {"k": [2]}),
    (ROWS, "p = Pad(x, w) y, i = TopK(p, k)", {"w": [0, 0, 1, 0, 0, 1], "k": [3]}),
    (ROWS, "m = Reshape(w, s) t = Transpose<perm=[1, 0]>(m) y = MatMul(x, t)",
     {"w": np.arange(8.0), "s": [2, 4]}),
]  # fmt: skip


@pytest.mark.parametrize(("x", "nodes", "constants"), MOVES)
def test_elements_move(x, nodes, constants):
    names = nodes_of(nodes)[-1].output
    outputs = names[-1:] if "Split" in nodes else names[:1]
    assert_lifts(graph(nodes, x=x, outputs=outputs, **constants))


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatters_of_one_sample(reduction):
    """All axes are features: the indices stand for one sample."""
    x = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    places = INTS([[0, 2, 0], [0, 2, 1]]) if reduction != "none" else INTS([[0, 2, 1], [3, 0, 2]])
    updates = np.arange(6.0).reshape(2, 3) - 2.5
    for operator, index in (("ScatterElements", places), ("ScatterND", INTS([[1], [3]]))):
        made = node(operator, "x i u", "y", reduction=reduction)
        model = graph([made], x=(4, 3), i=index, u=updates)
        session = open_session(model)
        (want,) = session.run(None, {"x": x})
        got = import_model(model, batch_axis=None, check=False).activate({"x": x[None]})["y"][0]
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_an_axis_before_the_batch():
    model = graph("y = Expand(x, s)", x=ROWS, s=INTS([2, 1, 3, 4]))
    net = import_model(model)
    assert net.outputs[0].shape == (2, 3, 4)
    x = np.arange(12.0).reshape(1, 3, 4)
    np.testing.assert_array_equal(net.activate({"x": x})["y"][0], np.repeat(x, 2, axis=0))
