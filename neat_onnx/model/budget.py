"""Budget: how much one model may ask for, counted before memory is taken.

A few bytes of ONNX can announce a billion elements. Code that makes neurons, connections, elements
of constants, or nodes says so here first, and is refused where the sum is beyond the limits.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from math import prod
from typing import Literal, NoReturn

from neat_onnx.arguments import shown
from neat_onnx.errors import ModelError, OptionError

Kind = Literal["elements", "neurons", "connections", "nodes"]


@dataclass(frozen=True)
class Limits:
    """The most that is made of one model.

    Attributes:
        elements: of constants that are computed or read from sparse ones.
        neurons: of a network, with the values that are only on their way to one.
        connections: of a network.
        nodes: of a graph, after functions are inlined and loops unrolled.
    """

    elements: int = 1 << 24
    neurons: int = 1_000_000
    connections: int = 10_000_000
    nodes: int = 1 << 18


class LimitReached(ModelError):
    """A model asks for more than a limit allows: nothing else about it is worth finding out.

    Attributes:
        node: the label of the node that asks for it; "" where that is not known.
    """

    node = ""

    def of(self, node: str) -> "LimitReached":
        """The same of a node, by its label."""
        found = LimitReached(f"node {node}: {self.message}", hint=self.hints)
        found.node = node
        return found


_DEFAULT = Limits()
_OF_ALL_NODES = ("neurons", "connections")
"""Kinds whose limit is of all nodes together: one that is beyond it alone is not the last."""
_CURRENT: ContextVar[Limits] = ContextVar("limits", default=_DEFAULT)


@contextmanager
def limits(
    *,
    elements: int | None = None,
    neurons: int | None = None,
    connections: int | None = None,
    nodes: int | None = None,
) -> Iterator[Limits]:
    """Set how much one model may ask for, as long as the context lasts.

        with neat_onnx.limits(connections=100_000_000):
            net = neat_onnx.import_model("large.onnx")

    Args:
        elements: of constants that are computed or read from sparse ones; at first 16,777,216.
        neurons: of a network, with the values that are only on their way to one; at first
            1,000,000.
        connections: of a network; at first 10,000,000.
        nodes: of a graph, after functions are inlined and loops unrolled; at first 262,144.

    Returns:
        A context manager that gives the limits which hold; the others stay as they are around.

    Raises:
        OptionError: a limit is no whole number of 0 or more.
        ModelError: raised inside the context, by calls that would make more of one model.
    """
    given = {"elements": elements, "neurons": neurons, "connections": connections, "nodes": nodes}
    changed = {kind: most for kind, most in given.items() if most is not None}
    for kind, most in changed.items():
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            raise OptionError(
                f"expected a whole number of 0 or more, got {shown(most)}", where=kind
            )
    token = _CURRENT.set(replace(_CURRENT.get(), **changed))
    try:
        yield _CURRENT.get()
    finally:
        _CURRENT.reset(token)


@dataclass
class Budget:
    """The amounts that have been taken of the limits so far."""

    limits: Limits = field(default_factory=_CURRENT.get)
    taken: dict[Kind, int] = field(default_factory=dict)

    def take(self, kind: Kind, count: int, where: str = "", *, is_all: bool = True) -> None:
        """Count `count` more.

        Args:
            kind: kind of things to be made.
            count: how many.
            where: the node they are made for, as messages call it.
            is_all: no more will follow, as far as is known: messages say how many there are.

        Raises:
            ModelError: the limit does not allow it. Nothing has been taken then.
        """
        total = self.taken.get(kind, 0) + int(count)
        if total > getattr(self.limits, kind):
            self._refuse(kind, total, where, is_all=is_all)
        self.taken[kind] = total

    def require(self, kind: Kind, count: int, where: str = "") -> None:
        """Refuse `count` more if they would be beyond the limit, and take nothing.

        Raises:
            ModelError: the limit does not allow it.
        """
        if not self.allows(kind, count):
            self.take(kind, count, where)

    def allows(self, kind: Kind, count: int) -> bool:
        """Whether so many more are within the limit."""
        most: int = getattr(self.limits, kind)
        return self.taken.get(kind, 0) + int(count) <= most

    def _refuse(self, kind: Kind, total: int, where: str, *, is_all: bool) -> NoReturn:
        most: int = getattr(self.limits, kind)
        node = f"node {where}: " if where else ""
        wanted, reach = total, ""
        if not is_all or (where and kind in _OF_ALL_NODES):
            wanted, reach = 4 * max(most, total if is_all else 0), " as far as memory allows"
        amount = f"{total} {kind}, and the limit is {most}"
        error = LimitReached(
            f"{node}it takes {amount if is_all else f'more {kind} than the limit of {most}'}",
            hint=f"Raise it{reach}: with neat_onnx.limits({kind}={wanted}):",
        )
        error.node = where
        raise error


def require_elements(*sizes: int) -> None:
    """Refuse an array of this shape if it is beyond the limit: operators ask before they make one.

    Raises:
        LimitReached: the limit does not allow it; the caller knows the node.
    """
    Budget().require("elements", prod(map(int, sizes)))
