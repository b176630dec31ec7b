"""Ports of models as other tools shape them: outputs left out, states by name, the batch's axis."""

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper
from support.examples.graphs import graph, node
from support.harness.sessions import open_session

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

RNG = np.random.default_rng(0)
WEIGHTS = {
    "W": RNG.normal(size=(3, 3)),
    "R": RNG.normal(size=(3, 3)),
    "version": np.array([3.0]),
    "half": np.array(0.5),
}


def policy(nodes, inputs, outputs, **constants) -> ModelProto:
    tensors = [
        numpy_helper.from_array(np.asarray(value, np.float32), name)
        for name, value in (WEIGHTS | constants).items()
    ]
    reads = {name for each in nodes for name in each.input}
    tensors = [tensor for tensor in tensors if tensor.name in reads]
    body = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in outputs.items()],
        tensors,
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


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
    ("previous", "following"),
    [("recurrent_in", "recurrent_out"), ("state_ins", "state_outs"), ("h_0", "h_n")],
)
@pytest.mark.parametrize("shape", [["batch", 3], [1, "batch", 3]])
def test_states_pair_by_names_that_other_tools_give(previous, following, shape):
    nodes = [
        node("MatMul", "obs W", "seen"),
        node("MatMul", f"{previous} R", "kept"),
        node("Add", "seen kept", "sum"),
        node("Tanh", "sum", following),
        node("Identity", following, "output"),
    ]
    model = policy(nodes, {"obs": shape, previous: shape}, {"output": shape, following: shape})
    with pytest.warns(NeatOnnxWarning, match=f"'{following}' is taken to feed '{previous}'"):
        net = import_model(model)
    assert [port.name for port in (*net.inputs, *net.outputs)] == ["obs", "output"]
    assert verify(net, model, runtime="onnxruntime").passed


@pytest.mark.parametrize("name", ["vec", "branch", "pitch"])
def test_a_word_that_ends_like_a_state_is_none(name):
    nodes = [node("MatMul", f"{name}_in W", "seen"), node("Tanh", "seen", f"{name}_out")]
    sizes = ["batch", 3]
    model = policy(nodes, {f"{name}_in": sizes}, {f"{name}_out": sizes})
    assert not import_model(model).has_memory


def test_a_state_that_is_handed_on_unchanged_is_an_input_and_an_output():
    """So that the export has every port that Godot RL Agents asks for."""
    nodes = [node("MatMul", "obs W", "output"), node("Identity", "state_ins", "state_outs")]
    sizes = ["batch", 3]
    model = policy(
        nodes, {"obs": sizes, "state_ins": ["batch"]}, {"output": sizes, "state_outs": ["batch"]}
    )
    net = import_model(model)
    assert verify(net, model, runtime="onnxruntime").passed
    graph = export(net).graph
    assert [entry.name for entry in graph.inputs] == ["obs", "state_ins"]
    assert [entry.name for entry in graph.outputs] == ["output", "state_outs"]


@pytest.mark.parametrize(
    ("shape", "features"),
    [
        (["N", 3], (3,)),
        ([5, 3], (3,)),
        ([1, 3], (3,)),
        ([2, "N", 3], (2, 3)),
        (["batch", "seq", 3], (3,)),
        (["T", "N", 3], (3,)),
        ([3], (3,)),
    ],
    ids=str,
)
def test_the_batch_is_found_wherever_it_is(shape, features):
    nodes = [node("MatMul", "x W", "sum"), node("Tanh", "sum", "y")]
    model = policy(nodes, {"x": shape}, {"y": shape})
    net = import_model(model)
    assert net.inputs[0].shape == net.outputs[0].shape == features
    for runtime in ("reference", "onnxruntime"):
        assert verify(net, model, runtime=runtime).passed


@pytest.mark.parametrize("name", ["T", "seq", "length"])
def test_where_no_node_goes_through_a_sequence_the_first_axis_is_no_time(name):
    nodes = [node("MatMul", "x row", "sum"), node("Tanh", "sum", "y")]
    model = policy(nodes, {"x": [name, 1]}, {"y": [name, 3]}, row=[[1.0, -2.0, 0.5]])
    net = import_model(model)
    assert [port.shape for port in (*net.inputs, *net.outputs)] == [(1,), (3,)]
    assert verify(net, model, runtime="onnxruntime").passed


