"""Metadata: keys and JSON values, in the order in which NeatapticTS first comes to each key."""

import json
from typing import Any

from neat_onnx.model import MetadataEntry


class Metadata:
    """The metadata of a document that is being written.

    Attributes:
        present: whether the document has metadata at all; it may have an empty list.
    """

    def __init__(self, present: bool) -> None:
        self.present = present
        self._entries: list[tuple[str, Any]] = []

    def add(self, key: str, value: Any) -> None:
        """Add an entry. One that is there already under the same key stays as it is."""
        self.present = True
        self._entries.append((key, value))

    def append(self, key: str, item: Any) -> None:
        """Put `item` at the end of the list under `key`, which is begun if there is none."""
        for known, value in self._entries:
            if known == key:
                value.append(item)
                return
        self.add(key, [item])

    def entries(self) -> list[MetadataEntry]:
        """The entries, their values as compact JSON text."""
        return [MetadataEntry(key=key, value=_text(value)) for key, value in self._entries]


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
