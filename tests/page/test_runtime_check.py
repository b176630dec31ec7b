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


def in_halves() -> bytes:
    text = """<ir_version: 8, opset_import: ["": 18]>
        agraph (float16[N, 3] x) => (float16[N, 3] y) { y = Tanh (x) }"""
    return onnx.parser.parse_model(text).SerializeToString()


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
