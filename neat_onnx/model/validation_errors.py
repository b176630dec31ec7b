"""Pydantic's errors as a ModelError, which names the initializer or the node and the path."""

from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from neat_onnx.errors import ModelError
from neat_onnx.parsing import complaint, json_path

_OWN = ("external_data", "unknown_attribute", "unsupported_op")  # types of our own errors


def refusal(error: ValidationError, document: Any) -> ModelError:
    """The first thing that `error` found wrong in `document`.

    The message calls initializers and nodes by name; `where` is the JSON path. The values
    themselves are not shown: metadata may be private, and a tensor is long.
    """
    first = error.errors(include_url=False)[0]
    location = tuple(step for step in first["loc"] if step != "values")  # no key of the document
    label, depth = _label(location, document)
    subject = _subject(location[depth:], first)
    text = f"{subject} {complaint(first, private=True)}".lstrip()
    return ModelError(
        f"{label}: {text}" if label else text,
        where=json_path(location) or None,
        hint=first.get("ctx", {}).get("hint"),
    )


def _subject(inner: tuple[int | str, ...], detail: ErrorDetails) -> str:
    """The subject of the error's text; nothing where our validator names it in its text."""
    if isinstance(detail["input"], list | dict) and detail["type"] in ("value_error", *_OWN):
        return ""
    return json_path(inner[-2:] if inner and isinstance(inner[-1], int) else inner[-1:])


def _label(location: tuple[int | str, ...], document: Any) -> tuple[str, int]:
    """How to call the innermost named thing on the way to `location`, and how deep that is."""
    label, depth = "", 0
    value = document
    for at, step in enumerate(location):
        if not isinstance(value, dict | list):
            break
        try:
            value = value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(step, int) and at and isinstance(value, dict):
            name = _name(location[at - 1], step, value)
            label, depth = (name, at + 1) if name else (label, depth)
    return label, depth


def _name(collection: int | str, at: int, value: dict[str, Any]) -> str | None:
    name = value.get("name") or at
    match collection:
        case "initializer":
            return f"initializer {name}"
        case "inputs" | "outputs":
            return f"graph {str(collection)[:-1]} {name}"
        case "node":
            outputs = value.get("output")
            name = value.get("name") or (
                outputs[0] if outputs and isinstance(outputs, list) else at
            )
            return f"node {name} ({value.get('op_type', 'no op_type')})"
        case _:
            return None
