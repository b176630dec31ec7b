"""The ports of a network beside the inputs and outputs of a model: names, shapes and axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, Self

import numpy as np

from neat_onnx.errors import ImportAdvice, ModelError
from neat_onnx.lifting.axes import Axes, axes_of_inputs
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.draft import with_graph
from neat_onnx.model.indices import Range, places_of
from neat_onnx.model.states import STATE_KEY, initial_states, state_pairs
from neat_onnx.model.value import Extent
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port, shared_ports


def pairs_of(net: Network, model: Model) -> dict[str, str]:
    """The output that feeds each state of a model: as its metadata says, else as the network has
    it, by its ports, which are no memory, and by the names of its memory; else by usual names.
    """
    found = state_pairs(model)
    if STATE_KEY in model.metadata:
        return found
    inputs = {entry.name for entry in model.graph.inputs}
    outputs = {entry.name for entry in model.graph.outputs}
    ports = {port.name for port in net.inputs}
    found |= {
        port.input: port.output
        for port in net.memory
        if port.input in inputs and port.output in outputs
    }
    return {name: following for name, following in found.items() if name not in ports}


def as_named(net: Network, model: Model) -> Network:
    """The network with the names that its ports have in a model, by their order, if they have
    others there and the shapes fit: the file may have been exported with names of an engine.
    """
    sides = []
    for side, entries in zip((net.inputs, net.outputs), _data_of(net, model), strict=True):
        ports = side
        if not {port.name for port in ports} <= {entry.name for entry in entries}:
            pairs = [*zip(ports, entries, strict=False)]
            if len(pairs) < len(ports) or not all(
                _fits(port.shape, entry.shape) for port, entry in pairs
            ):
                return net
            ports = tuple(replace(port, name=entry.name) for port, entry in pairs)
        sides.append(ports)
    inputs, outputs = sides
    same = inputs is net.inputs and outputs is net.outputs
    return net if same else replace(net, inputs=inputs, outputs=outputs)


def _data_of(net: Network, model: Model) -> Iterator[list[ValueInfo]]:
    """Yield the inputs of a model that are no states, and the outputs that are none."""
    pairs = pairs_of(net, model)
    carried = {*pairs, *pairs.values()}
    for side in (model.graph.inputs, model.graph.outputs):
        yield [entry for entry in side if entry.name not in carried]


def check_ports(net: Network, model: Model, *, stated_outputs: bool = False) -> None:
    """Refuse a model whose inputs and outputs are not the network's.

    How large an output is shows when the model runs: some graphs state another shape than they
    compute, and runtimes do not mind.

    Args:
        stated_outputs: the shapes that the graph states for its outputs have to be right as well.

    Raises:
        ModelError: names or shapes differ.
    """
    sides = ("input", net.inputs), ("output", net.outputs)
    for (what, ports), entries in zip(sides, _data_of(net, model), strict=True):
        sizes = {entry.name: entry.shape for entry in entries}
        ours = {port.name: port.shape for port in ports}
        some = what == "output"  # a network need not have all of them
        known = set(ours) <= set(sizes) if some else set(ours) == set(sizes)
        read = ours if stated_outputs or not some else {}
        if not known or not all(_fits(shape, sizes[name]) for name, shape in read.items()):
            raise ModelError(
                f"the model's {what}s are {_listed(sizes)}, the network's {_listed(ours)}",
                hint="Compare a network with the model that was made from it",
            )


def with_port_sizes(net: Network, model: Model) -> Model:
    """The model with the network's sizes for axes of no fixed size that are features."""
    ports = {port.name: port.shape for port in net.inputs}
    entries = model.graph.inputs
    inputs = [_sized(entry, ports.get(entry.name)) for entry in entries]
    alike = all(sized is entry for sized, entry in zip(inputs, entries, strict=True))
    return model if alike else with_graph(model, inputs=inputs)


