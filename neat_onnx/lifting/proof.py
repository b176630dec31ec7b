"""The proof of an import: the model runs beside the network, on samples that no trace saw.

A graph was run on one sample, and on one step of an open sequence. Whether that stands for all is
measured: on batches of 1, 2 and 5 and on sequences of 1, 2 and 7. A graph that mixes samples, reads
the size of its batch, reverses open time, or chooses by what the trace did not see differs there.
Truth values and integers are also all 0, and all 1, as a mask may be.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from neat_onnx.errors import Hint, ImportAdvice, ModelError, warn
from neat_onnx.lifting.axes import Axes
from neat_onnx.lifting.resolution import TensorNeurons
from neat_onnx.lifting.tape import Array
from neat_onnx.model import DataType, Model
from neat_onnx.model.budget import require_elements
from neat_onnx.model.crashes import refuse_crashes
from neat_onnx.model.draft import with_graph
from neat_onnx.model.node import RUNTIME_DOMAIN
from neat_onnx.model.ports import with_inner_outputs
from neat_onnx.model.rounding import rounding_to_half
from neat_onnx.model.value import ValueInfo
from neat_onnx.model.wiring import node_count, producers, without_dead
from neat_onnx.network.network import Network
from neat_onnx.network.program import Program
from neat_onnx.network.window import Sizes
from neat_onnx.runtimes import Feed, Session
from neat_onnx.runtimes.packages import evaluated, in_parts, session_of
from neat_onnx.runtimes.player import Player, ShapeMismatch
from neat_onnx.runtimes.ports import ModelInputs, as_read

_CASES = ((1, 1), (2, 2), (7, 5))  # steps, samples
_NARROW = 2e-5  # of the largest output: float32 rounds layer after layer
_WIDE = 1e-6  # in float64 some functions of runtimes have constants of float32
_HALF = 2e-3  # of numbers of 11 bits
_LARGEST_INTEGER = 4
_MAX_REFERENCE = 4_000  # nodes that onnx's evaluator runs in a few seconds
_NODES_OF_A_PART = 2_000  # that onnxruntime starts in a fraction of a second
_MAX_COMPARED_AGAIN = 100_000  # connections
_MANY = 10_000  # nodes, which no file of a few bytes has
_OF_RUNTIMES = ("", "ai.onnx", "ai.onnx.ml", RUNTIME_DOMAIN)
Start = Callable[[Model], Session]


class _Unordered(Exception):
    """There is NaN inside, which has no place in an order, so that runtimes differ."""


@dataclass(frozen=True)
class Proof:
    """What is compared.

    Attributes:
        model: the model.
        network: its import.
        axes: those of the graph's inputs and of the network's outputs that are time and the batch.
        pairs: the output that feeds each state input.
        tensors: by the name of a tensor, the neurons that give its elements, and its shape.
    """

    model: Model
    network: Network
    axes: Mapping[str, Axes]
    pairs: Mapping[str, str]
    tensors: TensorNeurons

    def check(self) -> None:
        """Run both: the model in float64 where a runtime can, else as it is.

        What differs in float64 is a difference, unless another runtime sees none in float64.

        Raises:
            ModelError: none runs the model, or they differ: the message names the first tensor that
                differs. Of operators that their users registered no runtime knows: then a warning
                tells that there was no proof.
        """
        difference, reasons = None, []
        for start, tolerance in self._runtimes():
            if difference is not None and tolerance > _WIDE:
                continue
            try:
                found = self._difference(start, tolerance)
            except Exception as error:  # noqa: BLE001 - of a runtime, which has classes of its own
                reasons.append(str(error).strip().splitlines()[0][:200] if str(error) else "")
                continue
            if found is None:
                return
            difference = difference or found
            large = len(self.model.graph.node) > _MAX_REFERENCE
            if large or len(self.network.connections) > _MAX_COMPARED_AGAIN:
                break  # onnx's evaluator, or onnxruntime without parts, would take minutes
        if difference is not None:
            raise difference
        unknown = f"the imported network is not compared with the model: {'; '.join(reasons[:2])}"
        if any(node.domain not in _OF_RUNTIMES for node in self.model.graph.node):
            warn(unknown)
            return
        raise ModelError(
            unknown, hint=ImportAdvice("Import it without this check with {}", {"check": False})
        )

    def _difference(self, start: Start, tolerance: float) -> ModelError | None:
        """The error that tells of a difference."""
        whole = any(entry.elem_type.is_integer for entry in self._opened.graph.inputs)
        player = self._player(start)
        error: Exception | None = None
        for largest in (_LARGEST_INTEGER, 1, 0) if whole else (1,):
            try:
                return self._difference_on(player, start, tolerance, largest)
            except _Unordered:
                return self._difference_on(player, start, tolerance, largest, positive=True)
            except Exception as found:  # noqa: BLE001 - a place that is not there
                error = error or found
        raise error or AssertionError("no samples")

    def _difference_on(
        self, player: Player, start: Start, tolerance: float, largest: int, *,
        positive: bool = False,
    ) -> ModelError | None:  # fmt: skip
        outputs, numbers = self.network.outputs, False
        for x, may_be_nan in self._cases(player, largest, positive=positive):
            try:
                played, reason = player.play(x, [port.name for port in outputs]), ""
            except ShapeMismatch as error:
                played, reason = {}, error.message
            found, at = self.network.run(x), 0
            for port in outputs:
                got = found[..., at : at + port.neurons.size]
                at += port.neurons.size
                want = played.get(port.name, got)
                if may_be_nan and np.any(np.isnan(want)):
                    continue  # a row of a mask that lets nothing through has no mean
                if why := reason or _differs(got, want, tolerance):
                    if not positive and np.isnan(self._values(x)).any():
                        raise _Unordered
                    where = self._first_tensor(player, start, x, tolerance)
                    return self._refusal(port.name, why, x, where)
                numbers |= not np.all(np.isnan(want))
        return None if numbers else self._refusal(outputs[0].name, "is NaN alone", x, "")

    def _first_tensor(self, player: Player, start: Start, x: Array, tolerance: float) -> str:
        """The first tensor of the graph that differs, as the place of an error."""
        where = "graph.outputs"
        if self.pairs or len(x) > 1:
            return where
        made = producers(self.model.graph)
        names = [name for name in made if name in self.tensors]
        try:
            session = start(self._showing(names))
            values = session.run(player.feed(x if player.takes_sequences else x[0]))
        except Exception:  # noqa: BLE001 - of a runtime, which does not show tensors inside
            return where
        ours = self._values(x)[-1]
        for name in names:
            want = np.asarray(values[name], np.float64)
            got = _in_shape(ours[self.tensors[name]], self.tensors.shapes[name], want.shape)
            if got is None or _differs(got, want, tolerance):
                return f"from tensor '{name}' of node {made[name].label} on"
        return where

    def _values(self, x: Array) -> Array:
        """The activations of all neurons, (T, neurons, N)."""
        return Program(self.network, dense=False).neuron_values(x)

    # --- samples --------------------------------------------------------------------------------

    def _cases(
        self, player: Player, largest: int, *, positive: bool
    ) -> Iterator[tuple[Array, bool]]:
        """Inputs (T, N, I), and whether outputs that are NaN are passed over."""
        rng = np.random.default_rng(0)
        ports, kinds = self.network.inputs, self._kinds
        several = any(port.batch_axis is not None for port in ports)
        fixed = player.rows_of_a_run if player.fixed_batch else None
        for steps, samples in _CASES:
            count = 1 if not several else fixed or samples
            length = steps if player.takes_sequences or self.pairs else 1
            require_elements(length, count, sum(len(port.neurons) for port in ports))
            shapes = [(length, count, port.neurons.size) for port in ports]
            parts = [
                rng.integers(0, (largest if kind.is_integer else 1) + 1, shape)
                if kind.is_discrete
                else np.abs(np.tanh(rng.normal(size=shape)))
                if positive
                else rng.normal(size=shape)
                for kind, shape in zip(kinds, shapes, strict=True)
            ]
            yield self._read(parts), False
            if length == 1 and (fixed or not several):
                break
        switches = [kind.is_discrete for kind in kinds]
        for each in (0.0, 1.0) if any(switches) else ():
            yield (
                self._read(
                    [
                        np.full_like(x, each) if s else x
                        for x, s in zip(parts, switches, strict=True)
                    ]
                ),
                True,
            )

    def _read(self, parts: Sequence[Array]) -> Array:
        """The inputs as the model reads them; those that all samples share are the first's."""
        shared = [port.batch_axis is None for port in self.network.inputs]
        parts = [
            np.broadcast_to(x[:, :1], x.shape) if same else x
            for x, same in zip(parts, shared, strict=True)
        ]
        return as_read(self.network, self.model, np.concatenate(parts, axis=-1), self._inputs)

    @property
    def _kinds(self) -> list[DataType]:
        """The types of the network's inputs in the graph."""
        kinds = {entry.name: entry.elem_type for entry in self.model.graph.inputs}
        return [kinds[port.name] for port in self.network.inputs]

    # --- the model ------------------------------------------------------------------------------

    @cached_property
    def _opened(self) -> Model:
        """The model whose inputs take any number of samples, where one of them does."""
        entries = [entry for entry in self.model.graph.inputs if self.axes.get(entry.name)]
        batches = {entry.name: self.axes[entry.name][-1] for entry in entries}
        sizes = [(entry.shape or ())[batches[entry.name]] for entry in entries]
        if all(isinstance(size, int) for size in sizes):
            return self.model
        inputs = [
            ValueInfo.of(
                entry.name,
                entry.elem_type,
                ["batch" if k == batches[entry.name] else d for k, d in enumerate(entry.shape)],
            )
            if entry.name in batches and entry.shape is not None
            else entry
            for entry in self.model.graph.inputs
        ]
        return with_graph(self.model, inputs=inputs)

    @cached_property
    def _inputs(self) -> ModelInputs:
        return ModelInputs.of(self._opened, self.network, self.axes, self.pairs)

    def _player(self, start: Start) -> Player:
        names = [port.name for port in self.network.outputs] + list(self.pairs.values())
        session = start(self._showing(names))
        player = Player(self._opened, self.network, session, inputs=self._inputs, outputs=self.axes)
        player.fixed_batch &= self._opened is self.model
        return player

    def _showing(self, names: Sequence[str]) -> Model:
        """The model with these outputs alone, and the nodes they need: others may be random."""
        shown = with_inner_outputs(self._opened, names)
        outputs = {entry.name: entry for entry in shown.graph.outputs}
        kept = [outputs[name] for name in dict.fromkeys(names)]
        if len(kept) < len(outputs) or len(shown.graph.node) <= _MANY:  # dead ones may be large
            return without_dead(with_graph(shown, outputs=kept))
        return shown

    def _runtimes(self) -> Iterator[tuple[Start, float]]:
        """What runs a model, and how close it is.

        onnxruntime, if it is installed, then onnx's evaluator; each in float64, then as it is.
        """
        graph = self.model.graph
        halves = any(entry.elem_type is DataType.FLOAT16 for entry in graph.outputs)
        narrow = _HALF if halves or rounding_to_half(graph) else _NARROW
        starts: list[Callable[[Model, Any], Session]] = []
        if importlib.util.find_spec("onnxruntime") is not None:
            if len(graph.node) > _NODES_OF_A_PART:
                starts.append(lambda _, proto: in_parts(proto, _NODES_OF_A_PART))
            starts.append(lambda _, proto: session_of(proto.SerializeToString(), optimized=False))
        if node_count(graph) <= _MAX_REFERENCE:
            starts.append(evaluated)
        for start in starts:
            for wide in (True, False):
                yield _loader(start, wide=wide), _WIDE if wide else narrow

    # --- words ----------------------------------------------------------------------------------

    def _refusal(self, name: str, why: str, x: Array, where: str) -> ModelError:
        steps, samples = x.shape[:2]
        hints: list[Hint] = []
        if samples > 1:
            hints.append(
                ImportAdvice(
                    "If the graph mixes the samples of its batch, it is no network: import with {} "
                    "if the first axis is features",
                    {"batch_axis": None},
                )
            )
        if steps > 1 and not self.pairs:
            shapes = {
                entry.name: tuple(
                    16 if axes[1:] and k == axes[0] else size
                    for k, size in enumerate(entry.shape or ())
                )
                for entry in self.model.graph.inputs
                if (axes := self.axes.get(entry.name)) is not None
            }
            advice = "If it reads its steps in another order, give sequences a length, as {}"
            hints.append(ImportAdvice(advice, {"shapes": shapes}))  # type: ignore[typeddict-item]
        hints.append(ImportAdvice("Leave this check out with {}", {"check": False}))
        times = f"{samples} samples" + (f" of {steps} steps" if steps > 1 else "")
        message = f"the imported network does not compute what the model does: '{name}' {why}, on "
        return ModelError(message + times, where=where or "graph.outputs", hint=hints)


