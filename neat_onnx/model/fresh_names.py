"""Names that nothing in a graph has yet."""

from collections.abc import Iterable


class FreshNames:
    """Gives each wish a name of its own.

    Args:
        taken: names that are not to be given.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._numbers: dict[str, int] = {}  # up to which the names after a wish are taken

    def like(self, wish: str) -> str:
        """Return `wish`, or `wish_2`, …: a name that nothing has yet, and that is taken now."""
        found = wish
        if wish in self._taken:
            number = self._numbers.get(wish, 1) + 1
            while (found := f"{wish}_{number}") in self._taken:
                number += 1
            self._numbers[wish] = number
        self._taken.add(found)
        return found
