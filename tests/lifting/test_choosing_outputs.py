"""Outputs of a graph that become outputs of the network: chosen ones, or all that it computes."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper
from policies import RNG, WEIGHTS, policy
from support.examples.graphs import graph, node

from neat_onnx import (
    ModelError,
    NeatOnnxError,
    NeatOnnxWarning,
    OptionError,
    convert,
    export,
    import_model,
    verify,
)


def ml_agents() -> ModelProto:
    """As Unity ML-Agents shapes it: a constant, a random output, and one that is neither."""
    nodes = [
        node("MatMul", "obs_0 W", "mean"),
        node("RandomNormalLike", "mean", "noise"),
        node("Add", "mean noise", "continuous_actions"),
        node("Tanh", "mean", "deterministic_continuous_actions"),
        node("Identity", "version", "version_number"),
    ]
    outputs = {
        "version_number": [1],
        "continuous_actions": ["batch", 3],
        "deterministic_continuous_actions": ["batch", 3],
    }
    return policy(nodes, {"obs_0": ["batch", 3]}, outputs)


def test_constant_and_random_outputs_are_left_out_by_name():
    with pytest.warns(NeatOnnxWarning, match="'version_number' depends on no input") as caught:
        net = import_model(ml_agents())
    assert "'continuous_actions' depends on chance" in str(caught[0].message)
    assert [port.name for port in net.outputs] == ["deterministic_continuous_actions"]
    assert verify(net, ml_agents(), runtime="onnxruntime").passed


def test_outputs_can_be_chosen():
    net = import_model(ml_agents(), outputs=["deterministic_continuous_actions"])
    assert [port.name for port in net.outputs] == ["deterministic_continuous_actions"]
    for wanted in (["nothing"], []):
        with pytest.raises(OptionError, match="deterministic_continuous_actions"):
            import_model(ml_agents(), outputs=wanted)
    with pytest.raises(OptionError, match="expected a list of texts"):
        import_model(ml_agents(), outputs="version_number")
    with pytest.raises(ModelError, match="RandomNormalLike"):
        import_model(ml_agents(), outputs=["continuous_actions"])
    with pytest.raises(ModelError, match="depends on no input"):
        import_model(ml_agents(), outputs=["version_number"])


def test_tensors_inside_the_graph_can_be_chosen():
    net = import_model(ml_agents(), outputs=["mean", "deterministic_continuous_actions"])
    names = [port.name for port in net.outputs]
    assert sorted(names) == ["deterministic_continuous_actions", "mean"]
    x = RNG.normal(size=(4, 3))
    np.testing.assert_allclose(net.activate({"obs_0": x})["mean"], x @ WEIGHTS["W"], rtol=1e-6)
    assert verify(net, ml_agents(), runtime="onnxruntime").passed


def test_where_all_is_random_the_tensors_before_it_are_imported():
    nodes = [
        node("MatMul", "obs_0 W", "mean"),
        node("RandomNormalLike", "mean", "noise"),
        node("Mul", "noise half", "spread"),
        node("Add", "mean spread", "actions"),
    ]
    model = policy(nodes, {"obs_0": ["batch", 3]}, {"actions": ["batch", 3]})
    with pytest.warns(NeatOnnxWarning, match=r"are imported: outputs=\['mean'\]"):
        net = import_model(model)
    assert [port.name for port in net.outputs] == ["mean"]
    assert verify(net, model, runtime="onnxruntime").passed
    assert verify(net, model).passed


def test_actions_that_the_evaluator_cannot_draw_do_not_stop_a_comparison():
    """Older policies of Unity ML-Agents have the drawn actions of each branch alone."""
    nodes = [
        node("MatMul", "obs_0 W", "logits"),
        node("Softmax", "logits", "p", axis=-1),
        node("Log", "p", "log_p"),
        node("Multinomial", "log_p", "drawn", sample_size=1),
        node("Identity", "drawn", "discrete_actions"),
        node("Identity", "version", "version_number"),
    ]
    outputs = {"version_number": [1], "discrete_actions": ["batch", 1]}
    model = policy(nodes, {"obs_0": ["batch", 3]}, outputs)
    model.graph.output[1].type.tensor_type.elem_type = TensorProto.INT32
    with pytest.warns(NeatOnnxWarning, match=r"are imported: outputs=\['log_p'\]"):
        net = import_model(model)
    assert verify(net, model).passed
    model.graph.node[2].op_type = "Abs"
    assert not verify(net, model).passed


def test_an_error_names_the_outputs_that_can_be_imported():
    nodes = [node("MatMul", "x W", "y"), node("NonZero", "x", "z")]
    model = policy(nodes, {"x": ["N", 3]}, {"y": ["N", 3], "z": None})
    with pytest.raises(ModelError, match=r"outputs=\['y'\]"):
        import_model(model)


@pytest.mark.parametrize(
    ("made", "opset"),
    [
        (node("CastLike", "x half", "y"), 19),
        (node("CastLike", "x half", "y"), 18),
    ],
)
def test_operators_without_a_rule_of_their_own_are_their_function_bodies(made, opset):
    model = policy([made], {"x": ["N", 3]}, {"y": ["N", 3]})
    model.opset_import[0].version = opset
    model.ir_version = 9
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed


def test_an_output_that_is_stated_twice_is_one():
    """As torch.jit exports a function that returns (h, h)."""
    model = policy(
        [node("Gemm", "x W", "h"), node("Relu", "h", "y")],
        {"x": ["N", 3]}, {"h": ["N", 3], "y": ["N", 3]},
    )  # fmt: skip
    model.graph.output.insert(1, model.graph.output[0])
    with pytest.warns(NeatOnnxWarning, match="several times becomes one: h"):
        net = import_model(model)
    assert [port.name for port in net.outputs] == ["h", "y"]
    assert verify(net, model, runtime="onnxruntime").passed


def test_outputs_without_elements_are_left_out():
    model = graph(
        [node("Tanh", "x", "y"), node("Slice", "y three four one", "rest")],
        outputs=["y", "rest"], three=[3], four=[4], one=[1],
    )  # fmt: skip
    with pytest.warns(NeatOnnxWarning, match="no elements are left out: rest"):
        net = import_model(model)
    assert [port.name for port in net.outputs] == ["y"]
    assert import_model(export(net).to_json()) == net


def test_outputs_that_no_node_produces_are_left_out_beside_others():
    """As files of Unity ML-Agents have lost the constants beside the actions."""
    model = policy(
        [node("MatMul", "x W", "h"), node("Tanh", "h", "actions")],
        {"x": ["N", 3]}, {"memory_size": [1], "actions": ["N", 3]},
    )  # fmt: skip
    with pytest.warns(NeatOnnxWarning, match="no node produces are left out: memory_size"):
        net = import_model(model)
    assert [port.name for port in net.outputs] == ["actions"]
    with pytest.warns(NeatOnnxWarning, match="no node produces are left out: memory_size"):
        valid = convert(model)
    assert verify(net, valid, runtime="onnxruntime").passed
    with pytest.warns(NeatOnnxWarning, match="memory_size"):
        inner = import_model(model, outputs=["h"])
    assert [port.name for port in inner.outputs] == ["h"]


def test_indices_of_a_pool_that_nothing_reads_are_left_out():
    pool = node("MaxPool", "x", "y places", kernel_shape=[2])
    model = policy([pool], {"x": ["N", 1, 4]}, {"y": ["N", 1, 3]})
    assert verify(import_model(model), model, runtime="onnxruntime").passed
    places = helper.make_tensor_value_info("places", TensorProto.INT64, ["N", 1, 3])
    model.graph.output.append(places)
    with pytest.raises(ModelError, match="the indices") as caught:
        import_model(model)
    assert caught.value.hint == "Other outputs can be imported: outputs=['y']"
    assert verify(import_model(model, outputs=["y"]), model, runtime="onnxruntime").passed


def test_an_output_that_is_an_input_is_left_out():
    model = policy([node("Tanh", "x", "y")], {"x": ["N", 3]}, {"x": ["N", 3], "y": ["N", 3]})
    with pytest.warns(NeatOnnxWarning, match="outputs that are inputs are left out: x"):
        net = import_model(model)
    assert [port.name for port in net.outputs] == ["y"]
    assert verify(net, model, runtime="onnxruntime").passed
    del model.graph.output[1]
    with pytest.raises(NeatOnnxError, match="two ports have the same name 'x'") as caught:
        import_model(model)
    assert caught.value.hint == "An output that hands on an input has a name of its own"
