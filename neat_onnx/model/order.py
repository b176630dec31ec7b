"""Topological order, of whatever has sources: nodes of a graph by their positions, tensors, …"""

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def in_order(
    wanted: Iterable[Item], sources: Callable[[Item], Collection[Item]]
) -> list[Item] | None:
    """The items that are wanted and all that they need, each after its sources; None in a cycle.

    Those that are wanted come in their order, after their sources in the order of these. So a list
    that is in topological order stays as it is.

    Args:
        wanted: the items to begin with.
        sources: the items that one needs itself.
    """
    done: dict[Item, None] = {}
    begun: set[Item] = set()
    for first in wanted:
        waiting = [first]
        while waiting:
            item = waiting[-1]
            missing = [each for each in sources(item) if each not in done]
            if missing:
                begun.add(item)
                if not begun.isdisjoint(missing):
                    return None
                waiting += missing[::-1]
            else:
                done[waiting.pop()] = None
    return [*done]
