"""tract, Sonos's inference engine written in Rust."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from neat_onnx.model import Model
from neat_onnx.verification.runtimes import Feed, Session, not_installed

RECURRENT = {"LSTM", "GRU", "RNN"}


def load(model: Model) -> Session:
    """Load a model into tract.

    A model with a recurrent layer is loaded for the shapes of each feed: tract makes its initial
    state for a number of samples that it knows, and ends the process where it knows none.
    """
    try:
        import tract  # noqa: PLC0415 (optional)
    except ImportError:
        raise not_installed("tract") from None
    inputs = [entry.name for entry in model.graph.inputs]
    outputs = [entry.name for entry in model.graph.outputs]

    def runnable(feed: Feed) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(model.to_bytes())
            read = tract.onnx().load(path)
        for place, name in enumerate(inputs if feed else []):
            read.set_input_fact(place, _fact(feed[name]))
        return read.into_model().into_runnable()

    stated = any(node.op_type in RECURRENT for node in model.graph.node)
    loaded = None if stated else runnable({})

    def run(feed: Feed) -> dict[str, Any]:
        values = (loaded or runnable(feed)).run([feed[name] for name in inputs])
        return {name: value.to_numpy() for name, value in zip(outputs, values, strict=True)}

    return Session(run, f"tract {tract.version()}")


def _fact(value: np.ndarray[Any, Any]) -> str:
    """A shape and type as tract writes them: ``2,3,f32``."""
    return ",".join([*map(str, value.shape), f"{value.dtype.kind}{8 * value.dtype.itemsize}"])
