"""onnxruntime-web, the runtime of browsers, in Node: one process a model, JSON lines between."""

import base64
import json
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model import DataType, Model
from neat_onnx.verification.runtimes import Feed, Session, not_installed

_SECONDS = 120.0  # more than any answer takes
_TYPES = {"float16": "<f2", "float32": "<f4", "float64": "<f8"}


def onnxruntime_web(model: Model) -> Session:
    """Load a model into onnxruntime-web, which is looked for where node is started."""
    return _loaded(model, _level(model))


def onnxruntime_web_as_written(model: Model) -> Session:
    """Load a model into onnxruntime-web, each node to be run as it stands."""
    return _loaded(model, "disabled", " without rewrites")


def _loaded(model: Model, level: str, note: str = "") -> Session:
    node = shutil.which("node")
    if node is None:
        raise not_installed("onnxruntime-web")
    worker = _Worker(node)
    data = base64.b64encode(model.to_bytes()).decode()
    answer = worker.ask({"model": data, "optimize": level})
    outputs = [entry.name for entry in model.graph.outputs]

    def run(feed: Feed) -> dict[str, Any]:
        found = worker.ask({"feeds": {name: _encoded(value) for name, value in feed.items()}})
        return {name: _decoded(found["outputs"][name]) for name in outputs}

    return Session(run, f"onnxruntime-web {answer['version']}{note}")


def _level(model: Model) -> str:
    """Its level of optimization: with "all", it fuses x · sigmoid(a x) for float32 alone."""
    double = any(entry.elem_type is DataType.DOUBLE for entry in model.graph.inputs)
    return "basic" if double else "all"


class _Worker:
    """A Node process that runs one model; it ends when its input does."""

    def __init__(self, node: str) -> None:
        source = (Path(__file__).parent / "onnxruntime_web.mjs").read_text(encoding="utf-8")
        self._process = subprocess.Popen(
            [node, "--input-type=module", "--eval", source],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Send a question and wait for its answer.

        Raises:
            ModelError: the runtime refuses the model, or ends.
        """
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        watchdog = threading.Timer(_SECONDS, process.kill)
        watchdog.start()
        try:
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watchdog.cancel()
        answer: dict[str, Any] = json.loads(line or '{"error": "node has ended"}')
        if answer.get("missing"):
            raise not_installed("onnxruntime-web")
        if "error" in answer:
            raise ModelError(f"onnxruntime-web does not run the model: {answer['error']}")
        return answer

    def __del__(self) -> None:
        process = self._process
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        process.wait(_SECONDS)


def _encoded(value: np.ndarray[Any, Any]) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
    return {"type": str(value.dtype), "dims": list(value.shape), "data": data}


def _decoded(tensor: dict[str, Any]) -> np.ndarray[Any, Any]:
    data = np.frombuffer(base64.b64decode(tensor["data"]), _TYPES[tensor["type"]])
    return data.reshape(tensor["dims"])