def _loader(start: Callable[[Model, Any], Session], *, wide: bool) -> Start:
    """Load a model into a runtime, in float64 if `wide`, as it is else."""

    def load(model: Model) -> Session:
        import onnx  # noqa: PLC0415 - slow to import

        proto = model.to_proto()
        refuse_crashes(proto)  # a runtime would end the process
        if wide:
            # the numbers as the network has them, which bytes of float32 round
            for part, tensor in zip(proto.graph.initializer, model.graph.initializer, strict=True):
                if tensor.data_type in (DataType.FLOAT, DataType.FLOAT16):
                    part.CopyFrom(onnx.numpy_helper.from_array(tensor.values, tensor.name))
            _widen(proto)
        session = start(model, proto)
        kinds = {
            entry.name: onnx.helper.tensor_dtype_to_np_dtype(entry.type.tensor_type.elem_type)
            for entry in proto.graph.input
        }

        def run(feed: Feed) -> dict[str, Any]:
            return session.run({n: np.asarray(x, kinds[n]) for n, x in feed.items() if n in kinds})

        return session._replace(run=run)

    return load


def _in_shape(values: Array, traced: Sizes, shape: Sizes) -> Array | None:
    """Values of neurons (elements, N) in the shape of a tensor; None if it is another one."""
    samples = values.shape[1]
    if values.shape[0] != np.prod(traced, dtype=int) or len(shape) != len(traced):
        return None
    axes = [k for k, (one, other) in enumerate(zip(traced, shape, strict=True)) if one != other]
    whole: Array = values.T.reshape(samples, *traced)
    if not axes:
        first: Array = whole[0]
        return first
    if len(axes) > 1 or traced[axes[0]] != 1 or shape[axes[0]] != samples:
        return None
    moved: Array = np.moveaxis(whole, 0, axes[0] + 1).reshape(shape)
    return moved


