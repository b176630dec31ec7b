"""The functions that the page calls: one table, JSON and bytes in and out.

The page's worker calls `call`; nothing here knows of browsers, so CPython tests it.
"""

import json
import math
import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import neat_onnx
from neat_onnx.drawing.svg import MOST_NEURONS, to_svg
from neat_onnx.errors import DocumentError, NeatOnnxError, NeatOnnxWarning, OptionError
from neat_onnx.files import parse_json, sniff
from neat_onnx.lowering.checks import open_options
from neat_onnx.model import Model
from neat_onnx.model.model import is_model
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.network import Network
from neat_onnx.network.summary import difference, summary
from neat_onnx.options import ExportOptions, export_options
from neat_onnx.page.drawing import drawing, neighbourhood, neuron_called
from neat_onnx.page.editing import edited
from neat_onnx.page.library_files import (
    Picked,
    choices,
    facts_of,
    picked,
    remarks_of,
    writable,
    written,
)
from neat_onnx.page.model_graph import model_graph
from neat_onnx.page.parity import compared, parity, parity_of_networks
from neat_onnx.page.plan import MAX_CONNECTIONS, named_ports, plan_of
from neat_onnx.page.runtime_check import runtime_inputs, runtime_report
from neat_onnx.page.snippets import FORMS, in_form, snippets
from neat_onnx.page.warming import warm, warm_reading

# ruff: noqa: PLC0415 - the page fetches these with the first model, or the first error

Progress = Callable[[str, float], None]

_MAX_NEURONS_DRAWN = 4000  # one by one
_FACTS = (
    "time_step", "advance_time", "cycles", "inputs", "outputs", "version", "initial_gain",
)  # fmt: skip


class Held(NamedTuple):
    """A network and its model.

    Attributes:
        net: the network.
        model: the model, perhaps a document of NeatapticTS's dialect.
        valid: the same as runtimes load it; the network was compared with it.
        options: the options of the export.
        checked: the samples and the seed of the comparison.
    """

    net: Network
    model: Model
    valid: Model
    options: ExportOptions
    checked: dict[str, int]


_given: list[tuple[tuple[str, bytes], Picked | Model]] = []  # what was read last, and from what
_held: list[Held] = []  # what was converted last, to be written and played with; or none


class Reply(NamedTuple):
    """The result of a method: a JSON value, and files by name."""

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
        progress: receives a stage and the fraction done, from 0 to 1.

    Returns:
        JSON text of `{"result": …}` or `{"error": {"kind", "message", "where", "hint", "import",
        "obstacles"}}`, and the files made; `import` has the options of an import that help.
    """
    try:
        run = _METHODS.get(method)
        if run is None:
            raise DocumentError(f"there is no method '{method}'")
        reply = run(json.loads(params), bytes(data), progress)
        return _json({"result": reply.result}), reply.blobs
    except NeatOnnxError as error:
        return _failure(type(error).__name__, error), {}
    except MemoryError:
        large = NeatOnnxError("it is too large for the memory of this tab")
        return _failure("MemoryError", large), {}
    except Exception as error:  # noqa: BLE001 (a mistake of ours: the page shows it, and goes on)
        message = f"{type(error).__name__}: {error}".rstrip(": ")
        hint = "This is a mistake in neat_onnx: please report it, with the file if you can share it"
        return _failure("InternalError", NeatOnnxError(message, hint=hint)), {}


def _warm(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """Go the whole way once, so that the first file finds everything imported."""
    warm_reading() if params.get("reading") else warm()
    return Reply({}, {})


def _convert(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", NeatOnnxWarning)
        result = _converted(params, data, progress)
    return Reply({**result, "warnings": remarks_of(caught)}, {})


def _file(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """One file of the network that was converted last: onnx, json or network.

    Warnings came with the verdict already.
    """
    held = _last()
    kind = str(params.get("kind"))
    if kind not in _WRITERS:
        raise DocumentError(f"there is no file of kind '{kind}'")
    progress("writing", 0.85)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reply({}, {kind: _WRITERS[kind](held)})


def _library(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The network that was converted last, as a file of the library that is asked for."""
    progress("writing", 0.5)
    net, library, file = _last().net, str(params.get("library")), str(params.get("file"))
    name, content, texts = written(net, library, file)
    return Reply({"name": name, "warnings": list(dict.fromkeys(texts))}, {"library": content})


