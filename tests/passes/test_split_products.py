"""A product that is only read in parts: before and after, and as neurons."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sessions import open_session

from neat_onnx import Model, ModelError, import_model
from neat_onnx.passes.split_products import split_products

RNG = np.random.default_rng(0)
CONSTANTS = {
    "w": RNG.normal(size=(3, 6)),
    "b": RNG.normal(size=6),
    "sizes": [2, 2, 2],
    "zero": [0],
    "one": [1],
    "two": [2],
    "four": [4],
    "end": [2**31 - 1],
    "last": [-1],
    "all": [0, 2],
    "ends": [2**63 - 1, 4],
    "both": [0, 1],
}
PRODUCT = [node("MatMul", "x w", "t"), node("Add", "t b", "u")]
FIRST = node("Slice", "u zero two one", "a")
TIMES = node("Mul", "a c", "y")
PARTED = {
    "split": (
        [*PRODUCT, node("Split", "u sizes", "a c d", axis=1), node("Sum", "a c d", "y")],
        ["MatMul", "Add"] * 3 + ["Sum"],
    ),
    "without a row": (
        [PRODUCT[0], node("Split", "t sizes", "a c d", axis=-1), node("Sum", "a c d", "y")],
        ["MatMul"] * 3 + ["Sum"],
    ),
    "slices": (
        [*PRODUCT, FIRST, node("Slice", "u four end last", "c"), TIMES],
        ["MatMul", "Add"] * 2 + ["Mul"],
    ),
    "all rows": (
        [*PRODUCT, FIRST, node("Slice", "u all ends both", "c"), TIMES],
        ["MatMul", "Add"] * 2 + ["Mul"],
    ),
}
WHOLE = {
    "overlapping": [*PRODUCT, FIRST, node("Slice", "u one four one", "c"), node("Neg", "a", "y")],
    "read whole as well": [*PRODUCT, FIRST, node("Relu", "u", "c"), node("Neg", "a", "y")],
    "rows": [*PRODUCT, FIRST, node("Slice", "u zero end zero", "c"), node("Neg", "a", "y")],
    "one part": [*PRODUCT, FIRST, node("Relu", "a", "y")],
}


def operators(model: onnx.ModelProto) -> list[str]:
    """The operators behind the pass, once it is checked: equal, and the same if run again."""
    found = split_products(Model.from_proto(model))
    assert split_products(found) is found
    x = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    outputs = [open_session(each).run(["y"], {"x": x})[0] for each in (found.to_proto(), model)]
    np.testing.assert_allclose(*outputs, rtol=1e-5, atol=1e-6)
    return [each.op_type for each in found.graph.node]


@pytest.mark.parametrize("name", PARTED)
def test_a_product_that_is_only_read_in_parts_is_computed_in_parts(name):
    nodes, after = PARTED[name]
    model = graph(nodes, **CONSTANTS)
    assert operators(model) == after
    assert_lifts(model)


@pytest.mark.parametrize("name", WHOLE)
def test_any_other_stays_whole(name):
    model = graph(WHOLE[name], **CONSTANTS)
    assert operators(model) == [each.op_type for each in model.graph.node]
    assert_lifts(model)


@pytest.mark.parametrize(
    "end",
    [
        node("Split", "u one", "a c", axis=1),
        node("Split", "u sizes", "a c", axis=1),
        node("Slice", "u zero two both", "a"),
        node("Slice", "u b two one", "a"),
    ],
)
def test_a_graph_that_is_not_valid_is_refused_as_before(end):
    nodes = [*PRODUCT, end, node("Slice", "u four end last", "d"), node("Neg", "a", "y")]
    model = Model.from_proto(graph(nodes, **CONSTANTS))
    assert split_products(model) is model
    with pytest.raises(ModelError):
        import_model(model)


def test_an_output_of_the_graph_stays_whole():
    model = graph(PARTED["split"][0], outputs=("y", "u"), **CONSTANTS)
    assert operators(model) == [each.op_type for each in model.graph.node]


def test_gates_of_a_cell_are_one_sum_each():
    """Keras computes x·W and h·R for all gates, and adds the parts: no neuron stands between."""
    nodes = [
        node("MatMul", "x w", "t"),
        node("Split", "t sizes", "a c d", axis=1),
        node("Relu", "x", "h"),
        node("MatMul", "h w", "s"),
        node("Add", "s b", "r"),
        node("Split", "r sizes", "e f g", axis=1),
        node("Add", "a e", "update"),
        node("Sigmoid", "update", "open"),
        node("Add", "c f", "fresh"),
        node("Mul", "open g", "gated"),
        node("Add", "d gated", "candidate"),
        node("Tanh", "candidate", "new"),
        node("Sub", "new fresh", "y"),
    ]
    net = assert_lifts(graph(nodes, **CONSTANTS))
    # 3 inputs, their Relu, and two of each: open, g, fresh, new, y
    assert len(net) == 3 + 3 + 5 * 2


def test_a_gated_value_does_not_join_a_sum_that_reads_it_already():
    """x · W + g · x would have two connections between the same neurons."""
    nodes = [
        node("MatMul", "x w", "t"),
        node("MatMul", "x v", "s"),
        node("Sigmoid", "s", "g"),
        node("Mul", "x g", "gated"),
        node("Add", "t gated", "y"),
    ]
    net = assert_lifts(graph(nodes, w=RNG.normal(size=(3, 3)), v=RNG.normal(size=(3, 3))))
    ends = np.stack([net.connections.source, net.connections.target], 1)
    assert len(np.unique(ends, axis=0)) == len(ends)
