"""What the page asks of the engine, as it asks it: JSON and bytes in, JSON and bytes out."""

import json
from typing import Any

from neat_onnx.page.bridge import call


def ask(method: str, data: bytes = b"", **params: object) -> tuple[Any, dict[str, bytes]]:
    text, blobs = call(method, json.dumps(params), data, lambda stage, fraction: None)
    return json.loads(text), blobs


def convert(data: bytes, **params: object) -> tuple[Any, dict[str, bytes]]:
    """The answer to a conversion, and the files of it if there is one."""
    reply, _ = ask("convert", data, **params)
    return reply, files() if "result" in reply else {}


def files() -> dict[str, bytes]:
    """The three files of what was converted last."""
    return {kind: ask("file", kind=kind)[1]["file"] for kind in ("onnx", "json", "network")}
