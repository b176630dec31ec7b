"""What the page may ask of the engine: a table of functions, JSON and bytes in and out.

The page's worker calls `call`; nothing here knows of browsers, so CPython tests it.
"""

import json
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import neat_onnx
from neat_onnx.errors import DocumentError, NeatOnnxError, NeatOnnxWarning, printable
from neat_onnx.files import parse_json
from neat_onnx.model import Model
from neat_onnx.network.genes import Ints
from neat_onnx.network.network import Network
from neat_onnx.network.summary import Drawing, drawing, summary
from neat_onnx.options import ExportOptions, export_options

Progress = Callable[[str, float], None]

_MOST_DRAWN = 4000
_TIMES = ("time_step", "advance_time")


class Held(NamedTuple):
    """A network and the model that it was compared with."""

    net: Network
    model: Model
    options: ExportOptions


_held: list[Held] = []  # what was converted last, to be written and stepped through; or none


class Reply(NamedTuple):
    """What a method gives back: a JSON value, and files by name."""

    result: dict[str, Any]
    blobs: dict[str, bytes]


def call(
    method: str, params: str, data: bytes | memoryview, progress: Progress
) -> tuple[str, dict[str, bytes]]:
    """Run a method of the table; never raises on bad input.

    Args:
        method: its name.
        params: a JSON object.
        data: the file that it is about; empty if it is about none.
        progress: is told a stage and the fraction done, from 0 to 1.

    Returns:
        JSON text of `{"result": …}` or `{"error": {"kind", "message", "where", "hint"}}`, and the
        files made.
    """
    try:
        run = _METHODS.get(method)
        if run is None:
            raise DocumentError(f"there is no method '{method}'")
        reply = run(json.loads(params), bytes(data), progress)
        return _json({"result": reply.result}), reply.blobs
    except NeatOnnxError as error:
        return _failure(type(error).__name__, error.message, error.where, error.hint), {}
    except MemoryError:
        return _failure("MemoryError", "it is too large for the memory of this tab"), {}
    except Exception as error:  # noqa: BLE001 (the page goes on working whatever happens)
        message = printable(f"{type(error).__name__}: {error}".rstrip(": "))
        hint = "This is a mistake in neat_onnx: please report it, with the file if you can share it"
        return _failure("InternalError", message, hint=hint), {}


def _warm(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """Go the whole way once, so that the first file finds everything imported."""
    net = neat_onnx.Network.mlp([1, 1], activation="tanh", seed=0)
    neat_onnx.verify(net, neat_onnx.export(net), samples=4)
    return Reply({}, {})


def _convert(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", NeatOnnxWarning)
        result = _converted(params, data, progress)
    told = [printable(str(warning.message)) for warning in caught]
    return Reply({**result, "warnings": list(dict.fromkeys(told))}, {})


def _files(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The files of what was converted last. They take as long as a comparison, so that comes first.

    What there is to be warned of has been told with the verdict.
    """
    if not _held:
        raise DocumentError("there is nothing to write", hint="Convert a file first")
    net, model, options = _held[0]
    progress("writing", 0.85)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = _valid(model, options)
    blobs = {
        "onnx": runs.to_bytes(),
        "json": model.to_json(encoding=options.encoding).encode(),
        "network": net.to_json().encode(),
    }
    return Reply({}, blobs)


def _step(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """One step of the network that was converted last; without a state, its first one."""
    if not _held:
        raise DocumentError("there is no network to step through", hint="Convert a file first")
    net = _held[0].net
    state = params.get("state")
    before = net.initial_state(1) if state is None else np.array([_numbers(state)], np.float64)
    outputs, after = net.step(_numbers(params.get("inputs", [])), before)
    return Reply({"outputs": outputs.tolist(), "state": after[0].tolist()}, {})


def _numbers(values: list[float | str]) -> list[float]:
    """Numbers that may have come as words: see `_finite`."""
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError) as error:
        raise DocumentError(f"these are not numbers: {error}") from error


def _converted(params: dict[str, Any], data: bytes, progress: Progress) -> dict[str, Any]:
    """Read a network and export it, or read a model, make it valid and import it; then compare."""
    _held.clear()
    progress("reading", 0.05)
    options = export_options(params.get("options"))
    document = _document(str(params.get("name", "")), data)
    if isinstance(document, bytes) or (isinstance(document, dict) and "graph" in document):
        read = neat_onnx.load_model(document)
        progress("importing", 0.25)
        model = neat_onnx.convert(read)
        net, kind, changed = neat_onnx.import_model(model), "model", model != read
    else:
        times = {name: params.get("time", {}).get(name) for name in _TIMES}
        net, kind, changed = neat_onnx.load_network(document, **times), "network", False
        progress("exporting", 0.25)
        model = neat_onnx.export(net, options=options)
    progress("comparing", 0.5)
    checked = {"samples": params.get("samples", 256), "seed": params.get("seed", 0)}
    report = neat_onnx.verify(net, _valid(model, options), **checked)
    result = {
        "kind": kind,
        "changed": changed,
        "summary": summary(net).model_dump(),
        "graph": _graph(net),
        "ports": _ports(net),
        "report": report.model_dump(),
    }
    _held.append(Held(net, model, options))
    return result


def _valid(model: Model, options: ExportOptions) -> Model:
    """The model that runtimes load; what NeatapticTS's dialect writes is none yet."""
    return neat_onnx.convert(model) if options.dialect == "neataptic" else model


def _document(name: str, data: bytes) -> Any:
    """The JSON value of the file, or its bytes if it is a binary ONNX file."""
    begin = data[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if name.lower().endswith(".onnx") and not begin.startswith((b"{", b"[")):
        return data
    return parse_json(data)


def _graph(net: Network) -> Drawing | None:
    return drawing(net) if len(net) <= _MOST_DRAWN else None


def _ports(net: Network) -> dict[str, Any]:
    """What goes in and out at each step, by name where there is one, and what is remembered."""

    def named(neurons: Ints, noun: str) -> list[str]:
        names = (net.neuron_names[neuron] for neuron in neurons.tolist())
        return [name or f"{noun} {place}" for place, name in enumerate(names, start=1)]

    return {
        "inputs": named(net.input_neurons, "input"),
        "outputs": named(net.output_neurons, "output"),
        "state": net.initial_state(1)[0].tolist(),
    }


def _failure(kind: str, message: str, where: str | None = None, hint: str | None = None) -> str:
    return _json({"error": {"kind": kind, "message": message, "where": where, "hint": hint}})


def _json(value: Any) -> str:
    encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
    try:
        return encode(value)
    except ValueError:  # there is a number that JSON has not: rare, and slow to look for
        return encode(_finite(value))


def _finite(value: Any) -> Any:
    """`value` with NaN and infinities as words, since JSON has no numbers for them."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


_METHODS: dict[str, Callable[[dict[str, Any], bytes, Progress], Reply]] = {
    "convert": _convert,
    "files": _files,
    "step": _step,
    "warm": _warm,
}
