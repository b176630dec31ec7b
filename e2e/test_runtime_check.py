"""A second runtime, onnxruntime-web, runs the same samples after the verdict."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from site_page import DIST, DROP, case, source_text

import neat_onnx

VERSION = json.loads((DIST / "runtime" / "files.json").read_text())["version"]
CASES = [
    *("nts-net-dag-24", "np-atom-agg-median", "np-rec-01"),
    *("nap-net-random-1", "np-atom-act-sin"),
]

# Drop each file as soon as the one before it has come to its end; gives what the engine was asked.
ONE_AFTER_THE_OTHER = f"""async (zone, files) => {{
    const drop = {DROP};
    const post = Worker.prototype.postMessage;
    const asked = [];
    Worker.prototype.postMessage = function (message, ...others) {{
        asked.push(message.method);
        return post.call(this, message, ...others);
    }};
    for (const file of files) {{
        const {{ turns }} = document.body.dataset;
        drop(zone, [file]);
        while (document.body.dataset.turns === turns) await new Promise(requestAnimationFrame);
    }}
    const verdict = () => document.querySelector("[data-testid=runtime-verdict]");
    while (!verdict()) await new Promise(requestAnimationFrame);
    Worker.prototype.postMessage = post;
    return asked;
}}"""


@pytest.mark.parametrize("name", CASES)
def test_both_runtimes_agree_and_are_named(runtime_check, name):
    neat = runtime_check
    assert neat.choose(f"{name}.json", source_text(name)) == "done"
    assert f"onnx.reference {onnx.__version__}" in neat.text("verdict-words")
    assert neat.runtime_verdict().startswith("Equal")
    assert neat.text("runtime-name") == f"onnxruntime-web {VERSION}"


@pytest.mark.parametrize("options", [{"dtype": "float64"}, {"sequence": True}])
def test_other_types_and_whole_sequences_are_run_too(runtime_check, options):
    net = neat_onnx.load_network(case("nap-net-lstm-1")["source"])
    model = neat_onnx.export(net, **options)
    assert runtime_check.choose("model.onnx", model.to_bytes()) == "done"
    assert runtime_check.runtime_verdict() == "Equal"


@pytest.mark.parametrize("last", [False, True])
def test_sequences_with_the_samples_first_and_the_last_step_alone(runtime_check, last):
    document = json.loads(neat_onnx.Network.gru(3, 4, 2, seed=0).to_json())
    for port in document["inputs"] + document["outputs"] * (not last):
        port["time_axis"] = 1
    assert runtime_check.choose("gru.json", json.dumps(document).encode()) == "done"
    assert runtime_check.runtime_verdict().startswith("Equal")
    model = neat_onnx.load_model(runtime_check.download("onnx")[1])
    assert model.graph.inputs[0].shape == ("N", "T", 3)
    assert model.graph.outputs[0].shape == (("N", 2) if last else ("N", "T", 2))


def stateful_gru() -> bytes:
    """A GRU over a sequence [T, N, 3] that begins from an input and gives its last state."""
    kind = helper.make_tensor_value_info
    draw = np.random.default_rng(0)
    weights = {"W": (1, 12, 3), "R": (1, 12, 4), "B": (1, 24)}
    nodes = [
        helper.make_node("GRU", ["x", *weights, "", "h0"], ["steps", "hn"], hidden_size=4),
        helper.make_node("Squeeze", ["steps", "axis"], ["y"]),
    ]
    tensors = {name: draw.normal(size=shape).astype(np.float32) for name, shape in weights.items()}
    tensors["axis"] = np.array([1])
    graph = helper.make_graph(
        nodes,
        "gru",
        [kind("x", TensorProto.FLOAT, ["T", "N", 3]), kind("h0", TensorProto.FLOAT, [1, "N", 4])],
        [kind("y", TensorProto.FLOAT, ["T", "N", 4]), kind("hn", TensorProto.FLOAT, [1, "N", 4])],
        [numpy_helper.from_array(values, name) for name, values in tensors.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def test_states_beside_a_sequence_begin_where_they_should(runtime_check):
    assert runtime_check.choose("gru.onnx", stateful_gru()) == "done"
    assert runtime_check.runtime_verdict().startswith("Equal")


def policy() -> bytes:
    """A choice between integers' places, masked by truth values, and one that is drawn."""
    kind = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Cast", ["seen"], ["x"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "W"], ["logits"]),
        helper.make_node("Where", ["allowed", "logits", "low"], ["masked"]),
        helper.make_node("ArgMax", ["masked"], ["action"], axis=1, keepdims=1),
        helper.make_node("Multinomial", ["masked"], ["drawn"]),
    ]
    weights = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    tensors = {"W": weights, "low": np.array(-1e8, np.float32)}
    graph = helper.make_graph(
        nodes,
        "policy",
        [kind("seen", TensorProto.INT64, ["N", 3]), kind("allowed", TensorProto.BOOL, ["N", 4])],
        [kind("action", TensorProto.INT64, ["N", 1]), kind("drawn", TensorProto.INT32, ["N", 1])],
        [numpy_helper.from_array(values, name) for name, values in tensors.items()],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def turned() -> bytes:
    """A model whose batch is the second axis of its input, and the last of its output."""
    kind = helper.make_tensor_value_info
    nodes = [
        helper.make_node("Transpose", ["x"], ["first"], perm=[1, 0, 2]),
        helper.make_node("Flatten", ["first"], ["rows"]),
        helper.make_node("MatMul", ["rows", "W"], ["sums"]),
        helper.make_node("Transpose", ["sums"], ["y"], perm=[1, 0]),
    ]
    weights = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    graph = helper.make_graph(
        nodes,
        "turned",
        [kind("x", TensorProto.FLOAT, [2, "N", 3])],
        [kind("y", TensorProto.FLOAT, [3, "N"])],
        [numpy_helper.from_array(weights, "W")],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def test_the_batch_may_be_any_axis(runtime_check):
    assert runtime_check.choose("turned.onnx", turned()) == "done"
    assert runtime_check.runtime_verdict() == "Equal"
    net = neat_onnx.import_model(turned())
    assert runtime_check.choose("turned.json", net.to_json().encode()) == "done"
    assert runtime_check.runtime_verdict() == "Equal"


@pytest.mark.parametrize(
    "net",
    [neat_onnx.Network.mlp([4, 3]), neat_onnx.Network.lstm(3, 4, 2)],
    ids=["layers", "memory"],
)
def test_a_model_may_be_of_a_single_sample(runtime_check, net):
    model = neat_onnx.export(net, batch_dimension=None)
    assert runtime_check.choose("single.onnx", model.to_bytes()) == "done"
    assert runtime_check.runtime_verdict() == "Equal"


def test_models_of_integers_and_truth_values_are_run_too(runtime_check):
    assert runtime_check.choose("policy.onnx", policy()) == "done"
    assert runtime_check.runtime_verdict() == "Equal"


def optimized() -> bytes:
    """A layer with an operator of onnxruntime's own, as its optimizer leaves it."""
    kind = helper.make_tensor_value_info
    nodes = [
        helper.make_node("MatMul", ["x", "W"], ["sum"]),
        helper.make_node("Gelu", ["sum"], ["y"], domain="com.microsoft"),
    ]
    weights = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
    graph = helper.make_graph(
        nodes,
        "optimized",
        [kind("x", TensorProto.FLOAT, ["N", 3])],
        [kind("y", TensorProto.FLOAT, ["N", 2])],
        [numpy_helper.from_array(weights, "W")],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def test_a_model_that_onnx_does_not_run_has_the_verdict_of_the_second_runtime(runtime_check):
    neat = runtime_check
    assert neat.choose("optimized.onnx", optimized()) == "done"
    neat["verdict"].wait_for(timeout=60_000)
    assert neat.text("verdict") == "passed"
    assert f"The model was run by onnxruntime-web {VERSION}." in neat.text("verdict-words")
    assert float(neat.text("mse")) < 1e-12
    assert neat["runtime-verdict"].count() == 0
    assert neat.download("network")[0] == "optimized.network.json"


def test_a_file_that_comes_at_once_does_not_wait_for_it(runtime_check):
    files = [[f"{name}.json", source_text(name).decode("latin-1")] for name in CASES[:3]]
    asked = runtime_check["drop-zone"].evaluate(ONE_AFTER_THE_OTHER, files)
    assert [asked.count(method) for method in ("convert", "runtime_inputs")] == [3, 1]
