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
from neat_onnx.lifting.tape import Array
from neat_onnx.model import DataType, Model
from neat_onnx.model.budget import require_elements
from neat_onnx.model.corrected import corrected
from neat_onnx.model.crashes import refuse_crashes
from neat_onnx.model.draft import with_graph
from neat_onnx.model.indices import Range, places_of
from neat_onnx.model.node import RUNTIME_DOMAIN
from neat_onnx.model.ports import with_inner_outputs
from neat_onnx.model.rounding import rounding_to_half
from neat_onnx.model.states import initial_states
from neat_onnx.model.value import ValueInfo
from neat_onnx.model.wiring import node_count, producers, without_dead
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.network.program import Program
from neat_onnx.network.window import Sizes

_CASES = ((1, 1), (2, 2), (7, 5))  # steps, samples
_NARROW = 2e-5  # of the largest output: float32 rounds layer after layer
_WIDE = 1e-6  # in float64 some functions of runtimes have constants of float32
_HALF = 2e-3  # of numbers of 11 bits
_SEED = 0
_LARGEST_INTEGER = 4
_MAX_REFERENCE = 4_000  # nodes that onnx's evaluator runs in a few seconds
_MAX_COMPARED_AGAIN = 100_000  # connections
_MANY = 10_000  # nodes, which no file of a few bytes has
_OF_RUNTIMES = ("", "ai.onnx", "ai.onnx.ml", RUNTIME_DOMAIN)
Feeds = dict[str, Array]
Runtime = Callable[[Feeds], list[Array]]
Start = Callable[[Sequence[str]], Runtime]


class _Unordered(Exception):
    """There is NaN inside."""


