"""Moves: the elements that the nodes of a graph move, and the ones that they broadcast."""

from functools import cached_property

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import Draft, is_one_of
from neat_onnx.passes.elementwise import is_elementwise
from neat_onnx.short_form.columns import REDUCTIONS, Places, Sizes, broadcast_of, places_of

ELEMENTWISE, REDUCTION = "elementwise", "reduction"
"""Kinds of nodes."""
_MAX_ELEMENTS_KEPT = 1 << 15  # of one answer


class Moves:
    """Answers about the nodes of one graph, each found once: many frames ask for the same.

    Attributes:
        draft: the graph.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._moved: dict[str, Places | None] = {}
        self._every: dict[int, Places] = {}
        self._broadcast: dict[tuple[str, Sizes], Places | None] = {}

    @cached_property
    def kinds(self) -> list[str]:
        """Of each node, whether it is elementwise, a reduction or another one."""
        return [
            ELEMENTWISE if is_elementwise(node) else REDUCTION * is_one_of(node, *REDUCTIONS)
            for node in self.draft.model.graph.node
        ]

    def every(self, size: int) -> Places:
        """The places of so many elements, in their order."""
        if size not in self._every:
            self._every[size] = np.arange(size)
            self._every[size].flags.writeable = False
        return self._every[size]

    def moved(self, node: Node) -> Places | None:
        """The element of its first input that each element of a node is; see `places_of`."""
        name = node.output[0]
        if name in self._moved:
            return self._moved[name]
        found = places_of(self.draft, node)
        if found is None or found.size <= _MAX_ELEMENTS_KEPT:
            self._moved[name] = found
        return found

    def broadcast(self, name: str, axes: Sizes) -> Places | None:
        """The element of a tensor that each of a node with these axes reads; see `broadcast_of`."""
        if (name, axes) in self._broadcast:
            return self._broadcast[name, axes]
        found = broadcast_of(self.draft, name, axes)
        if found is None or found.size <= _MAX_ELEMENTS_KEPT:
            self._broadcast[name, axes] = found
        return found
