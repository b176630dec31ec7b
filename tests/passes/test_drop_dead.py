"""Dead nodes and unread initializers go; inputs stay."""

from support.examples.graphs import graph, node

from neat_onnx import load_model
from neat_onnx.model.wiring import drop_dead

NODES = [
    node("Tanh", "x", "a"),
    node("Sigmoid", "a", "dead"),
    node("Abs", "dead", "also_dead"),
    node("Add", "a used", "y"),
]


def before():
    return load_model(graph(NODES, used=[1.0, 2.0, 3.0], unread=[4.0])).graph


def test_what_no_output_depends_on_goes():
    after = drop_dead(before())
    assert drop_dead(after) is after
    shuffled = before().model_copy(update={"node": before().node[::-1]})
    assert drop_dead(shuffled).node == after.node[::-1]
    assert [each.output for each in after.node] == [["a"], ["y"]]
    assert list(after.tensors) == ["used"]
    assert after.inputs == before().inputs
    assert after.outputs == before().outputs


def test_a_node_with_one_output_that_is_read_stays_whole():
    nodes = [node("Split", "x", "a b", axis=1, num_outputs=2), node("Tanh", "a", "y")]
    after = drop_dead(load_model(graph(nodes, x=("N", 4))).graph)
    assert after.node[0].output == ["a", "b"]


def test_the_default_of_an_input_stays():
    model = graph([NODES[0], node("Identity", "a", "y")], other=[1.0])
    other = model.graph.input.add(name="other")
    other.type.tensor_type.elem_type = 1
    assert list(drop_dead(load_model(model).graph).tensors) == ["other"]