@dataclass(frozen=True)
class Proof:
    """What is compared.

    Attributes:
        model: the model.
        network: its import.
        inputs: of the graph, in the shapes that were traced.
        pairs: the output that feeds each state input.
        tensors: by the name of a tensor, the neurons that give its elements.
        shapes: the shapes of these tensors in the trace.
    """

    model: Model
    network: Network
    inputs: Sequence[ValueInfo]
    pairs: Mapping[str, str]
    tensors: Mapping[str, Ints]
    shapes: Mapping[str, Sizes]

    def check(self) -> None:
        """Run both: the model in float64 where a runtime can, else as it is.

        What differs in float64 is a difference, unless another runtime sees none in float64.

        Raises:
            ModelError: none runs the model, or they differ: the message names the first tensor that
                differs. Of operators that their users registered no runtime knows: then a warning
                tells that there was no proof.
        """
        names = [port.name for port in self.network.outputs] + list(self.pairs.values())
        difference, reasons = None, []
        for start, tolerance in self._runtimes():
            if difference is not None and tolerance > _WIDE:
                continue
            try:
                found = self._difference(start, names, tolerance)
            except Exception as error:  # noqa: BLE001 - of a runtime, which has classes of its own
                reasons.append(str(error).strip().splitlines()[0][:200] if str(error) else "")
                continue
            if found is None:
                return
            difference = difference or found
            if len(self.network.connections) > _MAX_COMPARED_AGAIN:
                break  # onnx's evaluator would take minutes
        if difference is not None:
            raise difference
        unknown = f"the imported network is not compared with the model: {'; '.join(reasons[:2])}"
        if any(node.domain not in _OF_RUNTIMES for node in self.model.graph.node):
            warn(unknown)
            return
        raise ModelError(
            unknown, hint=ImportAdvice("Import it without this check with {}", {"check": False})
        )

    def _difference(
        self, start: Start, names: Sequence[str], tolerance: float
    ) -> ModelError | None:
        """The error that tells of a difference."""
        whole = any(each.elem_type.is_integer for each in self.inputs)
        error: Exception | None = None
        for largest in (_LARGEST_INTEGER, 1, 0) if whole else (1,):
            try:
                return self._difference_on(start, names, tolerance, largest)
            except _Unordered:
                return self._difference_on(start, names, tolerance, largest, positive=True)
            except Exception as found:  # noqa: BLE001 - a place that is not there
                error = error or found
        raise error or AssertionError("no samples")

    def _difference_on(
        self, start: Start, names: Sequence[str], tolerance: float, largest: int, *,
        positive: bool = False,
    ) -> ModelError | None:  # fmt: skip
        run, numbers = start(names), False
        for steps, samples, x, may_be_nan in self._cases(largest, positive=positive):
            wanted = self._played(run, x, steps, samples)
            found = self.network.run(x)
            for port in self.network.outputs:
                if may_be_nan and np.any(np.isnan(wanted[port.name])):
                    continue  # a row of a mask that lets nothing through has no mean
                got = found[port.name].reshape(steps, samples, *port.shape)
                if why := _differs(self._arranged(got, port), wanted[port.name], tolerance):
                    if not positive and np.isnan(self._values(x, steps, samples)).any():
                        raise _Unordered  # it has no place in an order, and runtimes differ in it
                    where = self._first_tensor(start, x, steps, samples, tolerance)
                    return self._refusal(port.name, why, steps, samples, where)
                numbers |= not np.all(np.isnan(wanted[port.name]))
        return None if numbers else self._refusal(port.name, "is NaN alone", steps, samples, "")

    def _first_tensor(
        self, start: Start, x: Feeds, steps: int, samples: int, tolerance: float
    ) -> str:
        """The first tensor of the graph that differs, as the place of an error."""
        where = "graph.outputs"
        if self.pairs or (self._is_timed and steps > 1):
            return where
        made = producers(self.model.graph)
        names = [name for name in made if name in self.tensors]
        try:
            values = start(names)(self._feeds(x)) if names else []
        except Exception:  # noqa: BLE001 - of a runtime, which does not show tensors inside
            return where
        ours = self._values(x, steps, samples)[-1]
        for name, want in zip(names, values, strict=True):
            got = _in_shape(ours[self.tensors[name]], self.shapes[name], want.shape)
            if got is None or _differs(got, want, tolerance):
                return f"from tensor '{name}' of node {made[name].label} on"
        return where

    def _values(self, x: Feeds, steps: int, samples: int) -> Array:
        """The activations of all neurons, (T, neurons, N)."""
        parts = [x[port.name].reshape(steps, samples, -1) for port in self.network.inputs]
        return Program(self.network, dense=False).neuron_values(np.concatenate(parts, axis=2))

    def _feeds(self, x: Feeds) -> Feeds:
        return {p.name: self._arranged(x[p.name], p) for p in self.network.inputs}

    def _open_axes(self) -> dict[str, int]:
        """The axes of inputs that are the batch, where some of them have no fixed size."""
        entries = {entry.name: entry for entry in self.inputs}
        ports = [port for port in self.network.inputs if port.batch_axis is not None]
        if all(isinstance(_batch(entries[port.name], port), int) for port in ports):
            return {}
        return {port.name: _axis_of_batch(port) for port in ports}

    # --- samples --------------------------------------------------------------------------------

    def _cases(self, largest: int, *, positive: bool) -> Iterator[tuple[int, int, Feeds, bool]]:
        """Steps, samples, inputs, and whether outputs that are NaN are passed over."""
        rng = np.random.default_rng(_SEED)
        entries = {entry.name: entry for entry in self.inputs}
        ports = self.network.inputs
        several = any(port.batch_axis is not None for port in ports)
        sizes = {_batch(entries[port.name], port) for port in ports if port.batch_axis is not None}
        whole = all(isinstance(size, int) for size in sizes)
        fixed = next(iter(sizes), None) if whole else None
        for steps, samples in _CASES:
            count = 1 if not several else fixed or samples
            length = steps if self._takes_steps else 1
            require_elements(length, count, sum(len(port.neurons) for port in ports))
            drawn = {
                port.name: self._drawn(rng, port, entries[port.name], (length, count), largest)
                for port in ports
            }
            if positive:
                drawn = {
                    name: v if entries[name].elem_type.is_discrete else np.abs(np.tanh(v))
                    for name, v in drawn.items()
                }
            drawn = self._taken(drawn)
            yield length, count, drawn, False
            if length == 1 and (fixed or not several):
                break
        switches = [p.name for p in ports if entries[p.name].elem_type.is_discrete]
        for all_of_them in (0.0, 1.0) if switches else ():
            same = {name: np.full_like(drawn[name], all_of_them) for name in switches}
            yield length, count, drawn | self._taken(same), True

    def _taken(self, drawn: Feeds) -> Feeds:
        """Samples where runtimes take them: places that are there."""
        whole = [each.name for each in self.inputs if each.elem_type.is_integer]
        places = {name: self._places[name] for name in whole if name in self._places}
        return drawn | {name: np.clip(drawn[name], p.low, p.high - 1) for name, p in places.items()}

    @cached_property
    def _places(self) -> Mapping[str, Range]:
        return places_of(self.model)

    @property
    def _is_timed(self) -> bool:
        return any(port.time_axis is not None for port in self.network.inputs)

    @property
    def _takes_steps(self) -> bool:
        return self._is_timed or bool(self.pairs)

    def _drawn(
        self, rng: Any, port: Port, entry: ValueInfo, sizes: tuple[int, int], largest: int
    ) -> Array:
        kind, shape = entry.elem_type, (*sizes, *port.shape)
        most = largest if kind.is_integer else 1
        whole = kind.is_discrete
        values: Array = rng.integers(0, most + 1, shape) if whole else rng.normal(size=shape)
        held = kind.dtype if kind is DataType.FLOAT16 else np.float32
        values = values.astype(held).astype(np.float64)
        if port.batch_axis is None:
            values = np.broadcast_to(values[:, :1], shape)
        if self._is_timed and port.time_axis is None:
            values = np.broadcast_to(values[:1], shape)
        return values

    # --- the model ------------------------------------------------------------------------------

    def _played(self, run: Runtime, x: Feeds, steps: int, samples: int) -> Feeds:
        """The outputs of the model: of a whole sequence, or step by step with its states."""
        names = [port.name for port in self.network.outputs]
        if not self.pairs:
            return dict(zip(names, run(self._feeds(x)), strict=False))
        states = self._starts(samples)
        rows: list[Feeds] = []
        for t in range(steps):
            feeds = {p.name: self._arranged(x[p.name][t : t + 1], p) for p in self.network.inputs}
            found = run(feeds | states)
            rows.append(dict(zip(names, found, strict=False)))
            states = dict(zip(self.pairs, found[len(names) :], strict=True))
        return {
            port.name: np.stack([_first(row[port.name], port) for row in rows])
            for port in self.network.outputs
        }

    def _starts(self, samples: int) -> Feeds:
        """The states before the first step."""
        initial, found = initial_states(self.model), {}
        for entry in self.inputs:
            if entry.name in self.pairs:
                shape = [d if isinstance(d, int) else samples for d in entry.shape or ()]
                values = np.zeros(shape)
                if entry.name in initial:
                    values = np.broadcast_to(np.reshape(initial[entry.name], -1), values.shape)
                found[entry.name] = values
        return found

    def _arranged(self, values: Array, port: Port) -> Array:
        """[T, N, …] as the graph has it; of a graph of single steps, [T, …] of its outputs."""
        if (self.pairs and len(values) > 1) or (self.pairs and port in self.network.outputs):
            return values
        if port.batch_axis is None:
            found: Array = values[-1, 0]
        elif port.time_axis is None:
            found = np.moveaxis(values[-1], 0, port.batch_axis)
        else:
            batch = port.batch_axis + (port.time_axis <= port.batch_axis)
            found = np.moveaxis(values, (1, 0), (batch, port.time_axis))
        return found

    def _runtimes(self) -> Iterator[tuple[Start, float]]:
        """What runs the model, given the names of outputs, and how close it is.

        onnxruntime, if it is installed, then onnx's evaluator; each in float64, then as it is.
        """
        graph = self.model.graph
        halves = any(entry.elem_type is DataType.FLOAT16 for entry in graph.outputs)
        narrow = _HALF if halves or rounding_to_half(graph) else _NARROW
        if importlib.util.find_spec("onnxruntime") is not None:
            yield lambda names: _onnxruntime(self._proto(names, wide=True), names), _WIDE
            yield lambda names: _onnxruntime(self._proto(names, wide=False), names), narrow
        if node_count(graph) <= _MAX_REFERENCE:
            model = self.model
            yield lambda names: _reference(model, self._proto(names, wide=True), names), _WIDE
            yield lambda names: _reference(model, self._proto(names, wide=False), names), narrow

    def _proto(self, names: Sequence[str], *, wide: bool) -> Any:
        """The model with these outputs alone, and the nodes that they need: others may be random.
        Its inputs take any number of samples.
        """
        shown = with_inner_outputs(self.model, names)
        outputs = {entry.name: entry for entry in shown.graph.outputs}
        kept = [outputs[name] for name in dict.fromkeys(names)]
        if len(kept) < len(outputs) or len(shown.graph.node) <= _MANY:  # dead ones may be large
            shown = without_dead(with_graph(shown, outputs=kept))
        proto = _opened(shown.to_proto(), self._open_axes())
        refuse_crashes(proto)  # a runtime would end the process
        return _widened(proto) if wide else proto

    # --- words ----------------------------------------------------------------------------------

    def _refusal(self, name: str, why: str, steps: int, samples: int, where: str) -> ModelError:
        hints: list[Hint] = []
        if samples > 1:
            hints.append(
                ImportAdvice(
                    "If the graph mixes the samples of its batch, it is no network: import with {} "
                    "if the first axis is features",
                    {"batch_axis": None},
                )
            )
        if steps > 1 and self._is_timed:
            shapes = {
                each.name: tuple(
                    16 if k == port.time_axis else size for k, size in enumerate(each.shape or ())
                )
                for each in self.inputs
                for port in self.network.inputs
                if port.name == each.name
            }
            advice = "If it reads its steps in another order, give sequences a length, as {}"
            hints.append(ImportAdvice(advice, {"shapes": shapes}))  # type: ignore[typeddict-item]
        hints.append(ImportAdvice("Leave this check out with {}", {"check": False}))
        times = f"{samples} samples" + (f" of {steps} steps" if steps > 1 else "")
        message = f"the imported network does not compute what the model does: '{name}' {why}, on "
        return ModelError(message + times, where=where or "graph.outputs", hint=hints)


