"""JSON ONNX: its spellings, and how its text is laid out.

- **ours**, which NeatapticTS writes too: `graph.inputs`, `graph.outputs`, `node.attributes`.
- **official**, as `onnx.save_model(m, "m.json")` writes it: `graph.input`, `graph.output`,
  `node.attribute`; bytes (an attribute's `s`) are base64.
- **camelCase**, as protobuf's own JSON mapping writes it and Netron reads it: the same with
  `opType`, `dataType`, …; integers of 64 bits are decimal strings. We write the numbers of tensors
  as lists in it: base64 of them is not read everywhere.

`canonical` reads all three, even mixed: text is base64 under `attribute`, and plain under
`attributes`. Protobuf fields without effect on the outputs are dropped; every other unknown field
is left in place, to be refused. `protobuf_document` writes the third.
"""

import base64
import binascii
import json
import re
from typing import Any, Literal

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.model.budget import Parts
from neat_onnx.schema_links import LINK_KEY

Spelling = Literal["neat_onnx", "protobuf"]

_UPPER, _UNDERSCORE = re.compile(r"(?<=[a-z0-9])[A-Z]"), re.compile(r"_([a-z])")
_OURS = {"input": "inputs", "output": "outputs", "attribute": "attributes"}
RENAMED = {"graph": _OURS, "node": {"attribute": "attributes"}}
"""By message, our names of keys that have others."""
_OFFICIAL = {ours: name for name, ours in _OURS.items()}
_TEXTS = frozenset({"s", "strings"})  # of attributes: bytes, which JSON has in base64
NOTES = frozenset({"doc_string", "metadata_props", "denotation"})
DROPPED = {
    "model": frozenset({LINK_KEY, "model_version", "domain", "training_info", "configuration"}),
    "graph": frozenset({"value_info", "quantization_annotation", "metadata_props"}),
    "node": NOTES | {"overload", "device_configurations"},
}
"""By message, the keys that are dropped; of any other message, the notes."""
_INNER = {
    "model": {"graph": "graph"},
    "graph": {"inputs": "other", "outputs": "other", "initializer": "other", "node": "node"},
    "node": {"attributes": "attribute"},
    "attribute": {"t": "other", "g": "graph"},
}
"""By message, the keys that hold messages, and which."""


def canonical(document: dict[str, Any]) -> dict[str, Any]:
    """A copy of a model's document in our spelling. Lists of numbers are not copied.

    Wrong values are left as they are, for the models to refuse.

    Raises:
        ModelError: a key is given in two spellings; text in base64 cannot be decoded.
        LimitReached: it has too many objects, of which little has been made then.
    """
    model: dict[str, Any] = _canonical(document, "model", "", False, Parts())
    return model