def axes_in_time(port: Port) -> Axes:
    """The axes (time, batch) of an input in a graph of sequences; () where the port says none."""
    if port.time_axis is None or port.batch_axis is None:
        return ()
    return port.time_axis, port.batch_axis + (port.time_axis <= port.batch_axis)


def _sized(entry: ValueInfo, shape: tuple[int, ...] | None) -> ValueInfo:
    """The entry with the sizes of a port; as many axes stay open as the port has not."""
    sizes = entry.shape or ()
    varying = [axis for axis, size in enumerate(sizes) if not isinstance(size, int)]
    if shape is None or len(sizes) - len(shape) >= len(varying):
        return entry
    rest = next(_axes_of(shape, sizes), None)
    if rest is None:
        return entry
    known = dict(zip(rest, shape, strict=True))
    filled = [known.get(axis, size) for axis, size in enumerate(sizes)]
    return ValueInfo.of(entry.name, entry.elem_type, filled)


def has_every_axis(net: Network, model: Model) -> bool:
    """Whether every axis of the model's inputs is features of the network: none is the batch."""
    axes = {entry.name: len(entry.shape or ()) for entry in model.graph.inputs}
    return all(axes.get(port.name) == len(port.shape) for port in net.inputs)


def check_every_axis(net: Network, model: Model) -> None:
    """Refuse a network that lacks axes of the model's inputs.

    Raises:
        ModelError: it does; says which axes both have.
    """
    if not has_every_axis(net, model):
        theirs = {entry.name: entry.shape for entry in model.graph.inputs}
        ours = {port.name: port.shape for port in net.inputs}
        raise ModelError(
            f"the model's inputs are {_listed(theirs)}, the network's {_listed(ours)}",
            hint=ImportAdvice("Import the model with {}, too", {"batch_axis": None}),
        )


def _fits(shape: tuple[int, ...], sizes: tuple[Extent, ...] | None) -> bool:
    """Whether a port's shape is that of a graph's, without time and the batch."""
    return sizes is None or next(_axes_of(shape, sizes), None) is not None


def _axes_of(shape: tuple[int, ...], sizes: Sequence[Extent]) -> Iterator[list[int]]:
    """Yield the axes of a graph's input or output that may be the ones of a port, in order.

    The others are time and the batch: of no fixed size, if there are as many.
    """
    varying = [axis for axis, size in enumerate(sizes) if not isinstance(size, int)]
    leading = len(sizes) - len(shape)
    dropped = varying if len(varying) >= leading else range(len(sizes))
    for axes in combinations(dropped, leading) if leading >= 0 else ():
        rest = [axis for axis in range(len(sizes)) if axis not in axes]
        if all(sizes[at] == own or at in varying for at, own in zip(rest, shape, strict=True)):
            yield rest


def _listed(ports: Mapping[str, Sequence[Extent] | None]) -> str:
    return ", ".join(f"'{name}' {list(shape or ())}" for name, shape in ports.items()) or "none"


