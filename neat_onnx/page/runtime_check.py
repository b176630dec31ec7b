"""The check of a model by a runtime of the page, which cannot be called from Python.

The engine records what the runtime is to be given (`runtime_inputs`), web/runtime-worker.js runs
it, and the engine plays the model again with the recorded outputs (`runtime_report`).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from neat_onnx.errors import DocumentError
from neat_onnx.model import Model
from neat_onnx.network.genes import Floats
from neat_onnx.network.network import Network
from neat_onnx.runtimes import Feed, Session
from neat_onnx.runtimes.player import Player
from neat_onnx.verification.compare import compare, with_ports
from neat_onnx.verification.report import Report
from neat_onnx.verification.samples import sampled_inputs


class RuntimeInputs(NamedTuple):
    """A model to run, and what it is run on.

    Attributes:
        runs: the inputs of each run, by name: `{type, dims}` of a tensor of `tensors`, which has
            them one after the other, or `{run, output}`, a state that an earlier run has given.
        model: the model to run.
        tensors: the numbers of all tensors, little-endian.
    """

    runs: list[dict[str, dict[str, Any]]]
    model: Model
    tensors: bytes


class _Recorder(Player):
    """A player that notes what each run is given, and reads nothing of what it gives."""

    def __init__(self, model: Model, net: Network) -> None:
        super().__init__(model, net, Session(self._record, ""))
        self.runs: list[dict[str, dict[str, Any]]] = []
        self.tensors: list[bytes] = []
        self._ranks = {entry.name: len(entry.shape or ()) for entry in model.graph.outputs}
        self._given: list[dict[str, np.ndarray]] = []  # kept, so that ids stay theirs
        self._origin: dict[int, dict[str, Any]] = {}  # id of an output → the run that gives it

    def _record(self, feed: Feed) -> dict[str, Any]:
        run = len(self.runs)
        self.runs.append({name: self._entry(value) for name, value in feed.items()})
        given = {name: np.empty((1,) * rank) for name, rank in self._ranks.items()}
        self._given.append(given)
        for name, value in given.items():
            self._origin[id(value)] = {"run": run, "output": name}
        return given

    def _entry(self, value: Any) -> dict[str, Any]:
        if id(value) in self._origin:
            return self._origin[id(value)]
        value = np.asarray(value)
        self.tensors.append(value.astype(value.dtype.newbyteorder("<")).tobytes())
        return {"type": value.dtype.name, "dims": list(value.shape)}

    def _read(self, name: str, results: dict[str, Any], leading: tuple[int, ...]) -> Floats:
        return np.empty((*leading, 1))


def runtime_inputs(net: Network, model: Model, *, samples: int, seed: int) -> RuntimeInputs:
    """Return the model, and the runs in which the samples are played."""
    model = with_ports(net, model)
    recorder = _Recorder(model, net)
    long, fixed = not recorder.ended, recorder.fixed_batch
    for x in sampled_inputs(net, model, samples, seed, long=long, fixed_batch=fixed):
        recorder.play(x, [port.name for port in net.outputs])
    return RuntimeInputs(recorder.runs, model, b"".join(recorder.tensors))


def runtime_report(
    net: Network,
    model: Model,
    runs: Sequence[Mapping[str, Mapping[str, Any]]],
    data: bytes,
    *,
    runtime: str,
    samples: int,
    seed: int,
) -> Report:
    """Return the report on outputs that a runtime computed.

    Args:
        net: the network.
        model: the model that was given to `runtime_inputs`.
        runs: the outputs of each run, by name: `{type, dims}` of a tensor of `data`.
        data: the numbers of all tensors, one after the other, little-endian.
        runtime: name and version of the runtime.
        samples: as in `runtime_inputs`.
        seed: as in `runtime_inputs`.

    Raises:
        DocumentError: `data` is shorter than the outputs are, or there are fewer runs than asked.
    """
    played = _outputs(runs, data)

    def next_run(feed: Feed) -> dict[str, Any]:
        found = next(played, None)
        if found is None:
            raise DocumentError(f"outputs of {len(runs)} runs came, expected more")
        return found

    model = with_ports(net, model)
    player = Player(model, net, Session(next_run, runtime))
    report = compare(net, model, samples=samples, seed=seed, runtime="reference", player=player)
    return report.model_copy(update={"first_error": None})  # another runtime would find it


def _outputs(
    runs: Sequence[Mapping[str, Mapping[str, Any]]], data: bytes
) -> Iterator[dict[str, np.ndarray]]:
    at = 0
    for run in runs:
        found = {}
        for name, entry in run.items():
            dtype, dims = np.dtype(str(entry["type"])), entry["dims"]
            count = int(np.prod(dims, dtype=np.int64))
            if at + count * dtype.itemsize > len(data):
                raise DocumentError(f"{len(data)} bytes of outputs came, expected more")
            found[name] = np.frombuffer(data, dtype, count, at).reshape(dims)
            at += count * dtype.itemsize
        yield found
