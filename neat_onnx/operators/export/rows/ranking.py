"""ArgMax, ArgMin and TopK: indices in an order, as numbers that neurons compute by comparisons.

Where their readers make them a part of an aggregation, maxabs or median, or a place in an order of
their own, they are that part.
"""

from typing import Literal

from neat_onnx.model import Attributes, Node


class IndexAttributes(Attributes):
    """Attributes of ArgMax and ArgMin: the axis, and the choice between equal elements."""

    axis: int = 0
    keepdims: Literal[0, 1] = 1
    select_last_index: Literal[0, 1] = 0


class ArgMax(Node):
    """The index of the largest element along an axis."""

    since = 13
    attributes: IndexAttributes = IndexAttributes.defaults()


class GatherElementsAttributes(Attributes):
    """Attributes of GatherElements: the axis."""

    axis: int = 0


class GatherElements(Node):
    """The elements at indices along one axis, an index for each element of the result."""

    inputs = (2, 2)
    since = 13
    attributes: GatherElementsAttributes = GatherElementsAttributes.defaults()


class TopKAttributes(Attributes):
    """Attributes of TopK: the axis, and whether the largest are taken; sorted only."""

    axis: int = -1
    largest: Literal[0, 1] = 1
    sorted: Literal[1] = 1


class TopK(Node):
    """The k largest or smallest elements along an axis, sorted, and their indices."""

    inputs = (2, 2)
    outputs = (2, 2)
    since = 11
    attributes: TopKAttributes = TopKAttributes.defaults()
