"""Lists of ids in metadata: long ones say runs of consecutive ids as texts, "first-last".

Runs with another step are "first-last/step".
"""

from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PlainSerializer

_LONG = 64  # shorter lists are written id by id
_MOST = 1 << 24
_LEAST_STEPS = 4  # of a range with a step


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
    ends, slash, step = text.partition("/")
    first, _, last = ends.partition("-")
    steps = step if slash else "1"
    if not all(each.isdecimal() for each in (first, last, steps)) or len(text) > 60:
        raise ValueError(f"'{text[:60]}' is no range of ids")
    if int(steps) == 0 or (int(last) - int(first)) % int(steps):
        raise ValueError(f"the range '{text}' does not end at its last id")
    count = (int(last) - int(first)) // int(steps) + 1
    if not 0 < count <= room:
        raise ValueError(f"the range '{text}' has {count} ids")
    return range(int(first), int(last) + 1, int(steps))


def with_steps(ids: list[int]) -> list[int | str]:
    """The list of ids, runs of five or more with one step as ranges."""
    if len(ids) <= _LEAST_STEPS or min(ids) < 0:
        return list(ids)
    steps = np.diff(np.array(ids))
    bounds = [0, *(np.flatnonzero(np.diff(steps)) + 1).tolist(), len(steps)]
    found: list[int | str] = []
    start = 0  # the first id that is not written yet
    for stop in bounds[1:]:
        if stop < start:
            continue
        step, long = int(steps[stop - 1]), stop - start >= _LEAST_STEPS
        if not long or step < 1:
            found.extend(ids[start:stop])
            start = stop
        else:
            found.append(f"{ids[start]}-{ids[stop]}" + (f"/{step}" if step > 1 else ""))
            start = stop + 1
    return found + ids[start:]


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
