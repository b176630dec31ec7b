"""Import the recorded and small models of other tools, and prove each.

python -m tests.lifting.count_others [--check]

Each network is run beside onnxruntime on batches of 1, 2 and 5, and sequences of 1, 2 and 7 where
time is open.
"""

import collections
import glob
import os
import sys
import time
import warnings
from typing import Any

import numpy as np
import onnx
import onnxruntime

from neat_onnx.errors import NeatOnnxError
from neat_onnx.lifting.trace import trace_model
from neat_onnx.model import Model

_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "models_of_others")


def models() -> list[tuple[str, onnx.ModelProto]]:
    """Recorded models, and small ones as their tools make them."""
    sys.path[:0] = [_FOLDER, os.path.dirname(_FOLDER)]
    import small_models

    paths = sorted(glob.glob(os.path.join(_FOLDER, "recorded", "*.onnx")))
    return [(os.path.basename(path), onnx.load(path)) for path in paths] + list(
        small_models.small_models()
    )


def difference(proto: onnx.ModelProto, model: Model, network: Any) -> str:
    """Where the network differs from onnxruntime, in words."""
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    rng = np.random.default_rng(0)
    batched = any(port.batch_axis is not None for port in network.inputs)
    timed = any(port.time_axis is not None for port in network.inputs)
    worst = ""
    for length, samples in [(1, 1), (2, 2), (7, 5)] if batched else [(1, 1)]:
        steps = length if timed else 1
        x, feeds = {}, {}
        for port in network.inputs:
            entry = next(e for e in model.graph.inputs if e.name == port.name)
            kind = entry.elem_type.dtype
            values = rng.normal(size=(steps, samples, *port.shape))
            if kind.kind in "iub":
                values = rng.integers(0, 2, values.shape).astype(float)
            if "mask" in port.name:  # of actions that are allowed: no action is a case of its own
                values = np.ones(values.shape)
            if port.batch_axis is None and batched:
                values = np.broadcast_to(values[:, :1], values.shape)
            if timed and port.time_axis is None:
                values = np.broadcast_to(values[:1], values.shape)
            x[port.name] = values
            feeds[port.name] = arranged(values, port, batched).astype(kind)
        try:
            wanted = session.run([port.name for port in network.outputs], feeds)
        except Exception as error:  # noqa: BLE001 - onnxruntime's own, of fixed sizes
            if samples > 1:
                break
            return f"onnxruntime: {str(error)[:80]}"
        found = network.run(x)
        for port, given in zip(network.outputs, wanted, strict=True):
            values = found[port.name].reshape(steps, samples, *port.shape)
            got = arranged(values, port, batched)
            is_maps = isinstance(given, list)  # of ZipMap
            want = np.array([[*each.values()] for each in given]) if is_maps else given
            if got.size != want.size or not np.allclose(
                got.reshape(want.shape), want.astype(float), rtol=1e-3, atol=1e-4, equal_nan=True
            ):
                return f"{port.name} differs at {samples} samples, {steps} steps"
    return worst


def arranged(values: np.ndarray, port: Any, batched: bool) -> np.ndarray:
    """[T, N, …] as the graph has it."""
    if port.batch_axis is None:
        return values[-1, 0]
    if port.time_axis is None:
        return np.moveaxis(values[-1], 0, port.batch_axis)
    return np.moveaxis(np.moveaxis(values, 1, 0), (0, 1), (
        port.batch_axis + (port.time_axis <= port.batch_axis), port.time_axis))  # fmt: skip


def main() -> None:
    """Print the counts, and each model that is not right."""
    warnings.simplefilter("ignore")
    onnxruntime.set_default_logger_severity(4)
    counts: collections.Counter[str] = collections.Counter()
    seconds = 0.0
    for name, proto in models():
        try:
            model = Model.from_proto(proto)
            start = time.perf_counter()
            network = trace_model(model, check="--check" in sys.argv).network
            seconds += time.perf_counter() - start
            why = difference(proto, model, network)
            kind = "wrong" if why else "right"
        except NeatOnnxError as error:
            kind, why = "refused", str(error)
        except Exception as error:  # noqa: BLE001 - the count goes on
            kind, why = "crash", f"{type(error).__name__}: {error}"
        counts[kind] += 1
        if why:
            print(f"{kind:8} {name}: {why[:200]}")
    print(dict(counts), f"traced in {seconds:.2f} s")


if __name__ == "__main__":
    main()
