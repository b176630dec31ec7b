"""A second opinion from CPython: onnxruntime sits the exam that the page's runtime would."""

import json
from pathlib import Path

import numpy as np
import pytest
from page import ask, convert
from sessions import open_session

CORPORA = Path(__file__).parents[1] / "corpora"
CASES: list[tuple[str, dict[str, object]]] = [
    ("np-ff-19", {}),
    ("nts-net-dag-24", {"dtype": "float64"}),
    ("np-rec-01", {}),
    ("nts-net-lstm-2", {"dtype": "float64", "sequence": True}),
]


def sat(order: dict, blobs: dict[str, bytes]) -> bytes:
    """The outputs of an exam, by onnxruntime, as web/second.js gives them."""
    session = open_session(blobs["model"])
    values, outputs = np.frombuffer(blobs["inputs"], "<f8"), []
    for steps, samples, width in order["parts"]:
        x, values = np.split(values, [steps * samples * width])
        x = x.reshape(steps, samples, width)
        if order["whole"]:
            rows = session.run(None, feeds(order, x))
            outputs.append(np.concatenate([row.reshape(steps, samples, -1) for row in rows], 2))
            continue
        states = {state["name"]: start(order, state, samples) for state in order["states"]}
        for step in x:
            names = [output.name for output in session.get_outputs()]
            got = dict(zip(names, session.run(names, feeds(order, step) | states), strict=True))
            states = {state["name"]: got[state["following"]] for state in order["states"]}
            outputs.append(
                np.concatenate([got[o["name"]].reshape(samples, -1) for o in order["outputs"]], 1)
            )
    return b"".join(part.astype("<f8").tobytes() for part in outputs)


def feeds(order: dict, x: np.ndarray) -> dict[str, np.ndarray]:
    return {
        port["name"]: np.ascontiguousarray(
            x[..., port["from"] : port["to"]].reshape(*x.shape[:-1], *port["sizes"]), port["type"]
        )
        for port in order["inputs"]
    }


def start(order: dict, state: dict, samples: int) -> np.ndarray:
    each = np.array(state["start"] or np.zeros(state["sizes"])).reshape(state["sizes"])
    return np.broadcast_to(each, (samples, *state["sizes"])).astype(state["type"])


@pytest.mark.parametrize(("name", "options"), CASES)
def test_what_a_runtime_computed_is_judged(name, options):
    data = json.dumps(json.loads((CORPORA / f"{name}.json").read_text())["source"]).encode()
    assert convert(data, name="net.json", options=options)[0]["result"]["report"]["passed"]
    reply, blobs = ask("exam")
    outputs = sat(reply["result"], blobs)
    printed = ask("judge", outputs, runtime="onnxruntime 1")[0]["result"]
    assert (printed["passed"], printed["runtime"]) == (True, "onnxruntime 1")
    off = np.frombuffer(outputs, "<f8").copy()
    off += 0.5
    assert ask("judge", off.tobytes(), runtime="x")[0]["result"]["verdict"] == "different"
    assert "expected" in ask("judge", outputs[:-8], runtime="x")[0]["error"]["message"]
