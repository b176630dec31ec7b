"""Lists of ids in metadata: long ones say runs of consecutive ids as texts, "first-last"."""

from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PlainSerializer

_LONG = 64  # shorter lists are written id by id
_MOST = 1 << 24


def without_ranges(ids: Any) -> Any:
    """The list of ids, its ranges spelt out.

    Raises:
        ValueError: a range is none, or all of them are too many ids.
    """
    if not isinstance(ids, list) or not any(isinstance(each, str) for each in ids):
        return ids
    found: list[Any] = []
    for each in ids:
        found.extend(_spelt(each, _MOST - len(found)) if isinstance(each, str) else [each])
    return found


def _spelt(text: str, room: int) -> range:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal()) or len(text) > 40:
        raise ValueError(f"'{text[:40]}' is no range of ids")
    count = int(last) - int(first) + 1
    if not 0 < count <= room:
        raise ValueError(f"the range '{text}' has {count} ids")
    return range(int(first), int(last) + 1)


def with_ranges(ids: list[int]) -> list[int | str]:
    """The list of ids, runs of several as ranges if it is long."""
    if len(ids) < _LONG or min(ids) < 0:
        return list(ids)
    ends = np.flatnonzero(np.diff(np.array(ids)) != 1) + 1
    runs = zip([0, *ends.tolist()], [*ends.tolist(), len(ids)], strict=True)
    found: list[int | str] = []
    for start, stop in runs:
        long = stop - start > 2
        found.extend([f"{ids[start]}-{ids[stop - 1]}"] if long else ids[start:stop])
    return found


Ids = Annotated[list[int], BeforeValidator(without_ranges), PlainSerializer(with_ranges)]
"""A list of ids that is read and written with ranges."""
