"""Mixtures: elements that are chosen from tensors and numbers, by constant masks and conditions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from neat_onnx.model import Node
from neat_onnx.network.genes import Bools, Ints

ANY = -1
"""The place of an element that nothing reads."""


@dataclass(frozen=True)
class Elements:
    """Elements of a tensor.

    Attributes:
        tensor: its name.
        places: of the elements, -1 where any will do.
    """

    tensor: str
    places: Ints

    @property
    def are_whole(self) -> bool:
        """Whether each that is read has its own place in a tensor of as many elements."""
        read = self.places != ANY
        return bool(np.all(self.places[read] == np.flatnonzero(read)))


@dataclass(frozen=True)
class Changed:
    """A function of each element.

    Attributes:
        by: a node that has one input, or a factor.
        inside: the elements.
    """

    by: Node | float
    inside: "Mixture"


@dataclass(frozen=True)
class Condition:
    """A computed condition, for each element.

    Attributes:
        inside: truth values, or another condition.
        holds: whether they are as they are; otherwise the condition is their opposite.
        mask: elements outside of it are false before that.
        are_numbers: whether the truth values are numbers, which are true above one half.
        opposite: of numbers in the place of truth values, those that are 1 where they are 0.
    """

    inside: "Elements | Condition"
    holds: bool = True
    mask: Bools | None = None
    are_numbers: bool = False
    opposite: Elements | None = None


@dataclass(frozen=True)
class Choice:
    """A choice between elements.

    Attributes:
        condition: for each element whether the first one is chosen, a constant or computed.
        sides: the elements that are chosen, and the others.
    """

    condition: Condition | Bools
    sides: tuple["Mixture", "Mixture"]


@dataclass(frozen=True)
class Added:
    """Sums of two elements each.

    Attributes:
        terms: the elements that are added.
    """

    terms: tuple["Mixture", "Mixture"]


Mixture = Elements | Changed | Choice | Added | float


def parts(mixture: Mixture) -> Iterator[Mixture]:
    """Yield a mixture, and all that it is made of."""
    yield mixture
    inner: Sequence[Mixture] = ()
    if isinstance(mixture, Choice):
        inner = mixture.sides
    elif isinstance(mixture, Added):
        inner = mixture.terms
    elif isinstance(mixture, Changed):
        inner = (mixture.inside,)
    for each in inner:
        yield from parts(each)
