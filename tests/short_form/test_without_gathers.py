"""Elementwise nodes of whole tensors in place of gathered elements."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples.graphs import graph, node, operators
from support.harness.sessions import open_session

from neat_onnx.model import load_model
from neat_onnx.short_form.straight import straight
from neat_onnx.short_form.without_gathers import without_gathers

X = ("N", 2, 3)


def same(nodes, results=("y",), **constants):
    """The operators after it, having asserted that each result is the same, bit for bit."""
    ends = [node("Neg", name, f"{name}_end") for name in results]
    outputs = [f"{name}_end" for name in results]
    model = graph([*nodes, *ends], x=X, outputs=outputs, **constants)
    turned, _ = straight(without_gathers(load_model(model)))
    x = np.random.default_rng(0).normal(size=(4, *X[1:])).astype(np.float32)
    before, after = (open_session(each).run(None, {"x": x}) for each in (model, turned))
    for want, got in zip(before, after, strict=True):
        np.testing.assert_array_equal(want, got)
    return operators(turned)[: -len(results)]


FLAT = node("Flatten", "x", "f", axis=1)
FLAT_SUM = node("Flatten", "a", "f", axis=1)


def test_each_result_is_a_node_of_its_own():
    nodes = [
        FLAT,
        node(
            "Slice",
            "f zero three one",
            "a",
        ),
        node("Gather", "f behind", "b", axis=1),
        node("Concat", "a b", "both", axis=1),
        node("Tanh", "both", "t"),
        node("Gather", "t first", "y", axis=1),
        node("Gather", "t second", "z", axis=1),
    ]
    constants = {
        "zero": np.array([0]),
        "three": np.array([3]),
        "one": np.array([1]),
        "behind": np.array([3, 4]),
        "first": np.array([0, 1, 2]),
        "second": np.array([3, 4]),
    }
    assert sorted(same(nodes, ("y", "z"), **constants)) == [
        "Flatten",
        "Gather",
        "Gather",
        "Tanh",
        "Tanh",
    ]


@pytest.mark.parametrize(
    ("reduction", "operator"),
    [("ReduceSum", "Add"), ("ReduceMax", "Max"), ("ReduceMin", "Min"), ("ReduceProd", "Mul")],
)
@pytest.mark.parametrize("shape", [[0, 6, 2], [0, 2, 6]])
def test_a_reduction_of_pairs_is_an_operator_of_two(reduction, operator, shape):
    axis = shape.index(2)
    columns = np.stack([np.arange(6), np.arange(6)[::-1]], axis - 1).ravel()
    nodes = [
        FLAT,
        node("Gather", "f columns", "g", axis=1),
        node("Reshape", "g shape", "r"),
        node(reduction, "r axis", "y", keepdims=0),
    ]
    found = same(nodes, columns=columns, shape=np.array(shape), axis=np.array([axis]))
    assert found == ["Flatten", "Gather", operator]


@pytest.mark.parametrize(("second", "operator"), [(1.0, "Add"), (-1.0, "Sub")])
def test_a_product_by_two_ones_in_a_row_is_one_too(second, operator):
    nodes = [
        FLAT,
        node("Tanh", "f", "t"),
        node("Concat", "f t", "both", axis=1),
        node("Gemm", "both w", "y", transB=1),
    ]
    weights = np.hstack([np.eye(6), second * np.eye(6)])
    assert same(nodes, w=weights) == ["Flatten", "Tanh", operator]


@pytest.mark.parametrize("weights", [[1.0, 2.0], [-1.0, -1.0], [1.0, 0.0], [1.0, 1.0, 1.0]])
def test_other_products_stay(weights):
    nodes = [
        FLAT,
        node("Tanh", "f", "t"),
        node("Concat", " ".join("ftf"[: len(weights)]), "both", axis=1),
        node("Gemm", "both w", "y", transB=1),
    ]
    whole = np.hstack([weight * np.eye(6) for weight in weights])
    assert "Gemm" in same(nodes, w=whole)


def test_tensors_that_are_mixed_column_by_column_stay_joined():
    nodes = [
        FLAT,
        node("Tanh", "f", "t"),
        node("Concat", "f t", "both", axis=1),
        node("Gather", "both mixed", "g", axis=1),
        node("Exp", "g", "y"),
    ]
    mixed = np.arange(12).reshape(2, 6).T.ravel()
    assert same(nodes, mixed=mixed) == ["Flatten", "Tanh", "Concat", "Gather", "Exp"]


def test_signs_make_a_difference():
    nodes = [
        FLAT,
        node("Gather", "f columns", "g", axis=1),
        node("Mul", "g signs", "m"),
        node("Reshape", "m shape", "r"),
        node("ReduceSum", "r axis", "y", keepdims=0),
    ]
    constants = {
        "columns": np.array([0, 5, 1, 4, 2, 3]),
        "signs": np.array([1.0, -1.0] * 3),
        "shape": np.array([0, 3, 2]),
        "axis": np.array([2]),
    }
    assert same(nodes, **constants) == ["Flatten", "Gather", "Gather", "Sub"]


def test_what_is_read_twice_is_computed_once():
    nodes = [
        FLAT,
        node("Tanh", "f", "t"),
        node("Tile", "t twice", "r"),
        node("Concat", "f f", "both", axis=1),
        node("Mul", "r both", "y"),
    ]
    found = same(nodes, twice=np.array([1, 2]))
    assert found == ["Flatten", "Tanh", "Gather", "Concat", "Mul"]


@pytest.mark.parametrize("axes", [0, 1, 2, 3])
def test_one_number_is_broadcast_whatever_its_axes(axes):
    nodes = [node("Add", "x number", "a"), FLAT_SUM, node("Gather", "f columns", "y", axis=1)]
    number = np.full([1] * axes, 0.5, np.float32)
    assert same(nodes, number=number, columns=np.array([4, 0])) == ["Flatten", "Gather", "Add"]


def test_a_reordered_tensor_stays_one():
    nodes = [
        node("Transpose", "x", "p", perm=[0, 2, 1]),
        node("Flatten", "p", "f", axis=1),
        node("Concat", "f f", "both", axis=1),
        node("Gather", "both half", "g", axis=1),
        node("Tanh", "g", "y"),
    ]
    assert same(nodes, half=np.arange(6)) == ["Transpose", "Flatten", "Tanh"]


def test_a_graph_that_would_grow_is_left_as_it_is():
    parts = [node("Gather", f"t c{k}", f"g{k}", axis=1) for k in range(40)]
    names = " ".join(f"g{k}" for k in range(40))
    nodes = [FLAT, node("Tanh", "f", "t"), *parts, node("Sum", names, "y")]
    model = load_model(graph(nodes, x=X, **{f"c{k}": np.array([k % 6, k // 7]) for k in range(40)}))
    assert without_gathers(model) is model


@st.composite
def graphs_of_columns(draw):
    """Nodes that move, join and combine flat tensors, and their constants."""
    nodes, constants, widths = [FLAT], {}, {"f": 6}
    for k in range(draw(st.integers(2, 8))):
        kind = draw(st.sampled_from(["Gather", "Concat", "Tile", "Tanh", "Mul", "Pairs", "Turned"]))
        source = draw(st.sampled_from(sorted(widths)))
        alike = [name for name, width in widths.items() if width in (1, widths[source])]
        other, name = draw(st.sampled_from(alike)), f"t{k}"
        if kind == "Gather":
            places = draw(st.lists(st.integers(0, widths[source] - 1), min_size=1, max_size=8))
            constants[f"c{k}"] = np.array(places)
            nodes.append(node("Gather", f"{source} c{k}", name, axis=1))
            widths[name] = len(places)
        elif kind == "Concat":
            nodes.append(node("Concat", f"{source} {other}", name, axis=1))
            widths[name] = widths[source] + widths[other]
        elif kind == "Tile":
            constants[f"c{k}"] = np.array([1, 2])
            nodes.append(node("Tile", f"{source} c{k}", name))
            widths[name] = 2 * widths[source]
        elif kind == "Pairs" and widths[source] % 2 == 0:
            constants |= {f"s{k}": np.array([0, -1, 2]), f"a{k}": np.array([2])}
            nodes.append(node("Reshape", f"{source} s{k}", f"r{k}"))
            nodes.append(node("ReduceSum", f"r{k} a{k}", name, keepdims=0))
            widths[name] = widths[source] // 2
        elif kind == "Turned" and widths[source] % 2 == 0:
            constants[f"s{k}"] = np.array([0, 2, widths[source] // 2])
            nodes.append(node("Reshape", f"{source} s{k}", f"r{k}"))
            nodes.append(node("Transpose", f"r{k}", f"p{k}", perm=[0, 2, 1]))
            nodes.append(node("Flatten", f"p{k}", name, axis=1))
            widths[name] = widths[source]
        elif kind == "Mul":
            nodes.append(node("Mul", f"{source} {other}", name))
            widths[name] = widths[source]
        else:
            constants[f"c{k}"] = np.array(draw(st.sampled_from([1.0, -1.0, 0.5])))
            nodes.append(node("Mul", f"{source} c{k}", name))
            widths[name] = widths[source]
    results = draw(st.lists(st.sampled_from(sorted(widths)), min_size=1, max_size=2, unique=True))
    return nodes, results, constants


@settings(max_examples=40, deadline=None)
@given(graphs_of_columns())
def test_any_graph_computes_the_same(found):
    nodes, results, constants = found
    same(nodes, results, **constants)
