"""The runtime check from CPython: onnxruntime runs what the page's runtime would."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper
from support.harness.page import ask, convert
from support.harness.sessions import open_session

import neat_onnx

CORPORA = Path(__file__).parents[1] / "corpora"


def source(name: str) -> bytes:
    return json.dumps(json.loads((CORPORA / f"{name}.json").read_text())["source"]).encode()


def without_batch() -> bytes:
    """A network of a single sample, with memory."""
    net = neat_onnx.Network.lstm(3, 4, 2, seed=0)
    return neat_onnx.export(net, batch_dimension=None).to_bytes()


def model(opset: int, body: str) -> bytes:
    text = f'<ir_version: 8, opset_import: ["": {opset}]> {body}'
    return onnx.parser.parse_model(text).SerializeToString()


IN_HALVES = "g (float16[N, 3] x) => (float16[N, 3] y) { y = Tanh (x) }"
# A GRU over a sequence [T, N, 2] that begins from an input and gives its last state.
STATEFUL_GRU = """gru (float[T, N, 2] x, float[1, N, 1] h0) => (float[T, N, 1] y, float[1, N, 1] hn)
    <float[1, 3, 2] W = {0.1, -0.8, 0.6, 0.1, -0.5, 0.4}, float[1, 3, 1] R = {0.3, -0.7, 0.9},
     float[1, 6] B = {0.1, 0.2, -0.3, 0.0, 0.4, -0.1}, int64[1] axis = {1}> {
        steps, hn = GRU <hidden_size = 1> (x, W, R, B, , h0)
        y = Squeeze (steps, axis)
    }"""
# A model whose batch is the second axis of its input, and the last of its output.
TURNED = """turned (float[2, N, 3] x) => (float[2, N] y)
    <float[6, 2] W = {0.1, -0.8, 0.6, 0.1, -0.5, 0.4, 1.3, 0.9, -0.7, -1.3, -0.6, 0.2}> {
        first = Transpose <perm = [1, 0, 2]> (x)
        rows = Flatten (first)
        sums = MatMul (rows, W)
        y = Transpose <perm = [1, 0]> (sums)
    }"""
SHARED_INPUT = """g (float[N, 3] x, float dt) => (float[N, 3] y) {
        s = Mul (x, dt)
        y = Tanh (s)
    }"""


def samples_first(last: bool) -> bytes:
    """Sequences with the samples before time, of which all steps come out or the last alone."""
    document = json.loads(neat_onnx.Network.gru(3, 4, 2, seed=0).to_json())
    for port in document["inputs"] + document["outputs"] * (not last):
        port["time_axis"] = 1
    return json.dumps(document).encode()


FILES: dict[str, tuple[bytes, dict[str, object]]] = {
    "layers": (source("np-ff-19"), {}),
    "float64": (source("nts-net-dag-24"), {"dtype": "float64"}),
    "float16": (model(18, IN_HALVES), {}),
    "memory": (source("np-rec-01"), {}),
    "sequences": (source("nts-net-lstm-2"), {"dtype": "float64", "sequence": True}),
    "samples first": (samples_first(last=False), {}),
    "the last step": (samples_first(last=True), {}),
    "states beside a sequence": (model(17, STATEFUL_GRU), {}),
    "another batch axis": (model(17, TURNED), {}),
    "one sample": (without_batch(), {}),
    "an input that samples share": (model(18, SHARED_INPUT), {}),
}


def played(runs: list, blobs: dict[str, bytes]) -> tuple[list, bytes]:
    """The outputs of a model, by onnxruntime, as web/runtime-worker.js gives them."""
    session = open_session(blobs["model"])
    names = [output.name for output in session.get_outputs()]
    results: list[dict[str, np.ndarray]] = []
    at = 0
    for run in runs:
        feed = {}
        for name, entry in run.items():
            if "run" in entry:
                feed[name] = results[entry["run"]][entry["output"]]
                continue
            shape = np.zeros(entry["dims"], entry["type"])
            feed[name] = np.frombuffer(blobs["tensors"], shape.dtype, shape.size, at)
            feed[name] = feed[name].reshape(shape.shape)
            at += shape.nbytes
        results.append(dict(zip(names, session.run(names, feed), strict=True)))
    assert at == len(blobs["tensors"])
    said = [
        {name: {"type": y.dtype.name, "dims": list(y.shape)} for name, y in result.items()}
        for result in results
    ]
    return said, b"".join(y.tobytes() for result in results for y in result.values())


@pytest.mark.parametrize("name", FILES)
def test_what_a_runtime_computed_is_compared(name):
    data, options = FILES[name]
    file = "net.json" if data.startswith(b"{") else "net.onnx"
    assert convert(data, name=file, options=options)[0]["result"]["report"]["passed"]
    reply, blobs = ask("runtime_inputs")
    runs, outputs = played(reply["result"]["runs"], blobs)

    def report(data: bytes) -> dict:
        return ask("runtime_report", data, runtime="onnxruntime 1", runs=runs)[0]

    said = report(outputs)["result"]
    assert (said["passed"], said["runtime"]) == (True, "onnxruntime 1")
    kind = next(iter(runs[0].values()))["type"]
    off = np.frombuffer(outputs, kind) + np.array(0.5, kind)
    assert report(off.tobytes())["result"]["verdict"] == "different"
    assert "expected more" in report(outputs[:-8])["error"]["message"]
    runs.pop()
    assert "expected more" in report(outputs)["error"]["message"]


def test_outputs_that_are_drawn_at_random_do_not_count_among_the_nodes():
    """The number of nodes says how many steps are played: on both ways the same."""
    model = neat_onnx.export(neat_onnx.Network.rnn(2, 3, 1, seed=0)).to_proto()
    graph, names = model.graph, [f"drawn{i}" for i in range(401)]
    graph.node.append(helper.make_node("RandomNormalLike", [graph.input[0].name], names[:1]))
    for before, after in pairwise(names):
        graph.node.append(helper.make_node("Abs", [before], [after]))
    drawn = helper.make_tensor_value_info(names[-1], TensorProto.FLOAT, ["N", 2])
    graph.output.append(drawn)
    assert "result" in convert(model.SerializeToString(), name="drawn.onnx")[0]
    reply, blobs = ask("runtime_inputs")
    runs, outputs = played(reply["result"]["runs"], blobs)
    assert ask("runtime_report", outputs, runtime="x", runs=runs)[0]["result"]["passed"]


SUMS = """sums (float[T, 2] x) => (float[T, 2] y) <float[2] first = {0, 0}> {
    last, y = Scan <num_scan_inputs = 1, body = step (float[2] held, float[2] now)
        => (float[2] after, float[2] given) {
            after = Add (held, now)
            given = Tanh (after)
        }> (first, x)
}"""


def test_a_sequence_without_a_batch_is_refused():
    """Its first axis is time, and is taken for the samples, which the graph mixes."""
    error = convert(model(18, SUMS), name="sums.onnx")[0]["error"]
    assert "does not compute what the model does: 'y'" in error["message"]
    assert "last (Scan)" in error["where"]
    assert error["import"] == {"batch_axis": "none"}
