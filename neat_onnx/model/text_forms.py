"""onnx's text forms of a model: textproto (`ir_version: 8`) and onnxtxt (`<ir_version: 8, …>`)."""

import re

import onnx
from google.protobuf import text_format  # type: ignore[import-untyped]

from neat_onnx.errors import ModelError

_TEXTPROTO = re.compile(rb"(?:\s|#[^\n]*\n)*[a-z][a-z_]+\s*[:{]")


def is_text(data: bytes) -> bool:
    """Whether a file's content is one of the two; binary ONNX never is."""
    return data.lstrip().startswith(b"<") or _TEXTPROTO.match(data[:4096]) is not None


def parsed_text(data: bytes) -> onnx.ModelProto:
    """Parse a model's text.

    Raises:
        ModelError: it is not one; says where.
    """
    try:
        text = data.decode("utf-8-sig")
        if text.lstrip().startswith("<"):
            return onnx.parser.parse_model(text)
        proto: onnx.ModelProto = text_format.Parse(text, onnx.ModelProto())
    except (onnx.parser.ParseError, text_format.ParseError, RuntimeError, ValueError) as error:
        lines = [line for line in str(error).splitlines() if line.strip()] or ["it is not readable"]
        raise ModelError(
            f"not a valid ONNX text: {lines[0].strip()}",
            hint="Text forms of ONNX are textproto and onnxtxt, as onnx.save_model writes them",
        ) from error
    return proto
