"""Columns that neurons read: copies are broadcast, parts are joined, and many indices are int32."""

import numpy as np
import pytest
from support.examples.graphs import assert_lifts, graph, node

from neat_onnx import Network, export, import_model, verify
from neat_onnx.model import DataType

RANDOM = np.random.default_rng(0)


def assert_small(net, most):
    """The export has these bytes at most, computes the same, and the genome comes back."""
    model = export(net)
    assert len(model.to_proto().SerializeToString()) <= most
    assert verify(net, model, samples=8, runtime="onnxruntime").passed
    assert import_model(model.to_json()) == net
    return [each.op_type for each in model.graph.node]


def test_distances_to_many_points_read_copies():
    nodes = [
        node("Unsqueeze", "x one", "u"),
        node("Sub", "u points", "d"),
        node("Mul", "d d", "q"),
        node("ReduceSum", "q two", "y", keepdims=0),
    ]
    points = {"points": RANDOM.normal(size=(300, 6)), "one": [1], "two": [2]}
    net = assert_lifts(graph(nodes, x=("N", 6), **points))
    assert "Gather" not in assert_small(net, 16000)


@pytest.mark.parametrize("copies", [2, 3, 50])
def test_columns_of_one_neuron_are_copies_of_it(copies):
    nodes = [
        node("ReduceMean", "x last", "m"),
        node("Sub", "x m", "y"),
    ]
    net = assert_lifts(graph(nodes, x=("N", 2 * copies), last=[1]))
    assert "Gather" not in assert_small(net, 4000)


def leaves(count, depth, weight=1.0):
    """Steps, and neurons that read a few of them here and there, by weights 1 and -1."""
    splits = [{"id": k, "activation": "step", "bias": float(k)} for k in range(2, 2 + count)]
    ends = [{"id": 2 + count + k, "activation": "step", "bias": -0.5} for k in range(count)]
    connections = [(k % 2, k, 1.0) for k in range(2, 2 + count)]
    for k in range(count):
        read = RANDOM.choice(count, depth, replace=False) + 2
        signs = RANDOM.choice([-1.0, 1.0], depth) * weight
        connections += [(int(a), 2 + count + k, float(b)) for a, b in zip(read, signs, strict=True)]
    outputs = [each["id"] for each in ends]
    return Network.build(inputs=2, outputs=outputs, neurons=splits + ends, connections=connections)


def test_leaves_of_a_tree_gather_the_splits_on_their_way():
    assert "ReduceSum" in assert_small(leaves(60, 4), 8000)


def test_other_weights_are_a_matrix():
    model = export(leaves(60, 4, weight=1.5))
    assert "ReduceSum" not in [each.op_type for each in model.graph.node]


def test_many_indices_are_int32():
    model = export(leaves(60, 4))
    types = [each.data_type for each in model.graph.initializer if each.name.startswith("columns")]
    assert types == [DataType.INT32]


def test_means_of_channels_that_come_last_are_one_reduction():
    nodes = [
        node("Conv", "x w", "c"),
        node("Transpose", "c", "t", perm=[0, 2, 3, 1]),
        node("ReduceSum", "t axes", "s", keepdims=0),
        node("Div", "s count", "y"),
    ]
    weights = {"w": RANDOM.normal(size=(3, 2, 1, 1)), "axes": [1, 2], "count": np.array(64.0)}
    net = assert_lifts(graph(nodes, x=("N", 2, 8, 8), **weights))
    assert "ReduceMean" in assert_small(net, 2500)


@pytest.mark.parametrize(
    ("cut", "operator"),
    [((2, 42, 1), "Slice"), ((1, 97, 2), "Slice"), ((2, 22, 1), "Gather")],
    ids=["side by side", "every other one", "few"],
)
def test_many_columns_at_even_steps_need_no_indices(cut, operator):
    start, stop, step = ([each] for each in cut)
    nodes = [
        node("Sin", "x", "a"),
        node("Slice", "a start stop axis step", "s"),
        node("Tanh", "s", "t"),
        node("Concat", "a t", "y", axis=1),
    ]
    given = {"start": start, "stop": stop, "axis": [1], "step": step}
    net = assert_lifts(graph(nodes, x=("N", 100), **given))
    assert operator in assert_small(net, 2300)


def test_weights_of_each_step_are_the_same_where_most_of_an_input_is_cut_away():
    w = {"w": RANDOM.normal(size=(24, 20)) / 9, "split": [4] * 5}
    nodes = [node("Split", "x split", "x0 x1 x2 x3 x4", axis=1), node("Tanh", "x0", "t")]
    nodes.append(node("Concat", "x0 t t t t t", "c0", axis=1))
    for step in range(1, 5):
        nodes += [node("MatMul", f"c{step - 1} w", f"m{step}"), node("Sin", f"m{step}", f"h{step}")]
        nodes.append(node("Concat", f"x{step} h{step}", f"c{step}", axis=1))
    net = assert_lifts(graph([*nodes, node("Neg", "c4", "y")], x=("N", 20), **w))
    assert_small(net, 12000)


@pytest.mark.parametrize("read", [False, True], ids=["as an output", "by a layer"])
def test_a_picture_beside_a_vector_at_each_place_needs_no_list(read):
    """As a goal, or the mean of a picture, that is given to each position."""
    nodes = [
        node("Conv", "x w", "c"),
        node("ReduceMean", "x space", "m"),
        node("Mul", "m half", "h"),
        node("Expand", "h sizes", "e"),
        node("Concat", "c e", "j" if read else "y", axis=1),
    ]
    if read:
        nodes.append(node("Conv", "j v", "y"))
    weights = {"w": RANDOM.normal(size=(3, 2, 1, 1)), "v": RANDOM.normal(size=(1, 5, 3, 3))}
    constants = {"space": [2, 3], "half": np.array(0.5), "sizes": [1, 2, 40, 40]}
    net = assert_lifts(graph(nodes, x=("N", 2, 40, 40), **weights, **constants))
    made = assert_small(net, 2200)
    assert "Tile" in made
    assert "Gather" not in made


def test_columns_at_even_distances_are_cut_out_before_their_weights():
    """As one step of channels that are sequences."""
    nodes = [node("Gather", "x step", "s", axis=2), node("MatMul", "s w", "y")]
    weights = {"step": np.array(7), "w": RANDOM.normal(size=(6, 8))}
    document = assert_lifts(graph(nodes, x=("N", 6, 40), **weights)).to_document().model_dump()
    document["connections"][3]["weight"] = 0.5
    assert_small(Network.from_document(document), 1000)
