"""The functions that the page calls: one table, JSON and bytes in and out.

The page's worker calls `call`; nothing here knows of browsers, so CPython tests it.
"""

import json
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic_core import to_json

import neat_onnx
from neat_onnx.drawing.svg import MOST_NEURONS, to_svg
from neat_onnx.errors import DocumentError, ModelError, NeatOnnxError, NeatOnnxWarning
from neat_onnx.lowering.checks import open_options
from neat_onnx.model import Model
from neat_onnx.network.activations import ACTIVATIONS
from neat_onnx.network.network import Network
from neat_onnx.network.summary import difference, summary
from neat_onnx.options import ExportOptions, export_options
from neat_onnx.page import reading
from neat_onnx.page.downloads import Held, choices, refusals, written
from neat_onnx.page.drawing import drawing, neighbourhood, neuron_called
from neat_onnx.page.editing import edited
from neat_onnx.page.model_graph import model_graph
from neat_onnx.page.parity import parity, parity_of_networks
from neat_onnx.page.plan import MAX_CONNECTIONS, named_ports, plan_of
from neat_onnx.page.runtime_check import runtime_inputs, runtime_report
from neat_onnx.page.snippets import snippets
from neat_onnx.page.wording import failure, for_visitors, remarks
from neat_onnx.runtimes.player import ShapeMismatch
from neat_onnx.verification.report import Report

Params = Mapping[str, Any]
Result = dict[str, Any]  # of JSON; `blobs` are files, by name
Progress = Callable[[str, float], None]

_MAX_NEURONS_DRAWN = 4000  # one by one
_COMMON = ("neataptic-ts", "neat-python")  # libraries whose files come most

_given: list[tuple[Any, reading.Picked | Model]] = []  # what was read last, and from what
_held: list[Held] = []  # what was converted last, to be written and played with; or none


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
        JSON text of `{"result", "warnings"}`, with null for NaN and infinities, or `{"error":
        {"kind", "message", "where", "hint", "import", "obstacles"}}`, and the files made; `import`
        has the options of an import that help.
    """
    try:
        run = _METHODS.get(method)
        if run is None:
            raise DocumentError(f"there is no method '{method}'")
        with warnings.catch_warnings(record=True, action="ignore") as caught:
            warnings.simplefilter("always", NeatOnnxWarning)
            result = run(json.loads(params), bytes(data), progress)
        blobs = result.pop("blobs", {})
        answer = {"result": result, "warnings": remarks(caught)}
        return to_json(answer, inf_nan_mode="null").decode(), blobs
    except NeatOnnxError as error:
        return _failed(type(error).__name__, error)
    except MemoryError:
        return _failed("MemoryError", NeatOnnxError("it is too large for the memory of this tab"))
    except Exception as error:  # noqa: BLE001 (a mistake of ours: the page shows it, and goes on)
        message = f"{type(error).__name__}: {error}".rstrip(": ")
        hint = "This is a mistake in neat_onnx: please report it, with the file if you can share it"
        return _failed("InternalError", NeatOnnxError(message, hint=hint))


def _failed(kind: str, error: NeatOnnxError) -> tuple[str, dict[str, bytes]]:
    return to_json({"error": failure(kind, error)}).decode(), {}


def _warm(params: Params, data: bytes, progress: Progress) -> Result:
    """Export and compare a network, so that the first file finds everything imported; or with
    `reading`, read one of each library whose files come most.
    """
    net = Network.mlp([1, 1], activation="tanh", seed=0)
    if params.get("reading"):
        for library in _COMMON:
            neat_onnx.load_network(net.to_library(library))
    else:
        neat_onnx.verify(net, neat_onnx.export(net), samples=4)
    return {}


def _convert(params: Params, data: bytes, progress: Progress) -> Result:
    """Read a network and export it, or read a model, make it valid and import it; then compare."""
    progress("reading", 0.05)
    options = export_options(params.get("options"))
    found = _read(params, data)
    genome: int | None = None
    members: list[dict[str, int]] = []
    kind: Literal["network", "model"] = "network"
    ports: dict[str, Any] | None = None
    changed = False
    if isinstance(found, reading.Picked):
        net, genome, members = found
    else:
        progress("importing", 0.25)
        model = reading.made_valid(found)
        net, kind, changed = reading.imported(model, params.get("import")), "model", model != found
        ports = reading.model_ports(model, net)
    edits = params.get("edits") or []
    if kind == "network" or edits:
        net, kind = edited(net, edits), "network"
        progress("exporting", 0.25)
        model = neat_onnx.export(net, options=options)
    progress("comparing", 0.5)
    checked = {"samples": params.get("samples", 256), "seed": params.get("seed", 0)}
    valid = neat_onnx.convert(model) if options.dialect == "neataptic" else model
    report, unchecked = _compared(net, valid, kind, checked)
    _held[:] = [Held(net, model, valid, options, checked)]
    return {
        "kind": kind,
        "model_ports": ports,
        "changed": changed,
        "genome": genome,
        "members": members,
        "downloads": choices(net),
        "left_open": open_options(net, ExportOptions()) if kind == "network" else {},
        "summary": summary(net),
        "ports": named_ports(net),
        "report": report,
        "unchecked": unchecked,
        "activations": sorted({*net.activations, *ACTIVATIONS}),
    }


def _read(params: Params, data: bytes) -> reading.Picked | Model:
    """Read a file; not again for a changed gene or another option of the export."""
    asked = {key: params.get(key) for key in ("name", "config", "facts", "genome")}
    key = json.dumps(asked, sort_keys=True), data
    if not _given or _given[0][0] != key:
        _given[:] = [(key, reading.read(data, params))]
    return _given[0][1]


def _compared(
    net: Network, model: Model, kind: str, checked: dict[str, Any]
) -> tuple[Report | None, str]:
    """Return the report of onnx's evaluator; or None, and why it does not run a dropped model."""
    try:
        return neat_onnx.verify(net, model, **checked), ""
    except ModelError as error:
        if kind == "network" or isinstance(error, ShapeMismatch):
            raise
        return None, for_visitors([error.message]) or ""


