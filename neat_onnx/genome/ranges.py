"""Lists of ids in metadata: long ones say runs of consecutive ids as texts, "first-last".

Runs with another step are "first-last/step", and some that each begin by one number later than the
one before "first-last/step*runs+later", or earlier, with a minus.
"""

import re
from itertools import chain
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import BeforeValidator, PlainSerializer

_MIN_LIST_OF_RANGES = 64  # ids; shorter lists are written id by id
_MAX_IDS = 1 << 24  # that the ranges of a list may say
_MIN_IDS_IN_RUN = 4  # of a range with a step
_MIN_RUNS_JOINED = 3  # that are one text
_RANGE = re.compile(r"(\d+)-(\d+)(?:/(\d+))?(?:\*(\d+)([+-]\d+))?", re.ASCII)


class _Run(NamedTuple):
    """Ids with one step between them."""

    first: int
    last: int
    step: int

    @property
    def text(self) -> str:
        """The run in metadata."""
        return f"{self.first}-{self.last}" + (f"/{self.step}" if self.step > 1 else "")


def without_ranges(ids: Any) -> Any:
    """The list of ids, its ranges spelt out.

    Raises:
        ValueError: a range is none, or all of them are too many ids.
    """
    if not isinstance(ids, list) or not any(isinstance(each, str) for each in ids):
        return ids
    found: list[Any] = []
    for each in ids:
        found.extend(_spelt(each, _MAX_IDS - len(found)) if isinstance(each, str) else [each])
    return found


def _spelt(text: str, room: int) -> list[int]:
    match = _RANGE.fullmatch(text) if len(text) <= 100 else None
    if match is None:
        raise ValueError(f"{text[:60]!r} is no range of ids")
    first, last, step, runs, later = (int(each) for each in match.groups(default="1"))
    if step == 0 or (last - first) % step:
        raise ValueError(f"the range '{text}' does not end at its last id")
    count = ((last - first) // step + 1) * runs
    if not 0 < count <= room or first + (runs - 1) * later < 0:
        raise ValueError(f"the range '{text}' has {count} ids")
    starts = (first + k * later for k in range(runs))
    return [*chain.from_iterable(range(k, k + last - first + 1, step) for k in starts)]


def with_steps(ids: list[int]) -> list[int | str]:
    """The list of ids, runs of five or more with one step as ranges."""
    if len(ids) <= _MIN_IDS_IN_RUN or min(ids) < 0:
        return list(ids)
    runs = _repeated(_runs(ids))
    return runs if len(runs) == 1 else _table(ids) or runs


def _table(ids: list[int]) -> list[int | str]:
    """The list as rows of a few ids, all with one step, and one number between rows, if it is."""
    for width in range(2, _MIN_IDS_IN_RUN + 1):
        if len(ids) % width or len(ids) < _MIN_RUNS_JOINED * width:
            continue
        rows = np.reshape(ids, (-1, width))
        run, later = _Run(ids[0], ids[width - 1], ids[1] - ids[0]), int(rows[1, 0] - rows[0, 0])
        even = np.all(np.diff(rows, axis=0) == later) and np.all(np.diff(rows[0]) == run.step)
        if even and run.step > 0 and later != 0:
            return [f"{run.text}*{len(rows)}{later:+}"]
    return []


def _runs(ids: list[int]) -> list[int | _Run]:
    """The list with its long runs."""
    steps = np.diff(np.array(ids))
    bounds = [0, *(np.flatnonzero(np.diff(steps)) + 1).tolist(), len(steps)]
    found: list[int | _Run] = []
    start = 0  # the first id that is not written yet
    for stop in bounds[1:]:
        if stop < start:
            continue
        step, long = int(steps[stop - 1]), stop - start >= _MIN_IDS_IN_RUN
        if not long or step < 1:
            found.extend(ids[start:stop])
            start = stop
        else:
            found.append(_Run(ids[start], ids[stop], step))
            start = stop + 1
    return found + ids[start:]


def _repeated(runs: list[int | _Run]) -> list[int | str]:
    """The texts of runs, and of several alike."""
    found: list[int | str] = []
    start = 0
    while start < len(runs):
        one = runs[start]
        count, later = _alike(runs, start)
        if isinstance(one, _Run) and count >= _MIN_RUNS_JOINED:
            found.append(f"{one.text}*{count}{later:+}")
            start += count
        else:
            found.append(one.text if isinstance(one, _Run) else one)
            start += 1
    return found


def _alike(runs: list[int | _Run], start: int) -> tuple[int, int]:
    """How many runs from one on are alike, and by how much each is later than the one before, or
    earlier.
    """
    count, later, one = 1, 0, runs[start]
    for at in range(start + 1, len(runs)):
        each = runs[at]
        if not (isinstance(one, _Run) and isinstance(each, _Run)):
            break
        gap = each.first - one.first - (count - 1) * later
        same = each.step == one.step and each.last - each.first == one.last - one.first
        if not same or gap == 0 or later not in (0, gap):
            break
        count, later = count + 1, gap
    return count, later


def with_ranges(ids: list[int]) -> list[int | str]:
    """The list of ids, runs of several as ranges if it is long."""
    if len(ids) < _MIN_LIST_OF_RANGES or min(ids) < 0:
        return list(ids)
    starts = np.flatnonzero(np.diff(np.array(ids)) != 1) + 1
    runs = zip([0, *starts.tolist()], [*starts.tolist(), len(ids)], strict=True)
    found: list[int | str] = []
    for start, stop in runs:
        long = stop - start > 2
        found.extend([f"{ids[start]}-{ids[stop - 1]}"] if long else ids[start:stop])
    return found


Ids = Annotated[list[int], BeforeValidator(without_ranges), PlainSerializer(with_ranges)]
"""A list of ids that is read and written with ranges."""
