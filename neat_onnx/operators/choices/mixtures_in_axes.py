"""The nodes of mixtures: choices and sums of whole tensors, in the axes of one of them."""

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from neat_onnx.model import DataType, Node
from neat_onnx.network.genes import Bools
from neat_onnx.operators.choices.mixtures import (
    ANY,
    Added,
    Changed,
    Choice,
    Condition,
    Elements,
    Mixture,
    parts,
)
from neat_onnx.operators.choices.where_finder import Factor, weighed
from neat_onnx.short_form.columns import unrepeated_places, without_leading_ones
from neat_onnx.short_form.groups.search import Search, Sizes
from neat_onnx.short_form.triangles import SINCE as TRIANGLES_SINCE
from neat_onnx.short_form.triangles import triangle_of


def in_axes(
    search: Search, mixture: Mixture, kind: DataType, *, copied: bool = False
) -> tuple[list[Node], str, Sizes] | None:
    """The nodes of a mixture, its name and its axes; None if it is not one of whole tensors.

    Args:
        search: the graph.
        mixture: the mixture.
        kind: the type of its elements.
        copied: elements of tensors are neurons that copy others.
    """
    axes = _axes(search, mixture)
    if any(size != prod(axes) for size in _sizes(mixture)):
        return None
    writing = _Writing(search, axes, kind, copied=copied)
    name = writing.tensor(mixture)
    return None if name is None else (writing.nodes, name, axes)


def _axes(search: Search, found: Mixture) -> Sizes:
    """The axes of the first tensor that has all elements in their places."""
    tensors = (each.tensor for each in parts(found) if isinstance(each, Elements))
    return next((search.axes_before(tensor)[2] for tensor in tensors), ())


def _sizes(found: Mixture) -> Iterator[int]:
    """Yield how many elements each part has; of no whole tensor, the axes have fewer."""
    for each in parts(found):
        if isinstance(each, Elements):
            yield each.places.size
        elif isinstance(each, Choice):
            yield _size(each.condition)


def _size(condition: Condition | Elements | Bools) -> int:
    """The number of elements that a condition is for."""
    if isinstance(condition, Condition):
        return _size(condition.inside)
    return condition.places.size if isinstance(condition, Elements) else condition.size


