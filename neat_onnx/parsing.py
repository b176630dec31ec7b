"""Pydantic at the boundary: a document is parsed once; mistakes become errors of this package."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from neat_onnx.errors import NeatOnnxError


class Document(BaseModel):
    """Base of documents read from JSON: nothing unknown, no numbers in strings, no infinities."""

    model_config = ConfigDict(
        defer_build=True, extra="forbid", strict=True, frozen=True, allow_inf_nan=False
    )


class ForeignDocument(Document):
    """Base of documents that other tools write, which may hold more than is read."""

    model_config = ConfigDict(defer_build=True, extra="ignore")


Parsed = TypeVar("Parsed", bound=BaseModel)


def parse(
    kind: type[Parsed], value: Any, error: type[NeatOnnxError], hint: str | None = None
) -> Parsed:
    """Return `value`, from JSON, as a `kind`.

    Raises:
        error: at the first thing that is wrong, with its JSON path.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        last = first["loc"][-1] if first["loc"] else "the document"
        text = f"{'it' if isinstance(last, int) else last} {complaint(first)}"
        raise error(text, where=json_path(first["loc"]) or None, hint=hint) from None


def json_path(location: Sequence[int | str]) -> str:
    """Return a location as a JSON path: `('nodes', 3, 'bias')` as `nodes[3].bias`."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def complaint(detail: ErrorDetails, *, private: bool = False) -> str:
    """Return the end of a sentence about a wrong value: "is not a list, got the string 'x'".

    Args:
        detail: the first of Pydantic's errors.
        private: leave out values of wrong types, which may be long or not for others.
    """
    context, found = detail.get("ctx", {}), detail["input"]
    got = "" if private else f", got {_shown(found)}"
    match detail["type"]:
        case "value_error":
            return str(context["error"])
        case "literal_error" | "enum":
            value = f"'{found[:40]}'" if isinstance(found, str) else _shown(found)
            return f"is {value}, expected {context['expected']}"
        case "float_type" | "int_type" if found is None:
            return "is null (NaN or Infinity in the source?)"
        case kind if kind in _BOUNDS:
            relation, key = _BOUNDS[kind]
            return f"is {_shown(found)}, expected {relation} {context[key]}"
        case kind if kind in _COMPLAINTS:
            return _COMPLAINTS[kind]
        case kind if kind in _TYPES:
            return f"is not {_TYPES[kind]}{got}"
        case _:
            return detail["msg"]


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"the string '{value[:40]}'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        if abs(value) > _MAX_NUMBER:
            return "a number out of range"
        return str(value) if isinstance(value, int) else str(float(f"{value:.6g}"))
    if value is None:
        return "null"
    return "an object" if isinstance(value, dict) else "an array"


_MAX_NUMBER = 1e30  # in a message
_COMPLAINTS = {
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
    "finite_number": "is not a finite number",
    "string_unicode": "is not UTF-8 text",
}
_TYPES = {
    "string_type": "a string",
    "bool_type": "true or false",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "list_type": "a list",
    "tuple_type": "a list",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
}
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