def _canonical(value: Any, message: str, where: str, official: bool, parts: Parts) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        parts.take(len(value), nodes=message == "node")
        return [
            _canonical(each, message, f"{where}[{at}]", official, parts)
            for at, each in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    found: dict[str, Any] = {}
    dropped, inner = DROPPED.get(message, NOTES), _INNER.get(message)
    renamed = RENAMED.get(message, {})
    if message == "node":
        official = "attribute" in value
    for key, entry in value.items():
        name = _UPPER.sub(lambda upper: f"_{upper[0].lower()}", key)
        name = renamed.get(name, name)
        if name in found:
            raise ModelError(f"'{name}' is given in two spellings", where=where or None)
        if name in dropped:
            continue
        kind = "other" if inner is None else inner.get(name)
        if kind:
            place = f"{where}.{name}" if where else name
            found[name] = _canonical(entry, kind, place, official, parts)
        elif message == "attribute" and official and name in _TEXTS:
            found[name] = _decoded(entry, where)
        else:
            found[name] = entry
    return found


def _decoded(value: Any, where: str) -> Any:
    """A text, or a list of texts, that base64 holds."""
    if isinstance(value, list):
        return [_decoded(each, where) for each in value]
    try:
        return base64.b64decode(value, validate=True).decode() if isinstance(value, str) else value
    except (binascii.Error, ValueError):
        hint = "Under 'attribute' text is base64, as protobuf writes it; use 'attributes'"
        raise ModelError("an attribute's text is not base64", where=where, hint=hint) from None


_LONG = frozenset({"ir_version", "version", "dims", "int64_data", "dim_value", "i", "ints"})
_DEFAULTS = {"ir_version": 8, "opset_import": [{"version": 18}]}


def protobuf_document(document: dict[str, Any]) -> dict[str, Any]:
    """The same model in protobuf's JSON, with the versions and the graph's name, which ONNX wants.

    Args:
        document: the document of `Model.to_document`; tensors may hold arrays.
    """
    respelt: dict[str, Any] = _respelt({**_DEFAULTS, **document})
    return respelt


def _respelt(value: Any, key: str = "") -> Any:
    if key in _LONG or key in _TEXTS:
        plain = value.tolist() if isinstance(value, np.ndarray) else value
        spelt = str if key in _LONG else _base64
        return [spelt(each) for each in plain] if isinstance(plain, list) else spelt(plain)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_respelt(each, key) for each in value]
    if not isinstance(value, dict):
        return value
    if key in ("graph", "g"):
        value = {**value, "name": value.get("name") or "graph"}
    elif key == "node":
        value = {name: each for name, each in value.items() if each not in ([], "")}
    return {
        _UNDERSCORE.sub(lambda found: found[1].upper(), _OFFICIAL.get(name, name)): _respelt(
            each, name
        )
        for name, each in value.items()
    }


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


_WIDTH = 100  # what fits is put on one line
_SPACED, _DENSE = (
    json.JSONEncoder(separators=separators, allow_nan=False, default=np.ndarray.tolist).encode
    for separators in (None, (",", ":"))
)


def json_text(value: Any, indent: bool = True) -> str:
    """`value`, which may hold arrays, as JSON text in ASCII.

    Structure is indented, each list of numbers and each small object on one line. Numbers go
    through the C encoder, list by list: the standard library's `indent` would take the one written
    in Python, and give each number a line.
    """
    if not indent:
        return _DENSE(value)
    parts: list[str] = []
    _write(value, "\n", _WIDTH, parts)
    return "".join(parts)


def _write(value: Any, newline: str, room: int, parts: list[str]) -> None:
    """Append the text of `value`, of which `room` is left on its first line."""
    if _is_flat(value, room):
        parts.append(_SPACED(value))
        return
    inner = newline + " "
    named = isinstance(value, dict)
    opening, closing = "{}" if named else "[]"
    for key, entry in value.items() if named else (("", each) for each in value):
        label = f"{json.dumps(key)}: " if key else ""
        parts += (opening, inner, label)
        _write(entry, inner, _WIDTH - len(inner) - len(label), parts)
        opening = ","
    parts += (newline, closing)


def _is_flat(value: Any, room: int) -> bool:
    """Whether `value` goes on one line: a scalar, a list of scalars, or one that fits in `room`."""
    if not isinstance(value, dict | list | tuple) or not value:
        return True
    if not isinstance(value, dict) and not isinstance(value[0], dict | list | tuple):
        return True  # lists in a model are of one kind: no need to look at a million numbers
    return _rest(value, room) >= 0


def _rest(value: Any, room: int) -> int:
    """The rest of `room` after the text of `value`; negative as soon as it is used up."""
    if isinstance(value, np.ndarray):
        if 3 * value.size > room:
            return -1
        value = value.tolist()
    if not isinstance(value, dict | list | tuple):
        return room - len(str(value)) - 2 * isinstance(value, str)
    entries = value.items() if isinstance(value, dict) else (("", each) for each in value)
    for key, entry in entries:
        room = _rest(entry, room - (len(key) + 6 if isinstance(value, dict) else 2))
        if room < 0:
            break
    return room
