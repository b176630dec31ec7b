"""Import: a model to the network that it computes, by running its graph on neurons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neat_onnx.errors import ModelError, OptionError, abridged, warn
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.states import initial_states, is_own_pair, state_pairs
from neat_onnx.network.genes import Ints
from neat_onnx.network.memory import MemoryPort
from neat_onnx.network.network import Network
from neat_onnx.network.window import Sizes
from neat_onnx.tracing.interpreter import Interpreter
from neat_onnx.tracing.neurons import Neurons
from neat_onnx.tracing.ports import (
    BatchAxis,
    Frame,
    axes_of_output,
    frame_of,
    input_port,
    of_sample,
    open_input,
    output_port,
    traced_shape,
)
from neat_onnx.tracing.proof import Proof
from neat_onnx.tracing.resolution import Resolution, output_signals
from neat_onnx.tracing.tape import Register, Tape


@dataclass(frozen=True)
class Lifted:
    """The network that a graph computes, and where its neurons are.

    Attributes:
        network: ids are positions.
        tensors: for each tensor that neurons could be found for, their positions, flat.
        shapes: the shape of each tensor, with one sample of a batch.
        has_batch: the first axis of inputs and outputs is a batch.
    """

    network: Network
    tensors: dict[str, Ints]
    shapes: dict[str, Sizes] = field(default_factory=dict)
    has_batch: bool = True


def trace_model(
    model: Model,
    batch_axis: BatchAxis = "auto",
    outputs: Sequence[str] | None = None,
    shapes: Mapping[str, Any] | None = None,
    memory: Mapping[str, str] | None = None,
    *,
    check: bool = False,
) -> Lifted:
    """The network that a model's graph is, without a look at its metadata.

    Args:
        model: the model.
        batch_axis: "auto" finds the batch; with None every axis is features.
        outputs: names of the outputs to import; None takes those that depend on inputs.
        shapes: of inputs whose sizes are not all fixed, or other than stated, by name.
        memory: the output that feeds each state input, in place of what metadata and names say.
        check: prove it on batches and sequences that were not traced (`proof.py`).

    Raises:
        ModelError: the graph has something that neurons cannot compute; says which node.
        OptionError: an argument names what the graph does not have.
    """
    inputs = _inputs_of(model, shapes or {})
    pairs = dict(memory) if memory is not None else state_pairs(model)
    frame = frame_of(inputs, batch_axis)
    lifted = _Trace(model, inputs, pairs, frame, outputs).lifted()
    if check:
        Proof(model, lifted.network, inputs, pairs, lifted.tensors).check()
    return lifted


def _inputs_of(model: Model, shapes: Mapping[str, Any]) -> list[ValueInfo]:
    """The inputs without defaults, in the shapes that are given."""
    constants = model.graph.tensors
    found = []
    for entry in model.graph.inputs:
        if entry.name in shapes:
            found.append(ValueInfo.of(entry.name, entry.elem_type, shapes[entry.name]))
        elif entry.name not in constants:
            found.append(entry)
    unknown = [*set(shapes) - {entry.name for entry in model.graph.inputs}]
    if unknown:
        raise OptionError(f"the graph has no input '{min(unknown)}'", where="shapes")
    return found


class _Trace:
    """One run of a graph on neurons."""

    def __init__(
        self, model: Model, inputs: Sequence[ValueInfo], pairs: Mapping[str, str], frame: Frame,
        outputs: Sequence[str] | None,
    ) -> None:  # fmt: skip
        self._model, self._inputs, self._frame = model, inputs, frame
        self._pairs = {p: f for p, f in pairs.items() if p in {entry.name for entry in inputs}}
        self._tape = Tape(open_time=frame.has_time)
        self._wanted = self._chosen(outputs)

    def _chosen(self, outputs: Sequence[str] | None) -> list[str]:
        known = [*dict.fromkeys(entry.name for entry in self._model.graph.outputs)]
        if outputs is None:
            fed = set(self._pairs.values())
            return [name for name in known if name not in fed] or known
        if isinstance(outputs, str) or not outputs or not set(outputs) <= set(known):
            raise OptionError(
                f"outputs is {outputs!r}", where="outputs", hint=f"Known: {', '.join(known)}"
            )
        return [name for name in known if name in outputs]

    def lifted(self) -> Lifted:
        """Run the graph, and read the network off."""
        bound, registers = self._bound()
        asked = [*self._wanted, *(self._pairs[name] for name in registers)]
        interpreter = Interpreter(self._model, self._tape)
        tensors = interpreter.run_graph(self._model.graph, bound, asked)
        self._feed(registers, tensors)
        given = self._given_outputs(tensors)
        signals = {name: output_signals(x) for name, (x, _) in given.items()}
        resolution = Resolution(self._tape, list(signals.values()))
        network = self._network(resolution, bound, registers, given, signals)
        found, sizes = {}, {}
        for name, x in (interpreter.inner | tensors).items():
            if isinstance(x, Neurons) and (at := resolution.neurons_of(x)) is not None:
                found[name], sizes[name] = at, x.shape
        return Lifted(self._with_memory(network, found, bound), found, sizes, self._frame.has_batch)

    def _bound(self) -> tuple[dict[str, Neurons], dict[str, Register]]:
        bound: dict[str, Neurons] = {}
        registers: dict[str, Register] = {}
        initial = initial_states(self._model)
        for entry in self._inputs:
            if entry.name not in self._pairs:
                bound[entry.name] = open_input(self._tape, entry, self._frame)
                continue
            shape = traced_shape(entry, self._frame)
            count = int(np.prod(shape, dtype=int))
            values = np.zeros(count) if entry.name not in initial else np.array(initial[entry.name])
            if len(values) != count:
                raise ModelError(f"{len(values)} initial values for '{entry.name}' of {count}")
            register = registers[entry.name] = self._tape.add_register(values)
            bound[entry.name] = Neurons(self._tape, register.signals.reshape(shape))
        return bound, registers

    def _feed(self, registers: Mapping[str, Register], tensors: Mapping[str, Any]) -> None:
        for name, register in registers.items():
            after = tensors[self._pairs[name]]
            if not isinstance(after, Neurons):
                after = np.broadcast_to(after, len(register.initial))
                register.next = self._tape.add_constants(np.asarray(after, np.float64))
            elif after.size != len(register.initial):
                wanted = f"{len(register.initial)} numbers of '{name}'"
                raise ModelError(f"'{self._pairs[name]}' has {after.size}, expected {wanted}")
            else:
                register.next = after.signals().ravel()

    def _given_outputs(
        self, tensors: Mapping[str, Any]
    ) -> dict[str, tuple[Neurons, tuple[int, ...]]]:
        """The outputs that depend on inputs, of one sample, and their axes of time and samples."""
        entries = {entry.name: entry for entry in self._model.graph.outputs}
        fixed = [name for name in self._wanted if not isinstance(tensors[name], Neurons)]
        if len(fixed) == len(self._wanted):
            raise ModelError("no output depends on an input", where="graph.outputs")
        if fixed:
            warn(f"outputs that no network computes are left out: {abridged(fixed)} on no input")
        found = {}
        for name in self._wanted:
            if name not in fixed:
                x = tensors[name]
                axes = axes_of_output(entries[name], x.shape, self._inputs, self._frame)
                found[name] = of_sample(x, axes, self._frame.samples), axes
        return found

    def _network(
        self, resolution: Resolution, bound: Mapping[str, Neurons],
        registers: Mapping[str, Register], given: Mapping[str, tuple[Neurons, tuple[int, ...]]],
        signals: Mapping[str, Ints],
    ) -> Network:  # fmt: skip
        entries = {entry.name: entry for entry in self._model.graph.outputs}
        inputs = tuple(
            input_port(entry, bound[entry.name], self._frame, resolution.neuron_of)
            for entry in self._inputs
            if entry.name not in registers
        )
        outputs = tuple(
            output_port(entries[name], signals[name], axes, self._frame, resolution.neuron_of)
            for name, (_, axes) in given.items()
        )
        return resolution.network(inputs, outputs)

    def _with_memory(
        self, network: Network, found: Mapping[str, Ints], bound: Mapping[str, Neurons]
    ) -> Network:
        """The network with the names of states, if each element is a neuron's activation."""
        ports, taken = [], np.empty(0, np.int64)
        for previous, following in self._pairs.items():
            axes, neurons = self._frame.axes[previous], found.get(following)
            if is_own_pair(previous, following) or len(axes) > 1 or neurons is None:
                continue
            both = np.concatenate([taken, neurons])
            if len(np.unique(both)) < len(both):
                continue
            taken = both
            shape = tuple(d for k, d in enumerate(bound[previous].shape) if k not in axes)
            ports.append(MemoryPort(previous, following, shape, axes[0] if axes else 0, neurons))
        return replace(network, memory=tuple(ports)) if ports else network