@dataclass(frozen=True)
class ModelInputs:
    """The inputs of a model that is run beside a network, each by its name.

    Attributes:
        model: the model.
        axes: those that are time and the batch; none where every axis is features.
        pairs: the output that feeds each state.
        initial: the values of states before the first step, where they are not zero.
    """

    model: Model
    axes: Mapping[str, Axes]
    pairs: Mapping[str, str]
    initial: Mapping[str, Sequence[float]]

    @classmethod
    def of(
        cls,
        model: Model,
        net: Network,
        known: Mapping[str, Axes] | None = None,
        pairs: Mapping[str, str] | None = None,
    ) -> Self:
        """The inputs of a model.

        Args:
            model: the model.
            net: says where the batch of its memory is, and which inputs samples share.
            known: the axes that are time and the batch, where they need not be guessed.
            pairs: the output that feeds each state, likewise.
        """
        axes = known
        if axes is None:
            axes = {} if has_every_axis(net, model) else _guessed_axes(net, model.graph.inputs)
        return cls(
            model,
            {entry.name: axes.get(entry.name, ()) for entry in model.graph.inputs},
            pairs_of(net, model) if pairs is None else pairs,
            initial_states(model),
        )

    @cached_property
    def entries(self) -> Mapping[str, ValueInfo]:
        """The inputs as the graph states them."""
        return {entry.name: entry for entry in self.model.graph.inputs}

    @cached_property
    def places(self) -> Mapping[str, Range]:
        """The values that inputs which are places in a table may have."""
        return places_of(self.model)

    @property
    def features_only(self) -> bool:
        """Whether every axis is features."""
        return not any(self.axes.values())

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
            (*(self.entries[name].shape or ()), 1, 1)[axes[-1]] if axes else 1
            for name, axes in self.axes.items()
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
        axes, sizes = self.axes[name], self.entries[name].shape or ()
        shape = tuple(
            size for axis, size in enumerate(sizes) if axis not in axes and isinstance(size, int)
        )
        held = np.reshape(self.initial.get(name, np.zeros(shape)), shape)
        return self.placed(np.broadcast_to(held, (samples, *shape)), name)

    def placed(self, values: Floats, name: str) -> Any:
        """Values whose samples come first, as the input `name` takes them: its axes, its type."""
        axes, element = self.axes[name], self.entries[name].elem_type.dtype
        if name in self.without_time():
            values = values[0]
        if not axes:
            return np.array(values[0], element)
        moved = np.moveaxis(values, range(len(axes)), axes)
        return np.ascontiguousarray(moved, element)


def _guessed_axes(net: Network, entries: Sequence[ValueInfo]) -> dict[str, Axes]:
    """The axes of inputs that are time and the batch, by their sizes and the network's ports."""
    axes = axes_of_inputs(entries)
    shapes = {entry.name: entry.shape or () for entry in entries}
    for held in net.memory:
        at, sizes = held.batch_axis, shapes.get(held.input, ())
        if sizes and held.shape == (*sizes[:at], *sizes[at + 1 :]):
            axes[held.input] = (at,)
    axes |= {port.name: () for port in shared_ports(net.inputs)}
    for port in net.inputs:
        in_time = axes_in_time(port)
        if in_time and len(shapes.get(port.name, ())) == len(port.shape) + len(in_time):
            axes[port.name] = in_time
    return axes


_ROUNDED: dict[str, Callable[[Floats], Any]] = {
    "DOUBLE": np.float64,
    "FLOAT16": np.float16,
    "INT": np.rint,
    "UINT": lambda x: np.rint(np.abs(x)),
    "BOOL": lambda x: x > 0.0,
}


def as_read(net: Network, model: Model, x: Floats, inputs: ModelInputs | None = None) -> Floats:
    """Round inputs (T, N, I) to the types of the model's inputs, so that both sides get the same.

    Places in a table are taken to be in it. Inputs without time beside sequences have their first
    values at every step.

    Args:
        net: assigns the columns to its inputs.
        model: the model.
        x: the inputs.
        inputs: the model's, where they are known.
    """
    kinds = {entry.name: entry.elem_type.name for entry in model.graph.inputs}
    inputs = inputs or ModelInputs.of(model, net)
    places, static = inputs.places, inputs.without_time()
    parts, start = [], 0
    for port in net.inputs:
        part = x[..., start : start + port.neurons.size]
        if port.name in places:
            low, high = places[port.name]
            part = low + np.floor(part) % (high - low)
        kind = kinds[port.name]
        part = _ROUNDED.get(kind, _ROUNDED.get(kind.rstrip("0123456789"), np.float32))(part)
        if port.name in static:
            part = np.broadcast_to(part[:1], part.shape)
        parts.append(part)
        start += port.neurons.size
    return np.concatenate([x[..., :0], *parts], axis=-1, dtype=np.float64)
