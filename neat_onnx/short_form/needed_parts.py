"""The parts of tensors that are needed, from the outputs of a graph back to its inputs."""

from collections.abc import Iterable, Iterator
from math import prod

import numpy as np

from neat_onnx.model import Node
from neat_onnx.passes.draft import Draft, is_one_of
from neat_onnx.short_form.columns import (
    Elementwise,
    Followed,
    Joined,
    Paired,
    Part,
    Picked,
    Places,
    Sizes,
    axes_of,
    followed,
)

Key = tuple[str, bytes]
"""By which parts are equal: the name, and the bytes of the places."""


class NeededParts:
    """For each tensor of a graph, the parts of it that others are made of.

    A tensor is needed as it is by the outputs and by nodes that are not followed. All else is
    needed in parts, each of which comes from parts of other tensors, or is made of another part of
    the same tensor.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft, graph = draft, draft.model.graph
        self._followed: dict[str, Followed | None] = {}
        self._reordered: set[str] = set()  # all elements of a tensor that is not followed
        for node in graph.node:
            way = self._followed[node.output[0]] = followed(draft, node)
            if isinstance(way, Picked) and self._reorders(node, way):
                self._reordered.add(node.output[0])
        self._found: dict[str, dict[Key, Part]] = {}
        self._need((entry.name, None) for entry in graph.outputs)
        for node in reversed(graph.node):
            for part in self.of(*node.output):
                self._need(self.read_by(node, part))

    def __len__(self) -> int:
        return sum(map(len, self._found.values()))

    def of(self, *names: str) -> Iterator[Part]:
        """Yield the parts of some tensors, each behind the one that it is made of."""
        for name in names:
            yield from tuple(self._found.get(name, {}).values())

    def key(self, part: Part) -> Key:
        """A key by which parts are equal."""
        name, places = self._plain(part)
        return name, b"" if places is None else places.tobytes()

    def axes(self, name: str) -> Sizes:
        """The axes of a tensor behind the batch, all axes of a constant."""
        constant = self._draft.tensors.get(name)
        return axes_of(self._draft, name) or () if constant is None else constant.dims

    def whole(self, name: str) -> Places:
        """The places of all elements of a tensor."""
        return np.arange(prod(self.axes(name)))

    def way(self, part: Part) -> Followed | None:
        """How a part comes from other tensors; None for one that its node has as it is."""
        name, places = part
        if name in self._reordered and (places is None or self._is_whole(name, places)):
            return None
        return self._followed.get(name)

    def before(self, part: Part) -> Part | None:
        """Another part of a tensor that one is made of.

        A neuron stays one neuron: elements that are needed twice are computed once.
        """
        (name, places), way = part, self.way(part)
        flat = self._plain((name, self.whole(name)))
        if name in self._draft.tensors:
            return None
        if places is None:
            return flat if way is not None and flat[1] is not None else None
        if flat[1] is not None and self._is_whole(name, places):
            return (name, None) if way is None else None
        if way is None or (isinstance(way, Joined) and len(way.reads(places)) > len(way.sources)):
            return flat
        once = np.unique(places)
        repeats = isinstance(way, Elementwise | Paired) and len(once) < len(places)
        return self._plain((name, once)) if repeats else None

    def read_by(self, node: Node, part: Part) -> list[Part]:
        """The parts of other tensors that a node reads to make one of its result."""
        way, (name, places) = self.way(part), part
        if self.before(part) is not None and way is not None:
            return []
        if way is None:
            return [(name, None) for name in node.input]
        return way.reads(self.whole(name) if places is None else places)

    def _reorders(self, node: Node, way: Picked) -> bool:
        """Whether a node has all elements of a tensor that is not followed, without a list."""
        source = way.source
        stays = self._followed.get(source) is None or source in self._reordered
        if is_one_of(node, "Gather") or not stays:
            return False
        return self._is_whole(source, np.sort(way.places))

    def _need(self, parts: Iterable[Part]) -> None:
        for part in map(self._plain, parts):
            if part[0]:
                before = self.before(part)
                self._need([] if before is None else [before])
                self._found.setdefault(part[0], {})[self.key(part)] = part

    def _plain(self, part: Part) -> Part:
        """A part, without places if these are all of a flat tensor, in order."""
        name, places = part
        flat = places is not None and len(self.axes(name)) == 1 and self._is_whole(name, places)
        return name, None if flat else places

    def _is_whole(self, name: str, places: Places) -> bool:
        return np.array_equal(places, self.whole(name))