def test_a_number_beside_a_batch_is_a_feature():
    nodes = [node("Mul", "x scale", "y")]
    model = policy(nodes, {"x": ["N", 3], "scale": []}, {"y": ["N", 3]})
    net = import_model(model)
    assert [port.shape for port in net.inputs] == [(3,), ()]
    got = net.activate({"x": np.array([[1.0, 2.0, 3.0]]), "scale": np.array([2.0])})
    session = open_session(model)
    want = session.run(
        None, {"x": np.array([[1, 2, 3]], np.float32), "scale": np.array(2, np.float32)}
    )
    np.testing.assert_allclose(got["y"], want[0])
    assert verify(net, model, runtime="onnxruntime").passed


def test_fixed_sizes_whose_first_axis_is_no_batch_are_features():
    model = policy([node("Softmax", "x", "y", axis=0)], {"x": [2, 3]}, {"y": [2, 3]})
    with pytest.warns(NeatOnnxWarning, match="every axis is taken for features"):
        net = import_model(model)
    assert net.inputs[0].shape == (2, 3)
    assert verify(net, model, runtime="onnxruntime").passed


def classifier() -> ModelProto:
    """As skl2onnx shapes a classifier: labels that are texts, and a list of maps."""
    nodes = [
        node("MatMul", "x W", "sum"),
        node("Sigmoid", "sum", "table"),
        node("ArgMax", "table", "best", axis=1),
        node("ArrayFeatureExtractor", "texts best", "label", domain="ai.onnx.ml"),
        node("ZipMap", "table", "probability", domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2]),
    ]
    model = policy(nodes, {"x": ["N", 3]}, {})
    text = helper.make_tensor_value_info("label", TensorProto.STRING, ["N"])
    numbers = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    maps = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, numbers))
    model.graph.output.extend([text, helper.make_value_info("probability", maps)])
    words = np.array([b"a", b"b", b"c"], object)
    model.graph.initializer.append(numpy_helper.from_array(words, "texts"))
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    return model


@pytest.mark.parametrize("field", ["input", "output"])
def test_maps_of_nothing_are_refused_by_name(field):
    model = classifier()
    del getattr(model.graph.node[-1], field)[:]
    with pytest.raises(ModelError):
        import_model(model)


def test_maps_of_classes_are_tables_and_texts_are_left_out():
    model = classifier()
    with pytest.warns(NeatOnnxWarning) as caught:
        net = import_model(model)
    reply = " ".join(str(each.message) for each in caught)
    assert "'probability' is a list of maps" in reply
    assert "'label' is text, and is left out" in reply
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    session = open_session(model)
    (maps,) = session.run(["probability"], {"x": x})
    want = [list(each.values()) for each in maps]
    np.testing.assert_allclose(net.activate(x), want, rtol=1e-6)
    assert len(model.graph.output) == 2


def test_sequences_are_left_out():
    made = [node("Relu", "x", "y"), node("SequenceConstruct", "y x", "both")]
    model = policy(made, {"x": ["N", 3]}, {"y": ["N", 3]})
    numbers = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 3])
    sequence = helper.make_value_info("both", helper.make_sequence_type_proto(numbers))
    model.graph.output.append(sequence)
    for outputs in (None, ["y"]):
        with pytest.warns(NeatOnnxWarning, match="'both' is a sequence, and is left out"):
            net = import_model(model, outputs=outputs)
        np.testing.assert_array_equal(net.activate([[-1.0, 0.0, 2.0]]), [[0.0, 0.0, 2.0]])
    del model.graph.output[0]
    with pytest.raises(ModelError, match="is a sequence, and only tensors"):
        import_model(model)


def test_inputs_of_text_are_left_out_with_the_outputs_that_need_them():
    """As ML.NET takes the label that it was trained on, and gives it back."""
    code = {"keys_strings": ["a", "b"], "values_int64s": [0, 1], "domain": "ai.onnx.ml"}
    made = [node("Relu", "x", "y"), node("LabelEncoder", "label", "code", **code)]
    model = policy(made, {"x": ["N", 3]}, {"y": ["N", 3]})
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    model.graph.input.append(helper.make_tensor_value_info("label", TensorProto.STRING, ["N"]))
    model.graph.output.append(helper.make_tensor_value_info("code", TensorProto.INT64, ["N"]))
    with pytest.warns(NeatOnnxWarning) as caught:
        net = import_model(model)
    reply = " ".join(str(each.message) for each in caught)
    assert "'code' is computed from text, and is left out" in reply
    assert "inputs left out are label" in reply
    np.testing.assert_array_equal(net.activate([[-1.0, 0.0, 2.0]]), [[0.0, 0.0, 2.0]])
    del model.graph.output[0]
    with pytest.raises(ModelError, match="label: elem_type 8"):
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