def _differs(got: Array, want: Array, tolerance: float) -> str:
    """How an output differs, in words; "" if it does not: NaN and infinities are where they are."""
    if got.shape != want.shape:
        return f"has the shape {list(want.shape)}, expected {list(got.shape)}"
    if not want.size:
        return ""
    finite, infinite = np.isfinite(want), np.isinf(want)
    alike = np.array_equal(got[infinite], want[infinite])
    if not alike or not np.array_equal(np.isnan(got), np.isnan(want)):
        return "is not finite in the same places"
    scale = max(1.0, float(np.abs(want[finite]).max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        off = float(np.abs(got - want)[finite].max(initial=0.0))
    return "" if off <= tolerance * scale else f"differs by {off:.3g}"


def _widen(proto: Any) -> None:
    """Put DOUBLE in the place of FLOAT and FLOAT16 in a model, wherever a type stands, so that
    rounding hides no difference.
    """
    import onnx  # noqa: PLC0415 - slow to import

    narrow = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16}

    def widen(part: Any) -> None:
        if isinstance(part, onnx.TypeProto.Tensor) and part.elem_type in narrow:
            part.elem_type = onnx.TensorProto.DOUBLE
        elif isinstance(part, onnx.TensorProto) and part.data_type in narrow:
            values = onnx.numpy_helper.to_array(part).astype(np.float64)
            part.CopyFrom(onnx.numpy_helper.from_array(values, part.name))
        elif isinstance(part, onnx.AttributeProto) and part.name in ("value_float", "value_floats"):
            found = part.f if part.name == "value_float" else list(part.floats)
            tensor = onnx.numpy_helper.from_array(np.array(found, np.float64))
            part.CopyFrom(onnx.helper.make_attribute("value", tensor))
        elif isinstance(part, onnx.AttributeProto) and part.name in ("to", "dtype"):
            part.i = onnx.TensorProto.DOUBLE if part.i in narrow else part.i
        elif isinstance(part, onnx.NodeProto):
            for each in part.attribute:
                widen(each)
        else:
            for field, value in part.ListFields():
                if field.message_type is not None:
                    for each in value if hasattr(value, "__len__") else [value]:
                        if not isinstance(each, onnx.NodeProto) or each.attribute:
                            widen(each)

    widen(proto)
