"""A second runtime, onnxruntime-web, runs the same samples after the verdict."""

import json

import onnx.parser
import pytest
from site_page import DIST, DROP, case, source_text

import neat_onnx

VERSION = json.loads((DIST / "runtime" / "files.json").read_text())["version"]
CASES = ["nts-net-dag-24", "np-rec-11"]

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
# A choice between integers' places, masked by truth values, and one that is drawn.
POLICY = """<ir_version: 8, opset_import: ["": 17]>
    policy (int64[N, 3] seen, bool[N, 4] allowed) => (int64[N, 1] action, int32[N, 1] drawn)
    <float[3, 4] W = {0.1, -0.1, 0.6, 0.1, -0.5, 0.4, 1.3, 0.9, -0.7, -1.3, -0.6, 0.0},
     float low = {-100000000.0}> {
        x = Cast <to = 1> (seen)
        logits = MatMul (x, W)
        masked = Where (allowed, logits, low)
        action = ArgMax <axis = 1, keepdims = 1> (masked)
        drawn = Multinomial (masked)
    }"""
# A layer with an operator of onnxruntime's own, as its optimizer leaves it.
OPTIMIZED = """<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
    optimized (float[N, 3] x) => (float[N, 2] y)
    <float[3, 2] W = {0.1, -0.1, 0.6, 0.1, -0.5, 0.4}> {
        sum = MatMul (x, W)
        y = com.microsoft.Gelu (sum)
    }"""


def model(text: str) -> bytes:
    return onnx.parser.parse_model(text).SerializeToString()


def test_other_types_and_whole_sequences_are_run_too(runtime_check):
    net = neat_onnx.load_network(case("nap-net-lstm-1")["source"])
    models = {
        "sequence": neat_onnx.export(net, dtype="float64", sequence=True).to_bytes(),
        "halves": model(HALVES),
        "policy": model(POLICY),
    }
    for name, data in models.items():
        assert runtime_check.choose(f"{name}.onnx", data) == "done"
        assert runtime_check.runtime_verdict() == "Equal", name


def test_a_model_that_onnx_does_not_run_has_the_verdict_of_the_second_runtime(runtime_check):
    neat = runtime_check
    assert neat.choose("optimized.onnx", model(OPTIMIZED)) == "done"
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
