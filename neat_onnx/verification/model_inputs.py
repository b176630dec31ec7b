"""The inputs of a model: where time and the batch are among their axes, and how states begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.axes import Axes, axes_of_inputs
from neat_onnx.model import Model
from neat_onnx.model.states import initial_states
from neat_onnx.model.value import Extent
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.port import MemoryPort, shared_ports
from neat_onnx.verification.ports import axes_in_time, has_every_axis, pairs_of


@dataclass(frozen=True)
class ModelInputs:
    """The inputs of a model that is compared with a network, each by its name.

    Attributes:
        shapes: as the graph states them.
        elements: numpy's types.
        axes: those that are time and the batch; none where every axis is features.
        pairs: the output that feeds each state.
        initial: the values of states before the first step, where they are not zero.
        features_only: every axis is features.
    """

    shapes: Mapping[str, Sequence[Extent]]
    elements: Mapping[str, np.dtype[Any]]
    axes: dict[str, Axes]
    pairs: dict[str, str]
    initial: Mapping[str, Sequence[float]]
    features_only: bool

    @classmethod
    def of(cls, model: Model, net: Network) -> Self:
        """The inputs of a model, of which the network says where the batch of its memory is."""
        entries = model.graph.inputs
        shapes = {entry.name: entry.shape or () for entry in entries}
        axes, features_only = axes_of_inputs(entries), has_every_axis(net, model)
        axes |= {port.input: (port.batch_axis,) for port in _memory_of(net, shapes)}
        axes |= {port.name: () for port in shared_ports(net.inputs)}
        axes |= {
            port.name: in_time
            for port in net.inputs
            if (in_time := axes_in_time(port))
            and len(shapes.get(port.name, ())) == len(port.shape) + len(in_time)
        }
        return cls(
            shapes,
            {entry.name: entry.elem_type.dtype for entry in entries},
            dict.fromkeys(axes, ()) if features_only else axes,
            pairs_of(net, model),
            initial_states(model),
            features_only,
        )

    def of_sequences(self) -> Self:
        """The same inputs, all of them beginning with time and the batch."""
        return replace(self, axes=dict.fromkeys(self.axes, (0, 1)))

    def without_time(self) -> set[str]:
        """The inputs beside sequences that are the same at every step."""
        lacking = {name for name, axes in self.axes.items() if len(axes) < 2}
        return lacking.difference(self.pairs) if self.has_time else set()

    @property
    def has_time(self) -> bool:
        """Whether an input has an axis of time besides the batch."""
        return any(len(axes) > 1 for axes in self.axes.values())

    def fixed_batches(self) -> list[int]:
        """The sizes of batches that are stated.

        Raises:
            ModelError: one is 0.
        """
        sizes = [
            (*self.shapes[name], 1, 1)[axes[-1]] if axes else 1 for name, axes in self.axes.items()
        ]
        found = [size for size in sizes if isinstance(size, int)]
        if 0 in found:
            raise ModelError(
                "its batch has no samples, and it cannot be run",
                where="graph.inputs",
                hint="Give the batch a size of 1 or more, or a name as 'N'",
            )
        return found

    def start(self, name: str, samples: int) -> Any:
        """A state before the first step, as its input takes it."""
        axes, sizes = self.axes[name], self.shapes[name]
        shape = tuple(
            size for axis, size in enumerate(sizes) if axis not in axes and isinstance(size, int)
        )
        held = np.reshape(self.initial.get(name, np.zeros(shape)), shape)
        return self.placed(np.broadcast_to(held, (samples, *shape)), name)

    def placed(self, values: Floats, name: str) -> Any:
        """Values whose samples come first, as the input `name` takes them: its axes, its type."""
        axes, element = self.axes[name], self.elements[name]
        if name in self.without_time():
            values = values[0]
        if not axes:
            return np.array(values[0], element)
        moved = np.moveaxis(values, range(len(axes)), axes)
        return np.ascontiguousarray(moved, element)


def _memory_of(net: Network, shapes: Mapping[str, Sequence[Extent]]) -> list[MemoryPort]:
    """The memory ports whose inputs a model has in one shape, of these, with one batch."""
    return [
        port
        for port in net.memory
        if (sizes := shapes.get(port.input))
        and port.shape == (*sizes[: port.batch_axis], *sizes[port.batch_axis + 1 :])
    ]
