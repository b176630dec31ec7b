"""OpenVINO, its CPU device, in float32."""

from typing import Any

import numpy as np

from neat_onnx.model import Model
from neat_onnx.verification.runtimes import Feed, Session, not_installed

IN_FLOAT32 = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}
"""Without the second, values are rounded to 8 bits before a product with weights of 8 bits."""


def load(model: Model) -> Session:
    """Load a model into OpenVINO."""
    try:
        import openvino  # noqa: PLC0415 (optional)
    except ImportError:
        raise not_installed("openvino") from None
    core = openvino.Core()
    read = core.read_model(model.to_bytes())
    compiled = core.compile_model(read, "CPU", IN_FLOAT32)
    outputs = [entry.name for entry in model.graph.outputs]

    def run(feed: Feed) -> dict[str, Any]:
        values = compiled(feed)
        return {name: np.array(values[at]) for at, name in enumerate(outputs)}

    return Session(run, f"openvino {openvino.__version__.split('-')[0]}")
