"""Sessions of onnxruntime for small models: starting threads takes longer than they save."""

import os
from typing import Any

import onnx
import onnxruntime

from neat_onnx import Model


def open_session(
    model: Model | onnx.ModelProto | bytes | str | os.PathLike[str], **settings: Any
) -> onnxruntime.InferenceSession:
    """A session of one thread in the CPU provider, which logs nothing.

    Args:
        settings: more attributes of the session's options.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    # without it, sums of products of 8 bits saturate at 16 on x86 processors without VNNI
    options.add_session_config_entry("session.x64quantprecision", "1")
    for name, value in settings.items():
        setattr(options, name, value)
    if isinstance(model, Model):
        model = model.to_bytes()
    elif isinstance(model, onnx.ModelProto):
        model = model.SerializeToString()
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
