"""Sums read out of a graph are what onnxruntime computes, however they are written."""

import numpy as np
import pytest
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

from neat_onnx.model import load_model
from neat_onnx.short_form.groups.search import Search
from neat_onnx.short_form.groups.weighted_sums import WeightedSums

RANDOM = np.random.default_rng(6)
SHAPE = ("N", 4, 5, 6)


def numbers(*shape):
    return RANDOM.normal(size=shape)


def conv(*shape, biased=True, **attributes):
    given = {"w": numbers(*shape), **({"b": numbers(shape[0])} if biased else {})}
    return [node("Conv", " ".join(["a", *given]), "y", **attributes)], given


def gathered():
    nodes = [
        node("Flatten", "a", "f"),
        node("Gather", "f i", "g", axis=1),
        node("Mul", "g w", "m"),
        node("Reshape", "m s", "r"),
        node("ReduceSum", "r k", "t", keepdims=0),
        node("Add", "t b", "y"),
    ]
    given = {"i": RANDOM.integers(0, 120, 24), "w": numbers(24), "s": np.array([0, 3, 8])}
    return nodes, {**given, "k": np.array([1]), "b": numbers(8)}


CASES = {
    "kernel": conv(3, 4, 3, 2),
    "kernel in groups": conv(6, 2, 2, 3, group=2, biased=False),
    "kernel with steps": conv(2, 4, 2, 2, strides=[2, 3], pads=[1, 0, 2, 1], dilations=[2, 1]),
    "weights": (
        [node("Flatten", "a", "f"), node("Gemm", "f w b", "y", transB=1)],
        {"w": numbers(7, 120) * (numbers(7, 120) > 1), "b": numbers(7)},
    ),
    "gathered elements": gathered(),
    "mean": ([node("ReduceMean", "a k", "y", keepdims=1)], {"k": np.array([1, 3])}),
    "broadcast sum": (
        [node("ReduceSum", "a k", "t"), node("Sub", "a t", "y")],
        {"k": np.array([2])},
    ),
    "shifted channels": (
        [node("Sub", "b a", "c"), node("Mul", "w c", "y")],
        {"b": numbers(1, 4, 1, 1), "w": numbers(1, 4, 1, 1)},
    ),
}
CASES["parts"] = (
    [
        node("Split", "a s", "p q", axis=3),
        node("Sub", "p q", "d"),
        node("Concat", "q d", "c", axis=2),
        node("Transpose", "c", "t", perm=[0, 2, 3, 1]),
        node("Mul", "t w", "y"),
    ],
    {"s": np.array([3, 3]), "w": numbers(10, 1, 4)},
)


def read(nodes, shape=("N", 3), **given):
    """A model with these nodes, its sums, and the terms of y by their tensors."""
    model = graph(
        [*nodes, node("Mul", "y two", "z")], x=shape, outputs=["z"], two=np.array(2.0), **given
    )
    reader = WeightedSums(Search(load_model(model), largest=True))
    sums = reader.of("y")
    return model, sums, {each.tensor: each for each in reader.terms(sums)}


@pytest.mark.parametrize("case", CASES)
def test_sums_are_what_a_runtime_computes(case):
    nodes, given = CASES[case]
    model, sums, found = read([node("Abs", "x", "a"), *nodes], SHAPE, **given)
    assert [*found] == ["a"]
    terms = found["a"]
    assert np.all(np.diff(terms.rows) >= 0)
    x = RANDOM.normal(size=(1, *SHAPE[1:])).astype(np.float32)
    want = open_session(model).run(None, {"x": x})[0] / 2.0
    products = terms.weights * np.abs(x).ravel()[terms.places]
    got = np.bincount(terms.rows, products, want.size) + sums.biases
    np.testing.assert_allclose(got, want.ravel(), rtol=1e-5, atol=1e-5)


def test_terms_come_from_several_tensors():
    nodes = [node("Abs", "x", "a"), node("Tanh", "x", "b"), node("Add", "a b", "y")]
    _, _, terms = read(nodes)
    assert {*terms} == {"a", "b"}
    assert all(each.places.tolist() == [0, 1, 2] for each in terms.values())


def test_a_sum_of_sums_stays():
    """Each is a neuron: a larger operator that has both in one would be another network."""
    given = {"w": numbers(3, 3), "v": numbers(3, 3)}
    nodes = [node("Gemm", "x w", "h", transB=1), node("Gemm", "h v", "y", transB=1)]
    _, _, terms = read(nodes, **given)
    assert [*terms] == ["h"]


SQUARE = ("N", 4, 4)
WEIGHTS = np.eye(16) + 2.0 * np.eye(16)[::-1]
KINDS = {
    "elements": ([node("Gather", "a i", "y", axis=1)], (True, True)),
    "sums": ([node("ReduceSum", "a k", "y")], (False, True)),
    "means": ([node("ReduceMean", "a k", "y")], (False, False)),
    "twice": ([node("Mul", "a b", "y")], (False, False)),
    "shifted": ([node("Add", "a b", "y")], (False, False)),
    "weights": ([node("Flatten", "a", "f"), node("Gemm", "f w", "y", transB=1)], (False, False)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_sums_may_be_elements_or_add_as_many_each(kind):
    nodes, (elements, even) = KINDS[kind]
    given = {"i": np.array([2, 0, 0, 1]), "k": np.array([2]), "b": np.array(2.0), "w": WEIGHTS}
    _, sums, _ = read([node("Abs", "x", "a"), *nodes], SQUARE, **given)
    assert (sums.are_elements, sums.are_even) == (elements, even)


@pytest.mark.parametrize(
    ("places", "sizes"),
    [
        (np.repeat([0, 1, 2], 4), (3, 1)),
        (np.tile([0, 1, 2], 4), (1, 3)),
        (np.repeat([0, 2, 1], 4), None),
        (np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 2, 1]), None),
    ],
    ids=["rows", "columns", "another order", "not alike"],
)
def test_elements_that_are_broadcast_are_found(places, sizes):
    shape = (3, 4) if sizes == (3, 1) or places[1] == 0 else (4, 3)
    nodes = [node("Abs", "x", "a"), node("Gather", "a i", "y", axis=1), node("Neg", "y", "z")]
    model = load_model(graph(nodes, outputs=["z"], i=places))
    reader = WeightedSums(Search(model, largest=True))
    want = None if sizes is None else ("a", sizes)
    assert reader.broadcast(reader.of("y").columns, shape) == want