def _last() -> Held:
    if not _held:
        raise DocumentError("no network has been converted", hint="Convert a file first")
    return _held[0]


def _file(params: Params, data: bytes, progress: Progress) -> Result:
    """Write what was converted last as a file of a kind that `choices` lists, or as `svg`."""
    progress("writing", 0.85)
    name, content = written(_last(), str(params.get("kind")), str(params.get("file")))
    return {"name": name, "blobs": {"file": content}}


def _plan(params: Params, data: bytes, progress: Progress) -> Result:
    """Compile the network that was converted last for the page's own evaluator."""
    net = _last().net
    if len(net.connections) > MAX_CONNECTIONS:
        raise DocumentError(f"{len(net.connections)} connections are too many to play with")
    document, arrays = plan_of(net)
    return {**document, "blobs": arrays}


def _drawing(params: Params, data: bytes, progress: Progress) -> Result:
    """Draw the network that was converted last; no verdict waits for it.

    `every` draws each neuron of a large one, `around` what is near a neuron, by its name or id.
    """
    net, around = _last().net, params.get("around")
    if around is not None:
        centre = neuron_called(net, str(around))
        if centre is None:
            raise DocumentError(f"there is no neuron called '{around}'")
        return {"graph": neighbourhood(net, centre), "svg": None, "centre": centre}
    is_drawn = len(net) <= MOST_NEURONS or params.get("every")
    graph = drawing(net) if is_drawn and len(net) <= _MAX_NEURONS_DRAWN else None
    return {"graph": graph, "svg": None if graph else to_svg(net)}


def _model_ports(params: Params, data: bytes, progress: Progress) -> Result:
    """Describe a model that could not be imported for the form of an import."""
    found = reading.read(data, params)
    if isinstance(found, reading.Picked):
        raise DocumentError("this is no model")
    return reading.model_ports(reading.made_valid(found))


def _difference(params: Params, data: bytes, progress: Progress) -> Result:
    """Compare the network that was converted last with the one of another file."""
    net = _last().net
    progress("reading", 0.2)
    other = reading.network_of(data, params)
    progress("comparing", 0.6)
    return {
        "genome": difference(net, other),
        "function": parity_of_networks(net, other),
        "drawing": drawing(other) if len(other) <= MOST_NEURONS else None,
    }


def _programs(params: Params, data: bytes, progress: Progress) -> Result:
    """Print programs that run the model of the last conversion."""
    file, wheel = str(params.get("file")), str(params.get("wheel", "neat-onnx"))
    return {"programs": snippets(_last().valid, file, wheel)}


def _runtime_inputs(params: Params, data: bytes, progress: Progress) -> Result:
    """Give the last model, and the runs of its comparison, to another runtime."""
    held = _last()
    runs, model, tensors = runtime_inputs(held.net, held.valid, **held.checked)
    return {"runs": runs, "blobs": {"model": model.to_bytes(), "tensors": tensors}}


def _runtime_report(params: Params, data: bytes, progress: Progress) -> Result:
    """Report on the outputs of another runtime for the runs of `runtime_inputs`."""
    held, runtime = _last(), str(params.get("runtime"))
    runs = params.get("runs") or []
    report = runtime_report(held.net, held.valid, runs, data, runtime=runtime, **held.checked)
    return dict(report)


_METHODS: dict[str, Callable[[Params, bytes, Progress], Result]] = {
    "convert": _convert,
    "difference": _difference,
    "drawing": _drawing,
    "file": _file,
    "model_graph": lambda *_: model_graph(_last().net, _last().valid),
    "model_ports": _model_ports,
    "parity": lambda *_: parity(_last().net, _last().valid),
    "plan": _plan,
    "population": lambda _, data, __: reading.facts_of_checkpoint(data),
    "programs": _programs,
    "refusals": lambda *_: refusals(_last().net),
    "runtime_inputs": _runtime_inputs,
    "runtime_report": _runtime_report,
    "warm": _warm,
}
