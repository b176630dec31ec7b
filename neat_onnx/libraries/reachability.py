"""Reachability of nodes by their ids."""

from collections.abc import Collection, Iterable, Mapping


def reached(
    start: Iterable[int], leads: Mapping[int, Iterable[int]], without: Collection[int] = ()
) -> set[int]:
    """Return the ids on the ways from `start`, these included.

    Args:
        start: the ids where the ways begin.
        leads: for each id, those that it leads to.
        without: ids that no way goes through.
    """
    found = set(start)
    waiting = list(found)
    while waiting:
        for target in leads.get(waiting.pop(), ()):
            if target not in found and target not in without:
                found.add(target)
                waiting.append(target)
    return found
