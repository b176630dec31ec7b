"""Local functions are inlined; what asks for too many nodes, neurons or elements is refused."""

import tracemalloc

import numpy as np
import onnx
import pytest
from onnx import helper
from support.examples.graphs import graph, node

from neat_onnx import (
    DocumentError,
    ModelError,
    Network,
    OptionError,
    export,
    import_model,
    limits,
    load_model,
    load_network,
)


def model(calls: dict[str, list[str]]) -> onnx.ModelProto:
    """y = f0(x); each function calls these others one after the other; Tanh is ONNX's."""
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    functions = []
    for name, called in calls.items():
        nodes = [
            helper.make_node(each, [f"t{k}" if k else "x"], [f"t{k + 1}"],
                             domain="" if each == "Tanh" else "local")
            for k, each in enumerate(called)
        ]  # fmt: skip
        last = nodes[-1].output[0]
        functions.append(helper.make_function("local", name, ["x"], [last], nodes, imports))
    value = [helper.make_tensor_value_info(name, 1, ["N"]) for name in "xy"]
    call = helper.make_node("f0", ["x"], ["y"], domain="local")
    graph = helper.make_graph([call], "g", value[:1], value[1:])
    return helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=8)


def test_functions_are_inlined_hierarchically():
    given = model({"f0": ["f1", "f1"], "f1": ["f2", "Tanh"], "f2": ["Tanh"]})
    assert [node.op_type for node in load_model(given).graph.node] == ["Tanh"] * 4


@pytest.mark.parametrize("calls", [{"f0": ["f0"]}, {"f0": ["f1"], "f1": ["Tanh", "f0"]}])
def test_recursion_is_refused(calls: dict[str, list[str]]):
    with pytest.raises(ModelError, match="calls itself, directly or through others"):
        load_model(model(calls))


def test_two_to_the_power_of_forty_nodes_are_refused_before_there_are_any():
    calls = {f"f{k}": [f"f{k + 1}"] * 2 for k in range(40)} | {"f40": ["Tanh"]}
    with pytest.raises(ModelError, match=f"it takes {2**40} nodes, and the limit is"):
        load_model(model(calls))


def test_the_limit_is_raised_as_the_error_says():
    calls = {f"f{k}": [f"f{k + 1}"] * 2 for k in range(4)} | {"f4": ["Tanh"]}
    with (
        limits(nodes=15),
        pytest.raises(ModelError, match="16 nodes, and the limit is 15") as caught,
    ):
        load_model(model(calls))
    assert "neat_onnx.limits(nodes=16)" in str(caught.value)
    with limits(nodes=16):
        assert len(load_model(model(calls)).graph.node) == 16


def varint(number: int) -> bytes:
    low, high = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(high) if high else bytes([low])


def field(number: int, content: bytes) -> bytes:
    """A field of protobuf, of bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


MANY = 2_000
EMPTY = {
    "nodes": field(7, field(1, b"") * MANY),
    "attributes": field(7, field(1, field(5, b"") * 20 * MANY)),
    "inputs of a node": field(7, field(1, field(1, b"") * 50 * MANY)),
    "nodes of a branch": field(7, field(1, field(5, field(6, field(1, b"") * MANY)))),
    "nodes of functions": field(25, field(7, b"") * MANY),
    "axes": field(7, field(11, field(2, field(1, field(2, field(1, b"") * 20 * MANY))))),
    "JSON": b'{"graph": {"node": [%s]}}' % b",".join([b"{}"] * MANY),
    "textproto": b"ir_version: 8\ngraph {\n%s}" % (b"node {}\n" * 20 * MANY),
}


@pytest.mark.parametrize("content", EMPTY.values(), ids=EMPTY)
def test_a_million_of_nothing_is_refused_before_it_is_made(content: bytes):
    tracemalloc.start()
    try:
        with limits(nodes=512), pytest.raises(ModelError, match="more parts than are read"):
            load_model(content if content[:1] in b"{i" else b"\x08\x08" + content)
        assert tracemalloc.get_traced_memory()[1] < 2e6
    finally:
        tracemalloc.stop()


def test_a_document_of_empty_objects_is_refused_before_they_are_made():
    with pytest.raises(DocumentError, match="3000001 objects and lists in 9000001 bytes"):
        load_network(b"[%s]" % b",".join([b"{}"] * 3_000_000))


def test_the_nodes_of_a_file_are_counted_too():
    many = [node("Relu", "x", f"t{k}") for k in range(6)]
    total = node("Sum", " ".join(f"t{k}" for k in range(6)), "y")
    given = load_model(graph([*many, total]))
    with limits(nodes=6), pytest.raises(ModelError, match="7 nodes, and the limit is 6"):
        import_model(given)
    with limits(nodes=7):
        assert import_model(given).activate([1.0, -1.0, 2.0]).tolist() == [6.0, 0.0, 12.0]


def test_connections_and_neurons_are_limited():
    with (
        limits(connections=10),
        pytest.raises(ModelError, match="12 connections, and the limit is 10"),
    ):
        import_model(export(Network.mlp([3, 4, 1])))
    with limits(neurons=3), pytest.raises(ModelError, match="7 neurons, and the limit is 3"):
        import_model(export(Network.mlp([3, 4, 1])))


def test_connections_of_parallel_nodes_are_limited_together():
    pools = [node("MaxPool", "x", f"y{k}", kernel_shape=[3, 3]) for k in range(3)]
    model = graph(pools, x=("N", 1, 12, 12), outputs=("y0", "y1", "y2"))
    with limits(connections=2_700):
        assert len(import_model(model).connections) == 2_700
    with (
        limits(connections=2_699),
        pytest.raises(ModelError, match="2700 connections, and the limit is 2699"),
    ):
        import_model(model)


def test_more_axes_than_arrays_have_are_refused():
    with pytest.raises(ModelError, match="input 'x' has 71 axes, expected 64 or fewer"):
        import_model(graph([node("Relu", "x", "y")], x=["N", *[1] * 70]))
    with pytest.raises(ModelError, match=r"make_y \(Reshape\)"):
        import_model(graph([node("Reshape", "x s", "y")], s=[-1, *[1] * 70]))


@pytest.mark.parametrize("most", [-1, 1.5, True, "many"])
def test_a_limit_is_a_whole_number(most):
    with (
        pytest.raises(OptionError, match="expected a whole number of 0 or more"),
        limits(nodes=most),
    ):
        pass


def test_a_layer_that_is_too_large_is_not_taken_for_the_last():
    """A limit of its connections alone would refuse the layer before it."""
    weights = {name: np.ones((4, 4, 3, 3)) for name in "VW"}
    nodes = [
        node("Conv", "x V", "h", pads=[1, 1, 1, 1]),
        node("Conv", "h W", "y", pads=[1, 1, 1, 1]),
    ]
    model = graph(nodes, x=("N", 4, 5, 5), **weights)
    with limits(connections=1000), pytest.raises(ModelError, match="node make_h") as caught:
        import_model(model)
    asked = int(caught.value.hint.partition("connections=")[2].partition(")")[0])
    with limits(connections=asked):
        assert len(import_model(model).outputs[0].neurons) == 100
