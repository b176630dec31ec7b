"""The proof of an import: the model runs beside the network, on samples that no trace saw.

A graph was run on one sample, and on one step of an open sequence. Whether that stands for all is
measured: on batches of 1, 2 and 5 and on sequences of 1, 2 and 7. A graph that mixes samples, reads
the size of its batch, reverses open time, or chooses by what the trace did not see differs there.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neat_onnx.errors import Hint, ImportAdvice, ModelError, warn
from neat_onnx.model import Model
from neat_onnx.model.states import initial_states
from neat_onnx.model.value import ValueInfo
from neat_onnx.network.network import Network
from neat_onnx.network.port import Port
from neat_onnx.tracing.tape import Array

_CASES = ((1, 1), (2, 2), (7, 5))  # steps, samples
_TOLERANCE = 1e-4  # of the largest output, as float32 rounds layer after layer
_SEED = 0
Feeds = dict[str, Array]
Runtime = Callable[[Feeds], list[Array]]


@dataclass(frozen=True)
class Proof:
    """What is compared.

    Attributes:
        model: the model.
        network: its import.
        inputs: of the graph, in the shapes that were traced.
        pairs: the output that feeds each state input.
        tensors: for tensors of the graph the neurons that give them.
    """

    model: Model
    network: Network
    inputs: Sequence[ValueInfo]
    pairs: Mapping[str, str]
    tensors: Mapping[str, Array] = field(default_factory=dict)

    def check(self) -> None:
        """Run both.

        Raises:
            ModelError: they differ in every runtime that runs the model; the message names the
                first tensor that differs. A model that none runs is left unchecked, with a warning.
        """
        names = [port.name for port in self.network.outputs] + list(self.pairs.values())
        difference, reasons = None, []
        for start in _runtimes(self.model):
            try:
                found = self._difference(start(names))
            except Exception as error:  # noqa: BLE001 - of a runtime, which has classes of its own
                reasons.append(str(error).strip().splitlines()[0][:200] if str(error) else "")
                continue
            if found is None:
                return
            difference = difference or found
        if difference is not None:
            raise difference
        warn(f"the imported network is not compared with the model: {'; '.join(reasons)}")

    def _difference(self, run: Runtime) -> ModelError | None:
        """The error that tells of a difference."""
        numbers = False
        for steps, samples, x in self._cases():
            wanted = self._played(run, x, steps, samples)
            found = self.network.run(x)
            for port in self.network.outputs:
                got = found[port.name].reshape(steps, samples, *port.shape)
                if why := _differs(self._arranged(got, port), wanted[port.name]):
                    return self._refusal(port.name, why, steps, samples)
                numbers |= not np.all(np.isnan(wanted[port.name]))
        return None if numbers else self._refusal(port.name, "is NaN alone", steps, samples)

    # --- samples --------------------------------------------------------------------------------

    def _cases(self) -> Iterator[tuple[int, int, Feeds]]:
        rng = np.random.default_rng(_SEED)
        entries = {entry.name: entry for entry in self.inputs}
        ports = self.network.inputs
        several = any(port.batch_axis is not None for port in ports)
        sizes = {_batch(entries[port.name], port) for port in ports} - {None}
        fixed = next((size for size in sizes if isinstance(size, int)), None)
        for steps, samples in _CASES:
            count = 1 if not several else fixed or samples
            length = steps if self._takes_steps else 1
            yield (
                length,
                count,
                {
                    port.name: self._drawn(rng, port, entries[port.name], length, count)
                    for port in ports
                },
            )
            if length == 1 and (fixed or not several):
                return

    @property
    def _is_timed(self) -> bool:
        return any(port.time_axis is not None for port in self.network.inputs)

    @property
    def _takes_steps(self) -> bool:
        return self._is_timed or bool(self.pairs)

    def _drawn(self, rng: Any, port: Port, entry: ValueInfo, steps: int, samples: int) -> Array:
        kind, shape = entry.elem_type, (steps, samples, *port.shape)
        values = rng.integers(0, 2, shape) if kind.is_discrete else rng.normal(size=shape)
        values = values.astype(np.float32).astype(np.float64)
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
            feeds = {p.name: self._arranged(x[p.name], p) for p in self.network.inputs}
            return dict(zip(names, run(self._typed(feeds)), strict=False))
        states = self._starts(samples)
        rows: list[Feeds] = []
        for t in range(steps):
            feeds = {p.name: self._arranged(x[p.name][t : t + 1], p) for p in self.network.inputs}
            found = run(self._typed(feeds | states))
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

    def _typed(self, feeds: Feeds) -> Feeds:
        kinds = {entry.name: entry.elem_type.dtype for entry in self.inputs}
        return {name: np.ascontiguousarray(v.astype(kinds[name])) for name, v in feeds.items()}

    def _arranged(self, values: Array, port: Port) -> Array:
        """[T, N, …] as the graph has it; of a graph of single steps, [T, …] of its outputs."""
        if (self.pairs and len(values) > 1) or (self.pairs and port in self.network.outputs):
            return values
        if port.batch_axis is None:
            return values[-1, 0]
        if port.time_axis is None:
            return np.moveaxis(values[-1], 0, port.batch_axis)
        batch = port.batch_axis + (port.time_axis <= port.batch_axis)
        return np.moveaxis(values, (1, 0), (batch, port.time_axis))

    # --- words ----------------------------------------------------------------------------------

    def _refusal(self, name: str, why: str, steps: int, samples: int) -> ModelError:
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
        return ModelError(message + times, where="graph.outputs", hint=hints)


def _batch(entry: ValueInfo, port: Port) -> Any:
    if port.batch_axis is None or entry.shape is None:
        return None
    time = port.time_axis
    axis = port.batch_axis + (time is not None and time <= port.batch_axis)
    return entry.shape[axis]


def _first(values: Array, port: Port) -> Array:
    """An output of one step with its samples first."""
    return values[None] if port.batch_axis is None else np.moveaxis(values, port.batch_axis, 0)


def _differs(got: Array, want: Array) -> str:
    """How an output differs, in words; "" if it does not. A network owes nothing for NaN."""
    want = np.asarray(want, np.float64)
    if got.size != want.size:
        return f"has the shape {list(want.shape)}, expected {list(got.shape)}"
    got = got.reshape(want.shape)
    if not want.size:
        return ""
    finite, infinite = np.isfinite(want), np.isinf(want)
    if not np.array_equal(got[infinite], want[infinite]) or not np.isfinite(got[finite]).all():
        return "is not finite in the same places"
    scale = max(1.0, float(np.abs(want[finite]).max(initial=0.0)))
    with np.errstate(invalid="ignore"):
        off = float(np.abs(got - want)[finite].max(initial=0.0))
    return "" if off <= _TOLERANCE * scale else f"differs by {off:.3g}"


def _runtimes(model: Model) -> Iterator[Callable[[Sequence[str]], Runtime]]:
    """What runs a model, given the names of outputs: onnxruntime if installed, onnx's evaluator."""
    proto: list[Any] = []

    def serialized() -> Any:
        if not proto:
            proto.append(model.to_proto())
        return proto[0]

    if importlib.util.find_spec("onnxruntime") is not None:
        yield lambda names: _onnxruntime(serialized(), names)
    yield lambda names: _reference(serialized(), names)


def _onnxruntime(proto: Any, names: Sequence[str]) -> Runtime:
    import onnxruntime  # noqa: PLC0415 - an extra, slow to import

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )

    def run(feeds: Feeds) -> list[Array]:
        found: list[Array] = session.run(list(names), feeds)
        return found

    return run


def _reference(proto: Any, names: Sequence[str]) -> Runtime:
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415 - slow to import

    evaluator = ReferenceEvaluator(proto)

    def run(feeds: Feeds) -> list[Array]:
        found: list[Array] = evaluator.run(list(names), feeds)
        return found

    return run
