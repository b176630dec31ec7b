"""The check of a model by a runtime of the page, which cannot be called from Python.

The engine plays the samples twice: first to record what each run is given (`runtime_inputs`), and
again with the outputs (`runtime_report`) that web/runtime-worker.js has computed in between.
"""

from collections.abc import Mapping, Sequence
from typing import Any

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

Run = dict[str, dict[str, Any]]


class _Recorder(Player):
    """A player that notes what each run is given, and reads nothing of what it gives."""

    def __init__(self, model: Model, net: Network) -> None:
        super().__init__(model, net, Session(self._record, ""))
        self.runs: list[Run] = []
        self.tensors: list[bytes] = []
        self._ranks = {entry.name: len(entry.shape or ()) for entry in model.graph.outputs}
        # by the id of an output, which is kept so that the id stays its own: the run that gives it
        self._origin: dict[int, tuple[np.ndarray, dict[str, Any]]] = {}

    def _record(self, feed: Feed) -> dict[str, Any]:
        self.runs.append({name: self._entry(value) for name, value in feed.items()})
        given = {name: np.empty((1,) * rank) for name, rank in self._ranks.items()}
        for name, value in given.items():
            self._origin[id(value)] = value, {"run": len(self.runs) - 1, "output": name}
        return given

    def _entry(self, value: Any) -> dict[str, Any]:
        if id(value) in self._origin:
            return self._origin[id(value)][1]
        value = np.asarray(value)
        self.tensors.append(value.astype(value.dtype.newbyteorder("<")).tobytes())
        return {"type": value.dtype.name, "dims": list(value.shape)}

    def _read(self, name: str, results: dict[str, Any], leading: tuple[int, ...]) -> Floats:
        return np.empty((*leading, 1))


def runtime_inputs(
    net: Network, model: Model, *, samples: int, seed: int
) -> tuple[list[Run], Model, bytes]:
    """Return the runs in which the samples are played, the model to run, and its inputs' numbers.

    An input of a run is `{type, dims}` of the next tensor of the numbers, which are little-endian;
    or `{run, output}`, a state that an earlier run has given.
    """
    model = with_ports(net, model)
    recorder = _Recorder(model, net)
    long, fixed = not recorder.ended, recorder.fixed_batch
    for x in sampled_inputs(net, model, samples, seed, long=long, fixed_batch=fixed):
        recorder.play(x, [port.name for port in net.outputs])
    return recorder.runs, model, b"".join(recorder.tensors)


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
    """Return the report on outputs that a runtime, named with its version, has computed.

    Args:
        net, model, samples, seed: as `runtime_inputs` got them.
        runs: the outputs of each run, by name: `{type, dims}` of a tensor of `data`.
        data: the numbers of all tensors, one after the other, little-endian.

    Raises:
        DocumentError: `data` is shorter than the outputs are, or there are fewer runs than asked.
    """
    at, place = 0, iter(runs)

    def next_run(feed: Feed) -> dict[str, Any]:
        nonlocal at
        run, found = next(place, None), {}
        if run is None:
            raise DocumentError(f"outputs of {len(runs)} runs came, expected more")
        for name, entry in run.items():
            dtype, dims = np.dtype(str(entry["type"])), entry["dims"]
            count = int(np.prod(dims, dtype=np.int64))
            if at + count * dtype.itemsize > len(data):
                raise DocumentError(f"{len(data)} bytes of outputs came, expected more")
            found[name] = np.frombuffer(data, dtype, count, at).reshape(dims)
            at += count * dtype.itemsize
        return found

    model = with_ports(net, model)
    session = Session(next_run, runtime)
    return compare(net, model, samples=samples, seed=seed, runtime=session)
