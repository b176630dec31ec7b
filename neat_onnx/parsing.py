"""Pydantic at the boundary: a document is parsed once; mistakes become errors of this package."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from neat_onnx.errors import NeatOnnxError
from neat_onnx.schema_links import LINK_KEY

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)


class Plain(ModelMetaclass):
    """The class of models whose `help` tells of their own names alone, not of pydantic's."""

    def __dir__(cls) -> list[str]:
        return [
            name
            for name in super().__dir__()
            if not (name.startswith(("_", "model_")) or hasattr(BaseModel, name))
        ]


class Document(BaseModel, metaclass=Plain):
    """Base of documents read from JSON: nothing unknown, no numbers in strings, no infinities."""

    model_config = ConfigDict(
        defer_build=True, extra="forbid", strict=True, frozen=True, allow_inf_nan=False
    )


class ForeignDocument(Document):
    """Base of documents that other tools write, which may hold more than is read."""

    model_config = ConfigDict(defer_build=True, extra="ignore")


Parsed = TypeVar("Parsed", bound=BaseModel)


def parse(
    kind: type[Parsed],
    value: Any,
    error: type[NeatOnnxError],
    hint: str | None = None,
    *,
    strict: bool | None = None,
) -> Parsed:
    """Return `value`, from JSON, as a `kind`; the link to its JSON Schema is for editors alone.

    With strict=False numbers may be texts that spell them, as old JavaScript writes them.

    Raises:
        error: at the first thing that is wrong, with its JSON path.
    """
    if isinstance(value, dict) and LINK_KEY in value:
        value = {key: entry for key, entry in value.items() if key != LINK_KEY}
    try:
        return kind.model_validate(value, strict=strict)
    except ValidationError as problem:
        where, choices = _first(problem.errors(include_url=False), value)
        last = where[-1] if where else "the document"
        wrong = [complaint(each, private=True) for each in choices[:-1]]
        text = " and ".join([*wrong, complaint(choices[-1])])
        text = f"{'it' if isinstance(last, int) else last} {text}"
        raise error(text, where=json_path(where) or None, hint=hint) from None


def _first(
    errors: list[ErrorDetails], document: Any
) -> tuple[tuple[int | str, ...], list[ErrorDetails]]:
    """Return the place of the first mistake, and the complaint of each type of a union there.

    The last step to an error of a union is the type, which is no place in the document.
    """
    first, where, value = errors[0], errors[0]["loc"][:-1], document
    for step in where:
        is_list = isinstance(value, list | tuple)
        held = step in (range(len(value)) if is_list else value if isinstance(value, dict) else ())
        value = value[step] if held else document
    if value is not first["input"] or first["type"] == "missing":
        return first["loc"], [first]
    return where, [each for each in errors if each["loc"][:-1] == where]


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
    "too_short": "is empty",  # all that have a shortest length have 1
    "string_too_short": "is empty",
}
_TYPES = {
    "string_type": "a string",
    "bool_type": "true or false",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "int_parsing": "an integer",
    "float_type": "a number",
    "float_parsing": "a number",
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
