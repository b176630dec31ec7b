"""Metadata keys of NeatapticTS's ONNX JSON with the shape of each value, written and read."""

import json
from collections.abc import Iterator
from typing import Any

from neat_onnx.errors import DocumentError
from neat_onnx.files import parse_json
from neat_onnx.model import MetadataEntry, Model

LAYER_SIZES = "layer_sizes"
RECURRENT = "recurrent_single_step"
FLATTENED = "flatten_layers"
FALLBACK = "rnn_pattern_fallback"
LSTM_GROUPS = "lstm_groups_stub"
EMITTED = {"LSTM": "lstm_emitted_layers", "GRU": "gru_emitted_layers"}
CONV_LAYERS, CONV_SPECS = "conv2d_layers", "conv2d_specs"
POOL_LAYERS, POOL_SPECS = "pool2d_layers", "pool2d_specs"
SHARED, NOT_SHARED = "conv2d_sharing_verified", "conv2d_sharing_mismatch"
GUESSED_LAYERS, GUESSED_SPECS = "conv2d_inferred_layers", "conv2d_inferred_specs"

SHAPES: dict[str, type] = {
    LAYER_SIZES: int,
    RECURRENT: int,
    FLATTENED: int,
    FALLBACK: dict,
    LSTM_GROUPS: dict,
    **dict.fromkeys(EMITTED.values(), int),
    **{CONV_LAYERS: int, CONV_SPECS: dict},
    **{POOL_LAYERS: int, POOL_SPECS: dict},
    **{SHARED: int, NOT_SHARED: int},
    **{GUESSED_LAYERS: int, GUESSED_SPECS: dict},
}
"""The type of the items in the JSON array under each key; `rnn_pattern_fallback` has one object and
may occur several times."""


class MetadataWriter:
    """Metadata of a document being written, in the order in which NeatapticTS meets each key.

    Attributes:
        present: whether the document has metadata at all; it may be an empty list.
    """

    def __init__(self, present: bool) -> None:
        self.present = present
        self._entries: list[tuple[str, Any]] = []

    def add(self, key: str, value: Any) -> None:
        """Add an entry; an earlier one under the same key stays as it is."""
        self.present = True
        self._entries.append((key, value))

    def append(self, key: str, item: Any) -> None:
        """Append `item` to the array under `key`, beginning it where there is none."""
        for known, value in self._entries:
            if known == key:
                value.append(item)
                return
        self.add(key, [item])

    def entries(self) -> list[MetadataEntry]:
        """Return the entries, their values as compact JSON text."""
        return [MetadataEntry(key=key, value=_text(value)) for key, value in self._entries]


def is_readable(entry: MetadataEntry) -> bool:
    """Whether the value is JSON; true for keys that are not NeatapticTS's."""
    if entry.key not in SHAPES:
        return True
    try:
        parse_json(entry.value)
    except DocumentError:
        return False
    return True


def items(model: Model, key: str) -> Iterator[Any]:
    """Yield the items under `key` that have the shape of that key."""
    value = parse_json(model.metadata.get(key, "[]"))
    for item in value if isinstance(value, list) else ():
        if isinstance(item, SHAPES[key]):
            yield item


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