def _form(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The network that was converted last, in another form."""
    held = _last()
    progress("writing", 0.5)
    text = in_form(held.net, held.model, held.options, str(params.get("form")))
    return Reply({"name": params.get("file"), "warnings": []}, {"form": text.encode()})


def _plan(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The network that was converted last, compiled for the page's own evaluator."""
    net = _last().net
    if len(net.connections) > MAX_CONNECTIONS:
        raise DocumentError(f"{len(net.connections)} connections are too many to play with")
    document, arrays = plan_of(net)
    return Reply(document, arrays)


def _drawing(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The network that was converted last, to be drawn; no verdict waits for it.

    `every` draws each neuron of a large one, `around` what is near a neuron, by its name or id.
    """
    net, around = _last().net, params.get("around")
    if around is not None:
        centre = neuron_called(net, str(around))
        if centre is None:
            raise DocumentError(f"there is no neuron called '{around}'")
        return Reply({"graph": neighbourhood(net, centre), "svg": None, "centre": centre}, {})
    is_drawn = len(net) <= MOST_NEURONS or params.get("every")
    graph = drawing(net) if is_drawn and len(net) <= _MAX_NEURONS_DRAWN else None
    return Reply({"graph": graph, "svg": None if graph else to_svg(net)}, {})


def _model_ports(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The inputs and outputs of a model that could not be imported, for the form of an import."""
    from neat_onnx.page.dropped_models import made_valid, model_ports

    document = _document(data)
    if not is_model(document, str(params.get("name", ""))):
        raise DocumentError("this is no model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reply(model_ports(made_valid(neat_onnx.load_model(document))), {})


def _difference(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The way from the network that was converted last to the one of another file."""
    net = _last().net
    progress("reading", 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        document = _document(data)
        if is_model(document, str(params.get("name", ""))):
            from neat_onnx.page.dropped_models import imported, made_valid

            other = imported(made_valid(neat_onnx.load_model(document)), None)
        else:
            other = picked(document, **_reading(params)).net
        progress("comparing", 0.6)
        pairs = parity_of_networks(net, other)
    drawn = drawing(other) if len(other) <= MOST_NEURONS else None
    genome = difference(net, other).model_dump()
    return Reply({"genome": genome, "function": pairs, "drawing": drawn}, {})


def _runtime_inputs(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The model of the last conversion, and the runs of its comparison, for another runtime."""
    held = _last()
    runs, model, tensors = runtime_inputs(held.net, held.valid, **held.checked)
    return Reply({"runs": runs}, {"model": model.to_bytes(), "tensors": tensors})


def _runtime_report(params: dict[str, Any], data: bytes, progress: Progress) -> Reply:
    """The report on the outputs of another runtime for the runs of `runtime_inputs`."""
    held, runtime = _last(), str(params.get("runtime"))
    runs = params.get("runs") or []
    report = runtime_report(held.net, held.valid, runs, data, runtime=runtime, **held.checked)
    return Reply(report.model_dump(), {})


def _last() -> Held:
    if not _held:
        raise DocumentError("no network has been converted", hint="Convert a file first")
    return _held[0]


def _converted(params: dict[str, Any], data: bytes, progress: Progress) -> dict[str, Any]:
    """Read a network and export it, or read a model, make it valid and import it; then compare."""
    progress("reading", 0.05)
    options = export_options(params.get("options"))
    genome: int | None = None
    members: list[dict[str, int]] = []
    kind: Literal["network", "model"] = "network"
    listed: dict[str, Any] | None = None
    changed = False
    read = _read(params, data)
    net: Network
    if isinstance(read, Picked):
        net, genome, members = read
    else:
        from neat_onnx.page.dropped_models import imported, made_valid, model_ports

        progress("importing", 0.25)
        model = made_valid(read)
        net, kind, changed = imported(model, params.get("import")), "model", model != read
        listed = model_ports(model, net)
    edits = params.get("edits") or []
    if kind == "network" or edits:
        net, kind = edited(net, edits), "network"
        progress("exporting", 0.25)
        model = neat_onnx.export(net, options=options)
    progress("comparing", 0.5)
    checked = {"samples": params.get("samples", 256), "seed": params.get("seed", 0)}
    valid = _valid(model, options)
    report, unchecked = compared(net, valid, kind, **checked)
    result = {
        "kind": kind,
        "model_ports": listed,
        "changed": changed,
        "genome": genome,
        "members": members,
        "libraries": choices(),
        "forms": FORMS,
        "left_open": open_options(net, ExportOptions()) if kind == "network" else {},
        "summary": summary(net).model_dump(),
        "ports": named_ports(net),
        "snippets": snippets(
            valid, str(params.get("file", "network.onnx")), str(params.get("wheel", "neat-onnx"))
        ),
        "report": report,
        "unchecked": unchecked,
        "activations": sorted({*net.activations, *ACTIVATIONS}),
    }
    _held[:] = [Held(net, model, valid, options, checked)]
    return result


def _read(params: dict[str, Any], data: bytes) -> Picked | Model:
    """The network or the model of a file; the one of the last call again, if nothing else came.

    So a changed gene or another option of the export waits for no reading.
    """
    asked = {key: params.get(key) for key in ("name", "config", "facts", "genome")}
    key = json.dumps(asked, sort_keys=True), data
    if not _given or _given[0][0] != key:
        document = _document(data)
        found: Picked | Model
        if is_model(document, str(params.get("name", ""))):
            found = neat_onnx.load_model(document)
        else:
            found = picked(document, genome=params.get("genome"), **_reading(params))
        _given[:] = [(key, found)]
    return _given[0][1]


def _document(data: bytes) -> Any:
    """The JSON value of a file, or the bytes of one that is not JSON."""
    return parse_json(data) if sniff(data) == "json" else data


def _reading(params: dict[str, Any]) -> dict[str, Any]:
    """The facts that come beside a file: its configuration, times, and numbers of neurons."""
    given = params.get("facts") or {}
    if not isinstance(given, dict):
        raise OptionError("the facts are no object with a number for each name", where="facts")
    facts = {name: given.get(name) for name in _FACTS}
    return {"config": params.get("config"), **facts}


def _valid(model: Model, options: ExportOptions) -> Model:
    """The model that runtimes load; a document of NeatapticTS's dialect is converted first."""
    return neat_onnx.convert(model) if options.dialect == "neataptic" else model


def _failure(kind: str, error: NeatOnnxError) -> str:
    from neat_onnx.page.wording import failure

    return _json({"error": failure(kind, error)})


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


_WRITERS: dict[str, Callable[[Held], bytes]] = {
    "onnx": lambda held: held.valid.to_bytes(),
    "json": lambda held: held.model.to_json(encoding=held.options.encoding).encode(),
    "network": lambda held: held.net.to_json().encode(),
}
_METHODS: dict[str, Callable[[dict[str, Any], bytes, Progress], Reply]] = {
    "convert": _convert,
    "difference": _difference,
    "drawing": _drawing,
    "file": _file,
    "form": _form,
    "library": _library,
    "model_graph": lambda params, *_: Reply(model_graph(_last().net, _last().valid), {}),
    "model_ports": _model_ports,
    "parity": lambda params, *_: Reply(parity(_last().net, _last().valid), {}),
    "plan": _plan,
    "population": lambda params, data, _: Reply(dict(facts_of(data)), {}),
    "runtime_inputs": _runtime_inputs,
    "runtime_report": _runtime_report,
    "svg": lambda params, *_: Reply({}, {"svg": to_svg(_last().net).encode()}),
    "warm": _warm,
    "writable": lambda params, *_: Reply({"libraries": writable(_last().net)}, {}),
}
