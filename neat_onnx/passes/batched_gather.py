"""An element of each sample at an index of its own: GatherND along the batch, whoever wrote it.

`x[arange(len(x)), indices]` numbers the samples: exporters write GatherND at pairs of a number and
an index, or make the pairs one index among all rows of all samples. Import reads the samples one by
one, so that such a number means nothing; with `batch_dims` no sample is numbered.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import warn
from neat_onnx.model import DataType, Model, Node
from neat_onnx.model.value import Extent, is_fixed
from neat_onnx.model.draft import Draft, is_one_of
from neat_onnx.operators.frames.value_range import value_range

_SIZES = ("Squeeze", "Unsqueeze", "Identity", "Cast", "Reshape")  # of a single size
_INTEGERS = (DataType.INT32, DataType.INT64)
_MAX_TERMS = 8
_BATCH_DIMS_SINCE = 12  # opset


class _Numbers(NamedTuple):
    """Numbers of all samples, 0, 1, 2, … times a factor: how many there are, and the factor."""

    samples: Extent
    factor: int = 1


def batched_gather(model: Model) -> Model:
    """The model with `batch_dims` for indices that are paired with the numbers of the samples."""
    if model.opset < _BATCH_DIMS_SINCE or not any(
        is_one_of(node, "GatherND", "Gather") for node in model.graph.node
    ):
        return model
    search = _Search(model)
    return search.draft.rewritten(search.replaced)


class _Search:
    """The search for reads of an element of each sample, in a draft."""

    def __init__(self, model: Model) -> None:
        self.draft = Draft(model)

    def replaced(self, node: Node) -> list[Node] | None:
        """The nodes in place of one that reads an element of each sample; None for all others."""
        if is_one_of(node, "GatherND") and not node.given_attributes.get("batch_dims", 0):
            return self._of_pairs(node)
        if is_one_of(node, "Gather") and not node.given_attributes.get("axis", 0):
            return self._of_rows(node) or self._of_strides(node)
        return None

    def _of_pairs(self, node: Node) -> list[Node] | None:
        """GatherND at a number and one index or several along a last axis."""
        pairs = self.draft.maker(node.input[1], "Concat")
        data = None if pairs is None else self._shape(node.input[0])
        if pairs is None or not data or data[0] is None:
            return None
        numbers, *indices = pairs.input
        if pairs.given_attributes["axis"] not in (-1, 1) or not 0 < len(indices) < len(data):
            return None
        if any(self._shape(each) != (data[0], 1) for each in indices):
            return None
        if self._numbers(self._unsqueezed(numbers)) != _Numbers(data[0]):
            return None
        if len(indices) == 1:
            return [self._gather(node, node.input[0], indices[0])]
        return self._in_one_row(node, indices, data)

    def _in_one_row(
        self, node: Node, indices: Sequence[str], data: tuple[Extent, ...]
    ) -> list[Node] | None:
        """GatherND among the elements that several indices choose from, in one row for each sample.

        Indices below 0, which count from the end of an axis each, are not read so.
        """
        sizes = data[1 : len(indices) + 1]
        if not is_fixed(sizes) or not all(map(self._is_inside, indices, sizes)):
            return None
        made, at = [], indices[0]
        for index, size in zip(indices[1:], sizes[1:], strict=True):
            before, row = (self.draft.name(f"{node.input[1]}_{each}") for each in ("before", "at"))
            factor = self.draft.constant(f"{before}_size", size)
            made.append(self.draft.node("Mul", [at, factor], [before]))
            made.append(self.draft.node("Add", [before, index], [row]))
            at = row
        rows = self.draft.name(f"{node.input[0]}_rows")
        rest = [-1] if len(data) > len(indices) + 1 else []
        shape = self.draft.constant(f"{rows}_shape", [0, math.prod(sizes), *rest])
        made.append(self.draft.node("Reshape", [node.input[0], shape], [rows]))
        return [*made, self._gather(node, rows, at)]

    def _of_rows(self, node: Node) -> list[Node] | None:
        """Gather among the rows of all samples, at an index plus the rows of samples before it."""
        flat = self.draft.maker(node.input[0], "Flatten")
        at = self.draft.maker(node.input[1], "Add")
        if flat is None or at is None:
            return None
        data, axis = self._shape(flat.input[0]), flat.given_attributes.get("axis", 1)
        if data is None or not 2 <= axis <= len(data) or data[0] is None:
            return None
        sizes = data[1:axis]
        if not is_fixed(sizes):
            return None
        wanted = _Numbers(data[0], math.prod(sizes))
        if self.draft.facts(node.input[1]).elem_type is not DataType.INT64:  # GatherND has no other
            return None
        for numbers, indices in (at.input, at.input[::-1]):
            matching = self._numbers(numbers) == wanted and self._shape(indices) == data[:1]
            if matching and (
                self._is_inside(indices, wanted.factor) or self._is_given(node, indices)
            ):
                break
        else:
            return None
        rows = flat.input[0]
        made = []
        if len(data) != axis + 1 or axis > 2:
            rows = self.draft.name(f"{node.input[0]}_rows")
            shape = self.draft.constant(f"{rows}_shape", [0, wanted.factor, -1])
            made.append(self.draft.node("Reshape", [flat.input[0], shape], [rows]))
        spread = self.draft.name(f"{indices}_spread")
        axes = self.draft.constant(f"{spread}_axes", [-1])
        made.append(self.draft.node("Unsqueeze", [indices, axes], [spread]))
        return [*made, self._gather(node, rows, spread)]

    def _of_strides(self, node: Node) -> list[Node] | None:
        """Gather among all elements of all samples, at the same indices of each sample.

        So is a tensor written whose elements stand in memory in another order, as `as_strided`.
        """
        flat = self.draft.maker(node.input[0], "Reshape")
        data = None if flat is None else self._shape(flat.input[0])
        wanted = None if flat is None else self.draft.tensors.get(flat.input[1])
        if flat is None or not data or wanted is None or wanted.values.ravel().tolist() != [-1]:
            return None
        sizes, index = data[1:], self._shape(node.input[1])
        if index is None or not is_fixed(sizes):  # or constants may not fit each other
            return None
        numbers, offsets = self._strides(node.input[1], len(index))
        count = math.prod(sizes)
        if numbers != _Numbers(data[0], count):
            return None
        if offsets.shape[:1] != (1,) or not np.all((offsets >= 0) & (offsets < count)):
            return None
        rows = self.draft.name(f"{node.input[0]}_rows")
        shape = self.draft.constant(f"{rows}_shape", [0, count])
        indices = self.draft.constant(f"{rows}_indices", offsets[0])
        reads = [rows, indices]
        return [
            self.draft.node("Reshape", [flat.input[0], shape], [rows]),
            self.draft.node("Gather", reads, node.output, name=node.name, axis=1),
        ]

    def _strides(self, name: str, rank: int) -> tuple[_Numbers | None, Any]:
        """The numbers of samples along the first of so many axes, and the constants that are added
        to them.
        """
        numbers, offsets, waiting = None, np.zeros((1,) * rank, np.int64), [name]
        while waiting:
            each = waiting.pop()
            tensor, total = self.draft.tensors.get(each), self.draft.maker(each, "Add")
            if tensor is not None and tensor.values.dtype.kind == "i":
                offsets = offsets + tensor.values
            elif total is not None and len(waiting) < _MAX_TERMS:
                waiting += total.input
            elif numbers is None and (found := self._in_front(each, rank)) is not None:
                numbers = found
            else:
                return None, offsets
        return numbers, offsets

    def _in_front(self, name: str, rank: int) -> _Numbers | None:
        """The numbers of samples in the first of so many axes, the others of one element."""
        node = self.draft.maker(name, "Unsqueeze")
        axes = None if node is None else self.draft.tensors.get(node.input[1])
        if node is None or axes is None or sorted(axes.values.tolist()) != [*range(1, rank)]:
            return None
        return self._numbers(node.input[0])

    def _numbers(self, name: str) -> _Numbers | None:
        """The numbers of samples that a tensor of one axis holds, and nothing else."""
        tensor = self.draft.tensors.get(name)
        if tensor is not None:
            return _constant_numbers(tensor.values)
        product = self.draft.maker(name, "Mul")
        if product is not None:
            for each, factor in (product.input, product.input[::-1]):
                found, times = self._numbers(each), self.draft.integer(factor)
                if found is not None and times:
                    return _Numbers(found.samples, found.factor * times)
        cast = self.draft.maker(name, "Cast")
        if cast is not None and cast.given_attributes["to"] in _INTEGERS:
            return self._numbers(cast.input[0])
        made = self.draft.maker(name, "Range")
        if made is None or [*map(self.draft.integer, made.input[::2])] != [0, 1]:
            return None
        count = self._size(made.input[1])
        return None if count is None else _Numbers(count)

    def _size(self, name: str) -> Extent:
        """The size of an axis that a tensor of one element holds, as its symbol."""
        name = self.draft.behind(name, *_SIZES)
        chosen = self.draft.maker(name, "Gather", "Slice")
        source = self.draft.maker(chosen.input[0] if chosen else name, "Shape")
        shape = None if source is None else self._shape(source.input[0])
        if source is None or shape is None:
            return None
        given = source.given_attributes
        sizes = shape[given.get("start", 0) : given.get("end")]
        if chosen is not None and chosen.op_type == "Slice":
            starts, stops, *others = (self.draft.integer(each) for each in chosen.input[1:])
            sizes = sizes[starts:stops] if None not in (starts, stops, *others) else ()
            return sizes[0] if len(sizes) == 1 and set(others) <= {0, 1} else None
        if chosen is not None:
            index = self.draft.integer(chosen.input[1])
            if index is None or not -len(sizes) <= index < len(sizes):
                return None
            return sizes[index]
        return sizes[0] if len(sizes) == 1 else None

    def _is_inside(self, name: str, count: int) -> bool:
        """Whether a tensor has indices from 0 on, fewer than so many.

        Others would be in the rows of another sample.
        """
        least, most = value_range(self.draft, name)
        return least >= 0.0 and most < count

    def _is_given(self, node: Node, name: str) -> bool:
        """Whether a tensor has indices that are an input of the graph, or a number more or less.

        They are taken to be in the rows of their sample, as a NeatOnnxWarning says.
        """
        while (step := self.draft.maker(name, *_SIZES, "Add", "Sub")) is not None:
            name = next((each for each in step.input if each not in self.draft.tensors), "")
        given = [entry for entry in self.draft.model.graph.inputs if entry.name == name]
        if not given or given[0].elem_type not in _INTEGERS:
            return False
        warn(f"node {node.label}: the indices that '{name}' says are taken to be 0 or more")
        return True

    def _unsqueezed(self, name: str) -> str:
        """The tensor before a last axis of one element was added."""
        node = self.draft.maker(name, "Unsqueeze")
        if node is None or self.draft.integer(node.input[1]) not in (-1, 1):
            return name
        return node.input[0]

    def _gather(self, node: Node, data: str, indices: str) -> Node:
        reads = [data, indices]
        return self.draft.node("GatherND", reads, node.output, name=node.name, batch_dims=1)

    @cached_property
    def _same(self) -> dict[Extent, Extent]:
        return dict(filter(None, map(self._kept, self.draft.model.graph.node)))

    def _shape(self, name: str) -> tuple[Extent, ...] | None:
        """The shape of a tensor, with one symbol for a size that Reshape keeps."""
        shape = self.draft.facts(name).shape
        return None if shape is None else tuple(self._same.get(size, size) for size in shape)

    def _kept(self, node: Node) -> tuple[Extent, Extent] | None:
        """Two symbols for the size that a Reshape leaves open, where it keeps that."""
        wanted = self.draft.tensors.get(node.input[1]) if is_one_of(node, "Reshape") else None
        if wanted is None:
            return None
        sizes = wanted.values.ravel().tolist()
        before, after = (self.draft.facts(name).shape for name in (node.input[0], node.output[0]))
        if before is None or after is None or sizes.count(-1) != 1 or 0 in sizes:
            return None
        symbols = [size for size in before if not isinstance(size, int)]
        others = math.prod(size for size in before if isinstance(size, int))
        size = after[sizes.index(-1)]
        if len(symbols) != 1 or others != -math.prod(sizes) or not isinstance(size, str):
            return None
        return size, symbols[0]


def _constant_numbers(values: Any) -> _Numbers | None:
    """The numbers 0, f, 2f, … of two or more samples, in one axis or in a column."""
    flat = values.ravel()
    if flat.size < 2 or values.dtype.kind != "i" or values.shape[0] != flat.size:
        return None
    factor = int(flat[1])
    if factor < 1 or not np.array_equal(flat, factor * np.arange(flat.size)):
        return None
    return _Numbers(flat.size, factor)
