"""The integers and truth values that a graph of floats computes at its outputs."""

from collections.abc import Callable
from functools import cached_property

from neat_onnx.model import DataType, Node
from neat_onnx.model.draft import Draft, is_one_of
from neat_onnx.model.whole_numbers import are_whole, gives_whole_numbers, hands_on_numbers

_WIDE = (DataType.INT32, DataType.INT64)
"""The types of indices, labels and counts, which are taken to hold any of them."""

_GoesOn = Callable[[Node, Callable[[str], bool]], bool]
"""Whether a node gives such numbers, where it is known which tensors have them."""


class OutputTypes:
    """The types that outputs of floats can be cast to so that no number is changed.

    Args:
        draft: the graph.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def holds(self, output: str, kind: DataType) -> bool:
        """Whether a type holds every number of an output.

        Args:
            output: its name.
            kind: of integers or truth values; narrow integers may not hold all.
        """
        if kind is DataType.BOOL:
            return output in self._truths
        if output not in self._whole:
            return False
        return kind in _WIDE

    @cached_property
    def _whole(self) -> set[str]:
        """The tensors of floats that have whole numbers alone, constants included."""
        tensors = self._draft.tensors.items()
        constants = {name for name, tensor in tensors if are_whole(tensor.values)}
        return self._spread(constants, lambda kind: kind.is_discrete, gives_whole_numbers)

    @cached_property
    def _truths(self) -> set[str]:
        """The tensors of floats that are truth values, cast or handed on."""
        return self._spread(set(), lambda kind: kind is DataType.BOOL, hands_on_numbers)

    def _spread(
        self, found: set[str], begins: Callable[[DataType], bool], goes_on: _GoesOn
    ) -> set[str]:
        """These tensors, those cast from a type that begins them, and all that go on from these."""
        draft = self._draft
        for node in draft.model.graph.node:
            kind = draft.facts(node.input[0]).elem_type if is_one_of(node, "Cast") else None
            if (kind is not None and begins(kind)) or goes_on(node, found.__contains__):
                found.update(node.output)
        return found
