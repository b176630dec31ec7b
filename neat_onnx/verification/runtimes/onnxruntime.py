"""ONNX Runtime, its CPU provider."""

from typing import Any

from neat_onnx.model import Model
from neat_onnx.verification.runtimes import Feed, Session, not_installed


def load(model: Model) -> Session:
    """Load a model into ONNX Runtime."""
    try:
        import onnxruntime  # noqa: PLC0415 (optional)
    except ImportError:
        raise not_installed("onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads wait idle
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(model.to_bytes(), options, providers=providers)
    names = [output.name for output in session.get_outputs()]

    def run(feed: Feed) -> dict[str, Any]:
        return dict(zip(names, session.run(names, feed), strict=True))

    return Session(run, f"onnxruntime {onnxruntime.__version__}")
