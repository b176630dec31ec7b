"""The model that the page gave, run by onnxruntime, against what the peer's own code computed."""

from typing import Any

import numpy as np
import onnxruntime
from site_page import case


def assert_right(model: bytes, name: str) -> None:
    """The model gives what the peer gave; if the rows of the case are steps, step by step."""
    recorded = case(name)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    x = np.array(recorded["inputs"], np.float32)
    assert_close(_stepped(session, x) if recorded["sequence"] else _at_once(session, x), recorded)


def assert_right_sequence(model: bytes, name: str) -> None:
    """A model of whole sequences gives what the peer gave for the rows as one sequence."""
    recorded = case(name)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    x = np.array(recorded["inputs"], np.float32)[:, None, :]
    assert_close(_at_once(session, x)[:, 0, :], recorded)


def assert_close(got: np.ndarray, recorded: dict[str, Any]) -> None:
    want = np.array(recorded["outputs"])
    slack = 2e-6 * np.maximum(1, np.abs(want)) + 8 * np.array(recorded["sens32"])[:, None]
    assert np.all(np.abs(got - want) <= slack)


def _at_once(session: onnxruntime.InferenceSession, x: np.ndarray) -> np.ndarray:
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def _stepped(session: onnxruntime.InferenceSession, x: np.ndarray) -> np.ndarray:
    """The k-th extra output of a step is the k-th extra input of the next; first, zeros."""
    first, *memory = session.get_inputs()
    held = [np.zeros((1, port.shape[1]), np.float32) for port in memory]
    rows = []
    for row in x:
        feed = {port.name: value for port, value in zip(memory, held, strict=True)}
        y, *held = session.run(None, {first.name: row[None], **feed})
        rows.append(y[0])
    return np.array(rows)
