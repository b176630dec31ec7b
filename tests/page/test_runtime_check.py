"""The runtime check from CPython: onnxruntime runs what the page's runtime would."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper
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


def in_halves() -> bytes:
    text = """<ir_version: 8, opset_import: ["": 18]>
        agraph (float16[N, 3] x) => (float16[N, 3] y) { y = Tanh (x) }"""
    return onnx.parser.parse_model(text).SerializeToString()


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


def samples_first(last: bool) -> bytes:
    """Sequences with the samples before time, of which all steps come out or the last alone."""
    document = json.loads(neat_onnx.Network.gru(3, 4, 2, seed=0).to_json())
    for port in document["inputs"] + document["outputs"] * (not last):
        port["time_axis"] = 1
    return json.dumps(document).encode()


def with_shared_input() -> bytes:
    """A model one of whose inputs has no batch."""
    nodes = [helper.make_node("Mul", ["x", "dt"], ["s"]), helper.make_node("Tanh", ["s"], ["y"])]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in each]
        for each in ((("x", ["N", 3]), ("dt", [])), (("y", ["N", 3]),))
    )
    drawn = helper.make_graph(nodes, "graph", inputs, outputs)
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(drawn, opset_imports=opset, ir_version=8).SerializeToString()


FILES: dict[str, tuple[bytes, dict[str, object]]] = {
    "layers": (source("np-ff-19"), {}),
    "float64": (source("nts-net-dag-24"), {"dtype": "float64"}),
    "float16": (in_halves(), {}),
    "memory": (source("np-rec-01"), {}),
    "sequences": (source("nts-net-lstm-2"), {"dtype": "float64", "sequence": True}),
    "samples first": (samples_first(last=False), {}),
    "the last step": (samples_first(last=True), {}),
    "states beside a sequence": (stateful_gru(), {}),
    "another batch axis": (turned(), {}),
    "one sample": (without_batch(), {}),
    "an input that samples share": (with_shared_input(), {}),
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


def test_a_sequence_without_a_batch_is_refused():
    """Its first axis is time, and is taken for the samples, which the graph mixes."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["T", 2]) for name in ("x", "y"))
    held, step, after, given = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])
        for name in ("held", "step", "after", "given")
    )
    adds = [
        helper.make_node("Add", ["held", "step"], ["after"]),
        helper.make_node("Tanh", ["after"], ["given"]),
    ]
    body = helper.make_graph(adds, "body", [held, step], [after, given])
    nodes = [helper.make_node("Scan", ["first", "x"], ["last", "y"], body=body, num_scan_inputs=1)]
    first = helper.make_tensor("first", TensorProto.FLOAT, [2], [0.0, 0.0])
    graph = helper.make_graph(nodes, "sums", [x], [y], [first])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    error = convert(model.SerializeToString(), name="sums.onnx")[0]["error"]
    assert "does not compute what the model does: 'y'" in error["message"]
    assert "last (Scan)" in error["where"]
    assert error["import"] == {"batch_axis": "none"}