def _batch(entry: ValueInfo, port: Port) -> Any:
    if port.batch_axis is None or entry.shape is None:
        return None
    return entry.shape[_axis_of_batch(port)]


def _axis_of_batch(port: Port) -> int:
    axis, time = port.batch_axis or 0, port.time_axis
    return axis + (time is not None and time <= axis)


def _first(values: Array, port: Port) -> Array:
    """An output of one step with its samples first, and no axis of time."""
    if port.time_axis is not None:
        values = values.take(0, axis=port.time_axis)
    return values[None] if port.batch_axis is None else np.moveaxis(values, port.batch_axis, 0)


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
    want = np.asarray(want, np.float64)
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


def _onnxruntime(proto: Any, names: Sequence[str]) -> Runtime:
    import onnxruntime  # noqa: PLC0415 - an extra, slow to import

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return _typed(lambda feeds: session.run(list(names), feeds), proto)


def _reference(model: Model, proto: Any, names: Sequence[str]) -> Runtime:
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415 - slow to import

    evaluator = ReferenceEvaluator(proto, new_ops=corrected(model))
    return _typed(lambda feeds: list(evaluator.run(list(names), feeds)), proto)


def _typed(run: Runtime, proto: Any) -> Runtime:
    """The runtime, given inputs of the model's types."""
    from onnx.helper import tensor_dtype_to_np_dtype  # noqa: PLC0415 - slow to import

    kinds = {
        entry.name: tensor_dtype_to_np_dtype(entry.type.tensor_type.elem_type)
        for entry in proto.graph.input
    }
    return lambda feeds: run(
        {name: np.array(v, kinds[name], order="C") for name, v in feeds.items() if name in kinds}
    )


