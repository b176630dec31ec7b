"""All that stands in the way of an import, in one error; and what would mix samples of a batch."""

import numpy as np
import onnx
import pytest
from support.examples.graphs import graph, node

from neat_onnx import ModelError, Network, export, import_model


def test_every_node_that_cannot_be_lifted_is_told_at_once():
    nodes = [
        node("Gemm", "x W", "z", transB=1),
        node("Mod", "z z2", "a"),
        node("Mod", "z2 z", "b"),
        node("Tanh", "x", "z2"),
        node("Sum", "a b", "y"),
    ]
    nodes = [nodes[0], nodes[3], *nodes[1:3], nodes[4]]
    with pytest.raises(ModelError) as caught:
        import_model(graph(nodes, W=np.eye(3)))
    assert [text.split(":")[0] for text in caught.value.obstacles] == [
        "node make_a (Mod)",
        "node make_b (Mod)",
    ]
    assert "2 nodes are not supported" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_operators_that_are_unknown_are_told_with_those_that_are_used_otherwise():
    nodes = [
        node("NonZero", "x", "a"),
        node("Unique", "a", "u"),
        node("LRN", "x", "b", size=2),
        node("CumSum", "x zero", "c"),
        node("Relu", "x", "y"),
    ]
    model = graph(nodes, outputs="ubcy", zero=np.array(0))
    with pytest.raises(ModelError) as caught:
        import_model(model)
    told = [text.split(":")[0].removeprefix("node make_") for text in caught.value.obstacles]
    assert told == ["a (NonZero)", "u (Unique)", "b (LRN)", "c (CumSum)"]
    assert caught.value.hint.endswith("Other outputs can be imported: outputs=['y']")
    assert len(import_model(model, outputs=["y"])) == 6


def test_a_long_list_is_cut():
    rests = [node("Mod", f"x{k} x", f"a{k}") for k in range(60)]
    nodes = [*(node("Gemm", "x W", f"x{k}") for k in range(60)), *rests]
    total = node("Sum", " ".join(f"a{k}" for k in range(60)), "y")
    with pytest.raises(ModelError, match=r"60 nodes are not supported.*; and 10 more"):
        import_model(graph([*nodes, total], W=np.eye(3)))


@pytest.mark.parametrize(
    "nodes",
    [
        [node("Gather", "x zeros", "y", axis=0)],
        [node("Slice", "x minus least zeros minus", "y")],
        [node("Split", "x", "y u", axis=0, num_outputs=2)],
        [node("Concat", "x x", "y", axis=0)],
        [node("ReduceMean", "x zeros", "y", keepdims=1)],
        [node("CumSum", "x zero", "y")],
        [node("Softmax", "x", "y", axis=0)],
        [node("LpNormalization", "x", "y", axis=0)],
        [node("Gemm", "x x", "y", transA=1)],
        [node("Flatten", "x", "y", axis=0)],
    ],
    ids=lambda nodes: nodes[0].op_type,
)
def test_what_mixes_samples_is_refused_by_name(nodes):
    constants = {
        "zeros": np.array([0]),
        "zero": np.array(0),
        "minus": np.array([-1]),
        "least": np.array([-(2**62)]),
    }
    with pytest.raises(ModelError, match="batch, and would mix samples") as caught:
        import_model(graph(nodes, **constants))
    assert nodes[0].op_type in str(caught.value)


@pytest.mark.parametrize(
    ("nodes", "constants"),
    [
        ([node("Dropout", "x ratio training", "y")], {"training": np.array(True)}),
        ([node("Mod", "x ratio", "y")], {"ratio": np.array(0.0)}),
    ],
)
def test_what_is_random_or_undefined_is_refused(nodes, constants):
    model = graph(nodes, **({"ratio": np.array(0.5)} | constants))
    for tensor in model.graph.initializer:
        if tensor.name == "training":
            tensor.CopyFrom(onnx.numpy_helper.from_array(np.array(True), "training"))
    with pytest.raises(ModelError, match=r"at random|divisor"):
        import_model(model)


def test_integers_are_divided_towards_zero():
    kind = onnx.TensorProto.INT32
    x, y = (onnx.helper.make_tensor_value_info(name, kind, ["N", 3]) for name in "xy")
    w = onnx.numpy_helper.from_array(np.array([2, -2, 3], np.int32), "w")
    body = onnx.helper.make_graph([node("Div", "x w", "y")], "g", [x], [y], [w])
    opset = [onnx.helper.make_opsetid("", 18)]
    net = import_model(onnx.helper.make_model(body, opset_imports=opset, ir_version=8))
    assert net.activate([[7.0, 7.0, -8.0]]).tolist() == [[3.0, -3.0, -2.0]]


@pytest.mark.parametrize("divisor", [0.0, [0.0, 1.0, 1.0]], ids=["number", "element"])
def test_a_division_by_0_names_its_node(divisor):
    nodes = [node("Tanh", "x", "a"), node("Div", "a c", "y")]
    with pytest.raises(
        ModelError, match=r"node make_y \(Div\): it computes with a constant that is"
    ):
        import_model(graph(nodes, c=np.array(divisor)))


@pytest.mark.parametrize(
    "text", ["x", "", '{"a": 1}', '[["hidden_prev", "hidden_next"]', "[" * 9999]
)
@pytest.mark.parametrize("key", ["neat_onnx.state", "neat_onnx.initial_state"])
def test_metadata_of_states_that_is_none_is_an_obstacle(key: str, text: str):
    loop = {"source": 1, "target": 1, "weight": 0.5, "delay": 1}
    neurons = [{"id": 1, "initial": 0.5}]
    net = Network.build(inputs=1, outputs=[1], neurons=neurons, connections=[(0, 1, 1.0), loop])
    model = export(net)
    entries = [
        entry.model_copy(update={"value": text}) if entry.key == key else entry
        for entry in model.metadata_props
    ]
    broken = model.model_copy(update={"metadata_props": entries})
    message = f"the metadata {key} is not what it should be"
    with pytest.raises(ModelError, match=message) as caught:
        import_model(broken)
    assert caught.value.where == key
