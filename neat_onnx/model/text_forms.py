"""onnx's text forms of a model: textproto (`ir_version: 8`) and onnxtxt (`<ir_version: 8, …>`)."""

import re

import onnx
from google.protobuf import text_format  # type: ignore[import-untyped]

from neat_onnx.errors import ModelError
from neat_onnx.model.parts import check_text

_TEXTPROTO = re.compile(rb"(?:\s|#[^\n]*\n)*[a-z][a-z_]+\s*[:{]")


def is_text(data: bytes) -> bool:
    """Whether a file's content is one of the two; binary ONNX never is."""
    return data.lstrip().startswith(b"<") or _TEXTPROTO.match(data[:4096]) is not None


def parsed_text(data: bytes) -> onnx.ModelProto:
    """Parse a model's text.

    Raises:
        ModelError: it is not one; says where. LimitReached: it would make too much.
    """
    check_text(data)
    try:
        text = data.decode("utf-8-sig")
        if text.lstrip().startswith("<"):
            return onnx.parser.parse_model(text)
        proto: onnx.ModelProto = text_format.Parse(text, onnx.ModelProto())
    except (onnx.parser.ParseError, text_format.ParseError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"not a valid ONNX text: {_fault(error)}",
            hint="Text forms of ONNX are textproto and onnxtxt, as onnx.save_model writes them",
        ) from error
    return proto


def _fault(error: Exception) -> str:
    """The message of a parser, which may be bytes of several lines, without the text it quotes."""
    found = error.args[0] if error.args else ""
    text = found.decode(errors="replace") if isinstance(found, bytes) else str(found)
    lines = [line.strip() for line in text.splitlines() if not line.startswith("Error context")]
    return " ".join(filter(None, lines)).rstrip(".") or "it is not readable"
