"""The k-th smallest of a row: a median, or half of one, or neither; by two neurons."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import assert_lifts, graph, node
from support.harness.sweep import each

from neat_onnx import ModelError, export, import_model, register_aggregation
from neat_onnx.network.aggregations import unregister_aggregation
from neat_onnx.network.expression import largest, smallest

PLACES = [(size, place) for size in range(1, 7) for place in range(1, size + 1)]


def lowest(place: int, size: int, then: list[onnx.NodeProto], **more) -> onnx.ModelProto:
    """A graph with the `place` lowest of `size` inputs as v, and whatever reads them."""
    chosen = node("TopK", "x k", "v i", axis=1, largest=0)
    return graph([chosen, *then], x=["N", size], k=np.array([place]), axes=np.array([1]), **more)


def half(place: int) -> list[onnx.NodeProto]:
    """Nodes that add the place below as n to m."""
    below = node("TopK", "x below", "w j", axis=1, largest=0)
    return [below, node("ReduceMax", "w axes", "n")]


@pytest.mark.parametrize(("size", "place"), PLACES)
def test_one_place_alone(size: int, place: int):
    net = assert_lifts(lowest(place, size, [node("ReduceMax", "v axes", "y")]))
    assert len(net) <= size + 2
    assert import_model(export(net)) == net
    read = [node("ReduceMax", "v axes", "m"), node("Tanh", "m", "t"), node("Add", "t m", "y")]
    assert_lifts(lowest(place, size, read))
    assert_lifts(lowest(place, size, [node("ReduceMin", "v axes", "y")]))


@pytest.mark.parametrize("between", ["Identity", "Dropout"])
@pytest.mark.parametrize("order", ["m n", "n m"])
@pytest.mark.parametrize("last", ["Add", "Mul", "Sub"])
@pytest.mark.parametrize(("size", "place"), each(2, [p for p in PLACES if p[1] > 1]))
def test_two_places_with_whatever_between(
    size: int, place: int, last: str, order: str, between: str
):
    two = [*half(place), node(last, order, "s"), node("Mul", "s half", "y")]
    constants = {"below": np.array([place - 1]), "half": np.array(0.5)}
    for read in (
        [node("ReduceMax", "v axes", "m")],
        [node(between, "v", "u"), node("ReduceMax", "u axes", "m")],
        [node("ReduceMax", "v axes", "u"), node(between, "u", "m")],
    ):
        assert_lifts(lowest(place, size, [*read, *two], **constants))


def test_outputs_of_the_graph_are_elements_and_places():
    for name in "vi":
        nodes = [node("ReduceMax", "v axes", "y")]
        if name == "i":
            nodes += [node("Cast", "i", "p", to=onnx.TensorProto.FLOAT)]
        assert_lifts(lowest(2, 4, nodes, outputs=("y", "v" if name == "v" else "p")))


def test_places_along_another_axis():
    chosen = node("TopK", "x k", "v i", axis=1, largest=0)
    nodes = [chosen, node("ReduceMax", "v axes", "y")]
    assert_lifts(graph(nodes, x=["N", 3, 4], k=np.array([2]), axes=np.array([1])))


def test_a_part_of_no_aggregation_is_refused_with_its_node():
    """The hint can be followed: with the formula registered, the graph is a neuron."""
    reduced = [
        node("Abs", "x", "a"),
        node("ReduceMax", "a axes", "m"),
        node("ReduceMin", "a axes", "n"),
    ]
    model = graph([*reduced, node("Div", "m n", "r"), node("Tanh", "r", "y")], axes=np.array([1]))
    register_aggregation("ratio", lambda v, k: largest(abs(v)) / smallest(abs(v)) + 1.0)
    try:
        with pytest.raises(
            ModelError, match=r"node make_y \(Tanh\): .*largest\(abs\(v\)\) / "
        ) as caught:
            import_model(model)
    finally:
        unregister_aggregation("ratio")
    _, _, formula = (caught.value.hint or "").partition("lambda v, k: ")
    space = {"largest": largest, "smallest": smallest}
    register_aggregation(
        "hinted", eval(f"lambda v, k: {formula.partition(', with')[0]}"[:-1], space)
    )
    try:
        assert "hinted" in assert_lifts(model).aggregations
    finally:
        unregister_aggregation("hinted")
