"""OpenCV's module of neural networks."""

from typing import Any

import numpy as np

from neat_onnx.model import Model
from neat_onnx.verification.runtimes import Feed, Session, not_installed


def load(model: Model) -> Session:
    """Load a model into OpenCV."""
    try:
        import cv2  # noqa: PLC0415 (optional)
    except ImportError:
        raise not_installed("opencv") from None
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    net = cv2.dnn.readNetFromONNX(np.frombuffer(model.to_bytes(), np.uint8))
    outputs = [entry.name for entry in model.graph.outputs]

    def run(feed: Feed) -> dict[str, Any]:
        for name, value in feed.items():
            net.setInput(value, name)
        values = net.forward(outputs)
        return {name: np.array(value) for name, value in zip(outputs, values, strict=True)}

    return Session(run, f"opencv {cv2.__version__}")
