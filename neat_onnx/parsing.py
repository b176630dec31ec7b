"""Pydantic at the boundary: a document is parsed once; mistakes become errors of this package."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from neat_onnx.errors import NeatOnnxError


class Document(BaseModel):
    """Base of what is read from JSON: nothing unknown, no numbers in strings, no infinities."""

    model_config = ConfigDict(
        defer_build=True, extra="forbid", strict=True, frozen=True, allow_inf_nan=False
    )


class ForeignDocument(Document):
    """The same for documents of other tools, which may hold more than we read."""

    model_config = ConfigDict(defer_build=True, extra="ignore")


Parsed = TypeVar("Parsed", bound=BaseModel)


def parse(
    kind: type[Parsed], value: Any, error: type[NeatOnnxError], hint: str | None = None
) -> Parsed:
    """`value`, from JSON, as a `kind`.

    Raises:
        error: at the first thing that is wrong, with its JSON path.
    """
    try:
        return kind.model_validate(value)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        raise error(_sentence(first), where=json_path(first["loc"]) or None, hint=hint) from None


def json_path(location: Sequence[int | str]) -> str:
    """`('nodes', 3, 'bias')` as `nodes[3].bias`."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _sentence(problem: Any) -> str:
    last = problem["loc"][-1] if problem["loc"] else "the document"
    name = "it" if isinstance(last, int) else last
    kind, found = problem["type"], problem["input"]
    if kind == "missing":
        return f"missing key '{name}'"
    if kind == "extra_forbidden":
        return f"unknown key '{name}'"
    if found is None and "number" in problem["msg"]:
        return f"{name} is null (NaN or Infinity in the source?)"
    if kind == "finite_number":
        return f"{name} is not a finite number"
    expected = problem["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    return f"{name} should be {expected}, got {_shown(found)}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"the string '{value[:40]}'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.6g}" if abs(value) < 1e300 else "a number out of range"
    if value is None:
        return "null"
    return "an object" if isinstance(value, dict) else "an array"
