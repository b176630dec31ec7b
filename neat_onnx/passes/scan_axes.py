"""A Scan along any axis, forward or backward, is one along the first axis between Transposes."""

import numpy as np

from neat_onnx.model import Model, Node
from neat_onnx.model.draft import Draft, Step, make_node, with_replaced

_AXES = "scan_input_axes", "scan_output_axes"
_DIRECTIONS = "scan_input_directions", "scan_output_directions"
_BEFORE_THE_FIRST = np.iinfo(np.int64).min


def scan_axes(model: Model) -> Model:
    """The model with every Scan along the first axis of its sequences, forward.

    A sequence whose number of axes is not known is left as it is.
    """
    return with_replaced(model, "Scan", _forward)


def _forward(node: Node, draft: Draft) -> list[Node] | None:
    """The Scan along first axes, between the nodes that turn sequences; None if it is one."""
    given = node.given_attributes
    if not any(any(given.get(name) or ()) for name in (*_AXES, *_DIRECTIONS)):
        return None
    count = given["num_scan_inputs"]
    kept, made = len(node.input) - count, len(node.output) - len(node.input) + count
    axes = [given.get(name) or (0,) * each for name, each in zip(_AXES, (count, made), strict=True)]
    back = [given.get(n) or (0,) * each for n, each in zip(_DIRECTIONS, (count, made), strict=True)]
    ranks = [[_rank(draft, name) for name in names[kept:]] for names in (node.input, node.output)]
    fits = all(
        len(each) == len(also) == len(known) and all(map(_is_inside, each, known))
        for each, also, known in zip(axes, back, ranks, strict=True)
    )
    if not fits:
        return None
    names = node.input[kept:], node.output[kept:]
    turns = [
        [_Turn(draft, *each) for each in zip(*side, strict=True)]
        for side in zip(names, axes, back, ranks, strict=True)
    ]
    reads, gives = ([turn.forward for turn in side] for side in turns)
    attributes = {name: each for name, each in given.items() if name not in (*_AXES, *_DIRECTIONS)}
    scan = make_node(
        "Scan",
        [*node.input[:kept], *reads],
        [*node.output[:kept], *gives],
        attributes,
        name=node.name,
        opset=draft.model.opset,
    )
    before = [each for turn in turns[0] for each in turn.before()]
    return [*before, scan, *(each for turn in turns[1] for each in turn.behind())]


def _rank(draft: Draft, name: str) -> int:
    """How many axes a tensor has; 0 where that is not known."""
    return len(draft.facts(name).shape or ())


def _is_inside(axis: int, rank: int) -> bool:
    return -rank <= axis < rank


class _Turn:
    """A sequence of a Scan, and its name along the first axis, forward."""

    def __init__(self, draft: Draft, name: str, axis: int, backward: int, rank: int) -> None:
        self._draft, self._name, self._backward = draft, name, bool(backward)
        self._axis, self._rank = axis % rank, rank
        self.forward = draft.name(f"{name}_forward") if self._axis or backward else name

    def before(self) -> list[Node]:
        """The nodes that turn an input."""
        order = [self._axis, *(each for each in range(self._rank) if each != self._axis)]
        changes = [*self._backwards(), *self._turned(order)]
        return self._chain(self._name, self.forward, changes)

    def behind(self) -> list[Node]:
        """The nodes that turn an output back."""
        order = [*range(1, self._rank)]
        order.insert(self._axis, 0)
        changes = [*self._turned(order), *self._backwards()]
        return self._chain(self.forward, self._name, changes)

    def _turned(self, order: list[int]) -> list[Step]:
        return [("Transpose", [], {"perm": order})] if self._axis else []

    def _backwards(self) -> list[Step]:
        if not self._backward:
            return []
        ends = ([-1], [_BEFORE_THE_FIRST], [self._axis], [-1])
        return [("Slice", [self._draft.constant(f"{self._name}_end", each) for each in ends], {})]

    def _chain(self, source: str, target: str, changes: list[Step]) -> list[Node]:
        """The nodes that make one tensor of another, if they are two."""
        wish = f"{self._name}_turned"
        return self._draft.chain(source, target, changes, wish) if changes else []