class _Writing:
    """Writes a mixture in axes.

    Attributes:
        nodes: the nodes so far.
    """

    def __init__(self, search: Search, axes: Sizes, kind: DataType, *, copied: bool) -> None:
        self._search, self._axes, self._kind, self._copied = search, axes, kind, copied
        self.nodes: list[Node] = []

    def tensor(self, mixture: Mixture) -> str | None:
        """The tensor that a mixture is; None if it is not one in these axes."""
        if isinstance(mixture, float):
            return self._search.draft.constant("number", mixture, self._kind)
        if isinstance(mixture, Elements):
            return self._elements(mixture)
        if isinstance(mixture, Changed):
            inside = self.tensor(mixture.inside)
            return None if inside is None else self._changed(mixture.by, inside)
        if isinstance(mixture, Added):
            names = [name for each in mixture.terms if (name := self.tensor(each)) is not None]
            return self._made("Add", names) if len(names) == len(mixture.terms) else None
        if isinstance(mixture.condition, Condition):
            return self._computed(mixture.condition, mixture.sides)
        return self._masked(
            without_leading_ones(unrepeated_places(mixture.condition.reshape(self._axes))),
            *mixture.sides,
        )

    def _elements(self, elements: Elements) -> str | None:
        """The tensor that has these elements where it is broadcast to the axes."""
        nodes, name, sizes = self._search.axes_before(elements.tensor)
        if not (elements.are_whole and sizes == self._axes):
            table = unrepeated_places(elements.places.reshape(self._axes))
            places = table.ravel()
            moved = (places != ANY) & (places != np.arange(len(places)))
            if len(places) != prod(sizes) or np.any(moved):
                return None
            nodes, name = self._search.in_shape(elements.tensor, table.shape)
        self.nodes += nodes
        return name

    def _computed(self, condition: Condition, sides: tuple[Mixture, Mixture]) -> str | None:
        """A choice by a condition in the axes, a sum of products if that is in numbers."""
        if condition.opposite is not None:
            return self._summed((condition.inside, condition.opposite), sides)
        known = [name for each in sides if (name := self.tensor(each)) is not None]
        by = self._condition(condition)
        return None if by is None or len(known) < len(sides) else self._made("Where", [by, *known])

    def _summed(
        self, factors: tuple[Elements | Condition, Elements], sides: tuple[Mixture, Mixture]
    ) -> str | None:
        """The sum of two products by numbers that are 1 or 0."""
        names = []
        for factor, side in zip(factors, sides, strict=True):
            assert isinstance(factor, Elements)
            name, value = self._elements(factor), self.tensor(side)
            if name is None or value is None:
                return None
            sizes = unrepeated_places(factor.places.reshape(self._axes)).shape
            names.append(self._search.draft.name("side"))
            self.nodes += weighed(self._search, Factor(name, sizes), value, self._axes, names[-1])
        return self._made("Add", names)

    def _condition(self, condition: Condition) -> str | None:
        """A condition in the axes, or in fewer."""
        inside = condition.inside
        name = self._condition(inside) if isinstance(inside, Condition) else self._elements(inside)
        if name is None:
            return None
        if condition.mask is not None:
            mask = without_leading_ones(unrepeated_places(condition.mask.reshape(self._axes)))
            held = self._search.draft.constant("mask", mask, DataType.BOOL)
            name = self._made(*self._both(held, name, are_numbers=condition.are_numbers))
        return name if condition.holds else self._made("Not", [name])

    def _both(self, mask: str, name: str, *, are_numbers: bool) -> tuple[str, list[str]]:
        """The operator and the inputs of a condition inside of a mask.

        Numbers are true above one half. Import multiplies them by the mask before; a Concat keeps
        the products from being a part of the comparison.
        """
        if not are_numbers:
            return "And", [name, mask]
        constant = self._search.draft.constant
        factor = constant("mask", self._search.draft.tensors[mask].values, self._kind)
        products = self._made("Mul", [name, factor])
        alone = self._made("Concat", [products], axis=1)
        return "Greater", [alone, constant("half", 0.5, self._kind)]

    def _changed(self, by: Node | float, name: str) -> str:
        """A function of a tensor."""
        if isinstance(by, float):
            return self._made("Mul", [name, self._search.draft.constant("factor", by, self._kind)])
        (node,) = self._search.changed(name, [by])
        self.nodes.append(node)
        return node.output[0]

    def _masked(self, mask: Bools, first: Mixture, second: Mixture) -> str | None:
        """A choice by a constant mask; copies and 0 are products by it, triangles and 0 a Trilu."""
        name, constant = self.tensor(first), self._search.draft.constant
        if name is None:
            return None
        if self._copied and second == 0.0:
            return self._made("Mul", [name, constant("mask", mask.astype(np.float64), self._kind)])
        has_triangles = self._search.draft.model.opset >= TRIANGLES_SINCE
        triangle = triangle_of(mask) if second == 0.0 and has_triangles else None
        if triangle:
            diagonal = [constant("diagonal", triangle.diagonal)] if triangle.diagonal else []
            return self._made("Trilu", [name, *diagonal], upper=triangle.upper)
        other = self.tensor(second)
        held = constant("mask", mask, DataType.BOOL)
        return None if other is None else self._made("Where", [held, name, other])

    def _made(self, operator: str, reads: list[str], **attributes: Any) -> str:
        """The result of a new node."""
        result = self._search.draft.name("chosen")
        self.nodes.append(self._search.draft.node(operator, reads, [result], **attributes))
        return result
