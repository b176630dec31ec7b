"""Tile, Pad, Resize, scatters, ArgMax, TopK and their kind, against onnxruntime."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import import_model

INTS = np.array
ROWS = ("N", 3, 4)
IMAGE = ("N", 4, 4, 6)


@pytest.mark.parametrize(
    ("x", "nodes", "constants"),
    [
        (ROWS, "y = Tile(x, r)", {"r": INTS([1, 2, 3])}),
        (ROWS, "y = Expand(x, s)", {"s": INTS([1, 3, 1])}),
        (("N", 1, 4), "y = Expand(x, s)", {"s": INTS([5, 4])}),
        (ROWS, "y = Pad(x, p, v)", {"p": INTS([0, 1, -1, 0, 0, 2]), "v": 1.5}),
        (ROWS, 'y = Pad<mode="reflect">(x, p, , a)', {"p": INTS([2, 1]), "a": INTS([-1])}),
        (ROWS, 'y = Pad<mode="edge">(x, p)', {"p": INTS([0, 2, 1, 0, 1, 0])}),
        (IMAGE, 'y = DepthToSpace<blocksize=2, mode="CRD">(x)', {}),
        (IMAGE, "y = SpaceToDepth<blocksize=2>(x)", {}),
        (ROWS, "y = Trilu<upper=0>(x, k)", {"k": INTS(1)}),
        (ROWS, "y = Trilu(x, k)", {"k": INTS(-1)}),
        (ROWS, "y = Compress<axis=2>(x, c)", {"c": INTS([1, 0, 1, 1])}),
        (ROWS, "i = Cast<to=7>(x) y = OneHot<axis=1>(i, d, v)", {"d": INTS([3]), "v": [-1.0, 2.0]}),
        (ROWS, "i = ArgMax<axis=2, keepdims=0>(x) y = Cast<to=1>(i)", {}),
        (ROWS, "i = ArgMin<axis=1>(x) y = Cast<to=1>(i)", {}),
        (ROWS, "y, i = TopK<axis=1>(x, k)", {"k": INTS([2])}),
        (ROWS, "v, i = TopK<largest=0>(x, k) y = Cast<to=1>(i)", {"k": INTS([3])}),
    ],
)
def test_elements_move_as_in_onnxruntime(x, nodes, constants):
    if "Compress" in nodes:
        constants = {"b": constants["c"]}
        nodes = f"c = Cast<to=9>(b) {nodes}"
    assert_lifts(graph(nodes, x=x, **constants))


@pytest.mark.parametrize("order", ["first", "last"])
def test_the_first_of_equal_ones_is_found_or_the_last(order):
    nodes = [
        node("Round", "x", "r"),
        node("ArgMax", "r", "i", axis=1, select_last_index=int(order == "last")),
        node("Cast", "i", "y", to=1),
    ]
    assert_lifts(graph(nodes, x=("N", 6)), rows=50)


def test_equal_ones_keep_their_order():
    nodes = "r = Round(x) v, i = TopK(r, k) y = Cast<to=1>(i)"
    assert_lifts(graph(nodes, x=("N", 6), k=INTS([4])), rows=50)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize(
    "coordinates",
    ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"],
)
@pytest.mark.parametrize("sizes", [[7, 9], [3, 1], [8, 4]])
def test_resize(mode, coordinates, sizes):
    options = {"mode": mode, "coordinate_transformation_mode": coordinates}
    made = node("Resize", "x _ _ s", "y", axes=[2, 3], **options)
    assert_lifts(graph([made], x=("N", 1, 4, 6), s=INTS(sizes)), rows=2)


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


def test_a_constant_is_cast_like_the_numbers():
    compared = "d = CastLike(c, x) t = Greater(x, d)"
    assert_lifts(graph(f"{compared} y = CastLike(t, x)", c=INTS([0, 1, -1])))


def resized_integers(mode: str) -> ModelProto:
    """Integers, resized and halved."""
    nodes = [
        node("Cast", "x", "i", to=TensorProto.INT32),
        node("Cast", "two", "half", to=TensorProto.INT32),
    ]
    nodes += [node("Resize", "i _ scales", "r", mode=mode), node("Div", "r half", "d")]
    nodes += [node("Cast", "d", "y", to=TensorProto.FLOAT)]
    return graph(nodes, x=("N", 1, 2, 3), scales=[1.0, 1.0, 2.0, 2.0], two=2.0)


def test_nearest_integers_are_integers():
    assert_lifts(resized_integers("nearest"), scale=8.0)
