"""Import: a model to the network that it computes, by running its graph on neurons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from neat_onnx.errors import ImportAdvice, ModelError, warn
from neat_onnx.lifting.axes import AS_FEATURES, Axes, BatchAxis, example_shapes
from neat_onnx.lifting.interpreter import Interpreter, needed_nodes
from neat_onnx.lifting.neurons import Neurons
from neat_onnx.lifting.outputs import (
    before_chance,
    chosen_outputs,
    other_outputs,
    random_tensors,
    warn_left_out,
)
from neat_onnx.lifting.ports import (
    Frame,
    axes_of_output,
    frames_of,
    input_port,
    of_sample,
    open_input,
    output_port,
    traced_shape,
)
from neat_onnx.lifting.proof import Proof
from neat_onnx.lifting.resolution import Resolution, TensorNeurons, output_signals
from neat_onnx.lifting.tape import Ids, Register, Tape
from neat_onnx.model import Model, ValueInfo
from neat_onnx.model.budget import LimitReached
from neat_onnx.model.ports import takes_single_sample, with_inner_outputs
from neat_onnx.model.rounding import warn_of_half_precision
from neat_onnx.model.states import guessed_pairs, initial_states, is_own_pair, state_pairs
from neat_onnx.model.wiring import is_in_order, reads, require_wiring, with_nodes_in_order
from neat_onnx.network.genes import NONE, Ints
from neat_onnx.network.network import Network
from neat_onnx.network.port import MemoryPort
from neat_onnx.operators.constants import numpy_type

_LAYERS = ("RNN", "GRU", "LSTM", "Scan", "Loop")


@dataclass(frozen=True)
class Lifted:
    """The network that a graph computes, and where its neurons are.

    Attributes:
        network: ids are positions.
        tensors: where the elements of tensors are.
        has_batch: the first axis of inputs and outputs is a batch.
    """

    network: Network
    tensors: TensorNeurons
    has_batch: bool = True


def trace_model(
    model: Model,
    batch_axis: BatchAxis = "auto",
    outputs: Sequence[str] | None = None,
    *,
    check: bool = False,
    ids: Ids = MappingProxyType({}),
) -> Lifted:
    """The network that a model's graph is, without a look at the genome in its metadata.

    Args:
        model: the model.
        batch_axis: "auto" finds the batch, see `ports.py`; where every size is fixed and the first
            axis is no batch, or the metadata says that there is none, every axis is features. With
            None every axis is; one of no fixed size that would be the batch has one element then.
        outputs: names of the outputs to import, or of tensors inside; None takes those that depend
            on inputs, or where all are random, the tensors that they are drawn from.
        check: prove it on batches and sequences that were not traced (`proof.py`).
        ids: see `Tape`.

    Raises:
        ModelError: the graph has something that neurons cannot compute; says which node. Or the
            model computes something else; names the first tensor that differs.
        OptionError: an argument names what the graph does not have.
    """
    model = with_inner_outputs(model, outputs or ())
    model = _in_order(model)
    warn_of_half_precision(model.graph)
    batch_axis = None if takes_single_sample(model) else batch_axis
    pairs = _stated_pairs(model)
    return _traced(model, pairs, batch_axis, outputs, check=check, ids=ids)


def _in_order(model: Model) -> Model:
    """The model with each node behind those that it reads.

    Raises:
        ModelError: there is no such order, or a tensor is given twice or by nothing.
    """
    graph = model.graph
    if is_in_order(graph):
        return model
    require_wiring(graph)
    return model.model_copy(update={"graph": with_nodes_in_order(graph)})


def _stated_pairs(model: Model) -> dict[str, str]:
    """The output that feeds each state; warns of those that names alone tell."""
    pairs = state_pairs(model)
    named = guessed_pairs(model) if pairs else {}
    for previous, following in pairs.items():
        if named.get(previous) == following:
            warn(f"by their names, '{following}' is taken to feed '{previous}' in the next step")
    return pairs


def _traced(
    model: Model, pairs: Mapping[str, str], batch_axis: BatchAxis,
    outputs: Sequence[str] | None, *, check: bool, ids: Ids,
) -> Lifted:  # fmt: skip
    """The network by the first axes that trace, and that the proof does not refute."""
    constants = model.graph.tensors
    inputs = [entry for entry in model.graph.inputs if entry.name not in constants]
    refused: list[ModelError] = []
    for frame in frames_of(inputs, batch_axis, pairs, has_layers=_has_layers(model)):
        try:
            lifted, pairs_read, axes = _Trace(model, inputs, pairs, frame, outputs, ids).lifted()
            if check:
                Proof(model, lifted.network, axes, pairs_read, lifted.tensors).check()
        except LimitReached:
            raise
        except ModelError as error:
            refused.append(error)
            continue
        if refused and batch_axis == "auto" and not frame.has_batch:
            reason = "; ".join(refused[0].first_obstacles or refused[0].faults)
            warn(f"the first axis is no batch, every axis is taken for features: {reason}")
        return lifted
    likeliest = refused[0]
    if len(refused) > 1:
        likeliest.hints = tuple(hint for hint in likeliest.hints if hint != AS_FEATURES)  # tried
    raise likeliest


class _Trace:
    """One run of a graph on neurons."""

    def __init__(
        self, model: Model, inputs: Sequence[ValueInfo], pairs: Mapping[str, str], frame: Frame,
        outputs: Sequence[str] | None, ids: Ids,
    ) -> None:  # fmt: skip
        self._model, self._inputs, self._frame = model, inputs, frame
        self._pairs = {p: f for p, f in pairs.items() if p in {entry.name for entry in inputs}}
        self._tape = Tape(open_time=frame.has_time, ids=ids)
        self._chosen = outputs is not None
        self._wanted = chosen_outputs(model, outputs, self._pairs.values())
        self._entries = {entry.name: entry for entry in model.graph.outputs}
        self._random: list[str] = []

    def lifted(self) -> tuple[Lifted, dict[str, str], dict[str, Axes]]:
        """Run the graph, and read the network off; with it the pairs of states that it has, and the
        axes of time and samples.
        """
        self._leave_out_random()
        self._leave_out_states()
        bound, registers = self._bound()
        asked = [*self._wanted, *(self._pairs[name] for name in registers)]
        asked += self._ends()
        interpreter = Interpreter(self._model, self._tape)
        tensors = self._run(interpreter, bound, asked)
        self._continue(bound, tensors)
        self._feed(registers, tensors)
        given = self._given_outputs(tensors)
        signals = {name: output_signals(x) for name, (x, _) in given.items()}
        held = {n: x for n, x in (interpreter.inner | tensors).items() if isinstance(x, Neurons)}
        for x in held.values() if self._tape.misses_ids() else ():
            x.signals(constants=True)  # of a tensor that an optimizer may have left of a neuron's
        resolution = Resolution(self._tape, list(signals.values()))
        network = self._network(resolution, bound, registers, given, signals)
        found = TensorNeurons(held, resolution)
        network = self._with_memory(network, found, bound)
        lifted = Lifted(network, found, self._frame.has_batch)
        axes = {name: each for name, (_, each) in given.items()}
        return lifted, self._pairs, {**self._frame.axes, **axes}

    def _run(
        self, interpreter: Interpreter, bound: Mapping[str, Neurons], asked: Sequence[str]
    ) -> dict[str, Any]:
        """All tensors; the error of nodes that are refused names outputs that need none of them."""
        graph = self._model.graph
        try:
            return interpreter.run_graph(graph, bound, asked)
        except LimitReached:
            raise
        except ModelError as error:
            if not self._chosen and (advice := other_outputs(graph, interpreter.lost)) is not None:
                error.hints = (*error.hints, advice)
            raise

    def _leave_out_random(self) -> None:
        """Leave out outputs that depend on chance, or take what they are drawn from."""
        random = random_tensors(self._model)
        self._random = [name for name in self._wanted if name in random and not self._chosen]
        kept = [name for name in self._wanted if name not in self._random]
        if self._random and not kept:
            kept, reasons = before_chance(self._model), warn_left_out([], self._random, whole=True)
            text = f"every output is constant or random: {reasons}"
            if not kept:
                raise ModelError(text, where="graph.outputs")
            advice = "The tensors before the chance are imported: {}"
            warn(text, ImportAdvice(advice, {"outputs": [*kept]}))
            self._model = with_inner_outputs(self._model, kept)
            self._entries = {entry.name: entry for entry in self._model.graph.outputs}
            self._random = []
        self._wanted = kept

    def _ends(self) -> list[str]:
        """The outputs that may be the last states of layers over open time."""
        if not self._frame.has_time or not _has_layers(self._model):
            return []
        random = random_tensors(self._model)
        return [name for name in self._entries if name not in random]

    def _leave_out_states(self) -> None:
        """Of chosen outputs, keep the states alone that these depend on."""
        if not self._chosen:
            return
        read, unread = set(self._wanted), dict(self._pairs)
        while True:
            nodes = needed_nodes(self._model.graph.node, read)
            names = {name for node in nodes for name in reads(node)} | read
            found = {unread.pop(name) for name in list(unread) if name in names}
            if not found:
                break
            read |= found
        self._pairs = {p: f for p, f in self._pairs.items() if p not in unread}
        self._inputs = [entry for entry in self._inputs if entry.name not in unread]

    def _bound(self) -> tuple[dict[str, Neurons], dict[str, Register]]:
        bound: dict[str, Neurons] = {}
        registers: dict[str, Register] = {}
        initial = initial_states(self._model)
        for entry in self._inputs:
            if entry.name not in self._pairs:
                x = open_input(self._tape, entry, self._frame)
                bound[entry.name] = x.of_tensor(entry.name)
                continue
            shape = traced_shape(entry, self._frame)
            count = math.prod(shape)
            values = np.zeros(count) if entry.name not in initial else np.array(initial[entry.name])
            if len(values) != count:
                raise ModelError(f"{len(values)} initial values for '{entry.name}' of {count}")
            register = registers[entry.name] = self._tape.add_register(values)
            kind = numpy_type(entry.elem_type)
            bound[entry.name] = Neurons(self._tape, register.signals.reshape(shape), dtype=kind)
        return bound, registers

    def _continue(self, bound: Mapping[str, Neurons], tensors: Mapping[str, Any]) -> None:
        """Hold states that layers begin with against what feeds them.

        Raises:
            ModelError: something else feeds a state, or nothing, or nobody has said what does.
        """
        if not self._tape.continued:
            return
        following = np.full(self._tape.count, NONE)
        for before, after in self._tape.continued:
            following[before] = after
        ends: dict[str, str | None] = {}
        stated = True
        for name, x in bound.items():
            wanted = following[x.ids.ravel()]
            if np.any(wanted == NONE):
                continue
            fed = [self._pairs[name]] if name in self._pairs else [*self._entries]
            matches = [each for each in fed if _gives(tensors.get(each), wanted)]
            alike = [each for each in matches if tensors[each].shape == x.shape]
            ends[name] = next(iter(alike + matches), None)
            stated = stated and name in self._pairs and bool(matches)
        if stated:
            return
        memory = {name: end for name, end in ends.items() if end is not None}
        if len(memory) == len(ends):
            hint = ImportAdvice("Say which output feeds which input, as {}", {"memory": memory})
        else:
            shapes = example_shapes(self._model.graph.inputs)
            hint = ImportAdvice("Give sequences a length, as {}", {"shapes": shapes})
        raise ModelError(
            f"layers over a sequence of open length begin with {', '.join(ends)}, and nothing says "
            "that the outputs they end with are the next values",
            where="graph.inputs",
            hint=hint,
        )

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
        fixed = [name for name in self._wanted if not isinstance(tensors[name], Neurons)]
        none = len(fixed) == len(self._wanted)
        if self._chosen and fixed:
            raise ModelError(
                f"graph output '{fixed[0]}' depends on no input", where="graph.outputs"
            )
        reasons = warn_left_out(fixed, self._random, whole=none)
        if none:
            raise ModelError(
                f"every output is constant or random: {reasons}", where="graph.outputs"
            )
        live = {n: tensors[n] for n in self._wanted if n not in fixed}
        empty = [name for name, x in live.items() if not x.size]
        if empty and len(empty) < len(live):
            warn(f"outputs that have no elements are left out: {', '.join(empty)}")
            live = {name: x for name, x in live.items() if x.size}
        found = {}
        for name, x in live.items():
            axes = axes_of_output(self._entries[name], x.shape, self._inputs, self._frame)
            found[name] = of_sample(x, axes, self._frame.samples), axes
        return found

    def _network(
        self, resolution: Resolution, bound: Mapping[str, Neurons],
        registers: Mapping[str, Register], given: Mapping[str, tuple[Neurons, tuple[int, ...]]],
        signals: Mapping[str, Ints],
    ) -> Network:  # fmt: skip
        inputs = tuple(
            input_port(entry, bound[entry.name], self._frame, resolution.neuron_of)
            for entry in self._inputs
            if entry.name not in registers
        )
        outputs = tuple(
            output_port(self._entries[name], signals[name], axes, self._frame, resolution.neuron_of)
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


def _has_layers(model: Model) -> bool:
    """Whether nodes run along a sequence with a state."""
    return any(node.op_type in _LAYERS for node in model.graph.node)


def _gives(x: Any, signals: Ints) -> bool:
    """Whether the elements of a tensor are these signals, in this order."""
    fits = isinstance(x, Neurons) and x.size == len(signals)
    return fits and np.array_equal(x.signals().ravel(), signals)