def _opened(proto: Any, axes: Mapping[str, int]) -> Any:
    """The model with inputs of any number of samples."""
    for entry in proto.graph.input:
        if entry.name in axes:
            dim = entry.type.tensor_type.shape.dim[axes[entry.name]]
            dim.ClearField("value")
    return proto


# --- float64 --------------------------------------------------------------------------------------


def _widened(proto: Any) -> Any:
    """A model with DOUBLE for FLOAT and FLOAT16, wherever a type stands, so that rounding
    hides no difference.
    """
    from onnx import AttributeProto, TensorProto, TypeProto, helper, numpy_helper  # noqa: PLC0415

    narrow = {TensorProto.FLOAT, TensorProto.FLOAT16}

    def widen(part: Any) -> None:
        if isinstance(part, TypeProto.Tensor) and part.elem_type in narrow:
            part.elem_type = TensorProto.DOUBLE
        elif isinstance(part, TensorProto) and part.data_type in narrow:
            values = numpy_helper.to_array(part).astype(np.float64)
            part.CopyFrom(numpy_helper.from_array(values, part.name))
        elif isinstance(part, AttributeProto) and part.name in ("value_float", "value_floats"):
            found = part.f if part.name == "value_float" else list(part.floats)
            tensor = numpy_helper.from_array(np.array(found, np.float64))
            part.CopyFrom(helper.make_attribute("value", tensor))
        elif isinstance(part, AttributeProto) and part.name in ("to", "dtype") and part.i in narrow:
            part.i = TensorProto.DOUBLE
        else:
            for field, value in part.ListFields():
                if field.message_type is not None:
                    for each in value if hasattr(value, "__len__") else [value]:
                        widen(each)

    wide = type(proto)()
    wide.CopyFrom(proto)
    widen(wide)
    return wide
