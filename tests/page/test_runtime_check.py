"""The runtime check from CPython: onnxruntime runs what the page's runtime would."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper
from support.harness.page import ask, convert
from support.harness.sessions import open_session

import neat_onnx

CORPORA = Path(__file__).parents[1] / "corpora"
CASES: list[tuple[str, dict[str, object]]] = [
    ("np-ff-19", {}),
    ("nts-net-dag-24", {"dtype": "float64"}),
    ("np-rec-01", {}),
    ("nts-net-lstm-2", {"dtype": "float64", "sequence": True}),
]


def without_batch() -> bytes:
    """A network of a single sample, with memory."""
    net = neat_onnx.Network.lstm(3, 4, 2, seed=0)
    return neat_onnx.export(net, batch_dimension=None).to_bytes()


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


def outputs_of(layout: dict, blobs: dict[str, bytes]) -> bytes:
    """The outputs of a model, by onnxruntime, as web/runtime-worker.js gives them."""
    session = open_session(blobs["model"])
    values, outputs = np.frombuffer(blobs["inputs"], "<f8"), []
    for steps, samples, width in layout["parts"]:
        x, values = np.split(values, [steps * samples * width])
        x = x.reshape(steps, samples, width)
        if layout["whole"]:
            rows = session.run(None, feeds(layout, x))
            outputs.append(np.concatenate([row.reshape(steps, samples, -1) for row in rows], 2))
            continue
        states = {state["name"]: start(layout, state, samples) for state in layout["states"]}
        for step in x:
            names = [output.name for output in session.get_outputs()]
            got = dict(zip(names, session.run(names, feeds(layout, step) | states), strict=True))
            states = {state["name"]: got[state["following"]] for state in layout["states"]}
            outputs.append(
                np.concatenate([got[o["name"]].reshape(samples, -1) for o in layout["outputs"]], 1)
            )
    return b"".join(part.astype("<f8").tobytes() for part in outputs)


def feeds(layout: dict, x: np.ndarray) -> dict[str, np.ndarray]:
    return {
        port["name"]: np.ascontiguousarray(
            np.moveaxis(
                x[..., port["from"] : port["to"]].reshape(*x.shape[:-1], *port["sizes"]),
                0,
                port["batch_axis"],
            ),
            port["type"],
        )
        for port in layout["inputs"]
    }


def test_an_input_that_samples_share_has_no_axis_for_them():
    assert convert(with_shared_input(), name="net.onnx")[0]["result"]["report"]["passed"]
    reply, blobs = ask("runtime_inputs")
    layout, session = reply["result"], open_session(blobs["model"])
    assert layout["fixed"]
    assert [port["batch_axis"] for port in layout["inputs"]] == [0, None]
    assert [each.shape for each in session.get_inputs()] == [["N", 3], []]


def test_a_model_of_a_single_sample_has_no_axis_for_it():
    assert convert(without_batch(), name="net.onnx")[0]["result"]["report"]["passed"]
    reply, blobs = ask("runtime_inputs")
    layout, session = reply["result"], open_session(blobs["model"])
    places = [
        each["batch_axis"] for part in ("inputs", "states", "outputs") for each in layout[part]
    ]
    assert set(places) == {None}
    assert layout["fixed"]
    values, played = np.frombuffer(blobs["inputs"], "<f8"), []
    names = [output.name for output in session.get_outputs()]
    for steps, samples, width in layout["parts"]:
        x, values = np.split(values, [steps * samples * width])
        outputs = np.empty((steps, samples, 2))
        for sample in range(samples):
            states = {
                each["name"]: np.zeros(each["sizes"], each["type"]) for each in layout["states"]
            }
            for step, rows in enumerate(x.reshape(steps, samples, width)):
                feed = {layout["inputs"][0]["name"]: rows[sample].astype(np.float32)} | states
                got = dict(zip(names, session.run(names, feed), strict=True))
                states = {each["name"]: got[each["following"]] for each in layout["states"]}
                outputs[step, sample] = got[layout["outputs"][0]["name"]]
        played.append(outputs.astype("<f8").tobytes())
    assert ask("runtime_report", b"".join(played), runtime="x")[0]["result"]["passed"]


def start(layout: dict, state: dict, samples: int) -> np.ndarray:
    each = np.array(state["start"] or np.zeros(state["sizes"])).reshape(state["sizes"])
    whole = np.broadcast_to(each, (samples, *state["sizes"]))
    return np.moveaxis(whole, 0, state["batch_axis"]).astype(state["type"])


@pytest.mark.parametrize(("name", "options"), CASES)
def test_what_a_runtime_computed_is_compared(name, options):
    data = json.dumps(json.loads((CORPORA / f"{name}.json").read_text())["source"]).encode()
    assert convert(data, name="net.json", options=options)[0]["result"]["report"]["passed"]
    reply, blobs = ask("runtime_inputs")
    outputs = outputs_of(reply["result"], blobs)
    printed = ask("runtime_report", outputs, runtime="onnxruntime 1")[0]["result"]
    assert (printed["passed"], printed["runtime"]) == (True, "onnxruntime 1")
    off = np.frombuffer(outputs, "<f8").copy()
    off += 0.5
    assert ask("runtime_report", off.tobytes(), runtime="x")[0]["result"]["verdict"] == "different"
    assert "expected" in ask("runtime_report", outputs[:-8], runtime="x")[0]["error"]["message"]


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
    outputs = outputs_of(reply["result"], blobs)
    assert ask("runtime_report", outputs, runtime="x")[0]["result"]["passed"]


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
