"""ONNX Runtime, its CPU provider."""

from typing import Any

from neat_onnx.model import Model
from neat_onnx.verification.runtimes import Feed, Session, not_installed
from neat_onnx.verification.runtimes.unsigned_weights import unsigned_weights


def load(model: Model) -> Session:
    """Load a model into ONNX Runtime, which rewrites it to be fast."""
    return _loaded(model, optimized=True)


def load_as_written(model: Model) -> Session:
    """Load a model into ONNX Runtime, each node to be run as it stands.

    Its rewrites of quantized values round where the graph does not.
    """
    return _loaded(unsigned_weights(model), optimized=False)


def _loaded(model: Model, *, optimized: bool) -> Session:
    try:
        import onnxruntime  # noqa: PLC0415 (optional)
    except ImportError:
        raise not_installed("onnxruntime") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads wait idle
    options.add_session_config_entry("session.x64quantprecision", "1")  # sums that do not saturate
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(model.to_bytes(), options, providers=providers)
    names = [output.name for output in session.get_outputs()]

    def run(feed: Feed) -> dict[str, Any]:
        return dict(zip(names, session.run(names, feed), strict=True))

    rewrites = "" if optimized else " without rewrites"
    return Session(run, f"onnxruntime {onnxruntime.__version__}{rewrites}")
