"""Playing sequences with a model, in any runtime.

A model is one step, whose states are carried from call to call here, or a whole sequence. Its
outputs are rows: one for each sample, or for each step of each sample.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from neat_onnx.errors import ModelError
from neat_onnx.lifting.axes import Axes, output_axes, shapes_of_inputs
from neat_onnx.model import DataType, Model, ValueInfo
from neat_onnx.model.budget import Budget
from neat_onnx.model.inference import inferred_facts
from neat_onnx.model.ports import KEYS_OF_PORTS, with_inner_outputs
from neat_onnx.model.rounding import computes_integers, rounding_to_half
from neat_onnx.model.value import Extent
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.runtimes import Feed, Session, load
from neat_onnx.runtimes.ports import ModelInputs, axes_in_time

_MIN_STEPS_IN_TWO_PARTS = 4  # of a sequence whose states can be fed on
_FLOATING = (DataType.FLOAT, DataType.DOUBLE)
Shape = tuple[int, ...]


def number_type(model: Model) -> DataType:
    """The type whose bound holds: FLOAT16 if outputs are, or numbers inside; DOUBLE if all inputs
    and outputs of such numbers are; or FLOAT.

    A model that reads float64 and gives float32 is no more exact than float32; nor is one inside
    which operators give it. One of integers alone is as exact as float64.
    """
    halves = any(entry.elem_type is DataType.FLOAT16 for entry in model.graph.outputs)
    if halves or rounding_to_half(model.graph):
        return DataType.FLOAT16
    if any(node.domain == "ai.onnx.ml" for node in model.graph.node):
        return DataType.FLOAT
    entries = (*model.graph.inputs, *model.graph.outputs)
    kinds = {entry.elem_type for entry in entries if entry.elem_type in _FLOATING}
    exact = kinds == {DataType.DOUBLE} or (not kinds and computes_integers(model))
    return DataType.DOUBLE if exact else DataType.FLOAT


class Player:
    """A model, loaded into a runtime, that plays sequences.

    Args:
        model: the model to run, as it is.
        net: says which columns of the inputs belong to which port.
        runtime: the name of a runtime, see `neat_onnx.runtimes`, or a session of one.
        as_written: the runtime does not rewrite the model, where it can do without.
        inputs: of the model, where they need not be guessed.
        outputs: the axes of its outputs that are time and the batch, likewise.

    Attributes:
        name: the runtime and its version.
        fixed_batch: the model states how many samples it takes at a time.
        rows_of_a_run: how many samples a fixed batch has, 1 if the batch is not fixed.
        takes_sequences: the model, or the runtime, takes whole sequences.
        unbatched: sequences have no axis for the batch, so that each is a run.
        ended: the outputs of the model that are of the end of a sequence; with any, each step is a
            run.

    Raises:
        ModelError: the runtime refuses the model, or its batch has the size 0.
        OptionError: the runtime is unknown or not installed.
    """

    def __init__(
        self,
        model: Model,
        net: Network,
        runtime: str | Session,
        *,
        as_written: bool = False,
        inputs: ModelInputs | None = None,
        outputs: Mapping[str, Axes] | None = None,
    ) -> None:
        inputs, entries = inputs or ModelInputs.of(model, net), model.graph.outputs
        features_only = inputs.features_only
        if not isinstance(runtime, Session):
            _check_size(model)
            runtime = load(runtime, model, as_written=as_written, features_only=features_only)
        self._session, self.name, self._net = runtime, runtime.name, net
        if runtime.sequences:
            inputs, entries = inputs.of_sequences(), []
        self._inputs = inputs
        known = {port.name: axes_in_time(port) for port in net.outputs}
        self._rows = OutputRows(
            {port.name: port.shape for port in (*net.inputs, *net.outputs)},
            {entry.name: entry for entry in entries},
            shapes_of_inputs(model.graph.inputs),
            known if outputs is None else outputs,
        )
        self.takes_sequences = inputs.has_time
        steps = not (self.takes_sequences or features_only)
        self.unbatched = steps and net.has_memory and not inputs.pairs
        leading = 2 if self.takes_sequences else 1
        sequences = self.takes_sequences or self.unbatched
        self.ended = {
            entry.name
            for entry in entries
            if sequences and self._rows.has_ended(entry.name, len(entry.shape or ()), leading)
        }
        fixed = [] if runtime.sequences else inputs.fixed_batches()
        self.fixed_batch, self.rows_of_a_run = bool(fixed), max(fixed, default=1)
        Budget().take("elements", self.rows_of_a_run * len(net.input_neurons))
        without_batch = {name for name, axes in inputs.axes.items() if not axes}
        self._has_shared_states = not without_batch.isdisjoint(inputs.pairs)
        shared = np.array([port.name in without_batch for port in net.inputs], np.bool_)
        self._shared = np.repeat(shared, [port.neurons.size for port in net.inputs])

    def one_by_one(self) -> Self:
        """The same player, with each sample a run of its own, as if the batch were fixed."""
        other = copy(self)
        other.fixed_batch = True
        return other

    def play(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        """Run N sequences of T steps, each from the initial state.

        Args:
            x: (T, N, I), the inputs of all ports one after the other.
            tensors: the names of graph outputs.

        Returns:
            The values of each of these outputs, (T, N, columns).

        Raises:
            ModelError: the runtime cannot run the model.
            ShapeMismatch: an output is not made of a row for each sample.
        """
        play = self._each_alone if self.unbatched else self._played
        if not self.fixed_batch:
            return play(x, tensors)
        played = []
        shared = x[..., self._shared]
        together = not self._has_shared_states and np.array_equal(
            shared, np.broadcast_to(shared[:, :1], shared.shape)
        )
        fed = self.rows_of_a_run if together else 1
        for start in range(0, x.shape[1], fed):
            part = x[:, start : start + fed]
            rows = np.arange(self.rows_of_a_run)
            full = part.take(rows, axis=1, mode="clip")  # the last one repeats
            count = part.shape[1]
            played.append({name: got[:, :count] for name, got in play(full, tensors).items()})
        return {name: np.concatenate([each[name] for each in played], axis=1) for name in tensors}

    def shows(self, tensor: str) -> bool:
        """Whether the runtime gives a graph output: one that keeps the memory gives no states."""
        return not self._session.sequences or tensor not in self._inputs.pairs.values()

    def _played(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        """Run sequences (T, N, I) together; or one, (T, I), that has no axis for the batch."""
        whole = self.takes_sequences or self.unbatched
        starts = states = self._starts(x)
        parts, results = [], dict[str, Any]()
        for part in self._in_two(x, fed_on=bool(states)) if whole else x:
            results = self._session.run(self.feed(part) | states)
            states = {name: results[self._inputs.pairs[name]] for name in states}
            parts.append((part.shape[:-1], results))
        rows = x.shape[1:-1]
        ended = [
            name
            for name in tensors
            if whole and self._rows.has_ended(name, np.ndim(results[name]), 1 + len(rows))
        ]
        stops = range(1, len(x)) if ended else ()
        prefixes = [(rows, self._session.run(self.feed(x[:stop]) | starts)) for stop in stops]
        found = {}
        for name in tensors:
            runs = [*prefixes, (rows, results)] if name in ended else parts
            values = [self._read(name, got, leading) for leading, got in runs]
            found[name] = np.array(values) if name in ended or not whole else np.concatenate(values)
        return found

    def _in_two(self, x: Floats, *, fed_on: bool) -> Iterable[Floats]:
        """A sequence, in two parts of more than a step where states can be fed on."""
        cut = len(x) // 2 if fed_on and len(x) >= _MIN_STEPS_IN_TWO_PARTS else len(x)
        return filter(len, (x[:cut], x[cut:]))

    def _starts(self, x: Floats) -> Feed:
        """The states before sequences (T, N, I), or (T, I); none where the runtime keeps them."""
        pairs = () if self._session.sequences else self._inputs.pairs
        samples = x.shape[1] if x.ndim > 2 else 1
        return {name: self._inputs.start(name, samples) for name in pairs}

    def _each_alone(self, x: Floats, tensors: Sequence[str]) -> dict[str, Floats]:
        each = [self._played(x[:, sample], tensors) for sample in range(x.shape[1])]
        return {name: np.stack([one[name] for one in each], axis=1) for name in tensors}

    def feed(self, x: Floats) -> Feed:
        """The inputs of one run, of a step (N, I) or of sequences (T, N, I), but for states."""
        feed, start = {}, 0
        for port in self._net.inputs:
            stop = start + port.neurons.size
            values = x[..., start:stop].reshape(*x.shape[:-1], *port.shape)
            feed[port.name] = self._inputs.placed(values, port.name)
            start = stop
        return feed

    def _read(self, name: str, results: dict[str, Any], leading: tuple[int, ...]) -> Floats:
        """One of the results as float64, (*leading, columns)."""
        values = np.asarray(results[name], np.float64)
        if self._inputs.features_only:
            return values.reshape(1, -1)
        return self._rows.of(name, values, leading)


def showing(model: Model, tensors: Sequence[str]) -> Model:
    """Return the model with these tensors as outputs too, and no metadata but that of its ports.

    The genome in the metadata would not fit the graph any more.
    """
    kept = [entry for entry in model.metadata_props if entry.key in KEYS_OF_PORTS]
    bare = model.model_copy(update={"metadata_props": kept})
    return with_inner_outputs(bare, tensors, inputs=True)


def _check_size(model: Model) -> None:
    """Refuse a model that makes more elements than the limit, with a ModelError."""
    for name, facts in inferred_facts(model).items():
        sizes = [size for size in facts.shape or () if isinstance(size, int)]
        Budget().require("elements", math.prod(sizes), f"that makes '{name}'")


class ShapeMismatch(ModelError):
    """An output does not have a row for each sample: the model is not the network, row by row."""


@dataclass(frozen=True)
class OutputRows:
    """Where the samples stand in each output of a model.

    Attributes:
        shapes: of the network's ports.
        outputs: the outputs whose time and batch may be on any axes; in all others they are first.
        inputs: shapes of the inputs of the graph, with their axes.
        known: the axes that are time and the batch of outputs of which they need not be guessed.
    """

    shapes: Mapping[str, Shape]
    outputs: Mapping[str, ValueInfo]
    inputs: Mapping[tuple[Extent, ...], Axes]
    known: Mapping[str, Axes]

    def has_ended(self, name: str, rank: int, leading: int) -> bool:
        """Whether an output of so many axes is of the end of a sequence: it has no axis of time.

        Args:
            name: of the output.
            rank: how many axes it has.
            leading: how many of the inputs' axes are time and the batch.
        """
        shape = self.shapes.get(name)
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
        port = self.shapes.get(name)
        if not port or len(leading) != 1 or values.shape != (leading[0] * port[0], *port[1:]):
            return values
        return values.reshape(*leading, *port)

    def _leading_first(self, name: str, values: Floats, leading: Shape) -> Floats:
        """Values whose axes of time and the batch come first."""
        if name not in self.outputs:
            return values
        count = max(0, min(len(leading), values.ndim - len(self.shapes.get(name, ()))))
        axes = self.known.get(name, ())
        if len(axes) != len(leading):
            axes = output_axes(self.outputs[name], self.inputs, count)
            axes = self._fitting(name, values.shape, axes, leading)
        if any(axis >= values.ndim for axis in axes):
            return values
        return np.moveaxis(values, axes, range(len(axes)))

    def _fitting(self, name: str, shape: Shape, axes: Axes, leading: Shape) -> Axes:
        """The axis of the samples: the stated one, or where that cannot be, one that can."""
        port = self.shapes.get(name)
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
        port, row = self.shapes.get(name), shape[len(leading) :]
        if port is not None and math.prod(port) == math.prod(row) and _long(port) != _long(row):
            raise ShapeMismatch(
                f"the output '{name}' has the shape {list(row)} for each sample, "
                f"the network's {list(port)}",
                hint="Compare a network with the model that was made from it",
            )


def _long(shape: Shape) -> list[int]:
    """The sizes above 1: runtimes and writers add axes of size 1 and leave them out."""
    return [size for size in shape if size != 1]
