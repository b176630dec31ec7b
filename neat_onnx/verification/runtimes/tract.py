"""tract, Sonos's inference engine written in Rust."""

import tempfile
from pathlib import Path
from typing import Any

from neat_onnx.model import Model
from neat_onnx.verification.runtimes import Feed, Session, not_installed


def load(model: Model) -> Session:
    """Load a model into tract."""
    try:
        import tract  # noqa: PLC0415 (optional)
    except ImportError:
        raise not_installed("tract") from None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.to_bytes())
        runnable = tract.onnx().load(path).into_model().into_runnable()
    inputs = [entry.name for entry in model.graph.inputs]
    outputs = [entry.name for entry in model.graph.outputs]

    def run(feed: Feed) -> dict[str, Any]:
        values = runnable.run([feed[name] for name in inputs])
        return {name: value.to_numpy() for name, value in zip(outputs, values, strict=True)}

    return Session(run, f"tract {tract.version()}")
