"""Where the JSON Schemas stand, and the key by which a document names its own.

Editors and validators read a document's `$schema`: they complete keys, and mark mistakes as they
are made. No reader of this package needs it.
"""

from collections.abc import Sequence
from typing import Any

_BASE = "https://neat-onnx.github.io/schema/"

LINK_KEY = "$schema"
LINK: dict[str, Any] = {
    "type": "string",
    "description": "The address of this document's JSON Schema, for editors.",
}
"""The schema of the key."""


def schema_id(name: str) -> str:
    """Return the address of a schema: "model", "network", "options" or "certificate"."""
    return f"{_BASE}{name}.schema.json"


def with_link(text: str, name: str) -> str:
    """Return the text of a JSON object with the address of its schema before all other keys."""
    return f'{{\n  "{LINK_KEY}": "{schema_id(name)}",{text[1:]}'


def headed(
    schema: dict[str, Any], name: str, title: str, examples: Sequence[Any] = ()
) -> dict[str, Any]:
    """Return a schema with its address, title and examples, and the key of links in documents."""
    properties = {LINK_KEY: LINK, **schema["properties"]}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schema_id(name)}
    told = {"properties": properties, "title": title}
    return head | schema | told | ({"examples": [*examples]} if examples else {})
