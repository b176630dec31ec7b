"""Budget: how much one model may ask for, counted before memory is taken.

A few bytes of ONNX can announce a billion elements. What makes neurons, connections, elements of
constants, or nodes says so here first, and is refused where the sum is beyond the limits.
"""

from dataclasses import dataclass, field
from typing import Literal, NoReturn

from neat_onnx.errors import ModelError

Kind = Literal["elements", "neurons", "connections", "nodes"]


@dataclass(frozen=True)
class Limits:
    """The most that is made of one model.

    Attributes:
        elements: of constants that canonicalisation computes, and of tensors of neurons.
        neurons: of a network, signals of inputs included.
        connections: of a network.
        nodes: of a graph, after functions are inlined and loops unrolled.
    """

    elements: int = 1 << 24
    neurons: int = 1 << 22
    connections: int = 1 << 25
    nodes: int = 1 << 18


@dataclass
class Budget:
    """What has been taken of the limits so far."""

    limits: Limits = Limits()
    taken: dict[Kind, int] = field(default_factory=dict)

    def take(self, kind: Kind, count: int, where: str = "") -> None:
        """Count `count` more.

        Args:
            kind: what is to be made.
            count: how many.
            where: the node they are made for, as messages call it.

        Raises:
            ModelError: the limit does not allow it. Nothing has been taken then.
        """
        total = self.taken.get(kind, 0) + int(count)
        if total > getattr(self.limits, kind):
            self._refuse(kind, total, where)
        self.taken[kind] = total

    def allows(self, kind: Kind, count: int) -> bool:
        """Whether so many more are within the limit."""
        most: int = getattr(self.limits, kind)
        return self.taken.get(kind, 0) + int(count) <= most

    def _refuse(self, kind: Kind, total: int, where: str) -> NoReturn:
        raise ModelError(
            f"{f'node {where}: ' if where else ''}it takes {total} {kind}, "
            f"and the limit is {getattr(self.limits, kind)}",
            hint=f"Raise it with limits=neat_onnx.Limits({kind}={total})",
        )
