"""A second runtime, onnxruntime-web, runs the same samples after the verdict."""

import json

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper
from site_page import DIST, DROP, case, source_text

import neat_onnx

VERSION = json.loads((DIST / "runtime" / "files.json").read_text())["version"]
CASES = ["nts-net-dag-24", "np-rec-01"]

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


HALVES = """<ir_version: 8, opset_import: ["": 18]>
    agraph (float16[N, 3] x) => (float16[N, 3] y) { y = Tanh (x) }"""


def test_other_types_and_whole_sequences_are_run_too(runtime_check):
    net = neat_onnx.load_network(case("nap-net-lstm-1")["source"])
    models = {
        "sequence": neat_onnx.export(net, dtype="float64", sequence=True).to_bytes(),
        "halves": onnx.parser.parse_model(HALVES).SerializeToString(),
        "policy": policy(),
    }
    for name, model in models.items():
        assert runtime_check.choose(f"{name}.onnx", model) == "done"
        assert runtime_check.runtime_verdict() == "Equal", name


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
    names = [*CASES, "np-atom-act-sin"]
    files = [[f"{name}.json", source_text(name).decode("latin-1")] for name in names]
    asked = runtime_check["drop-zone"].evaluate(ONE_AFTER_THE_OTHER, files)
    assert [asked.count(method) for method in ("convert", "runtime_inputs")] == [3, 1]
