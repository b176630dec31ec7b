"""The outputs of a run as rows: one for each sample, or for each step of each sample."""

import math
from collections.abc import Iterable, Mapping

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.axes import Axes, output_axes
from neat_onnx.model import ValueInfo
from neat_onnx.model.value import Extent
from neat_onnx.network.genes import Floats
from neat_onnx.network.port import Port

Shape = tuple[int, ...]


class ShapeMismatch(ModelError):
    """An output does not have a row for each sample: the model is not the network, row by row."""


class OutputRows:
    """Where the samples stand in each output of a model.

    Args:
        ports: of the network.
        outputs: the outputs whose time and batch may be on any axes; in all others they are first.
        inputs: shapes of the inputs of the graph, with their axes.
    """

    def __init__(
        self,
        ports: Iterable[Port],
        outputs: Iterable[ValueInfo],
        inputs: Mapping[tuple[Extent, ...], Axes],
    ) -> None:
        self._shapes = {port.name: port.shape for port in ports}
        self._outputs = {entry.name: entry for entry in outputs}
        self._inputs = inputs
        self._stated: dict[tuple[str, int], Axes] = {}  # by the name, and how many they are

    def has_ended(self, name: str, rank: int, leading: int) -> bool:
        """Whether an output of so many axes is of the end of a sequence: it has no axis of time.

        Args:
            name: of the output.
            rank: how many axes it has.
            leading: how many of the inputs' axes are time and the batch.
        """
        shape = self._shapes.get(name)
        return shape is not None and rank == len(shape) + leading - 1

    def of(self, name: str, values: Floats, leading: Shape) -> Floats:
        """The values of an output, (*leading, columns).

        Args:
            name: of the output.
            values: as a run gives them.
            leading: how many samples there are, or steps and samples.

        Raises:
            ShapeMismatch: there is no row for each, or rows have another shape than the port.
        """
        values = self._leading_first(name, self._by_sample(name, values, leading), leading)
        self._check(name, values.shape, leading)
        return values.reshape(*leading, -1)

    def _by_sample(self, name: str, values: Floats, leading: Shape) -> Floats:
        """Values with an axis for the samples, where the first one has the rows of each in turn."""
        port = self._shapes.get(name)
        if not port or len(leading) != 1 or values.shape != (leading[0] * port[0], *port[1:]):
            return values
        return values.reshape(*leading, *port)

    def _leading_first(self, name: str, values: Floats, leading: Shape) -> Floats:
        """Values whose axes of time and the batch come first."""
        if name not in self._outputs:
            return values
        count = max(0, min(len(leading), values.ndim - len(self._shapes.get(name, ()))))
        axes = self._fitting(name, values.shape, self._stated_axes(name, count), leading)
        if any(axis >= values.ndim for axis in axes):
            return values
        return np.moveaxis(values, axes, range(len(axes)))

    def _stated_axes(self, name: str, count: int) -> Axes:
        if (name, count) not in self._stated:
            axes = output_axes(self._outputs[name], self._inputs, count)
            self._stated[name, count] = axes
        return self._stated[name, count]

    def _fitting(self, name: str, shape: Shape, axes: Axes, leading: Shape) -> Axes:
        """The axis of the samples: the stated one, or where that cannot be, one that can."""
        port = self._shapes.get(name)
        if port is None or len(axes) != 1 or len(leading) != 1:
            return axes
        fitting = [
            axis
            for axis, size in enumerate(shape)
            if size == leading[0] and shape[:axis] + shape[axis + 1 :] == port
        ]
        return axes if not fitting or axes[0] in fitting else (fitting[0],)

    def _check(self, name: str, shape: Shape, leading: Shape) -> None:
        if shape[: len(leading)] != leading:
            raise ShapeMismatch(
                f"the output '{name}' has the shape {list(shape)} where {list(leading)} rows go in",
                hint="A model may not mix its samples: its outputs have the batch as an axis",
            )
        port, row = self._shapes.get(name), shape[len(leading) :]
        if port is not None and math.prod(port) == math.prod(row) and _long(port) != _long(row):
            raise ShapeMismatch(
                f"the output '{name}' has the shape {list(row)} for each sample, "
                f"the network's {list(port)}",
                hint="Compare a network with the model that was made from it",
            )


def _long(shape: Shape) -> list[int]:
    """The sizes above 1: runtimes and writers add axes of size 1 and leave them out."""
    return [size for size in shape if size != 1]
