"""The tensors of a graph whose samples stay apart: a node that would mix them is refused.

A network computes each sample, and each step of time, by itself. So no node may work along the axis
of a tensor that is the batch, nor along time, but for the layers that carry a state on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

from neat_onnx.lifting.axes import axes_of_inputs
from neat_onnx.lifting.followed_axes import FEATURE, FIRST, UNKNOWN
from neat_onnx.lifting.samples import whole_shape
from neat_onnx.lifting.tensors import Tensors
from neat_onnx.lifting.values import Value
from neat_onnx.lifting.ways_out import features_hint
from neat_onnx.model import Node


@dataclass
class SeparateSamples(Tensors):
    """The tensors of the graph that is imported, with the axes that are time or the batch."""

    def leading(self, name: str) -> list[bool]:
        """For each axis of a computed tensor, whether it is time or the batch.

        Where its batch was lost sight of, that is taken to be the first axis.
        """
        followed = self.followed.of(name)
        found = [axis for axis in followed if axis != FEATURE]
        if name in self.followed.shared:
            return [False] * len(followed)
        if UNKNOWN in found or not found or len({*found}) < len(found):
            return [axis == 0 for axis in range(len(followed))]
        return [axis != FEATURE for axis in followed]

    def is_batch(self, name: str, axis: int) -> bool:
        """Whether an axis of a tensor is the batch; constants may be made in its size, too."""
        if isinstance(self.operands.get(name), Value):
            return self.leading(name)[axis]
        return self.followed.of(name)[axis] == FIRST

    def whole_shape(self, name: str) -> tuple[int, ...]:
        """The shape of a tensor with all samples, where their number is fixed; else with one."""
        shape, followed = self.operands[name].shape, self.followed.of(name)
        if UNKNOWN in followed:
            return shape
        return tuple(whole_shape(followed, shape, self.samples))

    @cached_property
    def _has_one_row(self) -> bool:
        """Whether the model is of one sample, and of one step of time."""
        leading = axes_of_inputs(self.model.graph.inputs)
        inputs = [(entry.shape or (), leading[entry.name]) for entry in self.model.graph.inputs]
        return all(shape[axis] == 1 for shape, axes in inputs for axis in axes)

    def refuse_batch(self, node: Node) -> None:
        """Refuse a node that works along the batch, unless it reads none: it would mix samples."""
        if self.features_only or not self.followed.shared.isdisjoint(node.output):
            return
        hint = features_hint(self.model.graph.inputs)
        self.fail(node, "it works along the batch, and would mix samples", hint)

    def refuse_along(self, node: Node, axes: Iterable[int], position: int | None = None) -> None:
        """Refuse to work along one of these axes where it is time or the batch.

        They are axes of the input at `position`, if it is computed, else of the first that is.
        """
        for name in node.input if position is None else node.input[position : position + 1]:
            if isinstance(self.operands.get(name), Value):
                leading = self.leading(name)
                if any(0 <= axis < len(leading) and leading[axis] for axis in axes):
                    self.refuse_batch(node)
                return

    def refuse_share(self, node: Node, axis: int) -> None:
        """Refuse shares along an axis that may be time: it has one element, lost sight of.

        Attention over the steps of a sequence is one; the share of an element among one is no news.
        """
        name = node.input[0]
        lost = self.followed.of(name)[axis] == UNKNOWN and self.operands[name].shape[axis] == 1
        if lost and self.followed.has_time:
            self.refuse_batch(node)

    def refuse_first_sample(self, node: Node, positions: Iterable[int], axis: int) -> None:
        """Refuse constants among these inputs that are not there for each sample along an axis."""
        for name in (node.input[position] for position in positions):
            is_whole = isinstance(self.operands.get(name), Value) or self._has_one_row
            if not is_whole and self.followed.of(name)[axis] != FIRST:
                self.refuse_batch(node)

    def refuse_mixed(self, node: Node) -> None:
        """Refuse results whose batch is as long as an axis of features, on two axes, or met time.

        A batch of fixed length can meet either; where its length is open, no runtime does.
        """
        if self.path(node) and self.followed.mixes_time(node):  # inside of a Scan there is no time
            self.refuse_batch(node)
        for name in node.output if self.samples > 1 else ():
            if isinstance(operand := self.operands.get(name), Value):
                axes = zip(operand.shape, self.followed.of(name), strict=True)
                batch = [(size, axis) for size, axis in axes if axis not in (FEATURE, UNKNOWN)]
                if len(batch) > 1 or any(size > 1 and axis == FIRST for size, axis in batch):
                    self.refuse_batch(node)

    def refuse_size(self, node: Node, name: str) -> NoReturn:
        """Refuse to compute with a size that is not known, as a table cut to the length of time."""
        inputs = self.model.graph.inputs
        which = "of the batch or of time" if self.followed.has_time else "of the batch"
        self.fail(
            node, f"input '{name}' is the size {which}, used as a number", features_hint(inputs)
        )
